//! Requests of a transaction that are kept, to be sent together with the next.

use super::program::Execute;

/// Requests that are kept at most: both sides could wait for each other where one sends much and the other has not been read.
const KEPT_MAX: usize = 64;

/// Requests that are kept.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    /// Each in its order; what is no statement has none.
    kept: Vec<Option<Execute>>,
    /// Whether one of them has to touch so many rows.
    unchecked: bool,
    /// Whether the request behind them commits the transaction of the database, or takes it back, if it does either.
    ends: Option<bool>,
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

    /// Keeps one more, unless there are too many.
    pub(super) fn keep(&mut self, execute: Option<Execute>) -> bool {
        if self.kept.len() == KEPT_MAX {
            return false;
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
        self.unchecked = false;
        self.ends.take()
    }
}
