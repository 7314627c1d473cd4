//! Rules about lists of databases.

use super::SESSIONS_MAX;
use crate::plan::Plan;

pub(super) fn weights(plan: &Plan) -> Option<(String, &'static str)> {
    let (weights, urls) = (plan.target.weights.len(), plan.target.urls.len());
    (weights > 0 && weights != urls).then(|| {
        let problem = format!("{weights} weights for {urls} URLs of target.urls");
        (problem, "write one number per URL, or omit target.weights")
    })
}

pub(super) fn too_many_targets(plan: &Plan) -> Option<(String, &'static str)> {
    let (count, urls) = (plan.target.count? as usize, plan.target.urls.len().max(1));
    (count > urls).then(|| {
        (
            format!("{count} targets, but target.urls has only {urls}"),
            "write more URLs into target.urls, or lower target.count",
        )
    })
}

pub(super) fn idle_target(plan: &Plan) -> Option<(String, &'static str)> {
    let (targets, sessions) = (plan.target.all().len(), plan.sessions());
    let assigned = plan.target.assign(sessions.min(SESSIONS_MAX));
    let idle = (0..targets).find(|at| !assigned.contains(at))?;
    let number = idle + 1;
    let problem = format!("with {sessions} sessions, target {number} of {targets} would have none");
    Some((problem, "raise run.sessions_per_schema or data.schemas, or change target.weights"))
}
