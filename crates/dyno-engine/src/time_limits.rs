//! Limits of servers on how long sessions live, idle and work, where the sessions of a run do not lift them.

use std::time::Duration;

use dyno_plan::Plan;
use dyno_record::Advice;

use crate::advice::{fail, note, ok, warn};

/// The name of the check.
const CHECK: &str = "time_limits";

/// A time limit of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeLimit {
    /// The name of the setting: `statement_timeout`.
    pub setting: String,
    /// The longest time that it allows.
    pub most: Duration,
    /// Whether it ends sessions, transactions or statements.
    pub ends: TimeLimitScope,
}

/// What a time limit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimitScope {
    /// Sessions, counted from their login.
    Session,
    /// Sessions that idle between transactions.
    IdleSession,
    /// Transactions, counted from their beginning.
    Transaction,
    /// Transactions that idle, together with their sessions.
    IdleTransaction,
    /// Statements of a custom workload. Sessions of the block workload lift such limits.
    Statement,
}

impl TimeLimitScope {
    fn words(self) -> &'static str {
        match self {
            Self::Session => "sessions",
            Self::IdleSession => "idle sessions",
            Self::Transaction => "transactions",
            Self::IdleTransaction => "idle transactions",
            Self::Statement => "statements",
        }
    }
}

/// The finding about the limits that apply to sessions of `plan`.
///
/// A limit on sessions that is shorter than the run prevents it. Other limits on sessions, or on idle
/// sessions, are warnings. Limits on transactions and statements shape what is measured.
pub fn time_limits(limits: &[TimeLimit], plan: &Plan, way_out: &str) -> Advice {
    let is_custom = plan.workload.folder.is_some();
    let applies = |limit: &&TimeLimit| is_custom || limit.ends != TimeLimitScope::Statement;
    let limits: Vec<&TimeLimit> = limits.iter().filter(applies).collect();
    if limits.is_empty() {
        return ok(CHECK, "no time limit of the server ends sessions of this plan or their work");
    }
    let texts: Vec<String> = limits.iter().map(|limit| shown(limit)).collect();
    let text = texts.join(", ");
    let session =
        limits.iter().filter(|limit| limit.ends == TimeLimitScope::Session).map(|limit| limit.most).min();
    let planned = plan.run.time.map(|time| plan.run.warmup.0 + time.0);
    if let (Some(most), Some(planned)) = (session, planned)
        && most <= planned
    {
        return fail(
            CHECK,
            format!("a run of {} s is longer than the server lets sessions live: {text}", planned.as_secs()),
            way_out,
        );
    }
    let ends_sessions =
        |limit: &&TimeLimit| matches!(limit.ends, TimeLimitScope::Session | TimeLimitScope::IdleSession);
    match limits.iter().any(ends_sessions) {
        true => warn(CHECK, format!("the server ends sessions of runs and loads: {text}"), way_out),
        false => note(CHECK, format!("limits of the server apply to sessions of this plan: {text}"), way_out),
    }
}

fn shown(limit: &TimeLimit) -> String {
    let TimeLimit { setting, most, ends } = limit;
    let most = match most.subsec_millis() {
        0 => format!("{} s", most.as_secs()),
        _ => format!("{} ms", most.as_millis()),
    };
    format!("{setting} ends {} after {most}", ends.words())
}

#[cfg(test)]
mod tests {
    use dyno_record::Severity;

    use super::*;

    fn plan(folder: Option<&str>, time: Option<u64>) -> Plan {
        let mut plan: Plan = serde_json::from_value(serde_json::json!({
            "version": 1,
            "target": { "url": "sqlite::memory:", "connect_timeout": "1s" },
            "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                      "load_parallel": 1 },
            "workload": { "update_pct": 0, "scan_pct": 0, "lookup_pct": 0, "work_unit": 8, "redo": "lite",
                          "drive": "client", "arrivals": "constant", "seed": 1 },
            "run": { "sessions_per_schema": 1, "warmup": "0s", "time": "200ms", "drain": "500ms" },
            "observe": { "interval": "50ms" }
        }))
        .unwrap();
        plan.workload.folder = folder.map(str::to_owned);
        plan.run.time = time.map(|seconds| dyno_plan::TimeSpan(Duration::from_secs(seconds)));
        plan
    }

    #[test]
    fn time_limits_are_graded_by_scope() {
        let limit = |ends, seconds| TimeLimit {
            setting: "some_timeout".to_owned(),
            most: Duration::from_secs(seconds),
            ends,
        };
        for (ends, seconds, folder, severity) in [
            (TimeLimitScope::Session, 60, None, Severity::Fail),
            (TimeLimitScope::Session, 6_000, None, Severity::Warn),
            (TimeLimitScope::IdleSession, 60, None, Severity::Warn),
            (TimeLimitScope::Transaction, 60, None, Severity::Note),
            (TimeLimitScope::Statement, 60, None, Severity::Ok),
            (TimeLimitScope::Statement, 60, Some("shop"), Severity::Note),
        ] {
            let finding = time_limits(&[limit(ends, seconds)], &plan(folder, Some(600)), "lift it");
            assert_eq!(finding.severity, severity, "{ends:?} {seconds} {folder:?}: {}", finding.found);
        }
        let finding = time_limits(&[limit(TimeLimitScope::Session, 60)], &plan(None, None), "lift it");
        assert_eq!(finding.severity, Severity::Warn);
        assert!(finding.found.contains("some_timeout ends sessions after 60 s"), "{}", finding.found);
        assert_eq!(time_limits(&[], &plan(None, None), "").severity, Severity::Ok);
    }
}
