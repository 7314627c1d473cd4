//! Queued requests of a transaction, to be sent together with the next request.

use super::program::ExecuteOp;
use super::safe::TransactionSavepoint;

/// The largest number of queued requests.
const KEPT_MAX: usize = 64;

/// The largest number of bytes in requests after the first queued statement. Beyond it, client and server
/// could deadlock: the server stops reading while it sends more than the sockets hold, and the client stops
/// reading while it sends. This many bytes always fit into the sockets (Linux' `tcp_wmem` and `tcp_rmem`
/// start with 16 and 128 KiB).
const BEHIND_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(super) struct RequestPipeline {
    /// The requests in order; `None` for one that is not a statement.
    queued: Vec<Option<ExecuteOp>>,
    /// Bytes after the first statement; absent if none is queued.
    behind: Option<usize>,
    /// Whether one of them has an expected number of rows.
    unchecked: bool,
    /// Whether the request after them commits the database transaction or rolls it back; absent if it does
    /// neither.
    ends: Option<bool>,
    /// The part of a table that was taken last (first row, number of rows), and whether it is being written.
    /// Such rarely used fields are here to keep frequently used ones close together.
    pub(super) part: (u64, u64),
    pub(super) is_filling: bool,
    /// Where a transaction with several commits resumes after one of its parts is rolled back; created when
    /// needed.
    pub(super) savepoint: Option<TransactionSavepoint>,
}

impl RequestPipeline {
    /// Whether no requests are queued.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    /// Whether the rows of a queued statement must be checked.
    #[inline]
    pub(super) fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Whether a statement of `bytes` bytes may be sent after them; counts the bytes if so.
    pub(super) fn reserve_bytes(&mut self, bytes: usize) -> bool {
        let Some(behind) = &mut self.behind else { return true };
        let sum = behind.saturating_add(bytes);
        let takes = sum <= BEHIND_MAX;
        if takes {
            *behind = sum;
        }
        takes
    }

    /// Queues one more request; returns false if the queue is full.
    pub(super) fn try_push(&mut self, execute: Option<ExecuteOp>) -> bool {
        if self.queued.len() == KEPT_MAX {
            return false;
        }
        if execute.is_some() {
            self.behind.get_or_insert(0);
        }
        self.unchecked |= execute.is_some_and(|execute| execute.rows.is_some());
        self.queued.push(execute);
        true
    }

    /// Records that the request after them commits the database transaction or rolls it back.
    pub(super) fn set_ending(&mut self, commits: bool) {
        self.ends = Some(commits);
    }

    /// The queued statement at `place`; `None` if it is another request.
    pub(super) fn statement_at(&self, place: usize) -> Option<ExecuteOp> {
        self.queued.get(place).copied().flatten()
    }

    /// Empties the queue; returns whether the request after it committed or rolled back.
    #[inline]
    pub(super) fn clear(&mut self) -> Option<bool> {
        self.queued.clear();
        (self.behind, self.unchecked) = (None, false);
        self.ends.take()
    }
}
