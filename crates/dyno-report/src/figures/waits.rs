//! Charts of what sessions waited for.

use std::collections::BTreeMap;

use dyno_analyze::limited::WaitClass;
use dyno_analyze::number::figure;
use dyno_analyze::points::{MeasuredPoint as Measured, Points};
use dyno_record::{RunRecord, SAMPLED_ACTIVE, SeriesPoint, WAITING, WaitTime, Waits};

use crate::chart::palette::WAIT;
use crate::chart::{
    Category, Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind, mean_of_chunks,
};

use super::stack::{Layer, columns};

/// Events with their own color; the others are summed up.
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

/// Average sessions in each class over all runs of a point.
fn averages(point: &Measured) -> BTreeMap<usize, f64> {
    let mut sums = BTreeMap::new();
    for event in point.runs.iter().flat_map(|run| &run.waits) {
        let class = place(&event.class, &event.event);
        *sums.entry(class).or_insert(0.0) += event.average_sessions / point.runs.len() as f64;
    }
    sums
}

/// Wait classes in the order of their colors; the last color is for system activity.
const CLASSES: [(WaitClass, &str); 8] = [
    named(WaitClass::Cpu),
    named(WaitClass::Device),
    named(WaitClass::Commit),
    named(WaitClass::RowLock),
    named(WaitClass::Latch),
    named(WaitClass::Outside),
    named(WaitClass::Other),
    named(WaitClass::Lock),
];

const fn named(class: WaitClass) -> (WaitClass, &'static str) {
    (class, class.name())
}

/// Position of a wait's class in that order.
fn place(class: &str, event: &str) -> usize {
    let wait_class = WaitClass::of(class, event);
    CLASSES.iter().position(|(known, _)| *known == wait_class).unwrap_or_default()
}

fn empty_chart(id: &str, title: &str) -> Chart {
    Chart {
        id: id.into(),
        title: title.into(),
        about:
            "Average sessions in each wait event, from samples; CPU means running or waiting for a processor."
                .into(),
        x: ChartAxis::ordinal("", vec![]),
        y: ChartAxis::linear("active sessions", Quantity::Plain("")),
        series: vec![],
        marks: vec![],
    }
}

pub(super) fn of_points(points: &Points) -> Option<Chart> {
    let layer = |(class, (_, name)): (usize, &(WaitClass, &str))| -> Layer<'_> {
        ((*name).to_owned(), Box::new(move |point: &Measured| averages(point).get(&class).copied()))
    };
    let layers: Vec<Layer<'_>> = CLASSES.iter().enumerate().map(layer).collect();
    let mut blank = empty_chart("waits", "Waits by class");
    blank.about = format!("{CLASSED} {}", blank.about);
    if let Some(words) = super::foreign_share_legend(points, &MARKED) {
        blank.about.push_str(&format!(" {words}."));
    }
    let mut chart = columns(points, &layers, figure, blank)?;
    for series in &mut chart.series {
        let class = CLASSES.iter().position(|(_, name)| *name == series.name).unwrap_or_default();
        series.style = WAIT + class;
    }
    Some(chart)
}

/// Sentence that explains the classes.
const CLASSED: &str = "Waits by class, in the colors known from Oracle's charts.";

/// Figures of the chart; if one includes activity of others, the chart is marked. Its sessions are the run's
/// own, but their waits are not.
const MARKED: [&str; 4] =
    ["database_active_sessions", "average_active_sessions", "others_cpu_pct", "cpu_busy_pct"];

/// Waits of one run over its window; `None` if intervals contain no samples.
pub(super) fn over_time(record: &RunRecord) -> Option<Chart> {
    let sampled: Vec<&SeriesPoint> =
        record.series.points.iter().filter(|point| point.metrics.contains_key(SAMPLED_ACTIVE)).collect();
    let of_class = |point: &SeriesPoint, class: usize| -> f64 {
        let waits = point.metrics.iter().filter_map(|(name, sessions)| {
            let (of, event) = name.strip_prefix(WAITING)?.split_once(':')?;
            (place(of, event) == class).then_some(*sessions)
        });
        waits.sum()
    };
    let series = CLASSES.iter().enumerate().map(|(class, (_, name))| {
        let points: Vec<ChartPoint> = sampled
            .iter()
            .map(|point| ChartPoint::at(point.at_s + point.seconds / 2.0, of_class(point, class)))
            .collect();
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Area,
            style: WAIT + class,
            points: mean_of_chunks(&points, POINTS_MAX),
        }
    });
    let series: Vec<ChartSeries> =
        series.filter(|series| series.points.len() > 1 && series.points.iter().any(|p| p.y > 0.0)).collect();
    let mut about = format!("{CLASSED} Average sessions in each class over the samples of an interval.");
    if let Some(words) = super::run_foreign_share_legend(record, &MARKED) {
        about.push_str(&format!(" {words}."));
    }
    (!series.is_empty()).then(|| Chart {
        id: "waits-over-time".into(),
        title: "Waits over time".into(),
        about,
        x: ChartAxis::linear("time in the window", Quantity::Seconds),
        y: ChartAxis::linear("sessions", Quantity::Plain("")),
        series,
        marks: vec![],
    })
}

const POINTS_MAX: usize = 360;

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
    let mut chart = empty_chart("waits-of-run", "Wait events of this run");
    chart.x = ChartAxis::ordinal("", vec![Category { label: "this run".into(), group: String::new() }]);
    if let Some(words) = super::run_foreign_share_legend(record, &MARKED) {
        chart.about.push_str(&format!(" {words}."));
    }
    let series = |event: &WaitTime| ChartSeries {
        name: format!("{} ({})", event_name(event), figure(event.average_sessions)),
        kind: SeriesKind::Column,
        style: WAIT + place(&event.class, &event.event),
        points: vec![ChartPoint { hover: hover(event), ..ChartPoint::at(0.0, event.average_sessions) }],
    };
    chart.series = shown.iter().map(series).collect();
    Some(chart)
}
