//! One session's transactions, as it acknowledges them and as the server counts them for its connection.
//!
//! `Handler_commit`, by which both products count, moves by one for each statement that has touched a table of InnoDB, alone, as a
//! step of a transaction or within a procedure, and by one more for the commit of a transaction with such a step. A rollback does
//! not move it, nor does a transaction without steps, nor a statement that touches no table (seen on MariaDB 10.11 and MySQL 9.7,
//! with and without a binlog). What an execution of a statement costs is taken from what the server has counted for single ones.

use std::sync::Arc;

use crate::own::{self, Acknowledged, Done, Sessions, Share, open_books};
use crate::wire::{Connection, WireError};
use dyno_engine::Statement;

/// The books of one session.
#[derive(Debug, Default)]
pub(super) struct Books {
    acknowledged: Arc<Acknowledged>,
    /// Transactions that were no operations: on the connections before this one, and on this one beside those that are
    /// acknowledged. A procedure or a table that is met for the first time is looked up in the dictionary, in transactions of
    /// its own. Below 0 where the server counts fewer.
    before: i64,
    overhead: i64,
    /// What the steps of the transaction that has begun were.
    steps: Option<Steps>,
    /// What one execution of each statement costs, and what is owed of parts of one.
    costs: Vec<Cost>,
    owed: f64,
    /// Whether something was executed that may cost anything.
    unsure: bool,
    /// What the server had counted when it last told, and what was executed since.
    told: Option<u64>,
    since: Since,
}

/// Steps of a transaction.
#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    /// Whether the server has counted one.
    any: bool,
    /// Whether one was work, and whether one only looked.
    works: bool,
    looks: bool,
}

/// Transactions that one execution of a statement is for the server.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Cost {
    /// One, as of most that touch a table.
    #[default]
    One,
    /// So many on average, as was seen.
    Seen(f64),
    /// That of a procedure of which nothing was seen.
    Unknown,
}

impl Cost {
    fn of(sql: &str, seen: Option<f64>) -> Self {
        let begins = |with: &str| {
            sql.trim_start().get(..with.len()).is_some_and(|word| word.eq_ignore_ascii_case(with))
        };
        match seen {
            Some(seen) => Self::Seen(seen),
            None if begins("call") => Self::Unknown,
            // It names no table; a function may read one, which the server tells in time.
            None if begins("select") && !sql.to_ascii_lowercase().contains("from") => Self::Seen(0.0),
            None => Self::One,
        }
    }
}

/// What was executed since the server last told what it has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Since {
    #[default]
    Nothing,
    /// This statement, once.
    One(usize),
    Other,
}

impl Books {
    /// Opens those of a new connection, whose number is among `sessions` while it is open.
    pub(super) fn open(&mut self, connection: &Connection, sessions: &Sessions) {
        let costs = std::mem::take(&mut self.costs);
        *self = Self { before: self.overhead(), costs, owed: self.owed, ..Self::default() };
        open_books(sessions).opened(connection.id(), Arc::clone(&self.acknowledged));
    }

    /// Takes over what is known by now of what `statements` cost.
    pub(super) fn know(&mut self, statements: &[Statement], sessions: &Sessions) {
        let own = open_books(sessions);
        let cost = |statement: &Statement| Cost::of(&statement.sql, own.costs(&statement.sql));
        self.costs = statements.iter().map(cost).collect();
    }

    /// Asks the server what it has counted for `connection`.
    pub(super) fn ask(&mut self, connection: &mut Connection, sessions: &Sessions) -> Result<(), WireError> {
        let share = own::ask(connection)?;
        self.told(connection.id(), share, &[], sessions);
        Ok(())
    }

    /// The server has counted `share` for this connection, which executes `statements`.
    pub(super) fn told(&mut self, id: u32, share: Share, statements: &[Statement], sessions: &Sessions) {
        let (counted, acknowledged) = (share.transactions(), self.acknowledged.so_far().transactions());
        self.overhead = counted.cast_signed() - acknowledged.cast_signed();
        let mut own = open_books(sessions);
        own.told(id, share);
        if let (Since::One(index), Some(before)) = (self.since, self.told)
            && let Some(statement) = statements.get(index)
        {
            own.cost(&statement.sql, counted.saturating_sub(before));
        }
        (self.told, self.since, self.unsure) = (Some(counted), Since::Nothing, false);
    }

    /// Whether nobody knows what was executed has cost before the server tells.
    pub(super) fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Transactions that were no operations.
    pub(super) fn overhead(&self) -> i64 {
        self.before + self.overhead + self.acknowledged.so_far().beside
    }

    /// Statement `index` has ended well, and read and wrote so many rows; one that does not work only looks.
    #[inline]
    pub(super) fn executed(&mut self, index: usize, works: bool, rows_read: u64, rows_written: u64) {
        self.since = if self.since == Since::Nothing { Since::One(index) } else { Since::Other };
        let cost = match self.costs.get(index).copied().unwrap_or_default() {
            Cost::One => 1,
            Cost::Seen(cost) => self.whole(cost),
            Cost::Unknown => {
                self.unsure = true;
                1
            }
        };
        self.did(works, cost, Done { operations: 1, beside: cost - 1, rows_read, rows_written });
    }

    /// Operations inside the database have ended well.
    pub(super) fn ran(&mut self, done: Done) {
        self.since = Since::Other;
        self.did(true, 1, done);
    }

    fn did(&mut self, works: bool, cost: i64, mut done: Done) {
        if let Some(steps) = &mut self.steps {
            steps.any |= cost > 0;
            steps.works |= works;
            steps.looks |= !works;
        }
        if !works || self.steps.is_some() {
            done.beside += std::mem::take(&mut done.operations).cast_signed();
        }
        if !works {
            (done.rows_read, done.rows_written) = (0, 0);
        }
        self.acknowledged.add(done);
    }

    /// The whole transactions of a cost that differs from one execution to the next.
    fn whole(&mut self, cost: f64) -> i64 {
        let all = self.owed + cost;
        self.owed = all.fract();
        all.trunc() as i64
    }

    /// A transaction has begun.
    pub(super) fn begun(&mut self) {
        self.steps = Some(Steps::default());
    }

    /// It has ended, committed or not.
    pub(super) fn ended(&mut self, committed: bool) {
        self.since = Since::Other;
        let steps = self.steps.take();
        if !committed {
            return;
        }
        let counted = i64::from(steps.is_some_and(|steps| steps.any));
        // One in which nothing but looks were done is none of the operations.
        let operations = u64::from(steps.is_some_and(|steps| steps.works || !steps.looks));
        let beside = counted - operations.cast_signed();
        self.acknowledged.add(Done { operations, beside, ..Done::default() });
    }
}
