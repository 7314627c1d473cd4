//! Finds what changed with an anomaly: statements, wait events, segments and statistics that differ
//! from the usual reports around it.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::series::SeriesSample;
use dyno_analyze::series::outliers::{SCORE_MAX, USUAL_MIN, WINDOW};
use dyno_analyze::series::usual;

use super::levels::AwrFigureLevels;
use super::rates::is_well_known;
use super::{AwrRateKind, AwrRateSubject, AwrTimelinePoint, Flag};

/// Most changes of one kind that are reported.
const TOLD_MAX: usize = 5;

/// Smallest change of a statement or an event that is reported, as a share of the report's DB time.
const SHARE_MIN: f64 = 0.02;

/// Smallest share of a change of level that counts as a cause.
const CAUSE_MIN: f64 = 0.05;

/// Smallest factor above or below the usual value at which a count is reported.
const TIMES_MIN: f64 = 1.5;

/// Smallest difference of a statistic, per second.
const COUNTER_WEIGHT: f64 = 0.5;

/// Smallest share of a segment's count in the largest one of its list.
const SEGMENT_MIN: f64 = 0.2;

/// Number of figures that change level together at which reports before and after are no longer
/// compared with each other.
const STEPS_MIN: usize = 3;

/// A rate that differs from the usual one.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrRateDeviation {
    pub subject: AwrRateSubject,
    /// Its rate in this report.
    pub rate: f64,
    /// Its rate in the usual reports around; absent where it is not among the top ones there.
    pub usual: Option<f64>,
    /// The difference in robust standard deviations.
    pub score: f64,
    /// The share of this report's DB time, %, where it is a time.
    pub share_pct: Option<f64>,
}

/// What changed in report `at`, the largest changes first; `odd` are all reports that stand out.
/// Absent where there is no other report to compare it with.
pub(super) fn moved(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    at: usize,
    odd: &[usize],
    level_map: &AwrFigureLevels,
) -> Option<Vec<AwrRateDeviation>> {
    let mut around = neighbors_of(points, at, odd, level_map);
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
    let neighbors: Vec<&AwrTimelinePoint> = around.iter().map(|&place| &points[place].0).collect();
    let things: BTreeSet<&AwrRateSubject> =
        neighbors.iter().chain([&point]).flat_map(|point| point.rates.0.keys()).collect();
    let mut by_kind: BTreeMap<AwrRateKind, Vec<AwrRateDeviation>> = BTreeMap::new();
    for thing in things {
        if let Some(moved) = compare_rate(thing, point, &neighbors) {
            by_kind.entry(thing.kind).or_default().push(moved);
        }
    }
    Some(by_kind.into_iter().flat_map(|(what, moved)| largest_moves(what, moved)).collect())
}

/// The causes of a change of level: statements and events by their share of the change of DB time,
/// the largest first. `before` and `after` are the reports of both levels.
pub(super) fn causes(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    before: &[usize],
    after: &[usize],
) -> Vec<AwrRateDeviation> {
    let reports =
        |places: &[usize]| places.iter().map(|&place| &points[place].0).collect::<Vec<&AwrTimelinePoint>>();
    let (before, after) = (reports(before), reports(after));
    let load = |points: &[&AwrTimelinePoint]| {
        mean(points.iter().map(|point| point.value(0).unwrap_or(0.0)), points.len())
    };
    let rise = load(&after) - load(&before);
    if rise == 0.0 {
        return Vec::new();
    }
    let things: BTreeSet<&AwrRateSubject> =
        before.iter().chain(&after).flat_map(|point| point.rates.0.keys()).collect();
    let rate = |thing: &AwrRateSubject, points: &[&AwrTimelinePoint]| {
        let rates = points.iter().filter_map(|point| point.rates.0.get(thing)).map(|rate| rate.value);
        mean(rates, points.len())
    };
    let mut by_kind: BTreeMap<AwrRateKind, Vec<AwrRateDeviation>> = BTreeMap::new();
    for thing in
        things.into_iter().filter(|thing| matches!(thing.kind, AwrRateKind::Statement | AwrRateKind::Event))
    {
        let (was, is) = (rate(thing, &before), rate(thing, &after));
        let share = 100.0 * (is - was) / rise;
        if share >= 100.0 * CAUSE_MIN {
            let moved = AwrRateDeviation {
                subject: thing.clone(),
                rate: is,
                usual: Some(was),
                score: 0.0,
                share_pct: Some(share),
            };
            by_kind.entry(thing.kind).or_default().push(moved);
        }
    }
    by_kind.into_iter().flat_map(|(what, moved)| largest_moves(what, moved)).collect()
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count.max(1) as f64
}

/// The nearest reports of the same level that do not stand out.
fn neighbors_of(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    at: usize,
    odd: &[usize],
    level_map: &AwrFigureLevels,
) -> Vec<usize> {
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
            let load = &level_map.0[0];
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

fn compare_rate(
    thing: &AwrRateSubject,
    point: &AwrTimelinePoint,
    neighbors: &[&AwrTimelinePoint],
) -> Option<AwrRateDeviation> {
    let rate = |point: &AwrTimelinePoint| {
        point.rates.0.get(thing).map(|rate| SeriesSample { value: rate.value, step: rate.step })
    };
    let (here, listed) = (rate(point), neighbors.iter().filter_map(|other| rate(other)).count());
    let top = thing.kind.is_top_list();
    // What is no longer listed may be just below the end of the list.
    if top && here.is_none() {
        return None;
    }
    let current = here.unwrap_or(SeriesSample::exact(0.0));
    let samples: Vec<SeriesSample> =
        neighbors.iter().map(|other| rate(other).unwrap_or(SeriesSample::exact(0.0))).collect();
    let is_count = thing.kind == AwrRateKind::Counter
        || (thing.kind == AwrRateKind::SectionTotal && !is_seconds(&thing.name));
    let weight = if is_count { COUNTER_WEIGHT } else { 0.0 };
    let around = usual(&samples, current.step.max(weight));
    let score = match around.sigma > 0.0 {
        true => around.score(current.value),
        // It never occurred before.
        false if current.value > 0.0 => f64::INFINITY,
        false => 0.0,
    };
    let deviation = (current.value - around.median).abs();
    let load = point.value(0);
    let times = deviation >= (1.0 - 1.0 / TIMES_MIN) * current.value.max(around.median);
    let enough = match thing.kind {
        AwrRateKind::Segment => times && current.value >= SEGMENT_MIN * largest(thing, point),
        AwrRateKind::Counter | AwrRateKind::SectionLevel => times,
        AwrRateKind::SectionTotal if !is_seconds(&thing.name) => times,
        _ => load.is_none_or(|load| deviation >= SHARE_MIN * load),
    };
    let share_pct =
        load.filter(|load| thing.kind.is_time() && *load > 0.0).map(|load| 100.0 * current.value / load);
    let usual = (!top || 2 * listed > neighbors.len()).then_some(around.median);
    (enough && score.abs() > SCORE_MAX).then(|| AwrRateDeviation {
        subject: thing.clone(),
        rate: current.value,
        usual,
        score,
        share_pct,
    })
}

/// Whether a total of a section is a time: `latches.wait_s.cache buffers chains`.
fn is_seconds(name: &str) -> bool {
    name.split('.').nth(1).is_some_and(|figure| figure.ends_with("_s"))
}

/// The largest rate in the list that contains `thing`.
fn largest(thing: &AwrRateSubject, point: &AwrTimelinePoint) -> f64 {
    let list = point.rates.0.iter().filter(|(other, _)| other.kind == thing.kind && other.name == thing.name);
    list.map(|(_, rate)| rate.value).fold(0.0, f64::max)
}

/// The largest changes of one kind. Times are sorted by the size of the change, counts by deviation
/// with the well-known ones first. For a segment in several lists, only the list with the largest
/// change counts.
fn largest_moves(kind: AwrRateKind, mut moved: Vec<AwrRateDeviation>) -> Vec<AwrRateDeviation> {
    let magnitude = |moved: &AwrRateDeviation| match kind.is_time() {
        true => (moved.rate - moved.usual.unwrap_or(0.0)).abs(),
        false => moved.score.abs(),
    };
    let first = |moved: &AwrRateDeviation| kind != AwrRateKind::Counter || is_well_known(&moved.subject.name);
    moved.sort_by(|a, b| first(b).cmp(&first(a)).then(magnitude(b).total_cmp(&magnitude(a))));
    let mut unique_objects = BTreeSet::new();
    moved.retain(|moved| {
        moved.subject.object.as_ref().is_none_or(|object| unique_objects.insert(object.name.clone()))
    });
    moved.truncate(TOLD_MAX);
    moved
}
