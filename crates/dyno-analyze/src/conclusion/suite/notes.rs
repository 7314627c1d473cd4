//! Notes that qualify the figures of a test: whether its data was where it had to be.

use dyno_plan::Bytes;
use dyno_record::{Metric, RunRecord};

use super::{SuiteTestInfo, SuiteTestResult, SuiteTestStep};
use crate::audit_warnings::AuditWarnings;
use crate::limited::Component;
use crate::number::{figure, percent, time_us};
use crate::points::MeasuredPoint;

/// Share of the blocks that the database's cache may serve in a storage test, %; above it the
/// figures do not describe storage.
const SERVED_MOST: f64 = 90.0;
/// Share of the reads that the page cache may answer in a storage test, %. Above it the figure is
/// refused: it would be a tenth too good.
const PAGE_CACHE_MOST: f64 = 10.0;
/// Share of the blocks that the cache must serve in a test of the cache, %.
const SERVED_LEAST: f64 = 99.0;

/// First words of the reason why a test is too small to measure.
pub(super) const TOO_SMALL: &str = "too small to measure";
/// The key figure of a load test.
const LOADED: &str = "load_rows_per_s";

/// Most limits that the summary of a whole suite names.
const LIMITS: usize = 3;

/// Why the figures of a storage test do not describe storage: a cache answered its reads, or that
/// is unknown.
pub(super) fn unfit(page: &SuiteTestInfo, points: &[MeasuredPoint], runs: &[RunRecord]) -> Option<String> {
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

/// The plan keys that set the data size of a test with these runs.
fn sizes(runs: &[RunRecord]) -> &'static str {
    match runs.iter().any(|run| run.workload.is_some()) {
        true => "workload.scale",
        false => "data.scale and data.scan_scale",
    }
}

/// Why an operation took too little time to measure.
pub(super) fn too_small(
    page: &SuiteTestInfo,
    single_us: Option<f64>,
    most: Option<&SuiteTestStep>,
) -> Option<String> {
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
fn served_by_database(points: &[MeasuredPoint], size: &str) -> Option<String> {
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

/// The page cache answered more reads than a storage test allows.
fn answered_by_page_cache(points: &[MeasuredPoint], way_out: &str) -> Option<String> {
    let runs = points.iter().flat_map(|point| &point.runs);
    let pct = runs.filter_map(|run| run.page_cache_pct).reduce(f64::max)?;
    (pct > PAGE_CACHE_MOST).then(|| {
        format!(
            "the operating system's page cache answered up to {} % of the reads, so these are not storage's figures; {way_out}",
            percent(pct)
        )
    })
}

/// The database reads through the page cache, and the audit could not compare with a device.
fn unverified(points: &[MeasuredPoint], way_out: &str) -> Option<String> {
    let reason = points.iter().flat_map(|point| &point.runs).find_map(|run| run.unverified_reads.as_ref())?;
    Some(format!(
        "the database reads through the operating system's page cache, and the share that storage answered \
         is unknown ({reason}); {way_out}"
    ))
}

/// All notes on the tests, each once with all tests that it applies to:
/// `storage-random-read, storage-random-write: …`.
pub(super) fn merged_notes(tests: &[SuiteTestResult]) -> Vec<String> {
    let mut grouped_notes: Vec<(Vec<&str>, String)> = Vec::new();
    for test in tests {
        let of_it = failure_note(test).into_iter().chain(test.unfit.iter().chain(&test.notes).cloned());
        for words in of_it {
            match grouped_notes.iter_mut().find(|(_, known)| *known == words) {
                Some((ids, _)) => ids.push(&test.page.id),
                None => grouped_notes.push((vec![&test.page.id], words)),
            }
        }
    }
    grouped_notes.into_iter().map(|(ids, words)| format!("{}: {words}", ids.join(", "))).collect()
}

/// Why a test has no result, or lacks a part of it; `None` for a complete result.
fn failure_note(test: &SuiteTestResult) -> Option<String> {
    let SuiteTestInfo { why_not, failed, .. } = &test.page;
    match (why_not, failed.as_ref().or(test.left_out.first()), test.most) {
        (Some(why), ..) => Some(format!("not applicable: {why}")),
        (None, Some(why), None) => Some(format!("no result: {why}")),
        (None, Some(why), Some(_)) => Some(format!("not all of its runs have a result: {why}")),
        (None, None, None) if test.steps.is_empty() => Some("not run".to_owned()),
        (None, None, None) => Some("no result: none of its runs reports its key figure".to_owned()),
        (None, None, Some(_)) => None,
    }
}

/// The notes on a test with these points and runs.
pub(super) fn notes(page: &SuiteTestInfo, points: &[MeasuredPoint], runs: &[RunRecord]) -> Vec<String> {
    let served: Vec<f64> = points.iter().filter_map(|point| point.get("buffer_hit_pct")).collect();
    let mut notes: Vec<String> = unreported_note(page, points, runs).into_iter().collect();
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
            "up to {} % of what the database requested from storage came from the operating system's page \
             cache",
            percent(cached)
        ));
    }
    notes
}

/// The size of the data and of the database's own cache, where that is known.
fn outgrown(page: &SuiteTestInfo, runs: &[RunRecord]) -> Option<String> {
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

/// The database's own calibration of its storage, for a test of storage.
fn calibrated(page: &SuiteTestInfo, runs: &[RunRecord]) -> Option<String> {
    let run = runs.first().filter(|_| page.raw.is_some())?;
    let database_calibration = run.targets.iter().find_map(|target| target.identity.calibrated.as_ref())?;
    Some(format!(
        "the database's own calibration (which ended {}): {} requests of a block/s with {} ms each, {} MB/s of large ones, {} MB/s \
         by one process",
        database_calibration.ended_at,
        figure(database_calibration.requests_per_s),
        figure(database_calibration.latency_ms),
        figure(database_calibration.mb_per_s),
        figure(database_calibration.process_mb_per_s)
    ))
}

/// The number of steps that lack the key figure, and the reason for the first: the highest value
/// may be among them.
fn unreported_note(page: &SuiteTestInfo, points: &[MeasuredPoint], runs: &[RunRecord]) -> Option<String> {
    let metric = page.metric.as_ref()?;
    let silent: Vec<&MeasuredPoint> = points.iter().filter(|point| point.get(metric).is_none()).collect();
    let first = silent.first()?;
    let run = runs.iter().find(|run| first.runs.iter().any(|own| own.id == run.id))?;
    let why = match run.metrics.get(metric) {
        Some(Metric::Absent { absent }) => absent.as_str(),
        _ => "the run does not report it",
    };
    Some(format!("{} of {} steps do not report {metric}: {why}", silent.len(), points.len()))
}

/// The audit warning that most runs share, as the end of a sentence:
/// `; with reservation: background load on server (11 of 11 runs)`. Empty where no warning concerns half of
/// the runs.
pub(super) fn reservation<'r>(runs: impl Iterator<Item = &'r RunRecord>) -> String {
    let mut warnings = AuditWarnings::default();
    runs.filter(|run| run.status.counts()).for_each(|run| warnings.add(run));
    let most = warnings.by_severity().into_iter().max_by_key(|warning| warning.runs);
    most.filter(|warning| warning.runs * 2 >= warnings.runs)
        .map_or_else(String::new, |warning| format!("; with reservation: {}", warning.words(warnings.runs)))
}

/// The limits of most tests, as the end of a sentence:
/// `; what limits most: CPU (30 tests), commits (8)`. Empty where no limit is known.
pub(super) fn limits(tests: &[SuiteTestResult]) -> String {
    let mut counts: Vec<(Component, usize)> = Vec::new();
    let bottlenecks =
        tests.iter().filter(|test| test.unfit.is_none()).filter_map(|test| Some(test.limit.as_ref()?.by));
    for by in bottlenecks.filter(|by| *by != Component::Unknown) {
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
