//! Requests of a transaction that are kept, to be sent together with the next.

use super::program::Execute;
use super::safe::Safe;

/// Requests that are kept at most.
const KEPT_MAX: usize = 64;

/// Bytes at most of the requests behind the first statement that is kept. Both sides could wait for each other where the server has
/// to send more than fits into the sockets between them before it reads on, and the client does before it reads: so many bytes
/// fit into them whatever the server does (Linux' `tcp_wmem` and `tcp_rmem` begin with 16 and 128 KiB).
const BEHIND_MAX: usize = 32 * 1024;

/// Requests that are kept.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    /// Each in its order; what is no statement has none.
    kept: Vec<Option<Execute>>,
    /// Bytes behind the first statement; none where none is kept.
    behind: Option<usize>,
    /// Whether one of them has to touch so many rows.
    unchecked: bool,
    /// Whether the request behind them commits the transaction of the database, or takes it back, if it does either.
    ends: Option<bool>,
    /// The part of a table that was taken last, its first row and how many, and whether it is under way. What a session seldom needs is
    /// kept here, out of the way of others.
    pub(super) part: (u64, u64),
    pub(super) is_filling: bool,
    /// Where a transaction of several commits goes on when one of its parts is taken back; made where it is needed.
    pub(super) safe: Option<Safe>,
}

impl Pipe {
    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether rows have to be looked at.
    #[inline]
    pub(super) fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Whether a statement of so many bytes may be sent behind them.
    pub(super) fn takes(&mut self, bytes: usize) -> bool {
        let Some(behind) = &mut self.behind else { return true };
        let sum = behind.saturating_add(bytes);
        let takes = sum <= BEHIND_MAX;
        if takes {
            *behind = sum;
        }
        takes
    }

    /// Keeps one more, unless there are too many.
    pub(super) fn keep(&mut self, execute: Option<Execute>) -> bool {
        if self.kept.len() == KEPT_MAX {
            return false;
        }
        if execute.is_some() {
            self.behind.get_or_insert(0);
        }
        self.unchecked |= execute.is_some_and(|execute| execute.rows.is_some());
        self.kept.push(execute);
        true
    }

    /// The request behind them commits the transaction of the database, or takes it back.
    pub(super) fn ends(&mut self, commits: bool) {
        self.ends = Some(commits);
    }

    /// The statement at `place`, if it is one.
    pub(super) fn at(&self, place: usize) -> Option<Execute> {
        self.kept.get(place).copied().flatten()
    }

    /// Lets go of them; whether what came behind them has committed, or taken back.
    #[inline]
    pub(super) fn clear(&mut self) -> Option<bool> {
        self.kept.clear();
        (self.behind, self.unchecked) = (None, false);
        self.ends.take()
    }
}
