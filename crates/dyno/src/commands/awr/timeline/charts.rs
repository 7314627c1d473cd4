//! Charts of a timeline: each measure over time of day with its levels; periods without a report stay empty.

use dyno_awr::timeline::{AwrLevelSpan, AwrTimelinePoint, Flag, MEASURES, Timeline};
use dyno_report::chart::{
    Chart, ChartAxis, ChartMark, ChartPoint as Dot, ChartSeries, MarkAt, Quantity, SeriesKind,
};
use dyno_report::number::figure;
use jiff::Unit;
use jiff::civil::DateTime;

use super::{clock, stacks};

/// Maximum anomalies and restarts marked in one chart; more marks would be unreadable.
const MARKS_MAX: usize = 8;

/// Longest time between two reports that is not a gap, hours: snapshots may be seconds late.
const SLACK_H: f64 = 0.05;

/// Position of a report, in hours since the first one.
#[derive(Clone, Copy)]
struct Hours {
    begin: f64,
    end: f64,
}

fn hours(point: &AwrTimelinePoint, first: DateTime) -> Option<Hours> {
    // By default a span of civil time contains days, whose length in hours is unknown.
    let since = point.begin?.since((Unit::Second, first)).ok()?;
    let begin = since.total(Unit::Second).ok()? / 3_600.0;
    Some(Hours { begin, end: begin + point.minutes.unwrap_or(0.0) / 60.0 })
}

/// One chart for each measure that at least two reports have, and DB time by event and by class.
pub(super) fn charts(timeline: &Timeline) -> Vec<Chart> {
    let Some(first) = timeline.points.iter().filter_map(|(point, _)| point.begin).min() else {
        return Vec::new();
    };
    let places: Vec<Option<Hours>> = timeline.points.iter().map(|(point, _)| hours(point, first)).collect();
    let hours = places.iter().flatten().fold(0.0, |most: f64, place| most.max(place.end));
    let x = clock::axis(first, hours);
    let mut charts: Vec<Chart> =
        (0..MEASURES.len()).filter_map(|measure| chart(timeline, measure, &x, &places)).collect();
    let spans: Vec<stacks::TimelineSpan> =
        places.iter().map(|place| place.map(|at| (at.begin, at.end))).collect();
    // After the chart of active sessions, whose parts they show.
    let first = charts.len().min(1);
    charts.splice(first..first, stacks::charts(timeline, &x, &spans));
    charts
}

fn chart(timeline: &Timeline, measure: usize, x: &ChartAxis, places: &[Option<Hours>]) -> Option<Chart> {
    let name = MEASURES[measure].name;
    let mut stretches: Vec<Vec<Dot>> = Vec::new();
    let mut marks = Vec::new();
    let mut last_end = f64::NEG_INFINITY;
    for ((point, flags), at) in timeline.points.iter().zip(places) {
        let (Some(at), Some(value)) = (at, point.value(measure)) else {
            // A report without the value leaves its period empty.
            last_end = f64::NEG_INFINITY;
            continue;
        };
        if at.begin > last_end + SLACK_H || stretches.is_empty() {
            stretches.push(Vec::new());
        }
        last_end = at.end;
        let when = point.begin.map_or_else(String::new, |begin| begin.strftime("%Y-%m-%d %H:%M").to_string());
        // The axis begins at 0.
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
    let series = |points| ChartSeries { name: name.into(), kind: SeriesKind::Line, style: 0, points };
    let usual =
        |points| ChartSeries { name: "usual in its level".into(), kind: SeriesKind::Fit, style: 1, points };
    let spans = timeline.levels.get(measure).into_iter().flatten();
    let levels = spans.filter_map(|span| Some(usual(level(span, places)?)));
    Some(Chart {
        id: MEASURES[measure].column.replace(['.', '_'], "-"),
        title: format!("{name} over time"),
        about: format!(
            "Each point is one report, in the middle of its interval; gaps without a report have no line. \
                Rings are anomalies, dashes usual values.{}",
            if below { " Values below 0 are drawn at 0." } else { "" }
        ),
        x: x.clone(),
        y: ChartAxis::linear(name, Quantity::Plain("")),
        series: stretches.into_iter().map(series).chain(levels).collect(),
        marks,
    })
}

/// Middle line of a level, from its first report to its last.
fn level(span: &AwrLevelSpan, places: &[Option<Hours>]) -> Option<Vec<Dot>> {
    let (first, last) = ((*places.get(span.first)?)?, (*places.get(span.last)?)?);
    let dot =
        |x: f64| Dot { hover: format!("usual: {}", figure(span.median)), ..Dot::at(x, span.median.max(0.0)) };
    Some(vec![dot(first.begin), dot(last.end)])
}

fn mark(flag: &Flag, measure: usize, at: &Hours, drawn: f64, when: &str) -> Option<ChartMark> {
    match flag {
        Flag::Anomaly(anomaly) if anomaly.figures.iter().any(|figure| figure.measure == measure) => {
            Some(ChartMark {
                name: format!("anomaly: {when}"),
                at: MarkAt::Point((at.begin + at.end) / 2.0, drawn),
            })
        }
        Flag::Gap { .. } => Some(ChartMark { name: format!("gap before {when}"), at: MarkAt::X(at.begin) }),
        Flag::Restart => Some(ChartMark { name: format!("restart before {when}"), at: MarkAt::X(at.begin) }),
        _ => None,
    }
}
