//! What a reader has to know of the figures of a test: whether its data was where it was to be.

use dyno_record::{Metric, RunRecord};

use super::{Page, Tested};
use crate::limited::Component;
use crate::number::percent;
use crate::points::Point;

/// A test of storage in which the database's cache serves more than this is none, %.
const SERVED_MOST: f64 = 90.0;
/// A test in the cache in which it serves less than this is none, %.
const SERVED_LEAST: f64 = 99.0;

/// Limits that are named of a whole suite.
const LIMITS: usize = 3;

/// Why the figures of a test of storage are none of storage's: the database's own cache served nearly all of its blocks.
pub(super) fn unfit(page: &Page, points: &[Point]) -> Option<String> {
    let asks = points.iter().any(|point| point.get("logical_reads_per_s").is_some_and(|reads| reads > 0.0));
    let served = points.iter().filter_map(|point| point.get("buffer_hit_pct")).reduce(f64::max)?;
    let is_out = page.cache.as_deref() == Some("out");
    (is_out && asks && served > SERVED_MOST).then(|| {
        format!(
            "the database's own cache served up to {} % of the blocks, so these are not storage's figures; data.scale and \
             data.scan_scale have to be larger than that cache",
            percent(served)
        )
    })
}

/// What there is to say of a test with these points, which are of these runs.
pub(super) fn notes(page: &Page, points: &[Point], runs: &[RunRecord]) -> Vec<String> {
    let served: Vec<f64> = points.iter().filter_map(|point| point.get("buffer_hit_pct")).collect();
    let mut notes: Vec<String> = untold(page, points, runs).into_iter().collect();
    if let (Some("in"), Some(least)) = (page.cache.as_deref(), served.into_iter().reduce(f64::min))
        && least < SERVED_LEAST
    {
        notes.push(format!(
            "the database's cache served only {} % of the blocks at one step, so not all of its data was in it",
            percent(least)
        ));
    }
    let cached =
        points.iter().flat_map(|point| &point.runs).filter_map(|run| run.page_cache_pct).reduce(f64::max);
    if let (Some("out"), Some(cached)) = (page.cache.as_deref(), cached) {
        notes.push(format!(
            "up to {} % of what the database asked storage for came from the operating system's page cache",
            percent(cached)
        ));
    }
    notes
}

/// Steps of which nobody knows the key figure, and why of the first: the most may be among them.
fn untold(page: &Page, points: &[Point], runs: &[RunRecord]) -> Option<String> {
    let metric = page.metric.as_ref()?;
    let silent: Vec<&Point> = points.iter().filter(|point| point.get(metric).is_none()).collect();
    let first = silent.first()?;
    let run = runs.iter().find(|run| first.runs.iter().any(|own| own.id == run.id))?;
    let why = match run.metrics.get(metric) {
        Some(Metric::Absent { absent }) => absent.as_str(),
        _ => "the run does not tell",
    };
    Some(format!("{} of {} steps do not tell {metric}: {why}", silent.len(), points.len()))
}

/// What limits most tests, as the end of a sentence: `; what limits most: CPU (30 tests), commits (8)`. Nothing where that is not
/// known of any.
pub(super) fn limits(tests: &[Tested]) -> String {
    let mut counts: Vec<(Component, usize)> = Vec::new();
    let known =
        tests.iter().filter(|test| test.unfit.is_none()).filter_map(|test| Some(test.limit.as_ref()?.by));
    for by in known.filter(|by| *by != Component::Unknown) {
        match counts.iter_mut().find(|(other, _)| *other == by) {
            Some((_, count)) => *count += 1,
            None => counts.push((by, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<String> = counts
        .iter()
        .take(LIMITS)
        .enumerate()
        .map(|(at, (by, count))| match (at, count) {
            (0, 1) => format!("{} (1 test)", by.word()),
            (0, _) => format!("{} ({count} tests)", by.word()),
            _ => format!("{} ({count})", by.word()),
        })
        .collect();
    if words.is_empty() { String::new() } else { format!("; what limits most: {}", words.join(", ")) }
}
