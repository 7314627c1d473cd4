//! Helpers for charts of curves, and percentiles along the curve with the highest throughput.

use dyno_analyze::number::{self, figure, time_us};
use dyno_analyze::points::{MeasuredCurve, MeasuredPoint as Measured, Points, SESSIONS};

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};

use super::{anchor, best, curve_axis, curve_words, place_of, range, typical};

/// Name of a curve in a legend; empty for a single curve.
pub(super) fn name(curve: &MeasuredCurve<'_>) -> String {
    let name = curve_words(curve);
    if name.is_empty() { "measured".into() } else { name }
}

/// Setting of a point in words: `16 sessions, update_pct 20 %`.
pub(super) fn setting(point: &Measured, curve: &MeasuredCurve<'_>) -> String {
    let sessions = number::sessions(f64::from(point.sessions));
    let name = curve_words(curve);
    if name.is_empty() { sessions } else { format!("{sessions}, {name}") }
}

/// Tooltip of a point: its setting and its measurements.
pub(super) fn hover(point: &Measured, curve: &MeasuredCurve<'_>) -> String {
    let mut out = setting(point, curve);
    if let Some(ops) = point.get("ops_per_s") {
        out.push_str(&format!(": {} operations/s", figure(ops)));
    }
    for (measure, word) in [("service_p50_us", "p50"), ("service_p99_us", "p99")] {
        if let Some(time) = point.get(measure) {
            out.push_str(&format!(", {word} {}", time_us(time)));
        }
    }
    if point.runs.len() > 1 {
        out.push_str(&format!(" ({} repeats)", point.runs.len()));
    }
    out
}

/// The axis of the curves: logarithmic if its values double, with a tick at each.
pub(super) fn axis_along(points: &Points) -> Option<(String, ChartAxis)> {
    let axis = curve_axis(points)?;
    let path = axis.path.clone();
    let mut values: Vec<f64> = points.points.iter().filter_map(|p| place_of(points, p, &path)).collect();
    values.sort_by(f64::total_cmp);
    let (least, most) = (values.first().copied()?, values.last().copied()?);
    let doubles = least > 0.0 && most / least >= 12.0;
    let (label, unit) = if path == SESSIONS { ("sessions", "") } else { (axis.name(), axis.unit) };
    let quantity = Quantity::Plain(unit);
    let axis = if doubles { ChartAxis::log(label, quantity) } else { ChartAxis::linear(label, quantity) };
    Some((path, axis.ticks_at(values)))
}

/// One measure along all curves.
pub(super) fn along_curves(points: &Points, path: &str, measure: &str) -> Vec<ChartSeries> {
    let curves = points.curves(path);
    let series = curves.iter().enumerate().map(|(style, curve)| {
        let point = |p: &&Measured| {
            let estimate = p.estimates.get(measure)?;
            Some(ChartPoint {
                x: place_of(points, p, path)?,
                y: estimate.value,
                range: range(estimate),
                hover: hover(p, curve),
                link: anchor(&typical(p).id),
                ..ChartPoint::default()
            })
        };
        ChartSeries {
            name: name(curve),
            kind: SeriesKind::Line,
            style,
            points: curve.points.iter().filter_map(point).collect(),
        }
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

/// Percentiles of service time along the curve with the highest throughput.
pub(super) fn percentiles(points: &Points) -> Option<Chart> {
    let (path, x) = axis_along(points)?;
    let top = best(points)?;
    let curves = points.curves(&path);
    let curve = curves.iter().find(|curve| curve.points.iter().any(|p| std::ptr::eq(*p, top)))?;
    let figures = [
        ("service_p50_us", "p50"),
        ("service_p95_us", "p95"),
        ("service_p99_us", "p99"),
        ("service_p999_us", "p99.9"),
    ];
    let series = figures.iter().enumerate().map(|(style, (measure, name))| {
        let point = |p: &&Measured| {
            let estimate = p.estimates.get(*measure)?;
            let hover = format!("{}: {name} {}", setting(p, curve), time_us(estimate.value));
            let at = ChartPoint::at(place_of(points, p, &path)?, estimate.value);
            Some(ChartPoint { range: range(estimate), hover, link: anchor(&typical(p).id), ..at })
        };
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Line,
            style,
            points: curve.points.iter().filter_map(point).collect(),
        }
    });
    let curve_label = curve_words(curve);
    let title = if curve_label.is_empty() {
        "Latency percentiles".to_owned()
    } else {
        format!("Latency percentiles, {curve_label}")
    };
    Some(Chart {
        id: "percentiles".into(),
        title,
        about: "Percentiles of service time as load rises, along the curve with the highest throughput; repeats are merged as histograms.".into(),
        x,
        y: ChartAxis::log("service time", Quantity::Micros),
        series: series.filter(|series| !series.points.is_empty()).collect(),
        marks: vec![],
    })
}
