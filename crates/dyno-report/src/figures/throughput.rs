//! Chart of throughput over load.

use dyno_analyze::number::{self, figure};
use dyno_analyze::points::{Points, SESSIONS};

use crate::chart::{Chart, ChartAxis, ChartMark, MarkAt, Quantity};

use super::curve::{along_curves, axis_along, knee_marks};
use super::ramp::fit_series;
use super::{OPS, RampCurve, best, place_of};

pub(super) fn throughput(points: &Points, ramps: &[RampCurve<'_>]) -> Option<Chart> {
    let (path, x) = axis_along(points)?;
    let mut marks = Vec::new();
    if let Some((top, rate)) = best(points).and_then(|point| Some((point, point.get(OPS)?))) {
        let limit = top.limited().map_or_else(String::new, |limit| format!(", limit: {}", limit.short()));
        let sessions = number::sessions(f64::from(top.sessions));
        let name = format!("highest: {}/s with {sessions}{limit}", figure(rate));
        let place = place_of(points, top, &path);
        marks.extend(place.map(|x| ChartMark { name, at: MarkAt::Point(x, rate) }));
    }
    marks.extend(knee_marks(points, &path, |point| Some((place_of(points, point, &path)?, point.get(OPS)?))));
    let axis_label = if path == SESSIONS { "sessions".to_owned() } else { x.label.clone() };
    let mut series = along_curves(points, &path, OPS);
    if path == SESSIONS {
        let style = |ramp: &RampCurve<'_>| {
            series.iter().find(|s| s.name == ramp.name || ramp.name.is_empty()).map_or(0, |s| s.style)
        };
        let fits: Vec<_> = ramps.iter().filter_map(|ramp| fit_series(ramp, style(ramp))).collect();
        series.extend(fits);
    }
    Some(Chart {
        id: "throughput".into(),
        title: format!("Throughput by {axis_label}"),
        about: "Operations per second as load rises; whiskers are the smallest and the largest repeat, the dashed line is the model that fits best.".into(),
        series,
        x,
        y: ChartAxis::linear("operations", Quantity::Plain("/s")),
        marks,
    })
}

/// Scans in bytes, because a scan is not a lookup.
pub(super) fn of_scans(points: &Points) -> Option<Chart> {
    let (path, x) = axis_along(points)?;
    let axis_label = if path == SESSIONS { "sessions".to_owned() } else { x.label.clone() };
    Some(Chart {
        id: "scans".into(),
        title: format!("Scans by {axis_label}"),
        about: "Blocks read by runs of scans alone; whiskers are the smallest and the largest repeat.".into(),
        series: along_curves(points, &path, "scan_mb_per_s"),
        x,
        y: ChartAxis::linear("scanned", Quantity::Plain("MB/s")),
        marks: vec![],
    })
}
