//! Small charts of individual curves on the same axes, because many curves in one chart hide each other.

use dyno_analyze::number::figure;
use dyno_analyze::points::{MeasuredPoint as Measured, Points};

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};

use super::curve::{axis_along, hover};
use super::{OPS, anchor, curve_name, place_of, range, typical};

/// Range of curves: with fewer, one chart is enough; with more, individual charts are too many.
const CURVES: std::ops::RangeInclusive<usize> = 3..=24;

/// The charts; empty outside the range of curves.
pub(crate) fn multiples(points: &Points) -> Vec<Chart> {
    let (lookups, _) = points.without_scans();
    let points = lookups.as_ref().unwrap_or(points);
    let Some((path, x)) = axis_along(points) else { return Vec::new() };
    let curves = points.curves(&path);
    let most = points.points.iter().filter_map(|point| point.estimates.get(OPS)).map(|own| own.max());
    let most = most.fold(0.0, f64::max);
    if !CURVES.contains(&curves.len()) || most <= 0.0 {
        return Vec::new();
    }
    let chart = |(at, curve): (usize, &dyno_analyze::points::MeasuredCurve<'_>)| {
        let point = |p: &&Measured| {
            let estimate = p.estimates.get(OPS)?;
            Some(ChartPoint {
                range: range(estimate),
                hover: hover(p, curve),
                link: anchor(&typical(p).id),
                ..ChartPoint::at(place_of(points, p, &path)?, estimate.value)
            })
        };
        let drawn: Vec<ChartPoint> = curve.points.iter().filter_map(point).collect();
        let top = drawn.iter().map(|point| point.y).fold(0.0, f64::max);
        let series =
            ChartSeries { name: "operations".into(), kind: SeriesKind::Line, style: at, points: drawn };
        Chart {
            id: format!("curve-{}", at + 1),
            title: curve_name(curve),
            about: format!("At most {} operations/s; all of these charts have the same axes.", figure(top)),
            x: x.clone(),
            y: ChartAxis::linear("operations", Quantity::Plain("/s")).reaching(most),
            series: vec![series],
            marks: vec![],
        }
    };
    curves.iter().enumerate().map(chart).filter(|chart| chart.series[0].points.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use dyno_analyze::{fixture, points};
    use dyno_record::RunRecord;

    use super::*;

    #[test]
    fn small_multiples_have_one_chart_per_curve_and_equal_axes() {
        let grid = |mixes: &[u32]| -> Vec<RunRecord> {
            mixes
                .iter()
                .flat_map(|updates| [1, 2, 4].map(|sessions| fixture::at_point((*updates, sessions))))
                .collect()
        };
        let charts = multiples(&points(&grid(&[0, 20, 50])));
        assert_eq!(charts.len(), 3);
        assert!(charts.windows(2).all(|pair| pair[0].y == pair[1].y && pair[0].x == pair[1].x));
        assert!(multiples(&points(&grid(&[0, 20]))).is_empty(), "two curves have room in one chart");
    }
}
