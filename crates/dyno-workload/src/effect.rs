//! What operations do to a database.

use dyno_record::Touch;

/// What an operation that ended well has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effect {
    /// Rows, by what was done to them.
    pub rows: [u64; Touch::KINDS],
    /// Transactions that changed rows and were committed.
    pub commits: u64,
    /// Transactions, those that only read with them: a statement outside of any is one.
    pub transactions: u64,
    /// 1 where a step of it took it back, which is no failure.
    pub rolled_back: u16,
    /// 1 where it was a poll that has found nothing: no operation, whatever else is here.
    pub empty_polls: u16,
    /// What its steps have tallied.
    pub tallied: u32,
    /// Statements that write and tell how many rows they changed.
    pub write_statements: u32,
    /// As many of them as changed no row.
    pub empty_writes: u32,
}

impl Effect {
    /// Rows of all kinds.
    #[inline]
    pub fn all_rows(&self) -> u64 {
        self.rows.iter().sum()
    }
}

/// What an operation that has failed leaves to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failed {
    /// Whether a transaction has begun, which the database has not ended by itself.
    pub is_open: bool,
    /// Whether the operation may begin anew when that is rolled back.
    pub may_again: bool,
    /// Whether the connection was lost while a commit of writes was under way: whether they are there is not known.
    pub in_doubt: bool,
}
