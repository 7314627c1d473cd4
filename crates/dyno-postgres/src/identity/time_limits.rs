//! Checks time limits of the server that apply to a run's sessions.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::layout::ident;
use super::super::pool::PostgresRoute;
use super::facts::PostgresPreflightFacts;
use dyno_engine::{TimeLimit, TimeLimitScope};

/// The finding about time limits. Sessions with a direct connection lift the limit on idle sessions.
pub(super) fn time_limits(facts: &PostgresPreflightFacts, plan: &Plan) -> Advice {
    let is_pooled = matches!(facts.through, Some(PostgresRoute::Pooled(_)));
    let is_kept = |limit: &&TimeLimit| is_pooled || limit.ends != TimeLimitScope::IdleSession;
    let limits: Vec<TimeLimit> = facts.time_limits.iter().filter(is_kept).cloned().collect();
    let names: Vec<String> = limits.iter().map(|limit| format!("SET {} = 0", limit.setting)).collect();
    let user = ident(&facts.user);
    let way_out = format!(
        "to run without these limits: ALTER ROLE {user} {}",
        names.join(&format!("; ALTER ROLE {user} "))
    );
    dyno_engine::time_limits(&limits, plan, &way_out)
}
