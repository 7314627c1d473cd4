//! The effect of operations on a database.

use dyno_record::RowEffect;

/// The effect of an operation that succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effect {
    /// Number of rows by kind of effect.
    pub rows: [u64; RowEffect::KINDS],
    /// Transactions that changed rows and committed.
    pub commits: u64,
    /// Transactions including those that only read; a statement outside a transaction counts as one.
    pub transactions: u64,
    /// The part of `commits` whose change nothing but a procedure or block could tell, which do not.
    pub unproven_commits: u32,
    /// Commits that were sent although nothing had changed.
    pub empty_commits: u32,
    /// 1 if one of its steps rolled it back, which is not a failure.
    pub rolled_back: u16,
    /// 1 if it was a poll that found nothing and so not an operation, whatever the other fields say.
    pub empty_polls: u16,
    /// Sum that its steps tallied.
    pub tallied: u32,
    /// Writing statements that report how many rows they changed.
    pub write_statements: u32,
    /// The part of `write_statements` that changed no row.
    pub empty_writes: u32,
}

impl Effect {
    /// Rows over all kinds of effects.
    #[inline]
    pub fn all_rows(&self) -> u64 {
        self.rows.iter().sum()
    }
}

/// What the session must do after a failed operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureRecovery {
    /// Whether the database still has an open transaction to roll back.
    pub is_open: bool,
    /// Whether the operation may be retried after a rollback.
    pub may_again: bool,
    /// Whether the connection was lost during a commit of writes, so that it is unknown whether they committed.
    pub in_doubt: bool,
}
