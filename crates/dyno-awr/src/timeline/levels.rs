//! The levels that figures keep, and where they change.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dyno_analyze::series::{Level, Sample, levels};

use super::{Flag, MEASURES, Point};

/// Reports within which changes of several figures are one change.
const TOGETHER: usize = 2;

/// A level of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its first report.
    pub first: usize,
    /// Its last report.
    pub last: usize,
    /// The middle of its figures.
    pub median: f64,
}

/// A figure that keeps another level from a report on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which of [`MEASURES`].
    pub measure: usize,
    /// The middle of the level before.
    pub before: f64,
    /// The middle of this level.
    pub after: f64,
}

/// One figure over the reports that have it.
#[derive(Debug, Clone, Default)]
pub(super) struct Followed {
    /// The reports that have it.
    pub(super) places: Vec<usize>,
    /// Its values there.
    pub(super) samples: Vec<Sample>,
    /// Its levels, by places in `samples`.
    pub(super) levels: Vec<Level>,
}

/// All figures with their levels, in the order of [`MEASURES`].
#[derive(Debug, Clone)]
pub(super) struct Found(pub(super) Vec<Followed>);

impl Found {
    pub(super) fn none() -> Self {
        Self(vec![Followed::default(); MEASURES.len()])
    }

    /// The levels by reports.
    pub(super) fn spans(&self) -> Vec<Vec<Span>> {
        let span = |of: &Followed, level: &Level| Span {
            first: of.places[level.from],
            last: of.places[level.to - 1],
            median: level.median,
        };
        self.0.iter().map(|of| of.levels.iter().map(|level| span(of, level)).collect()).collect()
    }
}

/// Follows every figure that enough reports have.
pub(super) fn find(points: &[(Point, Vec<Flag>)]) -> Found {
    let follow = |measure: usize| {
        let readings =
            points.iter().enumerate().filter_map(|(i, (point, _))| Some((i, point.values[measure]?)));
        let (places, samples): (Vec<usize>, Vec<Sample>) =
            readings.map(|(i, reading)| (i, Sample { value: reading.value, step: reading.step })).unzip();
        if samples.len() < super::POINTS_MIN {
            return Followed::default();
        }
        let levels = levels_between_restarts(points, &places, &samples);
        Followed { places, samples, levels }
    };
    Found((0..MEASURES.len()).map(follow).collect())
}

/// The levels of a figure. A restart ends a level: caches are empty behind it, and parameters may be others.
fn levels_between_restarts(
    points: &[(Point, Vec<Flag>)],
    places: &[usize],
    samples: &[Sample],
) -> Vec<Level> {
    let is_restarted = |from: usize, to: usize| {
        (places[from] + 1..=places[to]).any(|place| points[place].1.contains(&Flag::Restart))
    };
    let mut edges: Vec<usize> = (1..samples.len()).filter(|&at| is_restarted(at - 1, at)).collect();
    edges.insert(0, 0);
    edges.push(samples.len());
    let levels_within = |edge: &[usize]| {
        let from = edge[0];
        let part = levels(&samples[from..edge[1]]).into_iter();
        part.map(move |level| Level { from: level.from + from, to: level.to + from, ..level })
            .collect::<Vec<_>>()
    };
    edges.windows(2).flat_map(levels_within).collect()
}

/// Flags reports from which on figures keep another level. Figures that change within some reports of each other change
/// together, where most of them do.
pub(super) fn flag(points: &mut [(Point, Vec<Flag>)], found: &Found) {
    let mut steps: BTreeMap<usize, Vec<Step>> = BTreeMap::new();
    for (measure, of) in found.0.iter().enumerate() {
        // A restart ends a level, and what comes after it may be the same.
        for pair in of.levels.windows(2).filter(|pair| is_step(pair[0].median, pair[1].median)) {
            let step = Step { measure, before: pair[0].median, after: pair[1].median };
            steps.entry(of.places[pair[1].from]).or_default().push(step);
        }
    }
    while let Some((&first, _)) = steps.first_key_value() {
        let near: Vec<(usize, Vec<Step>)> = steps.extract_if(..=first + TOGETHER, |_, _| true).collect();
        // Of two places with as many, the one where the load changes.
        let weight = |steps: &[Step]| (steps.len(), Reverse(steps.iter().map(|step| step.measure).min()));
        let at = near.iter().max_by_key(|(_, steps)| weight(steps)).map_or(first, |(at, _)| *at);
        let mut together: Vec<Step> = near.into_iter().flat_map(|(_, steps)| steps).collect();
        together.sort_by_key(|step| step.measure);
        points[at].1.push(Flag::Level(together));
    }
}

/// Least difference of two levels at a restart, as a share of the larger one.
const STEP_MIN: f64 = 0.2;

fn is_step(before: f64, after: f64) -> bool {
    (after - before).abs() >= STEP_MIN * before.abs().max(after.abs()) && before != after
}
