//! Time limits that sessions of a run keep.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::layout::ident;
use super::super::pool::Way;
use super::facts::Facts;
use dyno_engine::{TimeLimit, TimeLimitScope};

/// The finding. Sessions that reach the server straight lift the limit on idle ones.
pub(super) fn time_limits(facts: &Facts, plan: &Plan) -> Advice {
    let is_pooled = matches!(facts.through, Some(Way::Pooled(_)));
    let is_kept = |limit: &&TimeLimit| is_pooled || limit.ends != TimeLimitScope::IdleSession;
    let limits: Vec<TimeLimit> = facts.time_limits.iter().filter(is_kept).cloned().collect();
    let names: Vec<String> = limits.iter().map(|limit| format!("SET {} = 0", limit.setting)).collect();
    let user = ident(&facts.user);
    let way_out =
        format!("for runs without: ALTER ROLE {user} {}", names.join(&format!("; ALTER ROLE {user} ")));
    dyno_engine::time_limits(&limits, plan, &way_out)
}
