//! One session's transactions, as it acknowledges them and as the server counts them for its connection.
//!
//! `Handler_commit`, by which both products count, moves by one for each statement that has touched a table of InnoDB, alone, as a
//! step of a transaction or within a procedure, and by one more for the commit of a transaction with such a step. A rollback does
//! not move it, nor does a transaction without steps, nor a statement that touches no table (seen on MariaDB 10.11 and MySQL 9.7,
//! with and without a binlog). What an execution of a statement costs is taken from what the server has counted for single ones.

use std::sync::Arc;

use crate::own_connections::{
    self, MySqlAckCounters, MySqlAckCounts, MySqlSessionStatus, SharedSessionRegistry, lock_registry,
};
use crate::wire::{MySqlConnection, MySqlWireError};
use dyno_engine::Statement;

/// The books of one session.
#[derive(Debug, Default)]
pub(super) struct MySqlAckLedger {
    acknowledged: Arc<MySqlAckCounters>,
    /// Transactions that were no operations: on the connections before this one, and on this one beside those that are
    /// acknowledged. A procedure or a table that is met for the first time is looked up in the dictionary, in transactions of
    /// its own. Below 0 where the server counts fewer.
    earlier_overhead: i64,
    overhead: i64,
    /// What the steps of the transaction that has begun were.
    steps: Option<MySqlTransactionSteps>,
    /// What one execution of each statement costs, and what is owed of parts of one.
    costs: Vec<MySqlCostEstimate>,
    cost_remainder: f64,
    /// Whether something was executed that may cost anything.
    has_unknown_cost: bool,
    /// What the server had counted when it last told, and what was executed since.
    last_counted: Option<u64>,
    since: MySqlExecutedSince,
}

/// Steps of a transaction.
#[derive(Debug, Clone, Copy, Default)]
struct MySqlTransactionSteps {
    /// Whether the server has counted one.
    is_counted: bool,
    /// Whether one was work, and whether one only looked.
    has_work: bool,
    has_checks: bool,
}

/// Transactions that one execution of a statement is for the server.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum MySqlCostEstimate {
    /// One, as of most that touch a table.
    #[default]
    One,
    /// So many on average, as was seen.
    Average(f64),
    /// That of a procedure of which nothing was seen.
    Unknown,
}

impl MySqlCostEstimate {
    fn of(sql: &str, mean_cost: Option<f64>) -> Self {
        let begins = |with: &str| {
            sql.trim_start().get(..with.len()).is_some_and(|word| word.eq_ignore_ascii_case(with))
        };
        match mean_cost {
            Some(observed) => Self::Average(observed),
            None if begins("call") => Self::Unknown,
            // It names no table; a function may read one, which the server tells in time.
            None if begins("select") && !sql.to_ascii_lowercase().contains("from") => Self::Average(0.0),
            None => Self::One,
        }
    }
}

/// What was executed since the server last told what it has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MySqlExecutedSince {
    #[default]
    Nothing,
    /// This statement, once.
    One(usize),
    Other,
}

impl MySqlAckLedger {
    /// Opens those of a new connection, whose number is among `sessions` while it is open.
    pub(super) fn open(&mut self, connection: &MySqlConnection, sessions: &SharedSessionRegistry) {
        let costs = std::mem::take(&mut self.costs);
        *self = Self {
            earlier_overhead: self.overhead(),
            costs,
            cost_remainder: self.cost_remainder,
            ..Self::default()
        };
        lock_registry(sessions).add_session(connection.id(), Arc::clone(&self.acknowledged));
    }

    /// Takes over what is known by now of what `statements` cost.
    pub(super) fn load_costs(&mut self, statements: &[Statement], sessions: &SharedSessionRegistry) {
        let registry = lock_registry(sessions);
        let cost =
            |statement: &Statement| MySqlCostEstimate::of(&statement.sql, registry.mean_cost(&statement.sql));
        self.costs = statements.iter().map(cost).collect();
    }

    /// Asks the server what it has counted for `connection`.
    pub(super) fn refresh(
        &mut self,
        connection: &mut MySqlConnection,
        sessions: &SharedSessionRegistry,
    ) -> Result<(), MySqlWireError> {
        let share = own_connections::read_session_status(connection)?;
        self.record_status(connection.id(), share, &[], sessions);
        Ok(())
    }

    /// The server has counted `share` for this connection, which executes `statements`.
    pub(super) fn record_status(
        &mut self,
        id: u32,
        share: MySqlSessionStatus,
        statements: &[Statement],
        sessions: &SharedSessionRegistry,
    ) {
        let (counted, acknowledged) = (share.transactions(), self.acknowledged.snapshot().transactions());
        self.overhead = counted.cast_signed() - acknowledged.cast_signed();
        let mut registry = lock_registry(sessions);
        registry.record_status(id, share);
        if let (MySqlExecutedSince::One(index), Some(before)) = (self.since, self.last_counted)
            && let Some(statement) = statements.get(index)
        {
            registry.record_cost(&statement.sql, counted.saturating_sub(before));
        }
        (self.last_counted, self.since, self.has_unknown_cost) =
            (Some(counted), MySqlExecutedSince::Nothing, false);
    }

    /// Whether nobody knows what was executed has cost before the server tells.
    pub(super) fn has_unknown_cost(&self) -> bool {
        self.has_unknown_cost
    }

    /// Transactions that were no operations.
    pub(super) fn overhead(&self) -> i64 {
        self.earlier_overhead + self.overhead + self.acknowledged.snapshot().extra_transactions
    }

    /// Statement `index` has ended well, and read and wrote so many rows; one that does not work only looks.
    #[inline]
    pub(super) fn record_statement(&mut self, index: usize, works: bool, rows_read: u64, rows_written: u64) {
        self.since = if self.since == MySqlExecutedSince::Nothing {
            MySqlExecutedSince::One(index)
        } else {
            MySqlExecutedSince::Other
        };
        let cost = match self.costs.get(index).copied().unwrap_or_default() {
            MySqlCostEstimate::One => 1,
            MySqlCostEstimate::Average(cost) => self.take_whole(cost),
            MySqlCostEstimate::Unknown => {
                self.has_unknown_cost = true;
                1
            }
        };
        self.record(
            works,
            cost,
            MySqlAckCounts { operations: 1, extra_transactions: cost - 1, rows_read, rows_written },
        );
    }

    /// Operations inside the database have ended well.
    pub(super) fn record_slice(&mut self, counts: MySqlAckCounts) {
        self.since = MySqlExecutedSince::Other;
        self.record(true, 1, counts);
    }

    fn record(&mut self, works: bool, cost: i64, mut counts: MySqlAckCounts) {
        if let Some(steps) = &mut self.steps {
            steps.is_counted |= cost > 0;
            steps.has_work |= works;
            steps.has_checks |= !works;
        }
        if !works || self.steps.is_some() {
            counts.extra_transactions += std::mem::take(&mut counts.operations).cast_signed();
        }
        if !works {
            (counts.rows_read, counts.rows_written) = (0, 0);
        }
        self.acknowledged.add(counts);
    }

    /// The whole transactions of a cost that differs from one execution to the next.
    fn take_whole(&mut self, cost: f64) -> i64 {
        let all = self.cost_remainder + cost;
        self.cost_remainder = all.fract();
        all.trunc() as i64
    }

    /// A transaction has begun.
    pub(super) fn begin_transaction(&mut self) {
        self.steps = Some(MySqlTransactionSteps::default());
    }

    /// It has ended, committed or not.
    pub(super) fn end_transaction(&mut self, committed: bool) {
        self.since = MySqlExecutedSince::Other;
        let steps = self.steps.take();
        if !committed {
            return;
        }
        let counted = i64::from(steps.is_some_and(|steps| steps.is_counted));
        // One in which nothing but looks were done is none of the operations.
        let operations = u64::from(steps.is_some_and(|steps| steps.has_work || !steps.has_checks));
        let beside = counted - operations.cast_signed();
        self.acknowledged.add(MySqlAckCounts {
            operations,
            extra_transactions: beside,
            ..MySqlAckCounts::default()
        });
    }
}
