//! Copies all rows of a table into another one in a single statement, as a direct-path insert does.

use std::sync::Arc;

use super::answers::{name_after, no_table};
use super::database::ModelDatabase;
use super::operations::{OperationResult, ROW_REDO_BYTES, SEGMENT_HEADER};
use super::rows::StoredRow;
use super::statistics::Statistic;
use crate::ScriptedAnswer;

/// The text of one column of a copy: a column of the source, its first characters moved to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopiedColumn {
    /// The number of the source's column, from 2.
    pub(super) column: usize,
    /// Number of characters that move.
    pub(super) moved: usize,
}

/// A copy as its statement defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyStatement {
    /// The table whose rows are copied.
    pub(super) source: Arc<str>,
    /// The texts of `c2` and the columns after it.
    pub(super) columns: Vec<CopiedColumn>,
    /// The seed of the hash that orders the rows.
    pub(super) order_seed: u64,
}

/// What every such statement begins with.
pub(super) const BEGIN: &str = "INSERT /*+ APPEND */ INTO dyno_";

impl CopyStatement {
    /// Parses a text in single spaces; absent if it is not a copy with one text for each column of a row.
    pub(super) fn of(words: &str) -> Option<Self> {
        let source = name_after(words, " FROM dyno_")?;
        let (_, select) = words.split_once(" custid, 0, ")?;
        let (texts, rest) = select.split_once(" FROM ")?;
        let (_, order) = rest.split_once(" ORDER BY ORA_HASH(custid, 4294967295, ")?;
        let columns: Vec<CopiedColumn> =
            terms(texts).into_iter().map(copied_column).collect::<Option<_>>()?;
        let order_seed = order.strip_suffix(')')?.parse().ok()?;
        (columns.len() == super::rows::COLUMNS).then(|| Self {
            source: format!("DYNO_{source}").into(),
            columns,
            order_seed,
        })
    }
}

/// Splits a list at the commas outside of parentheses.
fn terms(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// Parses `c5`, or `SUBSTR(c5, 4) || SUBSTR(c5, 1, 3)`.
fn copied_column(term: &str) -> Option<CopiedColumn> {
    let number = |name: &str| name.strip_prefix('c')?.parse().ok();
    let arguments = |call: &str| -> Option<Vec<String>> {
        let inside = call.strip_prefix("SUBSTR(")?.strip_suffix(')')?;
        Some(inside.split(", ").map(str::to_owned).collect())
    };
    let Some((tail, head)) = term.split_once(" || ") else {
        return Some(CopiedColumn { column: number(term)?, moved: 0 });
    };
    let (tail, head) = (arguments(tail)?, arguments(head)?);
    let [name, from] = tail.as_slice() else { return None };
    let moved: usize = head.get(2)?.parse().ok()?;
    let is_rotation = head[..2] == [name.as_str(), "1"] && from.parse() == Ok(moved + 1);
    is_rotation.then(|| Some(CopiedColumn { column: number(name)?, moved }))?
}

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
        let is_appended = self.state().session(session).appended.contains(table);
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

    /// A copy whose first column comes from `c3` with one character moved, and the last from `c2`.
    fn copy_sql() -> String {
        let names: Vec<String> = (2..2 + COLUMNS).map(|column| format!("c{column}")).collect();
        let mut texts = names.clone();
        texts.rotate_left(1);
        texts[0] = "SUBSTR(c3, 2) || SUBSTR(c3, 1, 1)".to_owned();
        format!(
            "{BEGIN}rows_2 (custid, ver, {}) SELECT custid, 0, {} FROM dyno_rows_1 t ORDER BY ORA_HASH(custid, \
             4294967295, 7)",
            names.join(", "),
            texts.join(", ")
        )
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
        model.state().catalog.rows("DYNO_ROWS_2").unwrap().count(0, 1, 100)
    }

    #[test]
    fn copy_is_parsed_from_its_text() {
        let copy = CopyStatement::of(&copy_sql()).unwrap();
        assert_eq!((&*copy.source, copy.order_seed), ("DYNO_ROWS_1", 7));
        assert_eq!(copy.columns[0], CopiedColumn { column: 3, moved: 1 });
        assert_eq!(copy.columns[COLUMNS - 1], CopiedColumn { column: 2, moved: 0 });
        for (part, other) in [
            (" ORDER BY ORA_HASH(custid, 4294967295, 7)", ""),
            ("SUBSTR(c3, 1, 1)", "SUBSTR(c3, 1, 2)"),
            ("SUBSTR(c3, 1, 1)", "SUBSTR(c4, 1, 1)"),
            (", c20", ""),
        ] {
            assert_eq!(CopyStatement::of(&copy_sql().replace(part, other)), None, "{part}");
        }
    }

    #[test]
    fn copied_rows_have_rearranged_text_and_random_order() {
        let (model, session) = loaded();
        assert!(matches!(run(&model, session, &copy_sql(), &[vec![]]), ScriptedAnswer::Changed(100)));
        assert_eq!(count(&model), 0, "not committed");
        model.end_transaction(session, true);
        assert_eq!(count(&model), 100);
        let state = model.state();
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
