//! What a reader has to know of the figures of a test: whether its data was where it was to be.

use dyno_plan::Bytes;
use dyno_record::{Metric, RunRecord};

use super::{Page, Step, Tested};
use crate::limited::Component;
use crate::number::{figure, percent, time_us};
use crate::points::Point;

/// A test of storage in which the database's cache serves more than this is none, %.
const SERVED_MOST: f64 = 90.0;
/// A storage figure is refused where the page cache answered more of the reads than this, %: it would be a tenth too good.
const PAGE_CACHE_MOST: f64 = 10.0;
/// A test in the cache in which it serves less than this is none, %.
const SERVED_LEAST: f64 = 99.0;

/// How the reason of a test begins that is too small to measure.
pub(super) const TOO_SMALL: &str = "too small to measure";
/// The key figure of a measured load.
const LOADED: &str = "load_rows_per_s";

/// Limits that are named of a whole suite.
const LIMITS: usize = 3;

/// Why the figures of a storage test are not the storage's: a cache answered its reads, or nobody can tell whether one did.
pub(super) fn unfit(page: &Page, points: &[Point], runs: &[RunRecord]) -> Option<String> {
    if page.cache.as_deref() != Some("out") {
        return None;
    }
    let size = sizes(runs);
    let past_page_cache = format!(
        "use direct I/O in the database, limit the server's memory (cgroup), or set {size} to twice the host's memory"
    );
    served_by_database(points, size)
        .or_else(|| answered_by_page_cache(points, &past_page_cache))
        .or_else(|| unverified(points, &past_page_cache))
}

/// What says how much data a test of these runs has: keys of the plan.
fn sizes(runs: &[RunRecord]) -> &'static str {
    match runs.iter().any(|run| run.workload.is_some()) {
        true => "workload.scale",
        false => "data.scale and data.scan_scale",
    }
}

/// An operation took too little time to measure.
pub(super) fn too_small(page: &Page, single_us: Option<f64>, most: Option<&Step>) -> Option<String> {
    let least = page.least.as_ref()?;
    let is_load = page.metric.as_deref() == Some(LOADED);
    let (what, seconds) = match is_load {
        true => ("all rows were loaded in", most?.elapsed_s),
        false => ("an operation took", single_us? / 1e6),
    };
    (seconds < least.seconds).then(|| {
        let [took, needed] = [seconds, least.seconds].map(|seconds| time_us(seconds * 1e6));
        format!("{TOO_SMALL}: {what} {took}, and a figure needs {needed}; {}", least.larger)
    })
}

/// The database's own cache served nearly all blocks.
fn served_by_database(points: &[Point], size: &str) -> Option<String> {
    let reads_blocks =
        points.iter().any(|point| point.get("logical_reads_per_s").is_some_and(|reads| reads > 0.0));
    let hit_pct = points.iter().filter_map(|point| point.get("buffer_hit_pct")).reduce(f64::max)?;
    (reads_blocks && hit_pct > SERVED_MOST).then(|| {
        format!(
            "the database's own cache served up to {} % of the blocks, so these are not storage's figures; set {size} \
             above the size of that cache",
            percent(hit_pct)
        )
    })
}

/// The page cache answered more reads than a storage figure may have.
fn answered_by_page_cache(points: &[Point], way_out: &str) -> Option<String> {
    let runs = points.iter().flat_map(|point| &point.runs);
    let pct = runs.filter_map(|run| run.page_cache_pct).reduce(f64::max)?;
    (pct > PAGE_CACHE_MOST).then(|| {
        format!(
            "the operating system's page cache answered up to {} % of the reads, so these are not storage's figures; {way_out}",
            percent(pct)
        )
    })
}

/// The database reads through the page cache, and the audit had no device to compare with.
fn unverified(points: &[Point], way_out: &str) -> Option<String> {
    let reason = points.iter().flat_map(|point| &point.runs).find_map(|run| run.unverified_reads.as_ref())?;
    Some(format!(
        "the database reads through the operating system's page cache, and nobody can tell what storage answered ({reason}); \
         {way_out}"
    ))
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
