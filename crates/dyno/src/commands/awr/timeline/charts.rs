//! A line of time as charts: each measure over the time of day with its levels, stretches without a report left empty.

use dyno_awr::timeline::{Flag, MEASURES, Point, Span, Timeline};
use dyno_report::chart::{Axis, Chart, Kind, Mark, MarkAt, Point as Dot, Quantity, Series};
use dyno_report::number::figure;
use jiff::Unit;
use jiff::civil::DateTime;

use super::{clock, stacks};

/// Anomalies and restarts that are marked in one chart; a page of marks marks nothing.
const MARKS_MAX: usize = 8;

/// Longest stretch between two reports that is no gap, hours: snapshots are some seconds late.
const SLACK_H: f64 = 0.05;

/// Where a report lies, in hours since the first one.
#[derive(Clone, Copy)]
struct Hours {
    begin: f64,
    end: f64,
}

fn hours(point: &Point, first: DateTime) -> Option<Hours> {
    // Unless told otherwise a span of civil time has days, whose hours nobody knows.
    let since = point.begin?.since((Unit::Second, first)).ok()?;
    let begin = since.total(Unit::Second).ok()? / 3_600.0;
    Some(Hours { begin, end: begin + point.minutes.unwrap_or(0.0) / 60.0 })
}

/// One chart for each measure that any two reports have, and DB time by event and by class.
pub(super) fn charts(timeline: &Timeline) -> Vec<Chart> {
    let Some(first) = timeline.points.iter().filter_map(|(point, _)| point.begin).min() else {
        return Vec::new();
    };
    let places: Vec<Option<Hours>> = timeline.points.iter().map(|(point, _)| hours(point, first)).collect();
    let hours = places.iter().flatten().fold(0.0, |most: f64, place| most.max(place.end));
    let x = clock::axis(first, hours);
    let mut charts: Vec<Chart> =
        (0..MEASURES.len()).filter_map(|measure| chart(timeline, measure, &x, &places)).collect();
    let spans: Vec<stacks::Place> = places.iter().map(|place| place.map(|at| (at.begin, at.end))).collect();
    // Behind the chart of active sessions, which they take apart.
    let first = charts.len().min(1);
    charts.splice(first..first, stacks::charts(timeline, &x, &spans));
    charts
}

fn chart(timeline: &Timeline, measure: usize, x: &Axis, places: &[Option<Hours>]) -> Option<Chart> {
    let name = MEASURES[measure].name;
    let mut stretches: Vec<Vec<Dot>> = Vec::new();
    let mut marks = Vec::new();
    let mut last_end = f64::NEG_INFINITY;
    for ((point, flags), at) in timeline.points.iter().zip(places) {
        let (Some(at), Some(value)) = (at, point.value(measure)) else {
            // A report that does not tell leaves its stretch empty.
            last_end = f64::NEG_INFINITY;
            continue;
        };
        if at.begin > last_end + SLACK_H || stretches.is_empty() {
            stretches.push(Vec::new());
        }
        last_end = at.end;
        let when = point.begin.map_or_else(String::new, |begin| begin.strftime("%Y-%m-%d %H:%M").to_string());
        // Axes begin at 0.
        let drawn = value.max(0.0);
        let dot = Dot {
            hover: format!("{when}: {name} {}", figure(value)),
            ..Dot::at((at.begin + at.end) / 2.0, drawn)
        };
        stretches.last_mut()?.push(dot);
        marks.extend(flags.iter().filter_map(|flag| mark(flag, measure, at, drawn, &when)));
    }
    marks.truncate(MARKS_MAX);
    if stretches.iter().map(Vec::len).sum::<usize>() < 2 {
        return None;
    }
    let below = stretches.iter().flatten().any(|dot| dot.y == 0.0 && dot.hover.contains(" -"));
    let series = |points| Series { name: name.into(), kind: Kind::Line, style: 0, points };
    let usual = |points| Series { name: "usual in its level".into(), kind: Kind::Fit, style: 1, points };
    let spans = timeline.levels.get(measure).into_iter().flatten();
    let levels = spans.filter_map(|span| Some(usual(level(span, places)?)));
    Some(Chart {
        id: MEASURES[measure].column.replace(['.', '_'], "-"),
        title: format!("{name} over time"),
        about: format!(
            "Each point is one report, in the middle of its interval; where no report is, there is no line. Rings are \
             anomalies, dashes what is usual.{}",
            if below { " What is below 0 is drawn at 0." } else { "" }
        ),
        x: x.clone(),
        y: Axis::linear(name, Quantity::Plain("")),
        series: stretches.into_iter().map(series).chain(levels).collect(),
        marks,
    })
}

/// The middle of a level, from its first report to its last.
fn level(span: &Span, places: &[Option<Hours>]) -> Option<Vec<Dot>> {
    let (first, last) = ((*places.get(span.first)?)?, (*places.get(span.last)?)?);
    let dot =
        |x: f64| Dot { hover: format!("usual: {}", figure(span.median)), ..Dot::at(x, span.median.max(0.0)) };
    Some(vec![dot(first.begin), dot(last.end)])
}

fn mark(flag: &Flag, measure: usize, at: &Hours, drawn: f64, when: &str) -> Option<Mark> {
    match flag {
        Flag::Anomaly(anomaly) if anomaly.figures.iter().any(|figure| figure.measure == measure) => {
            Some(Mark {
                name: format!("anomaly: {when}"),
                at: MarkAt::Point((at.begin + at.end) / 2.0, drawn),
            })
        }
        Flag::Gap { .. } => Some(Mark { name: format!("gap before {when}"), at: MarkAt::X(at.begin) }),
        Flag::Restart => Some(Mark { name: format!("restart before {when}"), at: MarkAt::X(at.begin) }),
        _ => None,
    }
}
