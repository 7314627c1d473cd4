//! The statements of a session, prepared once.

use std::fmt::Write as _;

use dyno_plan::Redo;
use rusqlite::Connection;

use crate::fault::Fault;
use crate::layout::{Table, column_bytes, columns, has};
use crate::raw::Statement;
use dyno_engine::data::{TEXT_COLUMNS, TableKind};
use dyno_engine::session::SessionSetup;

/// Every statement that a session runs.
pub(super) struct Statements {
    pub(super) select: Statement,
    pub(super) lookup: Statement,
    /// Absent where the session does not look up by the secondary key.
    pub(super) secondary: Option<Statement>,
    /// Absent where the data has no table for scans.
    pub(super) scan: Option<Statement>,
    pub(super) begin: Statement,
    pub(super) update: Statement,
    /// Absent where the session has no rows of its own.
    pub(super) churn: Option<Churn>,
    pub(super) commit: Statement,
    pub(super) rollback: Statement,
    /// Text columns that an update sets.
    pub(super) update_columns: usize,
}

/// What inserts and deletes a session's own rows.
pub(super) struct Churn {
    pub(super) insert: Statement,
    pub(super) delete: Statement,
}

/// `SELECT COUNT(c2)` over a range of keys: `c2` is not in the index, so every row's page is visited.
pub(super) fn select_sql(table: &str) -> String {
    format!("SELECT COUNT(c2) FROM {table} WHERE custid BETWEEN ?1 AND ?2")
}

/// One row by key.
pub(super) fn lookup_sql(table: &str) -> String {
    format!("SELECT c2 FROM {table} WHERE custid = ?1")
}

/// The columns that an update sets: the first and the last, or all.
fn updated(redo: Redo) -> Vec<String> {
    let all: Vec<String> = columns().collect();
    match redo {
        Redo::Lite => vec![all[0].clone(), all[TEXT_COLUMNS - 1].clone()],
        Redo::Heavy => all,
    }
}

/// The update: texts are parameters `?1` on, the range of keys comes behind them.
fn update_sql(table: &str, columns: &[String]) -> String {
    let mut sql = format!("UPDATE {table} SET ver = ver + 1");
    for (i, column) in columns.iter().enumerate() {
        write!(sql, ", {column} = ?{}", i + 1).expect("writing to a string cannot fail");
    }
    let (first, last) = (columns.len() + 1, columns.len() + 2);
    write!(sql, " WHERE custid BETWEEN ?{first} AND ?{last}").expect("writing to a string cannot fail");
    sql
}

impl Statements {
    /// The statements for `schema`.
    pub(super) fn prepare(conn: &Connection, setup: &SessionSetup, schema: u32) -> Result<Self, Box<Fault>> {
        let table = |kind| Table { schema, kind, rows: 0 };
        let rows = table(TableKind::Rows).name();
        let columns = updated(setup.redo);
        let width = column_bytes(setup.spec.block_size);
        let scan_sql = format!("SELECT COUNT(c2) FROM {}", table(TableKind::Scan).name());
        let scan = has(&setup.spec, TableKind::Scan).then(|| Statement::prepare(conn, &scan_sql));
        let churn = setup.extra.churn.then(|| -> Result<Churn, Box<Fault>> {
            let insert = table(TableKind::Rows).insert();
            let delete = format!("DELETE FROM {rows} WHERE custid = ?1");
            Ok(Churn {
                insert: Statement::with_texts(conn, &insert, TEXT_COLUMNS, width)?,
                delete: Statement::prepare(conn, &delete)?,
            })
        });
        let secondary = setup.extra.secondary.then(|| {
            let index = table(TableKind::Rows).secondary_index(&setup.spec).unwrap_or_default();
            let key = setup.spec.secondary_sql("%");
            let sql = format!("SELECT COUNT(c2) FROM {rows} INDEXED BY {index} WHERE ({key}) = ?1");
            Statement::prepare(conn, &sql)
        });
        Ok(Self {
            secondary: secondary.transpose()?,
            churn: churn.transpose()?,
            select: Statement::prepare(conn, &select_sql(&rows))?,
            lookup: Statement::prepare(conn, &lookup_sql(&rows))?,
            scan: scan.transpose()?,
            begin: Statement::prepare(conn, "BEGIN IMMEDIATE")?,
            update: Statement::with_texts(conn, &update_sql(&rows, &columns), columns.len(), width)?,
            commit: Statement::prepare(conn, "COMMIT")?,
            rollback: Statement::prepare(conn, "ROLLBACK")?,
            update_columns: columns.len(),
        })
    }

    /// Runs of all statements since this was last asked.
    pub(super) fn take_runs(&mut self) -> u64 {
        let Self { select, lookup, secondary, scan, begin, update, churn, commit, rollback, .. } = self;
        let fixed = [select, lookup, begin, update, commit, rollback];
        let churn = churn.iter_mut().flat_map(|Churn { insert, delete }| [insert, delete]);
        fixed
            .into_iter()
            .chain(scan.as_mut())
            .chain(secondary.as_mut())
            .chain(churn)
            .map(Statement::take_runs)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(conn: &Connection, sql: &str) -> String {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters = statement.parameter_count();
        let steps = statement
            .query_map(rusqlite::params_from_iter(vec![1i64; parameters]), |row| row.get::<_, String>(3))
            .unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn reads_and_updates_go_by_the_index_and_visit_the_row() {
        let conn = Connection::open_in_memory().unwrap();
        let table = Table { schema: 1, kind: TableKind::Rows, rows: 1 };
        let columns: Vec<String> = columns().collect();
        conn.execute_batch(&format!(
            "CREATE TABLE dyno_rows_1(custid INTEGER, ver INTEGER NOT NULL DEFAULT 0, {});
             CREATE INDEX dyno_rows_1_custid ON dyno_rows_1(custid)",
            columns.iter().map(|column| format!("{column} TEXT")).collect::<Vec<_>>().join(", ")
        ))
        .unwrap();
        for sql in [
            select_sql(&table.name()),
            lookup_sql(&table.name()),
            update_sql(&table.name(), &updated(Redo::Lite)),
        ] {
            let plan = plan(&conn, &sql);
            assert!(plan.contains("SEARCH dyno_rows_1 USING INDEX dyno_rows_1_custid (custid"), "{plan}");
            assert!(!plan.contains("COVERING"), "{plan}");
        }
    }

    #[test]
    fn a_heavy_update_sets_every_column_and_a_light_one_two() {
        assert_eq!(
            update_sql("t", &updated(Redo::Lite)),
            "UPDATE t SET ver = ver + 1, c2 = ?1, c20 = ?2 WHERE custid BETWEEN ?3 AND ?4"
        );
        let heavy = update_sql("t", &updated(Redo::Heavy));
        assert!(
            heavy.contains(", c2 = ?1,") && heavy.contains(", c20 = ?19 WHERE custid BETWEEN ?20 AND ?21")
        );
    }
}
