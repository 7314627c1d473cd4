//! Builds the order for each host, and refuses runs that are impossible over several hosts.

use dyno_drive::DriveJob;
use dyno_engine::TargetError;

use crate::folders::Folders;
use crate::limits::SESSIONS_MAX;
use crate::messages::{AgentOrder, FleetTarget};

/// Builds the order for the host of this rank.
pub(crate) fn order(
    job: &DriveJob<'_>,
    weights: Vec<u32>,
    rank: u32,
    folders_sum: Option<String>,
) -> AgentOrder {
    let fleet_targets = job.targets.iter().map(|context| FleetTarget {
        identity: context.identity.clone(),
        spec: context.spec.clone(),
        reads_only: context.reads_only.clone(),
    });
    AgentOrder {
        run_id: job.run_id.clone(),
        started_at: job.started_at.clone(),
        run_stamp: job.run_stamp,
        plan: job.plan.clone(),
        targets: fleet_targets.collect(),
        workloads: job.custom_workloads.iter().map(|own| own.facts().version()).collect(),
        folders_sum,
        folders: Folders::default(),
        weights,
        rank,
    }
}

/// Refuses targets and workloads that cannot run over several hosts.
pub(crate) fn refuse_unfit(job: &DriveJob<'_>) -> Result<(), TargetError> {
    let refused = |why: String, hint: &str| Err(TargetError::unsupported(why).hint(hint.to_owned()));
    if let Some(context) = job.targets.iter().find(|aim| aim.target.capabilities().ephemeral) {
        let why = format!(
            "{} is in the memory of one process, so no other host can reach it",
            context.target.url()
        );
        return refused(why, "use a database in a file or on a server");
    }
    if let Some(target_context) = job.targets.iter().find(|aim| aim.identity.counting.in_process) {
        let why = format!(
            "{} counts in the process that uses it, so its counters do not include the work of other hosts",
            target_context.target.url()
        );
        return refused(why, "use a database with a server");
    }
    if job.custom_workloads.iter().any(|own| own.bulk().is_some()) {
        let why =
            "a load distributes the parts of a table while it runs, and only one host knows which remain";
        return refused(why.to_owned(), "leave --hosts out for it");
    }
    if job.targets.iter().any(|first_context| first_context.ack_ledger.is_some()) {
        return refused(
            "a proof records acknowledged commits on one host only".to_owned(),
            "leave --hosts out",
        );
    }
    if job.plan.sessions() > SESSIONS_MAX || job.targets.len() > 64 {
        return refused(
            format!("{} sessions or {} targets are too many", job.plan.sessions(), job.targets.len()),
            "",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::{decode, encode};
    use crate::simulated::{job, plan};

    #[test]
    fn order_reaches_agent_unchanged() {
        let plan = plan(8);
        let sent = order(&job(&plan), vec![3, 1], 1, Some("sum".to_owned()));
        let order: AgentOrder = decode(&encode(&sent)).unwrap();
        assert_eq!((order.run_id.as_str(), order.run_stamp, order.rank), ("simulated", 7, 1));
        assert_eq!((order.weights, order.folders_sum.as_deref()), (vec![3, 1], Some("sum")));
        assert_eq!((order.plan, order.targets.len()), (plan, 1));
        assert_eq!(order.targets[0].spec, sent.targets[0].spec);
    }

    #[test]
    fn database_in_memory_cannot_run_over_several_hosts() {
        let plan = plan(8);
        let error = refuse_unfit(&job(&plan)).unwrap_err();
        assert!(error.message.contains("in the memory of one process"), "{error}");
        assert!(error.hint.contains("on a server"), "{}", error.hint);
    }
}
