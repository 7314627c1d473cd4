//! Audits a run with several targets: each target, and the total where that is possible.

use dyno_record::{AuditCheck, CheckStatus, RunRecord};

use super::checks::{self, CHECKS, OF_BOTH, OF_THE_RUN};
use super::facts::AuditFacts;
use super::finding;

/// Prefix of the checks that summarize one target's audit: `target_2`.
const SUMMARY: &str = "target_";

/// Whether a check summarizes one target's audit.
pub(super) fn is_summary(check: &str) -> bool {
    check.strip_prefix(SUMMARY).is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}

/// The audit of each target's part of the record.
pub(super) fn audits(record: &RunRecord) -> Vec<Vec<AuditCheck>> {
    of_each(record, |facts| {
        let checks = CHECKS.iter().filter(|(name, _)| !OF_THE_RUN.contains(name));
        checks.map(|&(name, check)| finding::named_check(name, check(facts))).collect()
    })
}

/// The result of `look` for each target's part of the record.
pub(super) fn of_each<T>(record: &RunRecord, look: impl Fn(&AuditFacts<'_>) -> T) -> Vec<T> {
    let parts = record.parts();
    let sessions = record.targets.iter().filter_map(|target| Some(target.own.as_deref()?.sessions));
    let wrote: Vec<bool> = parts.iter().map(has_written).collect();
    let audit = |(at, (part, sessions)): (usize, (&RunRecord, u32))| {
        let others_wrote = wrote.iter().enumerate().any(|(other, wrote)| other != at && *wrote);
        let device = AuditFacts::of(part).device;
        let on_device = |other: &RunRecord| device.is_some() && AuditFacts::of(other).device == device;
        let device_shared = parts.iter().enumerate().any(|(other, part)| other != at && on_device(part));
        let on_server = |other: &RunRecord| server(other).is_some() && server(other) == server(part);
        let server_shared = parts.iter().enumerate().any(|(other, part)| other != at && on_server(part));
        let facts = AuditFacts::of(part).of_part(sessions, others_wrote, device_shared);
        let facts = AuditFacts { server_shared, ..facts };
        look(&facts)
    };
    parts.iter().zip(sessions).enumerate().map(audit).collect()
}

/// Whether two targets of a run are on one server.
pub(super) fn share_a_server(record: &RunRecord) -> bool {
    let parts = record.parts();
    let is_again = |at: usize| {
        server(&parts[at]).is_some_and(|own| parts[..at].iter().any(|part| server(part) == Some(own)))
    };
    (0..parts.len()).any(is_again)
}

/// The server part of a record's URL: everything before the database name.
fn server(part: &RunRecord) -> Option<&str> {
    let (_, place) = part.targets.first()?.url.split_once("://")?;
    let authority = place.split(['/', '?']).next()?;
    Some(authority.rsplit('@').next().unwrap_or(authority))
}

fn has_written(part: &RunRecord) -> bool {
    part.whole.as_ref().map_or_else(|| part.may_write(), |whole| whole.rows_updated > 0)
}

/// The audit of the total, with one additional finding per target.
pub(super) fn audit(record: &RunRecord) -> Vec<AuditCheck> {
    let writers = record.parts().iter().filter(|part| has_written(part)).count();
    let facts = AuditFacts::of(record);
    let facts = AuditFacts { replicated: facts.is_shared() && writers > 1, ..facts };
    let of_all = |name: &&str| OF_THE_RUN.contains(name) || OF_BOTH.contains(name);
    let checks = checks::of(record).filter(|(name, _)| of_all(name));
    let whole = checks.map(|&(name, check)| finding::named_check(name, check(&facts)));
    let audits_by_target = audits(record);
    let summaries = audits_by_target.iter().enumerate().map(|(at, own)| summary(record, at, own));
    summaries.chain(whole).collect()
}

/// One target's audit as one finding: the worst status, and the checks that have it.
fn summary(record: &RunRecord, at: usize, target_checks: &[AuditCheck]) -> AuditCheck {
    let count = |status| target_checks.iter().filter(|check| check.status == status).count();
    let (failed, warned) = (count(CheckStatus::Fail), count(CheckStatus::Warn));
    let (status, problems) = match (failed, warned) {
        (0, 0) => (CheckStatus::Pass, Vec::new()),
        (0, _) => (CheckStatus::Warn, matching_details(target_checks, CheckStatus::Warn)),
        _ => (CheckStatus::Fail, matching_details(target_checks, CheckStatus::Fail)),
    };
    let url = &record.targets[at].url;
    let passed = format!("{} of its checks passed", count(CheckStatus::Pass));
    let detail = match problems.as_slice() {
        [] => format!("{url}: {passed}"),
        several => format!("{url}: {}", several.join("; ")),
    };
    AuditCheck {
        check: format!("{SUMMARY}{}", at + 1),
        status,
        expected: "0 failed".to_owned(),
        observed: format!("{failed} failed, {warned} warned"),
        detail,
    }
}

fn matching_details(target_checks: &[AuditCheck], status: CheckStatus) -> Vec<String> {
    let matching_checks = target_checks.iter().filter(|check| check.status == status);
    matching_checks.map(|check| format!("{}: {}", check.check, check.detail)).collect()
}
