//! Checks that a received order describes a possible run.

use crate::limits::{HOSTS_MAX, SESSIONS_MAX};
use crate::messages::AgentOrder;
use crate::subjects::is_name;

/// Checks that an order describes a possible run; the sender is not trusted.
pub(crate) fn check(order: &AgentOrder) -> Result<(), String> {
    let AgentOrder { plan, targets, weights, rank, run_id, .. } = order;
    let sessions = plan.workload_shares().fold(0u64, |sum, side| sum + u64::from(side.sessions));
    let problem = if !is_name(run_id) {
        "its name is not that of a run"
    } else if sessions == 0 || sessions > u64::from(SESSIONS_MAX) {
        "it has no sessions, or too many"
    } else if weights.is_empty() || weights.len() > HOSTS_MAX || weights.contains(&0) {
        "its weights are invalid"
    } else if *rank as usize >= weights.len() {
        "its rank is not below its number of hosts"
    } else if targets.is_empty() || targets.len() != plan.target.all().len() || targets.len() > 64 {
        "its targets are not those of its plan"
    } else if plan.run.time.is_none() && plan.run.ops_per_session.is_none() {
        "its window has no end"
    } else {
        return Ok(());
    };
    Err(format!("invalid part of a run: {problem}"))
}
