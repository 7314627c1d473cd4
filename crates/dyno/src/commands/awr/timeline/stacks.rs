//! Charts of DB time by event and by wait class over time, as stacked areas.

use std::collections::BTreeMap;

use dyno_awr::timeline::{AwrRateKind, AwrTimelinePoint, Timeline};
use dyno_report::chart::{Chart, ChartAxis, ChartPoint as Dot, ChartSeries, Quantity, SeriesKind};
use dyno_report::number::figure;

/// Events with their own area; the others share one area.
const EVENTS_MAX: usize = 7;

/// Name of the area for events beyond [`EVENTS_MAX`].
const REST: &str = "all others";

/// Processor time as a part of DB time.
const CPU: &str = "DB CPU";

/// Start and end of the report, in hours since the first one.
pub(super) type TimelineSpan = Option<(f64, f64)>;

/// Both charts, each if at least two reports have its figures.
pub(super) fn charts(timeline: &Timeline, x: &ChartAxis, places: &[TimelineSpan]) -> Vec<Chart> {
    let cpu = |point: &AwrTimelinePoint| {
        let is_cpu = |what: AwrRateKind, name: &str| what == AwrRateKind::Time && name == CPU;
        let rate = point.rates.0.iter().find(|(thing, _)| is_cpu(thing.kind, &thing.name));
        rate.map(|(_, rate)| (CPU.to_owned(), rate.value))
    };
    let events = |point: &AwrTimelinePoint| {
        let events = point.rates.0.iter().filter(|(thing, _)| thing.kind == AwrRateKind::Event);
        let events = events.map(|(thing, rate)| (thing.name.clone(), rate.value));
        events.chain(cpu(point)).collect::<BTreeMap<String, f64>>()
    };
    let classes = |point: &AwrTimelinePoint| {
        let classes = point.classes.iter().map(|(name, rate)| (name.clone(), *rate));
        classes.chain(cpu(point)).collect::<BTreeMap<String, f64>>()
    };
    let each_point = |parts: &dyn Fn(&AwrTimelinePoint) -> BTreeMap<String, f64>| {
        timeline.points.iter().map(|(point, _)| parts(point)).collect::<Vec<_>>()
    };
    let charts = [("event", each_point(&events)), ("wait class", each_point(&classes))];
    charts.into_iter().filter_map(|(kind, parts)| stack(kind, &parts, x, places)).collect()
}

fn stack(
    kind: &str,
    parts: &[BTreeMap<String, f64>],
    x: &ChartAxis,
    places: &[TimelineSpan],
) -> Option<Chart> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, rate) in parts.iter().flatten() {
        *totals.entry(name).or_default() += rate;
    }
    let mut names: Vec<&str> =
        totals.iter().filter(|(_, total)| **total > 0.0).map(|(name, _)| *name).collect();
    names.sort_by(|a, b| totals[b].total_cmp(&totals[a]));
    names.truncate(EVENTS_MAX);
    let is_named = |name: &str| names.contains(&name);
    let mut series: Vec<ChartSeries> = Vec::new();
    for (style, name) in names.iter().copied().chain([REST]).enumerate() {
        let value = |parts: &BTreeMap<String, f64>| match name {
            REST => parts.iter().filter(|(name, _)| !is_named(name)).map(|(_, rate)| rate).sum(),
            name => parts.get(name).copied().unwrap_or(0.0),
        };
        let mut points = Vec::new();
        for (place, parts) in places.iter().zip(parts) {
            let Some((begin, end)) = place.filter(|_| !parts.is_empty()) else { continue };
            let value = value(parts);
            let hover = format!("{name}: {} s per s", figure(value));
            points.push(Dot { hover, ..Dot::at((begin + end) / 2.0, value) });
        }
        if points.len() > 1 && points.iter().any(|point| point.y > 0.0) {
            series.push(ChartSeries { name: name.into(), kind: SeriesKind::Area, style, points });
        }
    }
    (!series.is_empty()).then(|| Chart {
        id: format!("db-time-by-{}", kind.replace(' ', "-")),
        title: format!("DB time by {kind}"),
        about: format!(
            "Seconds per second, each area one {kind} of foreground sessions, stacked. Across gaps between \
                reports the areas continue in a straight line."
        ),
        x: x.clone(),
        y: ChartAxis::linear("DB time, s per s", Quantity::Plain("")),
        series,
        marks: Vec::new(),
    })
}
