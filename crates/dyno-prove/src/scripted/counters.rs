//! The counters of the scripted database, and its observer.

use std::sync::Arc;

use dyno_engine::observer::no_statements;
use dyno_engine::{Counting, Observer, StatementDescription, StatementSnapshot, TargetError};
use dyno_record::{Counter, Snapshot};
use parking_lot::Mutex;

/// Bytes of redo that the script counts for each updated row.
pub const REDO_BYTES_PER_ROW: u64 = 300;

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ScriptedCounters {
    pub(super) logical_reads: u64,
    pub(super) commits: u64,
    pub(super) rows_written: u64,
    pub(super) redo_bytes: u64,
}

impl ScriptedCounters {
    /// Adds the counts of `more`.
    pub(super) fn add(&mut self, more: Self) {
        self.logical_reads += more.logical_reads;
        self.commits += more.commits;
        self.rows_written += more.rows_written;
        self.redo_bytes += more.redo_bytes;
    }
}

/// Counts that closed sessions left, and the number of readings until they appear.
#[derive(Debug, Default)]
pub(super) struct DelayedCounters {
    pub(super) remaining_reads: u32,
    pub(super) counters: ScriptedCounters,
}

/// Reads the counters of the scripted database.
pub(super) struct ScriptedObserver {
    pub(super) counters: Arc<Mutex<ScriptedCounters>>,
    pub(super) delayed: Arc<Mutex<DelayedCounters>>,
    pub(super) reading: Arc<dyn Fn() + Send + Sync>,
}

impl Observer for ScriptedObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        tell(Counting::Asked);
        (self.reading)();
        let mut books = self.counters.lock();
        let mut late = self.delayed.lock();
        if late.counters.logical_reads > 0 {
            late.remaining_reads = late.remaining_reads.saturating_sub(1);
            if late.remaining_reads == 0 {
                books.add(std::mem::take(&mut late.counters));
            }
        }
        let books = *books;
        tell(Counting::Answered);
        let mut snapshot = Snapshot::default();
        for counter in Counter::ALL {
            snapshot.set_absent(counter, "the scripted database does not keep it");
        }
        snapshot.set(Counter::LogicalReads, books.logical_reads);
        snapshot.set(Counter::PhysicalReads, 0);
        snapshot.set(Counter::Commits, books.commits);
        snapshot.set(Counter::RowsWritten, books.rows_written);
        snapshot.set(Counter::RedoBytes, books.redo_bytes);
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        0
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        Err(no_statements("the scripted database"))
    }

    fn describe_statements(&mut self, _: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        Err(no_statements("the scripted database"))
    }
}
