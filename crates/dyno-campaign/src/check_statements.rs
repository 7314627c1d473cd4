//! Checks whether the server can hold the prepared statements of all sessions.

use std::sync::Arc;

use dyno_engine::advice::{fail, ok, warn};
use dyno_engine::{StatementLimit, StatementScope};
use dyno_plan::{Connect, Plan, StatementProtocol};
use dyno_record::Advice;
use dyno_workload::custom::CustomWorkload;

use crate::custom_workloads;
use crate::error::Error;
use crate::targets::ReachedTarget;

/// Compares the prepared statements of all sessions on target `at` with the server's limit. `None` if no
/// limit is known, or nothing is prepared.
pub(crate) fn check_statement_limit(
    plan: &Plan,
    at: usize,
    reached: &ReachedTarget,
    workloads: &[Arc<CustomWorkload>],
) -> Result<Option<Advice>, Error> {
    if plan.workload.protocol != StatementProtocol::Prepared || plan.workload.connect == Connect::Transaction
    {
        return Ok(None);
    }
    let target = reached.target.as_ref();
    let Some(limit) = reached.named(target.statement_limit())? else { return Ok(None) };
    let mut counts = Vec::new();
    for workload in workloads {
        let statements = workload.statements(target.engine(), target.dialect());
        counts.push(statements.map_err(dyno_plan::PlanErrors::from)?.len() as u64);
    }
    let plan = custom_workloads::apply_workload_rates(plan.clone(), workloads);
    let places = plan.target.assign(plan.sessions());
    let sessions = (0..).zip(places).filter(|(_, place)| *place == at).map(|(number, _)| number);
    let of_sessions: Vec<u64> =
        sessions.filter_map(|number| counts.get(plan.share_of(number).0).copied()).collect();
    let mut different = 0;
    for workload in custom_workloads::distinct_workloads(workloads) {
        let place = workloads.iter().position(|other| Arc::ptr_eq(other, workload)).unwrap_or(0);
        different += counts[place];
    }
    Ok(Some(compare(&limit, &of_sessions, different)))
}

/// Creates the finding from the statements of each session and the number of `different` statements.
fn compare(limit: &StatementLimit, of_sessions: &[u64], different: u64) -> Advice {
    let StatementLimit { setting, most, way_out, .. } = *limit;
    let (needed, free, sessions) = (limit.needed(of_sessions, different), limit.free(), of_sessions.len());
    let demand = match limit.scope {
        StatementScope::Server => format!("{sessions} sessions prepare {needed} statements in total"),
        StatementScope::Session => format!("each session prepares up to {needed} statements"),
        StatementScope::PoolerConnection => format!("sessions prepare {needed} different statements"),
    };
    if needed > free && limit.scope == StatementScope::PoolerConnection {
        let text = format!("{demand}, and each connection of the pooler keeps {free} ({setting})");
        return warn("prepared_statements", text, way_out);
    }
    if needed > free {
        return fail(
            "prepared_statements",
            format!("{demand}, but only {free} are free of {setting} = {most}"),
            way_out,
        );
    }
    ok("prepared_statements", format!("{demand}; {free} of {setting} = {most} are free"))
}

#[cfg(test)]
mod tests {
    use dyno_record::Severity;

    use super::*;

    #[test]
    fn statements_of_all_sessions_count_toward_server_limit() {
        let limit = |scope| StatementLimit { setting: "most", most: 20, open: 3, scope, way_out: "raise it" };
        for (scope, of_sessions, severity) in [
            (StatementScope::Server, vec![9; 1], Severity::Ok),
            (StatementScope::Server, vec![9; 2], Severity::Fail),
            (StatementScope::Server, vec![17], Severity::Ok),
            (StatementScope::Session, vec![17; 100], Severity::Ok),
            (StatementScope::Session, vec![1, 18], Severity::Fail),
            (StatementScope::PoolerConnection, vec![1, 1], Severity::Warn),
        ] {
            assert_eq!(compare(&limit(scope), &of_sessions, 21).severity, severity, "{of_sessions:?}");
        }
    }
}
