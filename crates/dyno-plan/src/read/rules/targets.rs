//! Rules about lists of databases.

use super::SESSIONS_MAX;
use crate::plan::Plan;

pub(super) fn weights(plan: &Plan) -> Option<(String, &'static str)> {
    let (weights, urls) = (plan.target.weights.len(), plan.target.urls.len());
    (weights > 0 && weights != urls).then(|| {
        let problem = format!("{weights} weights for {urls} URLs of target.urls");
        (problem, "write as many numbers as URLs, or leave target.weights out")
    })
}

pub(super) fn too_many_targets(plan: &Plan) -> Option<(String, &'static str)> {
    let (count, urls) = (plan.target.count? as usize, plan.target.urls.len().max(1));
    (count > urls).then(|| {
        (
            format!("{count} targets of a list of {urls}"),
            "write more URLs into target.urls, or lower target.count",
        )
    })
}

pub(super) fn idle_target(plan: &Plan) -> Option<(String, &'static str)> {
    let (targets, sessions) = (plan.target.all().len(), plan.sessions());
    let assigned = plan.target.assign(sessions.min(SESSIONS_MAX));
    let idle = (0..targets).find(|at| !assigned.contains(at))?;
    let number = idle + 1;
    let problem = format!("of {sessions} sessions, target {number} of {targets} would get none");
    Some((problem, "raise run.sessions_per_schema or data.schemas, or change target.weights"))
}
