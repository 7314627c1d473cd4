//! One session's transactions, as it acknowledges them and as the server counts them for its connection.
//!
//! `Handler_commit`, by which both products count, moves by one for each statement that has touched a table of InnoDB, alone or
//! as a step of a transaction, and by one more for the commit of a transaction with such a step. A rollback does not move it,
//! nor does a transaction without steps (seen on MariaDB 10.11 and MySQL 9.7, with and without a binlog).

use std::sync::Arc;

use crate::own::{self, Acknowledged, Done, Sessions, Share, open_books};
use crate::wire::{Connection, WireError};

/// The books of one session.
#[derive(Debug, Default)]
pub(super) struct Books {
    acknowledged: Arc<Acknowledged>,
    /// Transactions that were no operations: on the connections before this one, and on this one beside those that are
    /// acknowledged. A procedure or a table that is met for the first time is looked up in the dictionary, in transactions of
    /// its own.
    before: u64,
    overhead: u64,
    /// What the steps of the transaction that has begun were.
    steps: Option<Steps>,
}

/// Steps of a transaction.
#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    any: bool,
    /// Whether one was work.
    works: bool,
}

impl Books {
    /// Opens those of a new connection, whose number is among `sessions` while it is open.
    pub(super) fn open(&mut self, connection: &Connection, sessions: &Sessions) {
        *self = Self { before: self.overhead(), ..Self::default() };
        open_books(sessions).opened(connection.id(), Arc::clone(&self.acknowledged));
    }

    /// Asks the server what it has counted for `connection`.
    pub(super) fn ask(&mut self, connection: &mut Connection, sessions: &Sessions) -> Result<(), WireError> {
        let share = own::ask(connection)?;
        self.told(connection.id(), share, sessions);
        Ok(())
    }

    /// The server has counted `share` for this connection.
    pub(super) fn told(&mut self, id: u32, share: Share, sessions: &Sessions) {
        let acknowledged = self.acknowledged.so_far().transactions();
        self.overhead = self.overhead.max(share.transactions().saturating_sub(acknowledged));
        open_books(sessions).told(id, share);
    }

    /// Transactions that were no operations.
    pub(super) fn overhead(&self) -> u64 {
        self.before + self.overhead + self.acknowledged.so_far().beside
    }

    /// Statements have ended well that read and wrote so many rows; one that does not work only looks.
    #[inline]
    pub(super) fn did(&mut self, works: bool, mut done: Done) {
        if let Some(steps) = &mut self.steps {
            steps.any = true;
            steps.works |= works;
        }
        if !works || self.steps.is_some() {
            done.beside += std::mem::take(&mut done.operations);
        }
        if !works {
            (done.rows_read, done.rows_written) = (0, 0);
        }
        self.acknowledged.add(done);
    }

    /// A transaction has begun.
    pub(super) fn begun(&mut self) {
        self.steps = Some(Steps::default());
    }

    /// It has ended, committed or not.
    pub(super) fn ended(&mut self, committed: bool) {
        let Steps { any, works } = self.steps.take().unwrap_or_default();
        let counted = u64::from(committed && any);
        let (operations, beside) = if works { (counted, 0) } else { (0, counted) };
        self.acknowledged.add(Done { operations, beside, ..Done::default() });
    }
}
