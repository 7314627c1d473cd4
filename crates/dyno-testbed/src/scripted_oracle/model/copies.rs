//! Copies all rows of a table into another one in a single statement, as a direct-path insert does.

use std::sync::Arc;

use super::answers::no_table;
use super::copy_text::{CopiedColumn, CopyStatement};
use super::database::ModelDatabase;
use super::operations::{OperationResult, ROW_REDO_BYTES, SEGMENT_HEADER};
use super::rows::StoredRow;
use super::statistics::Statistic;
use crate::ScriptedAnswer;

impl CopiedColumn {
    /// The text that a copy of `row` has.
    fn text(&self, row: &StoredRow) -> Option<Arc<str>> {
        let source = row.columns.get(self.column.checked_sub(2)?)?;
        match self.moved {
            0 => Some(Arc::clone(source)),
            moved => {
                let (head, tail) = source.split_at_checked(moved.min(source.len()))?;
                Some(format!("{tail}{head}").into())
            }
        }
    }
}

/// Orders keys at random, differently for each seed.
fn hash(key: i64, seed: u64) -> u64 {
    let mixed = (key as u64 ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

impl ModelDatabase {
    /// Copies the rows of the source that the session sees into `table`, which is locked as a whole. Returns
    /// their number.
    pub(super) fn copy_rows(
        &self,
        session: u64,
        table: &Arc<str>,
        copy: &CopyStatement,
    ) -> OperationResult<u64> {
        let mut state = self.lock_rows(session, table, i64::MIN..=i64::MAX)?;
        if state.session(session).changed.iter().any(|(changed, _)| changed == table) {
            return Err(modified_before());
        }
        let source = state.catalog.rows(&copy.source).ok_or_else(|| no_table(&copy.source))?;
        let blocks = source.blocks;
        let copied = |row: &StoredRow| -> Option<StoredRow> {
            let columns = copy.columns.iter().map(|column| column.text(row)).collect::<Option<_>>()?;
            Some(StoredRow { version: 0, columns })
        };
        let mut copies: Vec<(i64, StoredRow)> =
            source.all(session).filter_map(|(key, _, row)| Some((key, copied(row)?))).collect();
        copies.sort_by_key(|(key, _)| hash(*key, copy.order_seed));
        let (count, mut redo) = (copies.len() as u64, 0);
        let rows = state.catalog.rows_mut(table).ok_or_else(|| no_table(table))?;
        let mut changed = Vec::new();
        for (key, row) in copies {
            redo += ROW_REDO_BYTES + row.bytes();
            if !rows.insert(session, key, row) {
                let text = format!("ORA-00001: the model holds one row of a key, and key {key} is there\n");
                changed.into_iter().for_each(|(_, key)| rows.end(session, key, false));
                return Err(ScriptedAnswer::RefusedWith(1, text));
            }
            changed.push((Arc::clone(table), key));
        }
        let changer = state.session(session);
        changer.changed.extend(changed);
        changer.appended.push(Arc::clone(table));
        changer.statistics.read_blocks(SEGMENT_HEADER + blocks);
        changer.statistics.add(Statistic::RowsByScan, count);
        changer.statistics.add(Statistic::BlocksByScan, blocks);
        changer.statistics.change_blocks(count, redo);
        state.note_redo(redo);
        Ok(count)
    }

    /// The refusal of a statement on a table into which the session's transaction has copied rows.
    pub(super) fn refuse_appended(&self, session: u64, table: &Arc<str>) -> OperationResult<()> {
        let is_appended = self.state.lock().session(session).appended.contains(table);
        if is_appended { Err(modified_before()) } else { Ok(()) }
    }
}

fn modified_before() -> ScriptedAnswer {
    let text = "ORA-12838: cannot read/modify an object after modifying it in parallel\n";
    ScriptedAnswer::Refused(12_838, text)
}

#[cfg(test)]
mod tests {
    use super::super::ModelOptions;
    use super::super::copy_text::tests::copy_sql;
    use super::super::rows::COLUMNS;
    use super::*;
    use crate::{ScriptedCall, ScriptedDatabase, ScriptedValue, WireCounts};

    fn run(
        model: &ModelDatabase,
        session: u64,
        sql: &str,
        executions: &[Vec<ScriptedValue>],
    ) -> ScriptedAnswer {
        let counts = WireCounts::default();
        model.execute(session, ScriptedCall { sql, executions, counts, is_parsed: false })
    }

    /// Two tables, the first with rows 1 to 100 whose columns contain their names.
    fn loaded() -> (ModelDatabase, u64) {
        let model = ModelDatabase::new(ModelOptions::default());
        let session = model.log_on();
        for table in ["dyno_rows_1", "dyno_rows_2"] {
            let create = format!("CREATE TABLE {table} (\n  custid NUMBER NOT NULL\n) PCTFREE 99");
            assert!(matches!(run(&model, session, &create, &[vec![]]), ScriptedAnswer::Done));
        }
        let row = |key| {
            let texts = (2..2 + COLUMNS).map(|column| ScriptedValue::Text(format!("{column:03} ")));
            std::iter::once(ScriptedValue::Int(key)).chain(texts).collect()
        };
        let array: Vec<Vec<ScriptedValue>> = (1..=100).map(row).collect();
        run(&model, session, "INSERT INTO dyno_rows_1 (custid, ver, c2) VALUES (:custid, 0, :c2)", &array);
        model.end_transaction(session, true);
        (model, session)
    }

    fn count(model: &ModelDatabase) -> u64 {
        model.state.lock().catalog.rows("DYNO_ROWS_2").unwrap().count(0, 1, 100)
    }

    #[test]
    fn copied_rows_have_rearranged_text_and_random_order() {
        let (model, session) = loaded();
        assert!(matches!(run(&model, session, &copy_sql(), &[vec![]]), ScriptedAnswer::Changed(100)));
        assert_eq!(count(&model), 0, "not committed");
        model.end_transaction(session, true);
        assert_eq!(count(&model), 100);
        let state = model.state.lock();
        let blocks: Vec<u64> = state.catalog.rows("DYNO_ROWS_2").unwrap().all(0).map(|row| row.1).collect();
        let neighbors = blocks.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1).count();
        assert!(neighbors < 20, "{blocks:?}");
        let (_, _, row) = state.catalog.rows("DYNO_ROWS_2").unwrap().all(0).next().unwrap();
        assert_eq!([0, 1, 18].map(|column| &*row.columns[column]), ["03 0", "004 ", "002 "]);
    }

    #[test]
    fn copy_is_rolled_back_when_its_session_ends() {
        let (model, session) = loaded();
        let copier = model.log_on();
        assert!(matches!(run(&model, copier, &copy_sql(), &[vec![]]), ScriptedAnswer::Changed(100)));
        let again = run(&model, copier, &copy_sql(), &[vec![]]);
        assert!(matches!(again, ScriptedAnswer::Refused(12_838, _)), "{again:?}");
        model.log_off(copier);
        assert_eq!(count(&model), 0);
        assert!(matches!(run(&model, session, &copy_sql(), &[vec![]]), ScriptedAnswer::Changed(100)));
    }
}
