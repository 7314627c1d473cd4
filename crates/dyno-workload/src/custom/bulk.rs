//! A table that transactions load in parts; all sessions of a run share it.

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::{Bulk, ColumnDefinition, Rows};

use super::tables::DescribedTable;

/// The table to load, and the progress of the load.
#[derive(Debug)]
pub struct CustomBulkLoad {
    table: DescribedTable,
    part: u64,
    /// The next row that no session has taken, from 1.
    next: AtomicU64,
    /// Bytes of content written so far.
    bytes: AtomicU64,
}

impl CustomBulkLoad {
    /// Loads `table` in parts of `part` rows.
    pub(super) fn new(table: DescribedTable, part: u64) -> Self {
        Self { table, part, next: AtomicU64::new(1), bytes: AtomicU64::new(0) }
    }

    pub fn described(&self) -> &DescribedTable {
        &self.table
    }

    /// Number of rows in one transaction.
    pub fn part_rows(&self) -> u64 {
        self.part
    }

    /// Restarts with no parts taken.
    pub fn begin(&self) {
        self.next.store(1, Ordering::Release);
        self.bytes.store(0, Ordering::Release);
    }

    /// Bytes of content that sessions sent to the server.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// Takes the next part: its first row, and its number of rows.
    pub(super) fn take(&self) -> Option<(u64, u64)> {
        let rows = self.table.rows();
        let next = |first: u64| (first <= rows).then(|| first + self.part);
        let first = self.next.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok()?;
        Some((first, self.part.min(rows + 1 - first)))
    }

    /// Mean number of rows in one transaction.
    pub(super) fn mean_rows(&self) -> f64 {
        let rows = self.table.rows();
        rows as f64 / rows.div_ceil(self.part).max(1) as f64
    }
}

impl Bulk for CustomBulkLoad {
    fn table(&self) -> &str {
        self.table.name()
    }

    fn columns(&self) -> &[ColumnDefinition] {
        self.table.columns()
    }

    fn maker(&self) -> Box<dyn Rows + '_> {
        Box::new(self.table.row_maker())
    }

    fn sent(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }
}
