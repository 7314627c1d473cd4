//! What each host is sent of a run, and what cannot be done from several hosts.

use dyno_drive::Job;
use dyno_engine::TargetError;

use crate::folders::Folders;
use crate::limits::SESSIONS_MAX;
use crate::messages::{Known, Order};

/// What the host of this rank is sent.
pub(crate) fn order(job: &Job<'_>, weights: Vec<u32>, rank: u32, folders_sum: Option<String>) -> Order {
    let known = job.targets.iter().map(|aim| Known {
        identity: aim.identity.clone(),
        spec: aim.spec.clone(),
        reads_only: aim.reads_only.clone(),
    });
    Order {
        run_id: job.run_id.clone(),
        started_at: job.started_at.clone(),
        run_stamp: job.run_stamp,
        plan: job.plan.clone(),
        targets: known.collect(),
        workloads: job.owns.iter().map(|own| own.facts().version()).collect(),
        folders_sum,
        folders: Folders::default(),
        weights,
        rank,
    }
}

/// Refuses what cannot be done from several hosts.
pub(crate) fn refuse_unfit(job: &Job<'_>) -> Result<(), TargetError> {
    let refused = |why: String, hint: &str| Err(TargetError::unsupported(why).hint(hint.to_owned()));
    if let Some(aim) = job.targets.iter().find(|aim| aim.target.capabilities().ephemeral) {
        let why =
            format!("{} is in the memory of one process, and no other host reaches it", aim.target.url());
        return refused(why, "a database in a file or on a server");
    }
    if let Some(aim) = job.targets.iter().find(|aim| aim.identity.counting.in_process) {
        let why = format!(
            "{} counts in the process that uses it, so its counters tell nothing of what other hosts do",
            aim.target.url()
        );
        return refused(why, "a database with a server");
    }
    if job.owns.iter().any(|own| own.bulk().is_some()) {
        let why = "a load takes the parts of a table as they come, and only one host knows which are left";
        return refused(why.to_owned(), "leave --hosts out for it");
    }
    if job.targets.iter().any(|aim| aim.book.is_some()) {
        return refused("what is to be proved is noted on one host".to_owned(), "leave --hosts out");
    }
    if job.plan.sessions() > SESSIONS_MAX || job.targets.len() > 64 {
        return refused(
            format!("{} sessions or {} targets are too many", job.plan.sessions(), job.targets.len()),
            "",
        );
    }
    Ok(())
}
