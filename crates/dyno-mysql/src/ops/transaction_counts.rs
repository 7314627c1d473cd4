//! Counts the transactions of one session: those acknowledged to it, and those that the server counts for its
//! connection.
//!
//! Both products count in `Handler_commit`. Each statement that touches an InnoDB table adds one: alone, as a
//! step of a transaction, or within a procedure. The commit of a transaction with such a step adds one more.
//! A rollback, a transaction without steps, and a statement that touches no table add nothing (seen on
//! MariaDB 10.11 and MySQL 9.7, with and without a binlog). The cost of a statement is learned from what the
//! server counted for single executions.

use std::sync::Arc;

use crate::own_connections::{
    self, MySqlAckCounters, MySqlAckCounts, MySqlSessionStatus, SharedSessionRegistry,
};
use crate::wire::{MySqlConnection, MySqlWireError};
use dyno_engine::Statement;

/// The transaction counts of one session.
#[derive(Debug, Default)]
pub(super) struct MySqlAckLedger {
    acknowledged: Arc<MySqlAckCounters>,
    /// Overhead transactions, which are no operations: on earlier connections, and on this one in addition to
    /// the acknowledged ones. For example, the server looks up a procedure or table in its dictionary at the
    /// first use, in separate transactions. Negative where the server counts fewer.
    earlier_overhead: i64,
    overhead: i64,
    /// What the steps of the open transaction were; absent outside a transaction.
    steps: Option<MySqlTransactionSteps>,
    /// The cost of one execution of each statement, in transactions, and the fraction that is not counted
    /// yet.
    costs: Vec<MySqlCostEstimate>,
    cost_remainder: f64,
    /// Whether something with an unknown cost was executed since the server's last status.
    has_unknown_cost: bool,
    /// The server's count in its last status, and what was executed since.
    last_counted: Option<u64>,
    since: MySqlExecutedSince,
}

/// The steps of an open transaction.
#[derive(Debug, Clone, Copy, Default)]
struct MySqlTransactionSteps {
    /// Whether the server counts any of them.
    is_counted: bool,
    /// Whether any was work of the workload, and whether any was a check.
    has_work: bool,
    has_checks: bool,
}

/// The number of transactions that the server counts for one execution of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum MySqlCostEstimate {
    /// One, as for most statements that touch a table.
    #[default]
    One,
    /// This many on average, as observed.
    Average(f64),
    /// Unknown: a procedure that was not observed yet.
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
            // The statement names no table. If a function in it reads one, the server's later counts show
            // that.
            None if begins("select") && !sql.to_ascii_lowercase().contains("from") => Self::Average(0.0),
            None => Self::One,
        }
    }
}

/// What was executed since the server's last status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MySqlExecutedSince {
    #[default]
    Nothing,
    /// One execution of the statement with this index.
    One(usize),
    Other,
}

impl MySqlAckLedger {
    /// Starts the counts of a new connection; its number is in `sessions` while it is open.
    pub(super) fn open(&mut self, connection: &MySqlConnection, sessions: &SharedSessionRegistry) {
        let costs = std::mem::take(&mut self.costs);
        *self = Self {
            earlier_overhead: self.overhead(),
            costs,
            cost_remainder: self.cost_remainder,
            ..Self::default()
        };
        sessions.lock().add_session(connection.id(), Arc::clone(&self.acknowledged));
    }

    /// Loads the costs of `statements` that are known so far.
    pub(super) fn load_costs(&mut self, statements: &[Statement], sessions: &SharedSessionRegistry) {
        let registry = sessions.lock();
        let cost =
            |statement: &Statement| MySqlCostEstimate::of(&statement.sql, registry.mean_cost(&statement.sql));
        self.costs = statements.iter().map(cost).collect();
    }

    /// Reads the server's counts for `connection`.
    pub(super) fn refresh(
        &mut self,
        connection: &mut MySqlConnection,
        sessions: &SharedSessionRegistry,
    ) -> Result<(), MySqlWireError> {
        let share = own_connections::read_session_status(connection)?;
        self.record_status(connection.id(), share, &[], sessions);
        Ok(())
    }

    /// Records the server's counts `share` for this connection, which executes `statements`.
    pub(super) fn record_status(
        &mut self,
        id: u32,
        share: MySqlSessionStatus,
        statements: &[Statement],
        sessions: &SharedSessionRegistry,
    ) {
        let (counted, acknowledged) = (share.transactions(), self.acknowledged.snapshot().transactions());
        self.overhead = counted.cast_signed() - acknowledged.cast_signed();
        let mut registry = sessions.lock();
        registry.record_status(id, share);
        if let (MySqlExecutedSince::One(index), Some(before)) = (self.since, self.last_counted)
            && let Some(statement) = statements.get(index)
        {
            registry.record_cost(&statement.sql, counted.saturating_sub(before));
        }
        (self.last_counted, self.since, self.has_unknown_cost) =
            (Some(counted), MySqlExecutedSince::Nothing, false);
    }

    /// Whether the cost of what was executed is unknown until the server's next status.
    pub(super) fn has_unknown_cost(&self) -> bool {
        self.has_unknown_cost
    }

    /// Overhead transactions, which are no operations.
    pub(super) fn overhead(&self) -> i64 {
        self.earlier_overhead + self.overhead + self.acknowledged.snapshot().extra_transactions
    }

    /// Records that statement `index` ended without an error, with the rows that it read and wrote. Unless it
    /// `works`, it is a check.
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

    /// Records operations inside the database that ended without an error.
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

    /// The whole transactions to count for an average `cost`; the fraction is kept for the next execution.
    fn take_whole(&mut self, cost: f64) -> i64 {
        let all = self.cost_remainder + cost;
        self.cost_remainder = all.fract();
        all.trunc() as i64
    }

    /// Records the begin of a transaction.
    pub(super) fn begin_transaction(&mut self) {
        self.steps = Some(MySqlTransactionSteps::default());
    }

    /// Records the end of the transaction, committed or not.
    pub(super) fn end_transaction(&mut self, committed: bool) {
        self.since = MySqlExecutedSince::Other;
        let steps = self.steps.take();
        if !committed {
            return;
        }
        let counted = i64::from(steps.is_some_and(|steps| steps.is_counted));
        // A transaction that contains only checks is no operation.
        let operations = u64::from(steps.is_some_and(|steps| steps.has_work || !steps.has_checks));
        let beside = counted - operations.cast_signed();
        self.acknowledged.add(MySqlAckCounts {
            operations,
            extra_transactions: beside,
            ..MySqlAckCounts::default()
        });
    }
}
