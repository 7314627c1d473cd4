//! Helpers for charts of curves, and service times along the load.

use dyno_analyze::knee::knee_index;
use dyno_analyze::number::{self, figure, time_us};
use dyno_analyze::points::{MeasuredCurve, MeasuredPoint as Measured, Points, SESSIONS};

use crate::chart::{Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind};

use super::{OPS, anchor, curve_axis, curve_words, place_of, range, typical};

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

/// A ring at the knee of each curve over sessions, by the rule of the summary; `place` says where a point is.
pub(super) fn knee_marks(
    points: &Points,
    path: &str,
    place: impl Fn(&Measured) -> Option<(f64, f64)>,
) -> Vec<ChartMark> {
    let curves = if path == SESSIONS { points.curves(path) } else { Vec::new() };
    let mark = |curve: &MeasuredCurve<'_>| {
        let loads = curve.loads(OPS, "service_mean_us");
        let knee = loads.get(knee_index(&loads).ok()?)?.sessions;
        let point = curve.points.iter().find(|point| f64::from(point.sessions) == knee)?;
        let (x, y) = place(point)?;
        Some(ChartMark { name: format!("knee: {}", setting(point, curve)), at: MarkAt::Knee(x, y) })
    };
    // Rings on many curves would hide the points.
    if curves.len() > KNEES_MAX { Vec::new() } else { curves.iter().filter_map(mark).collect() }
}

/// Maximum curves whose knees are marked.
const KNEES_MAX: usize = 4;

/// Service time along the load: the 99th percentile of each curve, or all percentiles of a single one.
pub(super) fn service_times(points: &Points) -> Option<Chart> {
    let (path, x) = axis_along(points)?;
    if points.curves(&path).len() < 2 {
        return percentiles(points, &path, x);
    }
    let series = along_curves(points, &path, P99);
    let y = ChartAxis::linear("service time, p99", Quantity::Micros).log_if_wide(&series);
    Some(Chart {
        id: "p99".into(),
        title: format!("Service time p99 by {}", x.label),
        about: "99th percentile of service time as load rises; repeats are merged as histograms.".into(),
        x,
        y,
        series,
        marks: vec![],
    })
}

/// The measure of the 99th percentile.
const P99: &str = "service_p99_us";

/// Percentiles of service time along a single curve.
fn percentiles(points: &Points, path: &str, x: ChartAxis) -> Option<Chart> {
    let curves = points.curves(path);
    let curve = curves.first()?;
    let figures =
        [("service_p50_us", "p50"), ("service_p95_us", "p95"), (P99, "p99"), ("service_p999_us", "p99.9")];
    let series = figures.iter().enumerate().map(|(style, (measure, name))| {
        let point = |p: &&Measured| {
            let estimate = p.estimates.get(*measure)?;
            let hover = format!("{}: {name} {}", setting(p, curve), time_us(estimate.value));
            let at = ChartPoint::at(place_of(points, p, path)?, estimate.value);
            Some(ChartPoint { range: range(estimate), hover, link: anchor(&typical(p).id), ..at })
        };
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Line,
            style,
            points: curve.points.iter().filter_map(point).collect(),
        }
    });
    Some(Chart {
        id: "percentiles".into(),
        title: "Latency percentiles".into(),
        about: "Percentiles of service time as load rises; repeats are merged as histograms.".into(),
        x,
        y: ChartAxis::log("service time", Quantity::Micros),
        series: series.filter(|series| !series.points.is_empty()).collect(),
        marks: vec![],
    })
}
