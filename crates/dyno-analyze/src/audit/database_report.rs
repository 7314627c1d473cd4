//! Compares the run's rates with those of the report that the database wrote about the same time.

use dyno_record::CheckStatus;

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::database_report::{ReportedRate, rates, seconds_beyond};
use crate::number::{compact, fixed};

/// Part of the window by which the report may be longer, and seconds that are always allowed: reports print
/// their length to a hundredth of a minute.
const LONGER_MAX: f64 = 0.5;
const LONGER_FREE_S: f64 = 2.0;

/// Whether the database's own report has the rates that the run measured.
pub(super) fn check(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(report) = facts.record.database_report.as_deref() else {
        return skip("the plan requests no report of the database (observe.awr)");
    };
    let window = facts.window()?;
    if let Some(beyond_s) = seconds_beyond(facts.record, report)
        && beyond_s > window.seconds * LONGER_MAX + LONGER_FREE_S
    {
        return skip(format!(
            "{} covers {} s, but the window is {} s: use a longer run.time to compare both",
            report.name,
            fixed(report.seconds.unwrap_or_default(), 1),
            fixed(window.seconds, 1)
        ));
    }
    let rates = rates(facts.record);
    if rates.is_empty() {
        return skip(format!("{} and the run have no rate in common", report.name));
    }
    let (same, apart): (Vec<&ReportedRate>, Vec<&ReportedRate>) =
        rates.iter().partition(|rate| rate.agrees());
    let list = |rates: &[&ReportedRate], of: fn(&ReportedRate) -> f64| {
        let texts = rates.iter().map(|rate| format!("{} {}/s", rate.name, compact(of(rate))));
        texts.collect::<Vec<_>>().join(", ")
    };
    let both = |rates: &[&ReportedRate]| {
        let texts = rates.iter().map(|rate| {
            format!("{} {}/s, report {}/s", rate.name, compact(rate.measured), compact(rate.reported))
        });
        texts.collect::<Vec<_>>().join("; ")
    };
    let shown = if apart.is_empty() { &same } else { &apart };
    let (expected, observed) = (list(shown, |rate| rate.measured), list(shown, |rate| rate.reported));
    match apart.is_empty() {
        true => conclude(
            CheckStatus::Pass,
            expected,
            observed,
            format!("{} has the rates of the window: {}", report.name, both(&same)),
        ),
        false => conclude(
            CheckStatus::Warn,
            expected,
            observed,
            format!(
                "{} differs by more than 10 %: {}; the report also covers the time until both snapshots were \
                 stored",
                report.name,
                both(&apart)
            ),
        ),
    }
}
