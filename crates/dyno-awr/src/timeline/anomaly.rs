//! Flags reports that stand out within their level.

use std::collections::BTreeMap;

use dyno_analyze::series::find_outliers;

use super::changes::{AwrRateDeviation, moved};
use super::levels::AwrFigureLevels;
use super::{AwrTimelinePoint, Flag, MEASURES};

/// A figure that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OddFigure {
    /// Index of the figure in [`MEASURES`].
    pub measure: usize,
    pub value: f64,
    /// The usual value around it.
    pub usual: f64,
    /// Its distance from the usual value, in robust standard deviations; negative below.
    pub score: f64,
}

/// The outliers of one report, and what changed with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Anomaly {
    /// The figures that stand out, the largest deviations first.
    pub figures: Vec<OddFigure>,
    /// What changed with them, by kind, the largest changes first.
    pub moved: Vec<AwrRateDeviation>,
    /// Whether there were other reports for a comparison; without them it is unknown what changed.
    pub is_compared: bool,
}

/// Flags reports whose figures are outliers within their level and around them.
pub(super) fn flag(points: &mut [(AwrTimelinePoint, Vec<Flag>)], level_map: &AwrFigureLevels) {
    let mut by_place: BTreeMap<usize, Vec<OddFigure>> = BTreeMap::new();
    for (measure, of) in level_map.0.iter().enumerate() {
        for odd in find_outliers(&of.samples, &of.levels, MEASURES[measure].weight) {
            let value = of.samples[odd.at].value;
            let figure = OddFigure { measure, value, usual: odd.usual, score: odd.score };
            by_place.entry(of.places[odd.at]).or_default().push(figure);
        }
    }
    let all: Vec<usize> = by_place.keys().copied().collect();
    for (at, mut figures) in by_place {
        figures.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
        let moved = moved(points, at, &all, level_map);
        let is_compared = moved.is_some();
        let moved = moved.unwrap_or_default();
        points[at].1.push(Flag::Anomaly(Anomaly { figures, moved, is_compared }));
    }
}
