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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders;
    use crate::simulated::{job, plan};

    fn problem(change: impl FnOnce(&mut AgentOrder)) -> Option<String> {
        let plan = plan(8);
        let mut order = orders::order(&job(&plan), vec![2, 1], 1, None);
        change(&mut order);
        check(&order).err()
    }

    #[test]
    fn order_of_controller_is_possible_and_impossible_ones_are_refused() {
        assert_eq!(problem(|_| ()), None);
        let refused = |change: fn(&mut AgentOrder), words: &str| {
            let problem = problem(change).unwrap_or_default();
            assert!(problem.contains(words), "{words}: {problem}");
        };
        refused(|order| order.run_id = "../../etc".to_owned(), "its name");
        refused(|order| order.run_id.clear(), "its name");
        refused(|order| order.plan.run.sessions_per_schema = 0, "no sessions, or too many");
        refused(|order| order.plan.run.sessions_per_schema = SESSIONS_MAX + 1, "no sessions, or too many");
        refused(|order| order.weights.clear(), "weights");
        refused(|order| order.weights = vec![1, 0], "weights");
        refused(|order| order.weights = vec![1; HOSTS_MAX + 1], "weights");
        refused(|order| order.rank = 2, "its rank");
        refused(|order| order.targets.clear(), "its targets");
        refused(|order| order.targets.push(order.targets[0].clone()), "its targets");
        refused(|order| order.plan.run.ops_per_session = None, "its window has no end");
    }
}
