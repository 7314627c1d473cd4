//! What sessions waited for.

use std::collections::BTreeMap;

use dyno_analyze::number::figure;
use dyno_analyze::points::{Point as Measured, Points};
use dyno_record::{RunRecord, WaitTime, Waits};

use crate::chart::{Axis, Category, Chart, Kind, Point, Quantity, Series};

use super::stack::{Layer, columns};

/// Events with a colour of their own; the others are summed up.
const EVENTS_MAX: usize = 7;

/// The name of a wait event: `IO:WalSync`, `CPU`.
pub(crate) fn event_name(event: &WaitTime) -> String {
    if event.class == event.event { event.event.clone() } else { format!("{}:{}", event.class, event.event) }
}

fn events(record: &RunRecord) -> &[WaitTime] {
    match &record.waits {
        Waits::Sampled { events, .. } => events,
        Waits::Absent { .. } => &[],
    }
}

/// Average sessions in each event over all runs of a point.
fn averages(point: &Measured) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for event in point.runs.iter().flat_map(|run| &run.waits) {
        *sums.entry(event_name(event)).or_insert(0.0) += event.average_sessions / point.runs.len() as f64;
    }
    sums
}

fn blank(id: &str, title: &str) -> Chart {
    Chart {
        id: id.into(),
        title: title.into(),
        about:
            "Sessions in each wait event on average, from samples; CPU is running or waiting for a processor."
                .into(),
        x: Axis::ordinal("", vec![]),
        y: Axis::linear("active sessions", Quantity::Plain("")),
        series: vec![],
        marks: vec![],
    }
}

pub(super) fn of_points(points: &Points) -> Option<Chart> {
    let mut total: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in points.points.iter().flat_map(averages) {
        *total.entry(name).or_insert(0.0) += value;
    }
    let mut names: Vec<(String, f64)> = total.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest: Vec<String> =
        names.split_off(names.len().min(EVENTS_MAX)).into_iter().map(|(name, _)| name).collect();
    let mut layers: Vec<Layer<'_>> = Vec::new();
    for (name, _) in names {
        let key = name.clone();
        layers.push((name, Box::new(move |point| averages(point).get(&key).copied())));
    }
    if !rest.is_empty() {
        let sum = move |point: &Measured| -> Option<f64> {
            let averages = averages(point);
            Some(rest.iter().filter_map(|name| averages.get(name)).sum())
        };
        layers.push(("all others".into(), Box::new(sum)));
    }
    columns(points, &layers, figure, blank("waits", "Wait events"))
}

/// The events of one run side by side.
pub(super) fn of_run(record: &RunRecord) -> Option<Chart> {
    let events = events(record);
    if events.is_empty() {
        return None;
    }
    let shown = &events[..events.len().min(EVENTS_MAX)];
    let hover = |event: &WaitTime| {
        format!("{}: {} sessions on average", event_name(event), figure(event.average_sessions))
    };
    let mut chart = blank("waits-of-run", "Wait events of this run");
    chart.x = Axis::ordinal("", vec![Category { label: "this run".into(), group: String::new() }]);
    let series = |(style, event): (usize, &WaitTime)| Series {
        name: format!("{} ({})", event_name(event), figure(event.average_sessions)),
        kind: Kind::Column,
        style,
        points: vec![Point { hover: hover(event), ..Point::at(0.0, event.average_sessions) }],
    };
    chart.series = shown.iter().enumerate().map(series).collect();
    Some(chart)
}
