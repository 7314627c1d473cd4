//! What moved with an anomaly: statements, wait events, segments and statistics that are not what they are in the usual
//! reports around it.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::series::Sample;
use dyno_analyze::series::odd::{SCORE_MAX, USUAL_MIN, WINDOW, usual};

use super::levels::Found;
use super::{Flag, Point, Thing, What};

/// How many of one kind are told.
const TOLD_MAX: usize = 5;

/// Least share of the report's DB time that a statement or an event moves by, to be told.
const SHARE_MIN: f64 = 0.02;

/// How many times what is usual, or what part of it, a count is at least, to be told.
const TIMES_MIN: f64 = 1.5;

/// Something that moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// What.
    pub thing: Thing,
    /// Its rate in this report.
    pub rate: f64,
    /// Its rate in the usual reports around; absent where it is not among the top ones there.
    pub usual: Option<f64>,
    /// How far that is, in robust standard deviations.
    pub score: f64,
    /// The share of this report's DB time, %, where it is a time.
    pub share_pct: Option<f64>,
}

/// What moved in report `at`, the most first; `odd` are all reports that stand out.
pub(super) fn moved(points: &[(Point, Vec<Flag>)], at: usize, odd: &[usize], found: &Found) -> Vec<Moved> {
    let around = around(at, odd, found);
    if around.len() < USUAL_MIN {
        return Vec::new();
    }
    let point = &points[at].0;
    let others: Vec<&Point> = around.iter().map(|&place| &points[place].0).collect();
    let things: BTreeSet<&Thing> =
        others.iter().chain([&point]).flat_map(|point| point.rates.0.keys()).collect();
    let mut by_kind: BTreeMap<What, Vec<Moved>> = BTreeMap::new();
    for thing in things {
        if let Some(moved) = one(thing, point, &others) {
            by_kind.entry(thing.what).or_default().push(moved);
        }
    }
    by_kind.into_iter().flat_map(|(what, moved)| most(what, moved)).collect()
}

/// The nearest reports of the same level of load that do not stand out.
fn around(at: usize, odd: &[usize], found: &Found) -> Vec<usize> {
    let load = &found.0[0];
    let Some(place) = load.places.iter().position(|&place| place == at) else { return Vec::new() };
    let level = load.levels.iter().find(|level| (level.from..level.to).contains(&place));
    let places = level.map_or(&[][..], |level| &load.places[level.from..level.to]);
    let mut near: Vec<usize> =
        places.iter().copied().filter(|place| *place != at && !odd.contains(place)).collect();
    near.sort_by_key(|place| place.abs_diff(at));
    near.truncate(WINDOW);
    near
}

fn one(thing: &Thing, point: &Point, others: &[&Point]) -> Option<Moved> {
    let rate =
        |point: &Point| point.rates.0.get(thing).map(|rate| Sample { value: rate.value, step: rate.step });
    let (here, listed) = (rate(point), others.iter().filter_map(|other| rate(other)).count());
    let top = thing.what.is_top_list();
    // What fell out of a list may be right below its end.
    if top && here.is_none() {
        return None;
    }
    let here = here.unwrap_or(Sample::exact(0.0));
    let samples: Vec<Sample> = others.iter().map(|other| rate(other).unwrap_or(Sample::exact(0.0))).collect();
    let around = usual(&samples, here.step);
    let score = match around.sigma > 0.0 {
        true => around.score(here.value),
        // Never there before.
        false if here.value > 0.0 => f64::INFINITY,
        false => 0.0,
    };
    let by = (here.value - around.median).abs();
    let load = point.value(0);
    let enough = match thing.what.is_time() {
        true => load.is_none_or(|load| by >= SHARE_MIN * load),
        false => by >= (1.0 - 1.0 / TIMES_MIN) * here.value.max(around.median),
    };
    let share_pct =
        load.filter(|load| thing.what.is_time() && *load > 0.0).map(|load| 100.0 * here.value / load);
    let usual = (!top || 2 * listed > others.len()).then_some(around.median);
    (enough && score.abs() > SCORE_MAX).then(|| Moved {
        thing: thing.clone(),
        rate: here.value,
        usual,
        score,
        share_pct,
    })
}

/// The most of one kind: times by how much they moved, counts by how far; of a segment in several lists the first.
fn most(what: What, mut moved: Vec<Moved>) -> Vec<Moved> {
    let by = |moved: &Moved| match what.is_time() {
        true => (moved.rate - moved.usual.unwrap_or(0.0)).abs(),
        false => moved.score.abs(),
    };
    moved.sort_by(|a, b| by(b).total_cmp(&by(a)));
    let mut seen = BTreeSet::new();
    moved.retain(|moved| moved.thing.object.as_ref().is_none_or(|object| seen.insert(object.name.clone())));
    moved.truncate(TOLD_MAX);
    moved
}
