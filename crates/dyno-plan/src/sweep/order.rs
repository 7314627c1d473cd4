//! Which point is run next.
//!
//! The whole order is fixed by plan and seed before the first run, so a sweep that was cut off goes on as if nothing had
//! been. What was measured only says which steps need not be run: those that are done, and those past saturation.

use std::collections::BTreeMap;

use super::grid::Point;
use super::saturation::saturated_at;
use crate::mix::mix;
use crate::plan::{Order, Sweep, Until};

/// One run of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The point's number.
    pub point: u32,
    /// Which run of it, from 1.
    pub repeat: u32,
}

/// Steps that ended: with their throughput in operations per second, or without a result.
pub type Done = BTreeMap<Step, Option<f64>>;

/// The order of all runs of a sweep.
#[derive(Debug, Clone)]
pub struct Schedule {
    steps: Vec<Step>,
    /// Points of each ramp by rising sessions; empty unless ramps stop at saturation.
    ramps: BTreeMap<u32, Vec<u32>>,
    /// Each point's ramp and place in it.
    places: BTreeMap<u32, (u32, u32)>,
}

impl Schedule {
    /// The order of `points` under `sweep`.
    pub fn new(sweep: &Sweep, points: &[Point]) -> Self {
        let mut draw = Draw(sweep.seed);
        let mut layouts: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
        for point in points {
            layouts.entry(point.layout).or_default().push(point);
        }
        let mut layouts: Vec<_> = layouts.into_values().collect();
        if sweep.order == Order::Random {
            draw.shuffle(&mut layouts);
        }
        let mut steps = Vec::new();
        for layout in &layouts {
            for repeat in 1..=sweep.repeats {
                let pass = pass(sweep, layout, repeat, &mut draw);
                steps.extend(pass.into_iter().map(|point| Step { point, repeat }));
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

    /// All steps in order, those that saturation may spare included.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The next step after what is `done`.
    pub fn next(&self, done: &Done) -> Option<Step> {
        self.remaining(done).next()
    }

    /// All steps that are left as far as can be told now.
    pub fn remaining<'a>(&'a self, done: &'a Done) -> impl Iterator<Item = Step> + 'a {
        let ends: BTreeMap<u32, u32> =
            self.ramps.iter().filter_map(|(ramp, points)| Some((*ramp, last_rank(points, done)?))).collect();
        let is_past = move |step: &Step| {
            let (ramp, rank) = self.places[&step.point];
            ends.get(&ramp).is_some_and(|last| rank > *last)
        };
        self.steps.iter().copied().filter(move |step| !done.contains_key(step) && !is_past(step))
    }
}

/// The last place of a ramp that is worth running, once its first pass has shown it.
fn last_rank(points: &[u32], done: &Done) -> Option<u32> {
    // A step without a result says nothing about saturation; the first one that is not done ends what is known.
    let known: Vec<(usize, f64)> = points
        .iter()
        .map_while(|&point| done.get(&Step { point, repeat: 1 }))
        .enumerate()
        .filter_map(|(rank, throughput)| Some((rank, (*throughput)?)))
        .collect();
    let throughputs: Vec<f64> = known.iter().map(|(_, throughput)| *throughput).collect();
    saturated_at(&throughputs).map(|at| known[at].0 as u32)
}

/// One pass over the points of a layout.
fn pass(sweep: &Sweep, layout: &[&Point], repeat: u32, draw: &mut Draw) -> Vec<u32> {
    let mut points: Vec<u32> = layout.iter().map(|point| point.number).collect();
    match sweep.order {
        Order::Random if sweep.until == Until::Saturation && repeat == 1 => {
            let mut ramps: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for point in layout {
                ramps.entry(point.ramp).or_default().push(point.number);
            }
            let mut ramps: Vec<_> = ramps.into_values().collect();
            draw.shuffle(&mut ramps);
            points = ramps.concat();
        }
        Order::Random => draw.shuffle(&mut points),
        Order::Up => {}
        Order::UpDown if repeat.is_multiple_of(2) => points.reverse(),
        Order::UpDown => {}
    }
    points
}

/// Seeded draws for shuffling.
struct Draw(u64);

impl Draw {
    /// Durstenfeld's version of the Fisher–Yates shuffle. The remainder favours small numbers by less than one in 2^50.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            self.0 = mix(self.0);
            items.swap(i, (self.0 % (i as u64 + 1)) as usize);
        }
    }
}
