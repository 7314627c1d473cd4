//! Whether an order can be one of a run, whoever it came from.

use crate::limits::{HOSTS_MAX, SESSIONS_MAX};
use crate::messages::Order;
use crate::subjects::is_name;

/// Whether an order can be one, whoever it came from.
pub(crate) fn check(order: &Order) -> Result<(), String> {
    let Order { plan, targets, weights, rank, run_id, .. } = order;
    let sessions = plan.sides().fold(0u64, |sum, side| sum + u64::from(side.sessions));
    let problem = if !is_name(run_id) {
        "its name is none of a run"
    } else if sessions == 0 || sessions > u64::from(SESSIONS_MAX) {
        "it has no sessions, or too many"
    } else if weights.is_empty() || weights.len() > HOSTS_MAX || weights.contains(&0) {
        "its weights are none of hosts"
    } else if *rank as usize >= weights.len() {
        "its rank is none of its hosts"
    } else if targets.is_empty() || targets.len() != plan.target.all().len() || targets.len() > 64 {
        "its targets are not those of its plan"
    } else if plan.run.time.is_none() && plan.run.ops_per_session.is_none() {
        "its window has no end"
    } else {
        return Ok(());
    };
    Err(format!("this is no part of a run: {problem}"))
}
