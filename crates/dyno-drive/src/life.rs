//! Counts of a session's whole life.

use dyno_record::OpClass;

/// Classes of operations.
pub(crate) const CLASSES: usize = OpClass::ALL.len();

/// Counts of a session's whole life.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub(crate) ops: [u64; CLASSES],
    pub(crate) rows_read: u64,
    pub(crate) rows_updated: u64,
    pub(crate) rows_inserted: u64,
    pub(crate) rows_deleted: u64,
    pub(crate) commits: u64,
    pub(crate) errors: u64,
    pub(crate) verified: (u64, u64),
    pub(crate) overhead_commits: u64,
}

impl Life {
    #[inline]
    pub(crate) fn rows_of(&mut self, class: OpClass) -> &mut u64 {
        match class {
            OpClass::Update => &mut self.rows_updated,
            OpClass::Insert => &mut self.rows_inserted,
            OpClass::Delete => &mut self.rows_deleted,
            _ => &mut self.rows_read,
        }
    }

    #[inline]
    pub(crate) fn add_rows(&mut self, class: OpClass, rows: u64) {
        *self.rows_of(class) += rows;
    }

    /// Calls of the database that have ended: operations, or slices of them.
    pub(crate) fn calls(&self) -> u64 {
        match self.ops[OpClass::Slice as usize] {
            0 => self.ops.iter().sum::<u64>() + self.errors,
            slices => slices + self.errors,
        }
    }

    /// Takes operations off that were counted.
    pub(crate) fn take_off(&mut self, class: OpClass, ops: u64, rows: u64) {
        self.ops[class as usize] -= ops;
        *self.rows_of(class) -= rows;
    }
}
