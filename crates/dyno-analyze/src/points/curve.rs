//! Curves: the points along one axis, with all other settings equal.

use super::axis::{AxisValue, SettingAxis};
use super::{MeasuredPoint, Points};
use crate::number::ABSENT;

/// The points along one axis, in its order, with all other axes at fixed values.
#[derive(Debug, Clone)]
pub struct MeasuredCurve<'p> {
    /// The other axes and their values.
    pub fixed: Vec<(&'p SettingAxis, &'p AxisValue)>,
    /// The points in order of the axis.
    pub points: Vec<&'p MeasuredPoint>,
}

impl MeasuredCurve<'_> {
    /// What distinguishes this curve: `update_pct 20, block_size 8K`; empty for a single one.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self
            .fixed
            .iter()
            .map(|(axis, value)| match value.number {
                _ if value.text.is_empty() => format!("{} {ABSENT}", axis.name()),
                Some(_) if !axis.unit.is_empty() && value.text.parse::<f64>().is_ok() => {
                    format!("{} {} {}", axis.name(), value.text, axis.unit)
                }
                _ => format!("{} {}", axis.name(), value.text),
            })
            .collect();
        parts.join(", ")
    }

    /// The variant of the platform, where there are several.
    pub fn variant(&self) -> Option<String> {
        let variant_value = self.fixed.iter().find(|(axis, _)| axis.path == "variant");
        variant_value.map(|(_, value)| value.text.clone()).filter(|name| !name.is_empty())
    }
}

impl Points {
    /// The curves along the axis of this path; in a ramp that is [`SESSIONS`](super::SESSIONS). An
    /// axis in which the runs do not differ gives curves of one point.
    pub fn curves(&self, along: &str) -> Vec<MeasuredCurve<'_>> {
        let place = self.axes.iter().position(|axis| axis.path == along);
        let mut curves: Vec<MeasuredCurve<'_>> = Vec::new();
        for point in &self.points {
            let fixed: Vec<_> = self
                .axes
                .iter()
                .zip(&point.values)
                .enumerate()
                .filter(|(i, _)| Some(*i) != place)
                .map(|(_, pair)| pair)
                .collect();
            match curves.iter_mut().find(|curve| curve.fixed == fixed) {
                Some(curve) => curve.points.push(point),
                None => curves.push(MeasuredCurve { fixed, points: vec![point] }),
            }
        }
        if let Some(place) = place {
            for curve in &mut curves {
                curve.points.sort_by(|a, b| a.values[place].order(&b.values[place]));
            }
        }
        curves
    }

    /// The axis along which the load rises: [`SESSIONS`](super::SESSIONS), or the rate of an open
    /// loop if only that varies.
    pub fn load_axis(&self) -> &'static str {
        let varies = |path: &str| self.axes.iter().any(|axis| axis.path == path);
        if !varies(super::SESSIONS) && varies(super::RATE) { super::RATE } else { super::SESSIONS }
    }
}

/// Share of scans in the operations, %, above which a point counts as scans only.
const SCANS_PCT: f64 = 99.0;

impl MeasuredPoint {
    /// Whether it only scanned: such operations are no lookups and are measured in bytes.
    pub fn scans_only(&self) -> bool {
        let figures = self.get("scans_per_s").zip(self.get("ops_per_s")).zip(self.get("scan_mb_per_s"));
        figures.is_some_and(|((scans, all), _)| all > 0.0 && 100.0 * scans / all >= SCANS_PCT)
    }
}

impl Points {
    /// Separates points that only scan from all others: the others and the scans; `None` for both
    /// where no point only scans.
    pub fn without_scans(&self) -> (Option<Self>, Option<Self>) {
        if !self.points.iter().any(MeasuredPoint::scans_only) {
            return (None, None);
        }
        let (scans, others) = self.points.iter().cloned().partition(MeasuredPoint::scans_only);
        let with_points = |points| Self {
            axes: self.axes.clone(),
            points,
            left_out: Vec::new(),
            notes: self.notes.clone(),
            absent: self.absent.clone(),
        };
        (Some(with_points(others)), Some(with_points(scans)))
    }
}
