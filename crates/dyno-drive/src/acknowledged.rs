//! What sessions have acknowledged of transactions, held against what their database has booked by now.

use dyno_record::{Counter, Counters, Transactions};
use dyno_workload::ClassId;

use crate::job::Job;
use crate::life::Life;
use crate::observe::{OWN_COMMITS, Taken};
use crate::results::Results;

/// Whether the database of the target at `at` has not booked yet, between two of its snapshots of the whole run, what the sessions
/// have acknowledged in it. What it counts of others may hide that for a while, and never the other way round.
pub(crate) fn is_owed(job: &Job<'_>, at: usize, results: &Results, begin: &Taken, end: &Taken) -> bool {
    let handed = results.of_target(at);
    let lives = || handed.sessions.iter().map(|one| &one.life);
    let expected: u64 = lives().map(|life| transactions(job, at, life)).sum();
    let beside: i64 = lives().map(|life| life.overhead_commits).sum();
    let moved = Counters::between(&begin.database, &end.database);
    let looking = moved.native.get(OWN_COMMITS).copied().unwrap_or(0.0) as i64;
    moved.get(Counter::Commits).is_ok_and(|counted| counted < expected.cast_signed() + beside + looking)
}

/// Transactions as the database at `at` counts them: a commit, or each call.
fn transactions(job: &Job<'_>, at: usize, life: &Life) -> u64 {
    match job.targets[at].identity.counting.transactions {
        Transactions::Unknown => 0,
        Transactions::Commits => life.commits,
        Transactions::Calls | Transactions::Statements if job.is_own() => life.transactions,
        Transactions::Calls | Transactions::Statements => {
            match life.ops.get(ClassId::SLICE.index()).copied().unwrap_or(0) {
                0 => job.classes().operations().map(|class| life.ops[class.index()]).sum(),
                slices => slices + life.commits,
            }
        }
    }
}
