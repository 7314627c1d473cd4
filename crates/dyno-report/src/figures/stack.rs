//! Stacked columns at each point; shared by processor time and waits.

use dyno_analyze::points::{MeasuredCurve, MeasuredPoint as Measured, Points};

use crate::chart::{Category, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesKind};

use super::curve::{axis_along, setting};
use super::{anchor, curve_words, place_of, typical};

/// Maximum number of distinguishable columns; with more points only the curve with the highest throughput is
/// shown.
const COLUMNS_MAX: usize = 60;

/// A layer of the columns: its name, and its value at a point.
pub(super) type Layer<'a> = (String, Box<dyn Fn(&Measured) -> Option<f64> + 'a>);

/// The chart `blank` with the layers at every point as columns, grouped by curve.
pub(super) fn columns(
    points: &Points,
    layers: &[Layer<'_>],
    show: fn(f64) -> String,
    mut blank: Chart,
) -> Option<Chart> {
    let (path, axis) = axis_along(points)?;
    let curves = points.curves(&path);
    let few = points.points.len() <= COLUMNS_MAX;
    let best = super::best(points);
    let holds_best =
        |curve: &&MeasuredCurve<'_>| curve.points.iter().any(|p| best.is_some_and(|b| std::ptr::eq(*p, b)));
    let shown: Vec<_> = curves.iter().filter(|curve| few || holds_best(curve)).collect();
    let places: Vec<(&MeasuredCurve<'_>, &Measured)> =
        shown.iter().flat_map(|curve| curve.points.iter().map(move |point| (*curve, *point))).collect();
    let category = |&(curve, point): &(&MeasuredCurve<'_>, &Measured)| Category {
        label: place_of(points, point, &path).map_or_else(String::new, |value| format!("{value}")),
        group: curve_words(curve),
    };
    blank.x = ChartAxis::ordinal(&axis.label, places.iter().map(category).collect());
    let series = layers.iter().enumerate().map(|(style, (name, value))| {
        let points = places.iter().enumerate().filter_map(|(i, (curve, point))| {
            let y = value(point)?;
            let hover = format!("{}: {name} {}", setting(point, curve), show(y));
            Some(ChartPoint { hover, link: anchor(&typical(point).id), ..ChartPoint::at(i as f64, y) })
        });
        ChartSeries { name: name.clone(), kind: SeriesKind::Column, style, points: points.collect() }
    });
    blank.series = series.filter(|series| series.points.iter().any(|point| point.y > 0.0)).collect();
    (!blank.series.is_empty()).then_some(blank)
}
