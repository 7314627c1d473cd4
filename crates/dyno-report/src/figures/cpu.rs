//! Where processor time goes, at each point.

use dyno_analyze::number::percent;
use dyno_analyze::points::Points;

use crate::chart::{Axis, Chart, Quantity};

use super::stack::{Layer, columns};

/// Parts of processor time, the idle rest left out.
pub(super) const LAYERS: [(&str, &str); 4] = [
    ("cpu_user_pct", "user"),
    ("cpu_sys_pct", "sys"),
    ("cpu_iowait_pct", "iowait"),
    ("cpu_steal_pct", "steal"),
];

/// The measures of which one that others had part in marks the chart.
pub(super) const MARKED: [&str; 5] = ["cpu_busy_pct", LAYERS[0].0, LAYERS[1].0, LAYERS[2].0, LAYERS[3].0];

pub(super) fn of_points(points: &Points) -> Option<Chart> {
    let layers: Vec<Layer<'_>> = LAYERS
        .iter()
        .map(|&(measure, name)| -> Layer<'_> { (name.to_owned(), Box::new(move |point| point.get(measure))) })
        .collect();
    let mut about = "Share of all CPUs by kind at each point; what is left to 100 % is idle.".to_owned();
    if let Some(words) = super::others(points, &MARKED) {
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
            x: Axis::ordinal("", vec![]),
            y: Axis::linear("CPU", Quantity::Percent).reaching(100.0),
            series: vec![],
            marks: vec![],
        },
    )
}
