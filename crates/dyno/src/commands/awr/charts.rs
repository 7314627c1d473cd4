//! A line of time as charts: each measure over the time of day, stretches without a report left empty.

use dyno_awr::timeline::{Flag, MEASURES, Point, Timeline};
use dyno_report::chart::{Axis, Chart, Kind, Mark, MarkAt, Point as Dot, Quantity, Series};
use dyno_report::number::figure;

use super::clock;

/// Anomalies and restarts that are marked in one chart; a page of marks marks nothing.
const MARKS_MAX: usize = 8;

/// Longest stretch between two reports that is no gap, hours: snapshots are some seconds late.
const SLACK_H: f64 = 0.05;

/// Where a report lies, in hours since the first one.
struct Place {
    begin: f64,
    end: f64,
}

/// One chart for each measure that any two reports have.
pub(super) fn charts(timeline: &Timeline) -> Vec<Chart> {
    let Some(first) = timeline.points.iter().filter_map(|(point, _)| point.begin).min() else {
        return Vec::new();
    };
    let place = |point: &Point| {
        let begin = point.begin?.since(first).ok()?.total(jiff::Unit::Second).ok()? / 3_600.0;
        Some(Place { begin, end: begin + point.minutes.unwrap_or(0.0) / 60.0 })
    };
    let places = timeline.points.iter().filter_map(|(point, _)| place(point));
    let hours = places.fold(0.0, |most: f64, place| most.max(place.end));
    let x = clock::axis(first, hours);
    (0..MEASURES.len()).filter_map(|measure| chart(timeline, measure, &x, &place)).collect()
}

fn chart(
    timeline: &Timeline,
    measure: usize,
    x: &Axis,
    place: &dyn Fn(&Point) -> Option<Place>,
) -> Option<Chart> {
    let (id, name) = MEASURES[measure];
    let mut stretches: Vec<Vec<Dot>> = Vec::new();
    let mut marks = Vec::new();
    let mut last_end = f64::NEG_INFINITY;
    for (point, flags) in &timeline.points {
        let (Some(at), Some(value)) = (place(point), point.values[measure]) else {
            // A report that does not tell leaves its stretch empty.
            last_end = f64::NEG_INFINITY;
            continue;
        };
        if at.begin > last_end + SLACK_H || stretches.is_empty() {
            stretches.push(Vec::new());
        }
        last_end = at.end;
        let when = point.begin.map_or_else(String::new, |begin| begin.strftime("%Y-%m-%d %H:%M").to_string());
        let middle = (at.begin + at.end) / 2.0;
        let dot = Dot { hover: format!("{when}: {name} {}", figure(value)), ..Dot::at(middle, value) };
        stretches.last_mut()?.push(dot);
        marks.extend(flags.iter().filter_map(|flag| mark(flag, measure, &at, value, &when)));
    }
    marks.truncate(MARKS_MAX);
    if stretches.iter().map(Vec::len).sum::<usize>() < 2 {
        return None;
    }
    let series = |points| Series { name: name.into(), kind: Kind::Line, style: 0, points };
    Some(Chart {
        id: id.replace(['.', '_'], "-"),
        title: format!("{name} over time"),
        about: "Each point is one report, in the middle of its interval; where no report is, there is no line. Rings are anomalies."
            .into(),
        x: x.clone(),
        y: Axis::linear(name, Quantity::Plain("")),
        series: stretches.into_iter().map(series).collect(),
        marks,
    })
}

fn mark(flag: &Flag, measure: usize, at: &Place, value: f64, when: &str) -> Option<Mark> {
    match flag {
        Flag::Outlier { measure: of, .. } if *of == measure => Some(Mark {
            name: format!("anomaly: {when}"),
            at: MarkAt::Point((at.begin + at.end) / 2.0, value),
        }),
        Flag::Gap { .. } => Some(Mark { name: format!("gap before {when}"), at: MarkAt::X(at.begin) }),
        Flag::Restart => Some(Mark { name: format!("restart before {when}"), at: MarkAt::X(at.begin) }),
        _ => None,
    }
}
