//! Operations on block layout tables. Each counts a block per row, two per index lookup, and the redo of its
//! new values.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::MutexGuard;

use super::answers::no_table;
use super::database::ModelDatabase;
use super::rows::StoredRow;
use super::state::{CommitWay, ModelState, TransactionEnding};
use super::statistics::Statistic;
use crate::ScriptedAnswer;

/// Index blocks read per lookup.
const INDEX_BLOCKS: u64 = 2;
/// Redo bytes of a changed row besides its new values, and of an index entry.
pub(super) const ROW_REDO_BYTES: u64 = 160;
/// The block that lists a table's blocks.
pub(super) const SEGMENT_HEADER: u64 = 1;

/// Result of an operation, or its error.
pub(super) type OperationResult<T> = Result<T, ScriptedAnswer>;

impl ModelDatabase {
    /// Waits until no other session has an open transaction that changed rows of a range, and returns the
    /// state.
    pub(super) fn lock_rows(
        &self,
        session: u64,
        table: &str,
        keys: RangeInclusive<i64>,
    ) -> OperationResult<MutexGuard<'_, ModelState>> {
        let mut state = self.state.lock();
        let mut since = None;
        loop {
            let rows = state.catalog.rows(table).ok_or_else(|| no_table(table))?;
            let Some(owner) = rows.blocker(session, keys.clone()) else { break };
            if state.waits_on(owner, session) {
                let text = "ORA-00060: deadlock detected while waiting for resource\n";
                return Err(ScriptedAnswer::Refused(60, text));
            }
            since.get_or_insert_with(Instant::now);
            state.session(session).waits_for = Some(owner);
            self.released.wait(&mut state);
            state.session(session).waits_for = None;
        }
        if let Some(since) = since {
            let statistics = state.statistics(session);
            statistics.add(Statistic::RowLockWaits, 1);
            statistics.wait_ns += since.elapsed().as_nanos() as u64;
        }
        Ok(state)
    }

    fn count_rows(
        &self,
        session: u64,
        table: &str,
        count: impl FnOnce(&super::rows::RowTable) -> u64,
    ) -> OperationResult<u64> {
        let mut state = self.state.lock();
        let rows = count(state.catalog.rows(table).ok_or_else(|| no_table(table))?);
        let statistics = state.statistics(session);
        statistics.read_blocks(INDEX_BLOCKS + rows);
        statistics.add(Statistic::RowsByRowid, rows);
        Ok(rows)
    }

    /// Reads the rows of a range by index. Returns their number.
    pub(super) fn read_range(
        &self,
        session: u64,
        table: &str,
        first: i64,
        last: i64,
    ) -> OperationResult<u64> {
        self.count_rows(session, table, |rows| rows.count(session, first, last))
    }

    /// Reads the rows with a secondary key value. Returns their number.
    pub(super) fn read_group(&self, session: u64, table: &str, value: i64) -> OperationResult<u64> {
        self.count_rows(session, table, |rows| rows.count_secondary(session, value))
    }

    /// Reads the rows of a key range and passes each to `visit`.
    pub(super) fn visit_range(
        &self,
        session: u64,
        table: &str,
        keys: RangeInclusive<i64>,
        mut visit: impl FnMut(i64, &StoredRow),
    ) -> OperationResult<u64> {
        self.count_rows(session, table, |rows| {
            rows.range(session, keys).map(|(key, _, row)| visit(key, row)).count() as u64
        })
    }

    /// Reads all rows, block by block. Returns their number.
    pub(super) fn scan_table(&self, session: u64, table: &str) -> OperationResult<u64> {
        let mut state = self.state.lock();
        let rows = state.catalog.rows(table).ok_or_else(|| no_table(table))?;
        let (count, blocks) = (rows.all(session).count() as u64, rows.blocks);
        let statistics = state.statistics(session);
        statistics.read_blocks(SEGMENT_HEADER + blocks);
        statistics.add(Statistic::RowsByScan, count);
        statistics.add(Statistic::BlocksByScan, blocks);
        statistics.add(Statistic::ShortScans, 1);
        Ok(count)
    }

    /// Sets columns in the rows of a range and raises each row's version. Returns the number of rows.
    pub(super) fn update_range(
        &self,
        session: u64,
        table: &Arc<str>,
        keys: RangeInclusive<i64>,
        values: &[(usize, Arc<str>)],
    ) -> OperationResult<u64> {
        let mut state = self.lock_rows(session, table, keys.clone())?;
        let rows = state.catalog.rows_mut(table).ok_or_else(|| no_table(table))?;
        let touched: Vec<(i64, Arc<StoredRow>)> =
            rows.range(session, keys).map(|(key, _, row)| (key, Arc::clone(row))).collect();
        let bytes: u64 = values.iter().map(|(_, value)| value.len() as u64).sum();
        for (key, row) in &touched {
            let mut row = StoredRow::clone(row);
            row.version += 1;
            for (column, value) in values {
                row.columns[*column - 2] = Arc::clone(value);
            }
            rows.replace(session, *key, Some(row));
        }
        let count = touched.len() as u64;
        let redo = count * (ROW_REDO_BYTES + bytes);
        let statistics = state.statistics(session);
        statistics.read_blocks(INDEX_BLOCKS + count);
        statistics.change_blocks(count, redo);
        state.session(session).changed.extend(touched.iter().map(|(key, _)| (Arc::clone(table), *key)));
        state.note_redo(redo);
        Ok(count)
    }

    /// Inserts a row; an existing key is an error.
    pub(super) fn insert_row(
        &self,
        session: u64,
        table: &Arc<str>,
        key: i64,
        columns: Vec<Arc<str>>,
    ) -> OperationResult<u64> {
        let mut state = self.lock_rows(session, table, key..=key)?;
        let row = StoredRow { version: 0, columns };
        let redo = ROW_REDO_BYTES + row.bytes();
        let rows = state.catalog.rows_mut(table).ok_or_else(|| no_table(table))?;
        if !rows.insert(session, key, row) {
            let text = format!("ORA-00001: the model holds one row of a key, and key {key} is there\n");
            return Err(ScriptedAnswer::RefusedWith(1, text));
        }
        let changed_blocks = 1 + state.catalog.tables[&**table].indexes.len() as u64;
        state.statistics(session).change_blocks(changed_blocks, redo);
        state.session(session).changed.push((Arc::clone(table), key));
        state.note_redo(redo);
        Ok(1)
    }

    /// Deletes up to `most` rows among `keys` that `is_wanted` accepts. Returns their number.
    pub(super) fn delete_rows(
        &self,
        session: u64,
        table: &Arc<str>,
        keys: RangeInclusive<i64>,
        most: usize,
        is_wanted: impl Fn(&StoredRow) -> bool,
    ) -> OperationResult<u64> {
        let mut state = self.lock_rows(session, table, keys.clone())?;
        let rows = state.catalog.rows_mut(table).ok_or_else(|| no_table(table))?;
        let wanted = rows.range(session, keys).filter(|(_, _, row)| is_wanted(row)).take(most);
        let touched: Vec<(i64, u64)> = wanted.map(|(key, _, row)| (key, row.bytes())).collect();
        touched.iter().for_each(|(key, _)| rows.replace(session, *key, None));
        let redo = touched.iter().map(|(_, bytes)| ROW_REDO_BYTES + bytes).sum();
        let count = touched.len() as u64;
        let statistics = state.statistics(session);
        statistics.read_blocks(INDEX_BLOCKS);
        statistics.change_blocks(count, redo);
        state.session(session).changed.extend(touched.iter().map(|(key, _)| (Arc::clone(table), *key)));
        state.note_redo(redo);
        Ok(count)
    }

    /// Commits within a block, and wakes sessions that wait for its row locks.
    pub(super) fn commit(&self, session: u64, way: CommitWay) {
        self.state.lock().end_transaction(session, TransactionEnding::Commit(way));
        self.released.notify_all();
    }
}
