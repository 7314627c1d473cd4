//! Maps values to positions along an axis.

use super::model::{Chart, ChartAxis, MARKERS_MAX, MarkAt, ScaleKind, SeriesKind};
use super::quantity::{AxisUnit, Quantity};
use super::ticks;

/// Maximum number of given ticks that remain readable.
const GIVEN_MAX: usize = 12;

/// Desired number of ticks, approximately.
const TICKS_WANTED: usize = 5;

/// Values up to this factor beyond the axis end are drawn at its end: sums are rounded.
const EDGE: f64 = 1.005;

/// The end of an axis as a multiple of its largest value, so that a marker there does not lie on the frame.
const MARKER_ROOM: f64 = 1.04;

/// Whether the chart draws points as markers.
fn has_markers(chart: &Chart) -> bool {
    chart.series.iter().any(|series| match series.kind {
        SeriesKind::Line => series.points.len() <= MARKERS_MAX,
        SeriesKind::Dots => true,
        _ => false,
    })
}

/// The range of values on an axis.
#[derive(Debug, Clone, Copy)]
struct Extent {
    least: f64,
    /// The smallest value above zero, for logarithms.
    least_positive: f64,
    most: f64,
}

impl Extent {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut extent =
            Self { least: f64::INFINITY, least_positive: f64::INFINITY, most: f64::NEG_INFINITY };
        for value in values.filter(|value| value.is_finite()) {
            extent.least = extent.least.min(value);
            extent.most = extent.most.max(value);
            if value > 0.0 {
                extent.least_positive = extent.least_positive.min(value);
            }
        }
        extent
    }
}

/// Position and text of a tick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) text: String,
}

/// An axis with the range of its values.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    pub(crate) log: bool,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) unit: AxisUnit,
}

impl Scale {
    /// The scale of the horizontal axis.
    pub(crate) fn of_x(chart: &Chart) -> Self {
        let points = chart.series.iter().flat_map(|s| s.points.iter().map(move |p| (s.kind, p)));
        let ends = points.flat_map(|(kind, p)| {
            [p.x, if matches!(kind, SeriesKind::Bar | SeriesKind::Tile) { p.x_end } else { p.x }]
        });
        let marks = chart.marks.iter().filter_map(|mark| match mark.at {
            MarkAt::X(x) => Some(x),
            _ => None,
        });
        Self::of(&chart.x, Extent::of(ends.chain(marks)), has_markers(chart))
    }

    /// The scale of the vertical axis.
    pub(crate) fn of_y(chart: &Chart) -> Self {
        let plain = chart.series.iter().filter(|s| !matches!(s.kind, SeriesKind::Area | SeriesKind::Column));
        let plain = plain.flat_map(|s| &s.points).flat_map(|p| {
            let (low, high) = p.range.unwrap_or((p.y, p.y));
            [p.y, low, high]
        });
        let stacked = [SeriesKind::Area, SeriesKind::Column].into_iter().flat_map(|kind| chart.stacked(kind));
        let stacked = stacked.flat_map(|(_, parts)| parts).map(|part| part.to);
        let marks = chart.marks.iter().filter_map(|mark| match mark.at {
            MarkAt::Y(y) => Some(y),
            _ => None,
        });
        Self::of(&chart.y, Extent::of(plain.chain(stacked).chain(marks)), has_markers(chart))
    }

    /// `has_markers`: points are drawn as markers, which need room up to the frame.
    fn of(axis: &ChartAxis, extent: Extent, has_markers: bool) -> Self {
        match &axis.scale {
            ScaleKind::Ordinal(categories) => {
                let ticks = categories.iter().enumerate();
                let ticks = ticks.map(|(i, c)| Tick { value: i as f64, text: c.label.clone() }).collect();
                let unit = AxisUnit { name: "", size: 1.0, suffix: "" };
                Self { log: false, low: -0.5, high: categories.len().max(1) as f64 - 0.5, ticks, unit }
            }
            ScaleKind::Log if extent.least_positive.is_finite() => Self::log(axis, extent),
            ScaleKind::Linear if !axis.named.is_empty() => Self::named(axis, extent, has_markers),
            ScaleKind::Log | ScaleKind::Linear => Self::linear(axis, extent, has_markers),
        }
    }

    /// The texts describe the values, so no unit is shown.
    fn named(axis: &ChartAxis, extent: Extent, has_markers: bool) -> Self {
        let most = if extent.most.is_finite() && extent.most > 0.0 { extent.most } else { 1.0 };
        let high = if has_markers { most * MARKER_ROOM } else { most };
        let ticks = axis.named.iter().filter(|(value, _)| (0.0..=high).contains(value));
        let ticks = ticks.map(|(value, text)| Tick { value: *value, text: text.clone() }).collect();
        Self { log: false, low: 0.0, high, ticks, unit: AxisUnit { name: "", size: 1.0, suffix: "" } }
    }

    /// The requested ticks, unless too many to be readable; then round numbers are used.
    fn axis_ticks(axis: &ChartAxis) -> &[f64] {
        if axis.ticks_at.len() > GIVEN_MAX { &[] } else { &axis.ticks_at }
    }

    fn linear(axis: &ChartAxis, extent: Extent, has_markers: bool) -> Self {
        let fixed_ticks = Self::axis_ticks(axis);
        // Shares whose sum is slightly over 100 % are drawn as 100 %.
        let most = match axis.reaches {
            Some(reach) if extent.most <= reach * EDGE => reach,
            _ => extent.most,
        };
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let clock = axis.quantity == Quantity::Seconds;
        let mut values = match (fixed_ticks.is_empty(), clock) {
            (false, _) => fixed_ticks.to_vec(),
            (true, true) => ticks::clock(most, TICKS_WANTED),
            (true, false) => ticks::linear(most, TICKS_WANTED),
        };
        let step = values.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
        // Round numbers extend beyond the data; a clock ends with the data; given ticks end with some space
        // after them.
        let high = match (fixed_ticks.is_empty(), clock) {
            (true, false) => {
                let last = *values.last().unwrap_or(&most);
                let is_at_frame = has_markers && axis.reaches.is_none() && most * MARKER_ROOM > last;
                if is_at_frame { most * MARKER_ROOM } else { last }
            }
            (true, true) => most,
            (false, _) => most * MARKER_ROOM,
        };
        values.retain(|&value| value <= high);
        let unit = axis.quantity.unit_for(high);
        let step = if step.is_finite() { step } else { high };
        let ticks = values.into_iter().map(|value| Tick { value, text: unit.tick(value, step) }).collect();
        Self { log: false, low: 0.0, high, ticks, unit }
    }

    fn log(axis: &ChartAxis, extent: Extent) -> Self {
        let (min, max) = (extent.least_positive, extent.most.max(extent.least_positive));
        let fixed_ticks = Self::axis_ticks(axis);
        let (low, high, values) = if axis.ticks_at.is_empty() {
            let values = ticks::log(min, max);
            let (low, high) = (values[0], *values.last().unwrap_or(&max));
            if high > low { (low, high, values) } else { (low / 2.0, high * 2.0, values) }
        } else {
            let air = (max / min).powf(0.04).max(1.05);
            let round = || ticks::log(min, max);
            let values = if fixed_ticks.is_empty() { round() } else { fixed_ticks.to_vec() };
            (min / air, max * air, values.into_iter().filter(|&tick| tick > 0.0).collect())
        };
        let ticks = values.into_iter().filter(|value| (low..=high).contains(value));
        let ticks = ticks.map(|value| Tick { value, text: axis.quantity.log_tick(value) }).collect();
        // Ticks include their units, so the label needs a unit only for plain numbers.
        let name = match axis.quantity {
            Quantity::Micros => "",
            other => other.unit_for(0.0).name,
        };
        Self { log: true, low, high, ticks, unit: AxisUnit { name, size: 1.0, suffix: "" } }
    }

    /// Position of `value` along the axis: 0 at its start, 1 at its end; `None` if it cannot be drawn.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // A point outside the plot would be drawn over labels.
        (share.is_finite() && (-1e-6..=EDGE).contains(&share)).then_some(share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{ChartPoint, ChartSeries};

    fn chart(x: ChartAxis, y: ChartAxis, points: Vec<ChartPoint>) -> Chart {
        let series = ChartSeries { name: "s".into(), kind: SeriesKind::Line, style: 0, points };
        Chart {
            id: "c".into(),
            title: String::new(),
            about: String::new(),
            x,
            y,
            series: vec![series],
            marks: vec![],
        }
    }

    #[test]
    fn chart_axes_cover_every_point() {
        let points: Vec<ChartPoint> =
            (1..=7).map(|i| ChartPoint::at(f64::from(1 << (i - 1)), 37.3 * f64::from(i))).collect();
        let sessions =
            ChartAxis::log("sessions", Quantity::Plain("")).ticks_at(points.iter().map(|p| p.x).collect());
        let chart = chart(sessions, ChartAxis::log("p99", Quantity::Micros), points.clone());
        let (x, y) = (Scale::of_x(&chart), Scale::of_y(&chart));
        assert!(points.iter().all(|p| x.share(p.x).is_some() && y.share(p.y).is_some()));
        assert_eq!(
            x.ticks.iter().map(|t| t.text.as_str()).collect::<Vec<_>>(),
            ["1", "2", "4", "8", "16", "32", "64"]
        );
        assert_eq!(y.share(0.0), None);
    }

    #[test]
    fn markers_never_lie_on_the_frame() {
        let points: Vec<ChartPoint> =
            (1..=10).map(|i| ChartPoint::at(f64::from(i), f64::from(i) * 10.0)).collect();
        let axis = || ChartAxis::linear("run", Quantity::Plain(""));
        let named = axis().named(vec![(1.0, "a".into()), (10.0, "b".into())]);
        for x in [axis(), named] {
            let chart = chart(x, axis(), points.clone());
            for (scale, last) in [(Scale::of_x(&chart), 10.0), (Scale::of_y(&chart), 100.0)] {
                assert!(scale.share(last).is_some_and(|share| share < 0.98), "{scale:?}");
            }
        }
    }

    #[test]
    fn too_many_given_ticks_are_replaced_by_round_ones() {
        let points: Vec<ChartPoint> = (1..=200).map(|i| ChartPoint::at(f64::from(i), 5.0)).collect();
        let at: Vec<f64> = points.iter().map(|p| p.x).collect();
        for axis in [
            ChartAxis::log("sessions", Quantity::Plain("")),
            ChartAxis::linear("sessions", Quantity::Plain("")),
        ] {
            let scale = Scale::of_x(&chart(
                axis.ticks_at(at.clone()),
                ChartAxis::linear("y", Quantity::Micros),
                points.clone(),
            ));
            let texts: Vec<&str> = scale.ticks.iter().map(|t| t.text.as_str()).collect();
            assert!((4..=10).contains(&texts.len()), "{texts:?}");
            assert!(texts.contains(&"100"), "{texts:?}");
            assert!(points.iter().all(|p| scale.share(p.x).is_some()));
        }
    }

    #[test]
    fn axis_scale_is_valid_for_one_or_no_points() {
        for points in [vec![], vec![ChartPoint::at(1.0, 0.0)], vec![ChartPoint::at(5.0, 5.0)]] {
            for y in [ChartAxis::linear("y", Quantity::Micros), ChartAxis::log("y", Quantity::Micros)] {
                let chart = chart(ChartAxis::linear("x", Quantity::Seconds), y, points.clone());
                for scale in [Scale::of_x(&chart), Scale::of_y(&chart)] {
                    assert!(scale.high > scale.low, "{scale:?}");
                    assert!(!scale.ticks.is_empty(), "{scale:?}");
                }
            }
        }
    }
}
