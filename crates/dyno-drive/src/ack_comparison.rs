//! Compares the transactions that sessions acknowledged with those that their database has counted so far.

use dyno_observe::{OWN_COMMITS, TargetSnapshot};
use dyno_record::{Counter, Counters, Transactions};
use dyno_workload::ClassId;

use crate::job::DriveJob;
use crate::lifetime_counts::LifetimeCounts;
use crate::results::Results;

/// Whether the database of the target at `at` has not yet counted all acknowledged transactions, between two
/// snapshots around the whole run. Other sessions' transactions may hide missing ones for a while; the
/// reverse cannot happen.
pub(crate) fn lacks_acknowledged_transactions(
    job: &DriveJob<'_>,
    at: usize,
    results: &Results,
    begin: &TargetSnapshot,
    end: &TargetSnapshot,
) -> bool {
    let sessions = || results.sessions.iter().filter(|session| session.target == at);
    let lives = || sessions().map(|session| &session.life);
    let expected: u64 = lives().map(|life| transactions(job, at, life)).sum();
    let beside: i64 = lives().map(|life| life.overhead_commits).sum();
    let moved = Counters::between(&begin.database, &end.database);
    let looking = moved.native.get(OWN_COMMITS).copied().unwrap_or(0.0) as i64;
    moved.get(Counter::Commits).is_ok_and(|counted| counted < expected.cast_signed() + beside + looking)
}

/// The number of transactions as the database at `at` counts them: one per commit, or one per call.
fn transactions(job: &DriveJob<'_>, at: usize, life: &LifetimeCounts) -> u64 {
    match job.targets[at].identity.counting.transactions {
        Transactions::Unknown => 0,
        // Those of procedures may have committed nothing.
        Transactions::Commits => life.commits.saturating_sub(life.unproven_commits),
        Transactions::Calls | Transactions::Statements if job.is_custom() => life.transactions,
        Transactions::Calls | Transactions::Statements => {
            match life.ops.get(ClassId::SLICE.index()).copied().unwrap_or(0) {
                0 => job.classes().operations().map(|class| life.ops[class.index()]).sum(),
                slices => slices + life.commits,
            }
        }
    }
}
