//! Operations on the tables of the block layout, each counted as the method says: a block for each row, two for the way through
//! an index, and the redo of what is new.

use std::ops::RangeInclusive;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use super::answers::no_table;
use super::database::ModelDatabase;
use super::rows::StoredRow;
use super::state::{CommitWay, ModelState, TransactionEnding};
use super::statistics::Statistic;
use crate::ScriptedAnswer;

/// Blocks of an index on the way to a key.
const INDEX_BLOCKS: u64 = 2;
/// Bytes of redo of a changed row beside its new values, and of an index entry.
const ROW_REDO_BYTES: u64 = 160;
/// The block that says where a table's blocks are.
const SEGMENT_HEADER: u64 = 1;

/// What an operation gives, or the refusal.
pub(super) type OperationResult<T> = Result<T, ScriptedAnswer>;

impl ModelDatabase {
    /// The state once no other session has changed rows of a range and not ended its transaction.
    fn lock_rows(
        &self,
        session: u64,
        table: &str,
        keys: RangeInclusive<i64>,
    ) -> OperationResult<MutexGuard<'_, ModelState>> {
        let mut state = self.state();
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
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
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
        let mut state = self.state();
        let rows = count(state.catalog.rows(table).ok_or_else(|| no_table(table))?);
        let statistics = state.statistics(session);
        statistics.read_blocks(INDEX_BLOCKS + rows);
        statistics.add(Statistic::RowsByRowid, rows);
        Ok(rows)
    }

    /// Reads the rows of a range by the index. Returns how many there are.
    pub(super) fn read_range(
        &self,
        session: u64,
        table: &str,
        first: i64,
        last: i64,
    ) -> OperationResult<u64> {
        self.count_rows(session, table, |rows| rows.count(session, first, last))
    }

    /// Reads the rows of a value of the secondary key. Returns how many there are.
    pub(super) fn read_group(&self, session: u64, table: &str, value: i64) -> OperationResult<u64> {
        self.count_rows(session, table, |rows| rows.count_secondary(session, value))
    }

    /// Reads the rows whose keys lie in a range, with what `visit` takes of each.
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

    /// Reads all rows, block by block. Returns how many there are.
    pub(super) fn scan_table(&self, session: u64, table: &str) -> OperationResult<u64> {
        let mut state = self.state();
        let rows = state.catalog.rows(table).ok_or_else(|| no_table(table))?;
        let (count, blocks) = (rows.all(session).count() as u64, rows.blocks);
        let statistics = state.statistics(session);
        statistics.read_blocks(SEGMENT_HEADER + blocks);
        statistics.add(Statistic::RowsByScan, count);
        statistics.add(Statistic::BlocksByScan, blocks);
        statistics.add(Statistic::ShortScans, 1);
        Ok(count)
    }

    /// Gives columns of the rows of a range new values, and each row its next version. Returns how many rows there are.
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

    /// Inserts a row; a key that is there is refused.
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

    /// Deletes the rows among `keys` that `is_wanted` takes, `most` at most. Returns how many.
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

    /// Commits within a block, and wakes those who wait for its row locks.
    pub(super) fn commit(&self, session: u64, way: CommitWay) {
        self.state().end_transaction(session, TransactionEnding::Commit(way));
        self.released.notify_all();
    }
}
