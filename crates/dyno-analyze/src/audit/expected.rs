//! What transactions of a user's own workload were expected to do to the database, against what its counters say.

use dyno_record::window::Counted;
use dyno_record::{CheckStatus, Class, Counter, Expected};

use super::facts::{Facts, Interval};
use super::finding::{Finding, Verdict, found, skip};
use crate::number::{count, fixed};

/// Counters that are held against what was learned, though nobody has said anything of them. Others depend on how many sessions
/// there are, and on what the data has become.
const LEARNED: [Counter; 1] = [Counter::RowsWritten];

/// Standard errors of what was learned that are no chance any more.
const ERRORS: f64 = 5.0;

/// Share by which a count may differ from what was expected, whatever its error.
const SLACK: f64 = 0.01;

/// Whether the window's counters moved as its transactions should have moved them.
pub(super) fn check(facts: &Facts<'_>) -> Verdict {
    if facts.record.workload.is_none() {
        return skip("it is of workloads of the user's own");
    }
    let expected: Vec<&Expected> = facts.record.workloads().flat_map(|own| &own.expected).collect();
    if expected.is_empty() {
        return skip(
            "nothing was said, and nothing learned: a run of one target with a warm-up (run.warmup) learns",
        );
    }
    let (interval, window) = (facts.compared()?, facts.window()?);
    let is_window = interval.name == "window";
    let done = |class: &Class| match (&window.counted, &facts.record.whole) {
        (_, Some(whole)) if !is_window => whole.ops.get(&class.name).copied().unwrap_or(0),
        (Some(counted), _) => counted.of(&class.name),
        (None, _) => facts.ops(&class.name).map_or(0, |ops| ops.count),
    };
    let done = facts.record.classes.iter().map(|class| (class.name.as_str(), done(class)));
    let done: Vec<(&str, u64)> = done.filter(|(_, ops)| *ops > 0).collect();
    let unsure =
        window.unsure.as_ref().filter(|_| is_window).map(|(begin, end)| [begin, end]).into_iter().flatten();
    let unsure: Vec<&Counted> = unsure.collect();
    let said = expected.iter().flat_map(|one| one.said.keys().copied());
    let mut counters: Vec<Counter> = LEARNED.into_iter().chain(said).collect();
    counters.sort_unstable();
    counters.dedup();
    let failed = facts.record.errors.iter().map(|error| error.count + error.retried).sum::<u64>();
    let mut findings: Vec<Finding> = Vec::new();
    for counter in counters {
        findings.extend(one(&expected, &interval, &done, &unsure, failed, counter));
    }
    let Some(worst) = findings.iter().map(|finding| finding.status).max() else {
        return skip("of no counter it is known what all classes do, and what the database counted");
    };
    let all = |of: fn(&Finding) -> &String| findings.iter().map(of).cloned().collect::<Vec<_>>().join("; ");
    found(worst, all(|one| &one.expected), all(|one| &one.observed), all(|one| &one.detail))
}

/// One counter; nothing where not all is known of it.
fn one(
    known: &[&Expected],
    interval: &Interval<'_>,
    done: &[(&str, u64)],
    unsure: &[&Counted],
    failed: u64,
    counter: Counter,
) -> Option<Finding> {
    let seen = interval.counter(counter).ok()?;
    let of = |class: &str| {
        let known = known.iter().find(|one| one.class == class)?;
        Some((known.of(counter)?, known.learned.as_ref().map_or(0, |learned| learned.transactions)))
    };
    let (mut sum, mut error, mut per_op) = (0.0, 0.0, 0.0_f64);
    let mut words = Vec::new();
    for &(class, ops) in done {
        let (mean, transactions) = of(class)?;
        sum += mean.mean * ops as f64;
        // What the mean may be off by, and what so many transactions differ from their mean by chance.
        error += mean.error * (ops as f64 + (ops as f64 * transactions as f64).sqrt());
        per_op = per_op.max(mean.mean);
        let beyond: u64 = unsure.iter().map(|part| part.of(class)).sum();
        error += mean.mean * beyond as f64 / ERRORS;
        words.push(format!("{} of each {class}", fixed(mean.mean, 2)));
    }
    if words.is_empty() {
        return None;
    }
    let failed = failed as f64 * per_op;
    let gap = seen as f64 - sum;
    // A transaction that conflicted has written rows, too, before it was taken back.
    let is_near = gap.abs() <= ERRORS * error + SLACK * sum + failed + per_op + interval.blur * sum;
    let is_said = known.iter().any(|one| one.said.contains_key(&counter));
    let (expected, observed) = (count(sum.round() as u64), count(seen));
    let name = counter.name().replace('_', " ");
    let head = format!("{name}: {} are {expected}, and the database counted {observed}", words.join(", "));
    let (status, tail) = match (is_near, is_said) {
        (true, _) => (CheckStatus::Pass, ""),
        (false, true) => (
            CheckStatus::Fail,
            ": transactions do not do what the workload says, or others do it beside them",
        ),
        (false, false) => (
            CheckStatus::Warn,
            ": others do it beside the run, or transactions do other things than when they were alone",
        ),
    };
    Some(Finding { status, expected, observed, detail: format!("{head}{tail}") })
}
