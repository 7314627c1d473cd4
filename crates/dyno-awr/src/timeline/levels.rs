//! Finds the levels of figures, and where they change.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dyno_analyze::series::{SeriesLevel, SeriesSample, levels};

use super::{AwrTimelinePoint, Flag, MEASURES};

/// Number of reports within which changes of several figures count as one change.
const TOGETHER: usize = 2;

/// A level of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AwrLevelSpan {
    /// Index of its first report.
    pub first: usize,
    /// Index of its last report.
    pub last: usize,
    /// The median of its figures.
    pub median: f64,
}

/// A figure that has another level from a report on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AwrLevelChange {
    /// Index of the figure in [`MEASURES`].
    pub measure: usize,
    /// The median of the level before.
    pub before: f64,
    /// The median of this level.
    pub after: f64,
}

/// One figure over the reports that have it.
#[derive(Debug, Clone, Default)]
pub(super) struct AwrFollowedFigure {
    /// The reports that have it.
    pub(super) places: Vec<usize>,
    /// The values in these reports.
    pub(super) samples: Vec<SeriesSample>,
    /// Its levels, by indexes in `samples`.
    pub(super) levels: Vec<SeriesLevel>,
}

/// All figures with their levels, in the order of [`MEASURES`].
#[derive(Debug, Clone)]
pub(super) struct AwrFigureLevels(pub(super) Vec<AwrFollowedFigure>);

impl AwrFigureLevels {
    pub(super) fn none() -> Self {
        Self(vec![AwrFollowedFigure::default(); MEASURES.len()])
    }

    /// The levels with report indexes, for each figure.
    pub(super) fn spans(&self) -> Vec<Vec<AwrLevelSpan>> {
        let span = |of: &AwrFollowedFigure, level: &SeriesLevel| AwrLevelSpan {
            first: of.places[level.from],
            last: of.places[level.to - 1],
            median: level.median,
        };
        self.0.iter().map(|of| of.levels.iter().map(|level| span(of, level)).collect()).collect()
    }
}

/// Follows every figure that enough reports have.
pub(super) fn find(points: &[(AwrTimelinePoint, Vec<Flag>)]) -> AwrFigureLevels {
    let follow = |measure: usize| {
        let readings =
            points.iter().enumerate().filter_map(|(i, (point, _))| Some((i, point.values[measure]?)));
        let (places, samples): (Vec<usize>, Vec<SeriesSample>) = readings
            .map(|(i, reading)| (i, SeriesSample { value: reading.value, step: reading.step }))
            .unzip();
        if samples.len() < super::POINTS_MIN {
            return AwrFollowedFigure::default();
        }
        let levels = levels_between_restarts(points, &places, &samples);
        AwrFollowedFigure { places, samples, levels }
    };
    AwrFigureLevels((0..MEASURES.len()).map(follow).collect())
}

/// The levels of a figure. A restart ends a level: caches are empty after it, and parameters may
/// differ.
fn levels_between_restarts(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    places: &[usize],
    samples: &[SeriesSample],
) -> Vec<SeriesLevel> {
    let is_restarted = |from: usize, to: usize| {
        (places[from] + 1..=places[to]).any(|place| points[place].1.contains(&Flag::Restart))
    };
    let mut edges: Vec<usize> = (1..samples.len()).filter(|&at| is_restarted(at - 1, at)).collect();
    edges.insert(0, 0);
    edges.push(samples.len());
    let levels_within = |edge: &[usize]| {
        let from = edge[0];
        let part = levels(&samples[from..edge[1]]).into_iter();
        part.map(move |level| SeriesLevel { from: level.from + from, to: level.to + from, ..level })
            .collect::<Vec<_>>()
    };
    edges.windows(2).flat_map(levels_within).collect()
}

/// Flags reports from which on figures have another level. Figures that change within a few reports
/// are flagged together, at the report where most of them change.
pub(super) fn flag(points: &mut [(AwrTimelinePoint, Vec<Flag>)], level_map: &AwrFigureLevels) {
    let mut steps: BTreeMap<usize, Vec<AwrLevelChange>> = BTreeMap::new();
    for (measure, of) in level_map.0.iter().enumerate() {
        // A restart ends a level, but the next level may be equal.
        for pair in of.levels.windows(2).filter(|pair| is_step(pair[0].median, pair[1].median)) {
            let step = AwrLevelChange { measure, before: pair[0].median, after: pair[1].median };
            steps.entry(of.places[pair[1].from]).or_default().push(step);
        }
    }
    while let Some((&first, _)) = steps.first_key_value() {
        let near: Vec<(usize, Vec<AwrLevelChange>)> =
            steps.extract_if(..=first + TOGETHER, |_, _| true).collect();
        // Of two reports with equally many changes, the one where the load changes.
        let weight =
            |steps: &[AwrLevelChange]| (steps.len(), Reverse(steps.iter().map(|step| step.measure).min()));
        let at = near.iter().max_by_key(|(_, steps)| weight(steps)).map_or(first, |(at, _)| *at);
        let mut together: Vec<AwrLevelChange> = near.into_iter().flat_map(|(_, steps)| steps).collect();
        together.sort_by_key(|step| step.measure);
        points[at].1.push(Flag::Level(together));
    }
}

/// Smallest difference of two levels at a restart, as a share of the larger one.
const STEP_MIN: f64 = 0.2;

fn is_step(before: f64, after: f64) -> bool {
    (after - before).abs() >= STEP_MIN * before.abs().max(after.abs()) && before != after
}
