//! Decides which point runs next.
//!
//! The plan and its seed fix the whole order before the first run, so an interrupted sweep resumes without a difference.
//! Results only decide which steps to skip: those that are done, and those past saturation.

use std::collections::BTreeMap;

use super::grid::SweepGridPoint;
use super::saturation::saturated_at;
use crate::mix::mix;
use crate::plan::{SweepPointOrder, SweepSettings, Until};

/// One run of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SweepStep {
    /// Number of the point, from 1.
    pub point: u32,
    /// The repeat, counted from 1.
    pub repeat: u32,
}

/// Steps that ended, each with its throughput in operations per second; `None` for a step without a result.
pub type SweepStepResults = BTreeMap<SweepStep, Option<f64>>;

/// The order of all runs of a sweep.
#[derive(Debug, Clone)]
pub struct SweepSchedule {
    steps: Vec<SweepStep>,
    /// Points of each ramp by rising sessions; empty unless ramps stop at saturation.
    ramps: BTreeMap<u32, Vec<u32>>,
    /// Each point's ramp and its index there.
    places: BTreeMap<u32, (u32, u32)>,
}

impl SweepSchedule {
    /// The order of `points` under `sweep`.
    pub fn new(sweep: &SweepSettings, points: &[SweepGridPoint]) -> Self {
        let mut draw = ShuffleRng(sweep.seed);
        let mut layouts: BTreeMap<u32, Vec<&SweepGridPoint>> = BTreeMap::new();
        for point in points {
            layouts.entry(point.layout).or_default().push(point);
        }
        let mut layouts: Vec<_> = layouts.into_values().collect();
        if sweep.order == SweepPointOrder::Random {
            draw.shuffle(&mut layouts);
        }
        let mut steps = Vec::new();
        for layout in &layouts {
            for repeat in 1..=sweep.repeats {
                let pass = pass(sweep, layout, repeat, &mut draw);
                steps.extend(pass.into_iter().map(|point| SweepStep { point, repeat }));
            }
        }
        let mut ramps: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        if sweep.until == Until::Saturation {
            for point in points {
                ramps.entry(point.ramp).or_default().push(point.number);
            }
        }
        let places = points.iter().map(|point| (point.number, (point.ramp, point.rank))).collect();
        Self { steps, ramps, places }
    }

    /// All steps in order, including those that saturation may skip.
    pub fn steps(&self) -> &[SweepStep] {
        &self.steps
    }

    /// The next step, given the steps in `done`.
    pub fn next(&self, results: &SweepStepResults) -> Option<SweepStep> {
        self.remaining(results).next()
    }

    /// All remaining steps, as far as the results so far show.
    pub fn remaining<'a>(&'a self, results: &'a SweepStepResults) -> impl Iterator<Item = SweepStep> + 'a {
        let ends: BTreeMap<u32, u32> = self
            .ramps
            .iter()
            .filter_map(|(ramp, points)| Some((*ramp, last_rank(points, results)?)))
            .collect();
        let is_past = move |step: &SweepStep| {
            let (ramp, rank) = self.places[&step.point];
            ends.get(&ramp).is_some_and(|last| rank > *last)
        };
        self.steps.iter().copied().filter(move |step| !results.contains_key(step) && !is_past(step))
    }
}

/// The last index of a ramp that needs to run; `None` until its first pass shows saturation.
fn last_rank(points: &[u32], results: &SweepStepResults) -> Option<u32> {
    // Steps without a result say nothing about saturation; stop at the first step that is not done.
    let ranked_throughputs: Vec<(usize, f64)> = points
        .iter()
        .map_while(|&point| results.get(&SweepStep { point, repeat: 1 }))
        .enumerate()
        .filter_map(|(rank, throughput)| Some((rank, (*throughput)?)))
        .collect();
    let throughputs: Vec<f64> = ranked_throughputs.iter().map(|(_, throughput)| *throughput).collect();
    saturated_at(&throughputs).map(|at| ranked_throughputs[at].0 as u32)
}

/// One pass over the points that share a layout.
fn pass(sweep: &SweepSettings, layout: &[&SweepGridPoint], repeat: u32, draw: &mut ShuffleRng) -> Vec<u32> {
    let mut points: Vec<u32> = layout.iter().map(|point| point.number).collect();
    match sweep.order {
        SweepPointOrder::Random if sweep.until == Until::Saturation && repeat == 1 => {
            let mut ramps: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for point in layout {
                ramps.entry(point.ramp).or_default().push(point.number);
            }
            let mut ramps: Vec<_> = ramps.into_values().collect();
            draw.shuffle(&mut ramps);
            points = ramps.concat();
        }
        SweepPointOrder::Random => draw.shuffle(&mut points),
        SweepPointOrder::Up => {}
        SweepPointOrder::UpDown if repeat.is_multiple_of(2) => points.reverse(),
        SweepPointOrder::UpDown => {}
    }
    points
}

/// Generator of the shuffle's random numbers, with a seed.
struct ShuffleRng(u64);

impl ShuffleRng {
    /// Durstenfeld's version of the Fisher–Yates shuffle. The remainder favors small numbers by less than one in 2^50.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            self.0 = mix(self.0);
            items.swap(i, (self.0 % (i as u64 + 1)) as usize);
        }
    }
}
