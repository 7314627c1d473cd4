//! What a reader has to know of the figures of a test: whether its data was where it was to be.

use dyno_plan::Bytes;
use dyno_record::{Metric, RunRecord};

use super::{Page, Tested};
use crate::limited::Component;
use crate::number::{figure, percent};
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

/// What is to be known of the tests, what is true of several once: `storage-random-read, storage-random-write: …`.
pub(super) fn told(tests: &[Tested]) -> Vec<String> {
    let mut told: Vec<(Vec<&str>, String)> = Vec::new();
    for test in tests {
        let of_it = trouble(test).into_iter().chain(test.unfit.iter().chain(&test.notes).cloned());
        for words in of_it {
            match told.iter_mut().find(|(_, known)| *known == words) {
                Some((ids, _)) => ids.push(&test.page.id),
                None => told.push((vec![&test.page.id], words)),
            }
        }
    }
    told.into_iter().map(|(ids, words)| format!("{}: {words}", ids.join(", "))).collect()
}

/// Why a test has no result, or not all of it; nothing where it has.
fn trouble(test: &Tested) -> Option<String> {
    let Page { why_not, failed, .. } = &test.page;
    match (why_not, failed.as_ref().or(test.left_out.first()), test.most) {
        (Some(why), ..) => Some(format!("not applicable: {why}")),
        (None, Some(why), None) => Some(format!("no result: {why}")),
        (None, Some(why), Some(_)) => Some(format!("not all of its runs have a result: {why}")),
        (None, None, None) if test.steps.is_empty() => Some("not run".to_owned()),
        (None, None, None) => Some("no result: none of its runs tells its key figure".to_owned()),
        (None, None, Some(_)) => None,
    }
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
    notes.extend(outgrown(page, runs));
    notes.extend(calibrated(page, runs));
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

/// How much data there was beside what the database's own cache holds, where that is said.
fn outgrown(page: &Page, runs: &[RunRecord]) -> Option<String> {
    let run = runs
        .first()
        .filter(|run| page.cache.as_deref() == Some("out") && run.plan.workload.folder.is_none())?;
    let held = run.targets.iter().filter_map(|target| target.identity.cache_bytes).max()?;
    let (scale, scans) = (run.plan.data.scale, run.plan.data.scan_scale);
    Some(format!(
        "data.scale was {scale} and data.scan_scale {scans}; the database's own cache holds {}",
        Bytes(held)
    ))
}

/// What the database itself has measured of its storage, beside a test of that.
fn calibrated(page: &Page, runs: &[RunRecord]) -> Option<String> {
    let run = runs.first().filter(|_| page.raw.is_some())?;
    let own = run.targets.iter().find_map(|target| target.identity.calibrated.as_ref())?;
    Some(format!(
        "the database's own calibration (which ended {}): {} requests of a block/s with {} ms each, {} MB/s of large ones, {} MB/s \
         by one process",
        own.ended_at,
        figure(own.requests_per_s),
        figure(own.latency_ms),
        figure(own.mb_per_s),
        figure(own.process_mb_per_s)
    ))
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
