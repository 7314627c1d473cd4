//! The outcome of a transaction.

use dyno_engine::StatementId;
use dyno_record::RowEffect;

use crate::effect::Effect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// The transaction is still open.
    Open,
    /// It committed; if its statements commit separately, all did.
    Committed,
    /// One of its steps rolled it back.
    RolledBack,
}

/// A statement that touched an unexpected number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCountMismatch {
    pub statement: StatementId,
    /// Minimum and maximum number of rows that it must touch.
    pub wanted: (u64, u64),
    /// Number of rows that it touched.
    pub got: u64,
}

/// The outcome of a transaction so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionOutcome {
    pub ended: TransactionEnd,
    /// The effect so far. Rows of a rolled back transaction do not count; a statement that returns a number
    /// counts as one row read.
    pub effect: Effect,
    /// The first statement that touched an unexpected number of rows.
    pub row_count_mismatch: Option<RowCountMismatch>,
}

/// The outcome before a transaction begins.
pub(super) const NOTHING: TransactionOutcome = TransactionOutcome {
    ended: TransactionEnd::Open,
    effect: Effect {
        rows: [0; RowEffect::KINDS],
        commits: 0,
        unproven_commits: 0,
        empty_commits: 0,
        transactions: 0,
        rolled_back: 0,
        empty_polls: 0,
        tallied: 0,
        write_statements: 0,
        empty_writes: 0,
    },
    row_count_mismatch: None,
};
