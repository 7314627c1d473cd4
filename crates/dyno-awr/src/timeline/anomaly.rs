//! Reports that stand out within their level.

use std::collections::BTreeMap;

use dyno_analyze::series::odd;

use super::levels::Found;
use super::moved::{Moved, moved};
use super::{Flag, MEASURES, Point};

/// A figure that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OddFigure {
    /// Which of [`MEASURES`].
    pub measure: usize,
    /// Its value.
    pub value: f64,
    /// What is usual around it.
    pub usual: f64,
    /// How far, in robust standard deviations; negative below.
    pub score: f64,
}

/// What stands out in one report.
#[derive(Debug, Clone, PartialEq)]
pub struct Anomaly {
    /// The figures that do, the farthest first.
    pub figures: Vec<OddFigure>,
    /// What moved with them, by kind, the most first.
    pub moved: Vec<Moved>,
    /// Whether other reports were there to compare it with; without them it is unknown what moved.
    pub is_compared: bool,
}

/// Flags reports whose figures are odd within their level and around them.
pub(super) fn flag(points: &mut [(Point, Vec<Flag>)], found: &Found) {
    let mut by_place: BTreeMap<usize, Vec<OddFigure>> = BTreeMap::new();
    for (measure, of) in found.0.iter().enumerate() {
        for odd in odd(&of.samples, &of.levels, MEASURES[measure].weight) {
            let value = of.samples[odd.at].value;
            let figure = OddFigure { measure, value, usual: odd.usual, score: odd.score };
            by_place.entry(of.places[odd.at]).or_default().push(figure);
        }
    }
    let all: Vec<usize> = by_place.keys().copied().collect();
    for (at, mut figures) in by_place {
        figures.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
        let moved = moved(points, at, &all, found);
        let is_compared = moved.is_some();
        let moved = moved.unwrap_or_default();
        points[at].1.push(Flag::Anomaly(Anomaly { figures, moved, is_compared }));
    }
}
