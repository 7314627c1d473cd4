//! Where processor time goes, at each point.

use dyno_analyze::number::percent;
use dyno_analyze::points::Points;

use crate::chart::{Axis, Chart, Quantity};

use super::stack::{Part, columns};

/// Parts of processor time, the idle rest left out.
pub(super) const PARTS: [(&str, &str); 4] = [
    ("cpu_user_pct", "user"),
    ("cpu_sys_pct", "sys"),
    ("cpu_iowait_pct", "iowait"),
    ("cpu_steal_pct", "steal"),
];

/// The measures of which one that others had part in marks the chart.
const MARKED: [&str; 5] = ["cpu_busy_pct", PARTS[0].0, PARTS[1].0, PARTS[2].0, PARTS[3].0];

pub(super) fn of_points(points: &Points) -> Option<Chart> {
    let parts: Vec<Part<'_>> = PARTS
        .iter()
        .map(|&(measure, name)| -> Part<'_> { (name.to_owned(), Box::new(move |point| point.get(measure))) })
        .collect();
    let mut about = "Share of all CPUs by kind at each point; what is left to 100 % is idle.".to_owned();
    if let Some(words) = super::others(points, &MARKED) {
        about.push_str(&format!(" {words}."));
    }
    columns(
        points,
        &parts,
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
