//! The counters of the scripted database, and who reads them.

use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::{Counting, Observer, TargetError};
use dyno_record::{Counter, Snapshot};

/// Bytes of redo that the script books for each updated row.
pub const REDO_BYTES_PER_ROW: u64 = 300;

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Books {
    pub(super) logical_reads: u64,
    pub(super) commits: u64,
    pub(super) rows_written: u64,
    pub(super) redo_bytes: u64,
}

impl Books {
    /// Books what `more` has.
    pub(super) fn add(&mut self, more: Self) {
        self.logical_reads += more.logical_reads;
        self.commits += more.commits;
        self.rows_written += more.rows_written;
        self.redo_bytes += more.redo_bytes;
    }
}

/// What sessions that have closed left to be booked, and after how many more looks it is.
#[derive(Debug, Default)]
pub(super) struct Late {
    pub(super) looks: u32,
    pub(super) books: Books,
}

/// Reads them.
pub(super) struct ScriptedObserver {
    pub(super) books: Arc<Mutex<Books>>,
    pub(super) late: Arc<Mutex<Late>>,
    pub(super) reading: Arc<dyn Fn() + Send + Sync>,
}

impl Observer for ScriptedObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        tell(Counting::Asked);
        (self.reading)();
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late.books.logical_reads > 0 {
            late.looks = late.looks.saturating_sub(1);
            if late.looks == 0 {
                books.add(std::mem::take(&mut late.books));
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
}
