//! Statements that operate on test tables, known by their texts, and their executions.

use std::sync::Arc;

use super::ModelDatabase;
use super::answers::{int, int_of, name_after, no_table, number, rows, text, text_of};
use super::operations::OperationResult;
use super::rows::COLUMNS;
use super::slices::{Slice, columns_set, is_slice};
use super::state::CommitWay;
use crate::{ScriptedAnswer, ScriptedValue};

/// What a statement does to its table.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Deed {
    Range,
    Lookup,
    Group,
    Scan,
    Found,
    Fresh,
    /// Sets these columns of a range of rows.
    Update(Vec<usize>),
    Insert,
    Delete,
    /// Deletes rows that sessions left behind.
    SweepUp,
    /// Keys of a range, one row each.
    Keys,
    Slice(Slice),
}

/// A statement on one table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableStatement {
    table: Arc<str>,
    deed: Deed,
    /// Whether it is a block that commits and returns its number of rows.
    commits: bool,
}

/// The statement of a text in single spaces; absent where it is none on a table of rows.
pub(super) fn recognize(words: &str) -> Option<TableStatement> {
    let on_table = |table: &str, deed, commits| {
        let table = format!("DYNO_{table}");
        Some(TableStatement { table: table.into(), deed, commits })
    };
    let named = |before: &str| name_after(words, before);
    let (begins, says) = (|start: &str| words.starts_with(start), |part: &str| words.contains(part));
    let commits = begins("BEGIN ");
    let deed = if is_slice(words) {
        let table = named("*/ dyno_").or_else(|| named("FROM dyno_"))?;
        return on_table(&table, Deed::Slice(Slice::of(words, &table)), false);
    } else if begins("SELECT /*+ INDEX(t") && says("*/ COUNT(") && says("BETWEEN") {
        Deed::Range
    } else if begins("SELECT /*+ INDEX(t") && says("*/ c2 FROM") {
        Deed::Lookup
    } else if begins("SELECT /*+ INDEX(t") && says(" WHERE sec = ") {
        Deed::Group
    } else if begins("SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2)") {
        Deed::Scan
    } else if begins("SELECT COUNT(*) AS there FROM dyno_rows_") {
        Deed::Found
    } else if begins("SELECT COUNT(CASE WHEN c2 LIKE :stamp") {
        Deed::Fresh
    } else if begins("SELECT custid FROM dyno_rows_") && says("BETWEEN") {
        Deed::Keys
    } else if begins("UPDATE /*+ INDEX(t") || begins("BEGIN UPDATE /*+ INDEX(t") {
        return on_table(&named("*/ dyno_")?, Deed::Update(columns_set(words)), commits);
    } else if begins("INSERT INTO dyno_rows_")
        || begins("INSERT INTO dyno_scan_")
        || begins("BEGIN INSERT INTO dyno_")
    {
        return on_table(&named("INTO dyno_")?, Deed::Insert, commits);
    } else if (begins("DELETE /*+ INDEX(t") || begins("BEGIN DELETE /*+ INDEX(t")) && says("custid = :key") {
        Deed::Delete
    } else if begins("DELETE /*+ INDEX(t") && says("ROWNUM <= :most") {
        Deed::SweepUp
    } else {
        return None;
    };
    on_table(&named("FROM dyno_")?, deed, commits)
}

impl ModelDatabase {
    /// The columns of a statement that is only parsed, or that its table is not there.
    pub(super) fn describe_statement(&self, statement: &TableStatement) -> ScriptedAnswer {
        if self.state().catalog.rows(&statement.table).is_none() {
            return no_table(&statement.table);
        }
        match statement.deed {
            Deed::Lookup => rows(&["C2"], Vec::new()),
            Deed::Range | Deed::Group | Deed::Scan | Deed::Found | Deed::Fresh | Deed::Keys => {
                rows(&["number"], Vec::new())
            }
            _ => ScriptedAnswer::Done,
        }
    }

    /// Executes a statement, once or with an array of values.
    pub(super) fn run_statement(
        &self,
        session: u64,
        statement: &TableStatement,
        executions: &[Vec<ScriptedValue>],
    ) -> ScriptedAnswer {
        self.try_statement(session, statement, executions).unwrap_or_else(|refusal| refusal)
    }

    fn try_statement(
        &self,
        session: u64,
        statement: &TableStatement,
        executions: &[Vec<ScriptedValue>],
    ) -> OperationResult<ScriptedAnswer> {
        let TableStatement { table, deed, commits } = statement;
        let binds = executions.first().map_or(&[][..], Vec::as_slice);
        let bind = |place: usize| int_of(binds.get(place));
        let is_null = binds.first() == Some(&ScriptedValue::Null);
        Ok(match deed {
            Deed::Range | Deed::Found => number(self.read_range(session, table, bind(0), bind(1))?),
            Deed::Lookup => {
                let mut values = Vec::new();
                if !is_null {
                    let keys = bind(0)..=bind(0);
                    self.visit_range(session, table, keys, |_, row| {
                        values.push(vec![text(&*row.columns[0])]);
                    })?;
                }
                rows(&["C2"], values)
            }
            Deed::Group => number(self.read_group(session, table, bind(0))?),
            Deed::Scan => number(self.scan_table(session, table)?),
            Deed::Fresh => {
                let [stamp, run, own] = [0, 1, 2].map(|place| text_of(binds.get(place)));
                let mut fresh = 0u64;
                self.visit_range(session, table, bind(3)..=bind(4), |_, row| {
                    let value = &*row.columns[0];
                    let is_later = value.starts_with(run) && !value.starts_with(own);
                    fresh += u64::from(value.starts_with(stamp) || is_later);
                })?;
                number(fresh)
            }
            Deed::Keys => {
                let mut keys = Vec::new();
                self.visit_range(session, table, bind(0)..=bind(1), |key, _| keys.push(vec![int(key)]))?;
                rows(&["custid"], keys)
            }
            Deed::Update(columns) => {
                let texts = binds.iter().map(|value| text_of(Some(value)).into());
                let values: Vec<(usize, Arc<str>)> = columns.iter().copied().zip(texts).collect();
                let (first, last) = (bind(columns.len()), bind(columns.len() + 1));
                let changed = self.update_range(session, table, first..=last, &values)?;
                self.changed(session, *commits, binds.len(), changed)
            }
            Deed::Insert => {
                for values in executions {
                    let columns =
                        values.iter().skip(1).take(COLUMNS).map(|value| text_of(Some(value)).into());
                    self.insert_row(session, table, int_of(values.first()), columns.collect())?;
                }
                self.changed(session, *commits, binds.len(), executions.len() as u64)
            }
            Deed::Delete => {
                let deleted = self.delete_rows(session, table, bind(0)..=bind(0), 1, |_| true)?;
                self.changed(session, *commits, binds.len(), deleted)
            }
            Deed::SweepUp => {
                let (above, most) = (bind(0).saturating_add(1)..=i64::MAX, bind(1) as usize);
                let is_left = |row: &super::rows::StoredRow| row.columns[0].starts_with('u');
                ScriptedAnswer::Changed(self.delete_rows(session, table, above, most, is_left)?)
            }
            Deed::Slice(slice) => ScriptedAnswer::Returned(
                self.run_slice(session, table, slice, binds)?.into_iter().map(int).collect(),
            ),
        })
    }

    /// The answer to a statement that has changed rows. A block executes its statement, commits, and returns the number in its last bind.
    fn changed(&self, session: u64, commits: bool, bind_count: usize, count: u64) -> ScriptedAnswer {
        if !commits {
            return ScriptedAnswer::Changed(count);
        }
        self.count_inner_executions(session, 1);
        self.commit(session, CommitWay::AtCallEnd);
        ScriptedAnswer::ReturnedAt(vec![(bind_count.saturating_sub(1), int(count))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_what_they_do() {
        for (words, table, deed, commits) in [
            (
                "SELECT /*+ INDEX(t dyno_rows_3_custid) */ COUNT(c2) AS row_count FROM dyno_rows_3 t WHERE custid BETWEEN :first_key AND :last_key",
                "DYNO_ROWS_3",
                Deed::Range,
                false,
            ),
            (
                "UPDATE /*+ INDEX(t dyno_rows_1_custid) */ dyno_rows_1 t SET ver = ver + 1, c2 = :c2, c20 = :c20 WHERE custid BETWEEN :first_key AND :last_key",
                "DYNO_ROWS_1",
                Deed::Update(vec![2, 20]),
                false,
            ),
            (
                "BEGIN INSERT INTO dyno_rows_12 (custid, ver, c2) VALUES (:key, 0, :c2); :changed := SQL%ROWCOUNT; COMMIT; END;",
                "DYNO_ROWS_12",
                Deed::Insert,
                true,
            ),
            (
                "INSERT INTO dyno_scan_1 (custid, ver, c2) VALUES (:custid, 0, :c2)",
                "DYNO_SCAN_1",
                Deed::Insert,
                false,
            ),
            (
                "DELETE /*+ INDEX(t dyno_rows_2_custid) */ FROM dyno_rows_2 t WHERE custid > :last_key AND c2 LIKE 'u%' AND ROWNUM <= :most",
                "DYNO_ROWS_2",
                Deed::SweepUp,
                false,
            ),
        ] {
            assert_eq!(
                recognize(words),
                Some(TableStatement { table: table.into(), deed, commits }),
                "{words}"
            );
        }
        for words in ["SELECT 1 FROM dual", "SELECT name, value FROM dyno_meta", "DELETE FROM dyno_tables"] {
            assert_eq!(recognize(words), None, "{words}");
        }
    }
}
