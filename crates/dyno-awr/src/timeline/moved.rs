//! What moved with an anomaly: statements, wait events, segments and statistics that are not what they are in the usual
//! reports around it.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::series::Sample;
use dyno_analyze::series::odd::{SCORE_MAX, USUAL_MIN, WINDOW};
use dyno_analyze::series::usual;

use super::levels::Found;
use super::rates::is_well_known;
use super::{Flag, Point, Thing, What};

/// How many of one kind are told.
const TOLD_MAX: usize = 5;

/// Least share of the report's DB time that a statement or an event moves by, to be told.
const SHARE_MIN: f64 = 0.02;

/// Least share of a change of level that is one of its causes.
const CAUSE_MIN: f64 = 0.05;

/// How many times what is usual, or what part of it, a count is at least, to be told.
const TIMES_MIN: f64 = 1.5;

/// Least difference of a statistic, per second.
const COUNTER_WEIGHT: f64 = 0.5;

/// Least share of a segment's count in the largest one of its list.
const SEGMENT_MIN: f64 = 0.2;

/// Figures that change level together, from which on reports before and after are not held against each other.
const STEPS_MIN: usize = 3;

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
/// Absent where no other report is there to compare it with.
pub(super) fn moved(
    points: &[(Point, Vec<Flag>)],
    at: usize,
    odd: &[usize],
    found: &Found,
) -> Option<Vec<Moved>> {
    let mut around = around(points, at, odd, found);
    if around.is_empty() {
        // Alone in its level, it is compared with the nearest reports of any level.
        around = (0..points.len()).filter(|place| *place != at && !odd.contains(place)).collect();
        around.sort_by_key(|place| place.abs_diff(at));
        around.truncate(USUAL_MIN);
    }
    if around.is_empty() {
        return None;
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
    Some(by_kind.into_iter().flat_map(|(what, moved)| most(what, moved)).collect())
}

/// What a level that begins at report `at` has more or less of than the level before it, the most first: times by their share of the
/// change of DB time. `before` and `after` are the reports of both.
pub(super) fn causes(points: &[(Point, Vec<Flag>)], before: &[usize], after: &[usize]) -> Vec<Moved> {
    let reports = |places: &[usize]| places.iter().map(|&place| &points[place].0).collect::<Vec<&Point>>();
    let (before, after) = (reports(before), reports(after));
    let load =
        |points: &[&Point]| mean(points.iter().map(|point| point.value(0).unwrap_or(0.0)), points.len());
    let rise = load(&after) - load(&before);
    if rise == 0.0 {
        return Vec::new();
    }
    let things: BTreeSet<&Thing> =
        before.iter().chain(&after).flat_map(|point| point.rates.0.keys()).collect();
    let rate = |thing: &Thing, points: &[&Point]| {
        let rates = points.iter().filter_map(|point| point.rates.0.get(thing)).map(|rate| rate.value);
        mean(rates, points.len())
    };
    let mut by_kind: BTreeMap<What, Vec<Moved>> = BTreeMap::new();
    for thing in things.into_iter().filter(|thing| matches!(thing.what, What::Statement | What::Event)) {
        let (was, is) = (rate(thing, &before), rate(thing, &after));
        let share = 100.0 * (is - was) / rise;
        if share >= 100.0 * CAUSE_MIN {
            let moved = Moved {
                thing: thing.clone(),
                rate: is,
                usual: Some(was),
                score: 0.0,
                share_pct: Some(share),
            };
            by_kind.entry(thing.what).or_default().push(moved);
        }
    }
    by_kind.into_iter().flat_map(|(what, moved)| most(what, moved)).collect()
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count.max(1) as f64
}

/// The nearest reports of the same level that do not stand out.
fn around(points: &[(Point, Vec<Flag>)], at: usize, odd: &[usize], found: &Found) -> Vec<usize> {
    let begins = |place: &usize| {
        let steps = points[*place]
            .1
            .iter()
            .filter_map(|flag| if let Flag::Level(steps) = flag { Some(steps) } else { None });
        steps.flatten().count() >= STEPS_MIN
    };
    let from = (0..=at).rev().find(begins).unwrap_or(0);
    let to = (at + 1..points.len()).find(begins).unwrap_or(points.len());
    let in_level = |place: &usize| {
        let level = |place: usize| {
            let load = &found.0[0];
            let sample = load.places.iter().position(|&of| of == place)?;
            load.levels.iter().position(|level| (level.from..level.to).contains(&sample))
        };
        level(*place) == level(at)
    };
    let mut near: Vec<usize> =
        (from..to).filter(|place| *place != at && !odd.contains(place)).filter(in_level).collect();
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
    let is_count =
        thing.what == What::Counter || (thing.what == What::SectionTotal && !is_seconds(&thing.name));
    let weight = if is_count { COUNTER_WEIGHT } else { 0.0 };
    let around = usual(&samples, here.step.max(weight));
    let score = match around.sigma > 0.0 {
        true => around.score(here.value),
        // Never there before.
        false if here.value > 0.0 => f64::INFINITY,
        false => 0.0,
    };
    let by = (here.value - around.median).abs();
    let load = point.value(0);
    let times = by >= (1.0 - 1.0 / TIMES_MIN) * here.value.max(around.median);
    let enough = match thing.what {
        What::Segment => times && here.value >= SEGMENT_MIN * largest(thing, point),
        What::Counter | What::SectionLevel => times,
        What::SectionTotal if !is_seconds(&thing.name) => times,
        _ => load.is_none_or(|load| by >= SHARE_MIN * load),
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

/// Whether a total of a section is a time: `latches.wait_s.cache buffers chains`.
fn is_seconds(name: &str) -> bool {
    name.split('.').nth(1).is_some_and(|figure| figure.ends_with("_s"))
}

/// The largest rate in the list that `thing` stands in.
fn largest(thing: &Thing, point: &Point) -> f64 {
    let list = point.rates.0.iter().filter(|(other, _)| other.what == thing.what && other.name == thing.name);
    list.map(|(_, rate)| rate.value).fold(0.0, f64::max)
}

/// The most of one kind: times by how much they moved, counts by how far and those that everybody reads first; of a
/// segment in several lists the one where it moved most.
fn most(what: What, mut moved: Vec<Moved>) -> Vec<Moved> {
    let by = |moved: &Moved| match what.is_time() {
        true => (moved.rate - moved.usual.unwrap_or(0.0)).abs(),
        false => moved.score.abs(),
    };
    let first = |moved: &Moved| what != What::Counter || is_well_known(&moved.thing.name);
    moved.sort_by(|a, b| first(b).cmp(&first(a)).then(by(b).total_cmp(&by(a))));
    let mut seen = BTreeSet::new();
    moved.retain(|moved| moved.thing.object.as_ref().is_none_or(|object| seen.insert(object.name.clone())));
    moved.truncate(TOLD_MAX);
    moved
}
