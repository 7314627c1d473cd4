//! Chart of processor time at each point.

use dyno_analyze::number::percent;
use dyno_analyze::points::Points;

use crate::chart::{Chart, ChartAxis, Quantity};

use super::stack::{Layer, columns};

/// Parts of processor time without idle.
pub(super) const LAYERS: [(&str, &str); 4] = [
    ("cpu_user_pct", "user"),
    ("cpu_sys_pct", "sys"),
    ("cpu_iowait_pct", "iowait"),
    ("cpu_steal_pct", "steal"),
];

/// Measures of the chart; if one includes activity of others, the chart is marked.
pub(super) const MARKED: [&str; 5] = ["cpu_busy_pct", LAYERS[0].0, LAYERS[1].0, LAYERS[2].0, LAYERS[3].0];

pub(super) fn of_points(points: &Points) -> Option<Chart> {
    let layers: Vec<Layer<'_>> = LAYERS
        .iter()
        .map(|&(measure, name)| -> Layer<'_> { (name.to_owned(), Box::new(move |point| point.get(measure))) })
        .collect();
    let mut about = "Share of all CPUs by kind at each point; the remainder up to 100 % is idle.".to_owned();
    if let Some(words) = super::foreign_share_legend(points, &MARKED) {
        about.push_str(&format!(" {words}."));
    }
    columns(
        points,
        &layers,
        |value| format!("{} %", percent(value)),
        Chart {
            id: "cpu".into(),
            title: "Processor time of the host".into(),
            about,
            x: ChartAxis::ordinal("", vec![]),
            y: ChartAxis::linear("CPU", Quantity::Percent).reaching(100.0),
            series: vec![],
            marks: vec![],
        },
    )
}
