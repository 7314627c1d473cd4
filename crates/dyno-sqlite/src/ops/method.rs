//! The SQL of the block workload's operations.

use crate::layout::{SqliteTable, column_bytes, has};
use dyno_engine::data::{TEXT_COLUMNS, TableKind};
use dyno_engine::layout::updated_columns;
use dyno_engine::{
    BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, ResultKind, Slot, Type,
};
use dyno_plan::Redo;

const PAIR: [Type; 2] = [Type::Int, Type::Int];

/// The block workload's statements for the schema and the data of `blocks`.
pub(crate) fn blocks(blocks: &BlockSessionConfig) -> BlocksSql {
    let table = |kind| SqliteTable { schema: blocks.schema, kind, rows: 0 };
    let rows = table(TableKind::Rows);
    let name = rows.name();
    let range = [Slot::KEY, Slot::last(blocks.work_unit)];
    let mut statements = vec![
        BlocksStatement::read(
            BlockStatementKind::Select,
            select_sql(&name),
            &PAIR,
            &range,
            ResultKind::Number,
        ),
        BlocksStatement::read(
            BlockStatementKind::Lookup,
            lookup_sql(&name),
            &[Type::Int],
            &[Slot::KEY],
            ResultKind::Row,
        ),
        update(&name, blocks.redo, &range),
        BlocksStatement::look(
            BlockStatementKind::Found,
            format!("SELECT COUNT(*) FROM {name} WHERE custid BETWEEN ?1 AND ?2"),
            &PAIR,
            &range,
        ),
        BlocksStatement::look(
            BlockStatementKind::Fresh,
            format!(
                "SELECT COUNT(*) FROM {name} WHERE custid BETWEEN ?1 AND ?2 AND (substr(c2, 1, length(?3)) = ?3 \
                 OR (substr(c2, 1, length(?4)) = ?4 AND substr(c2, 1, length(?5)) <> ?5))"
            ),
            &[Type::Int, Type::Int, Type::Text, Type::Text, Type::Text],
            &[range[0], range[1], Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix],
        ),
    ];
    if has(&blocks.spec, TableKind::Scan) {
        let sql = format!("SELECT COUNT(c2) FROM {}", table(TableKind::Scan).name());
        statements.push(BlocksStatement::read(BlockStatementKind::Scan, sql, &[], &[], ResultKind::Number));
    }
    if blocks.extra.secondary {
        let index = rows.secondary_index(&blocks.spec).unwrap_or_default();
        let key = blocks.spec.secondary_sql("%");
        let sql = format!("SELECT COUNT(c2) FROM {name} INDEXED BY {index} WHERE ({key}) = ?1");
        let (types, slots) = ([Type::Int], [Slot::KEY]);
        statements.push(BlocksStatement::read(
            BlockStatementKind::Secondary,
            sql,
            &types,
            &slots,
            ResultKind::Number,
        ));
    }
    if blocks.extra.churn {
        let delete = format!("DELETE FROM {name} WHERE custid = ?1");
        let (types, slots) = texts(TEXT_COLUMNS, &[Slot::KEY]);
        statements.push(BlocksStatement::write(BlockStatementKind::Insert, rows.insert(), &types, &slots));
        statements.push(BlocksStatement::write(
            BlockStatementKind::Delete,
            delete,
            &[Type::Int],
            &[Slot::KEY],
        ));
    }
    BlocksSql { column_bytes: column_bytes(blocks.spec.block_size), pad_bytes: 0, statements }
}

/// The types and slots of `columns` texts, followed by `numbers`.
fn texts(columns: usize, numbers: &[Slot]) -> (Vec<Type>, Vec<Slot>) {
    let types = [vec![Type::Text; columns], vec![Type::Int; numbers.len()]].concat();
    (types, (0..columns).map(Slot::Column).chain(numbers.iter().copied()).collect())
}

/// `SELECT COUNT(c2)` over a range of keys: `c2` is not in the index, so every row's page is read.
fn select_sql(table: &str) -> String {
    format!("SELECT COUNT(c2) FROM {table} WHERE custid BETWEEN ?1 AND ?2")
}

/// The statement that reads one row by its key.
fn lookup_sql(table: &str) -> String {
    format!("SELECT c2 FROM {table} WHERE custid = ?1")
}

/// The update: texts are parameters from `?1` on, followed by the range of keys.
fn update(table: &str, redo: Redo, range: &[Slot]) -> BlocksStatement {
    let names: Vec<String> = updated_columns(redo).map(|column| format!("c{column}")).collect();
    let set: String = (1..).zip(&names).map(|(i, column)| format!(", {column} = ?{i}")).collect();
    let (first, last) = (names.len() + 1, names.len() + 2);
    let sql = format!("UPDATE {table} SET ver = ver + 1{set} WHERE custid BETWEEN ?{first} AND ?{last}");
    let (types, slots) = texts(names.len(), range);
    BlocksStatement::write(BlockStatementKind::Update, sql, &types, &slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::columns;
    use rusqlite::Connection;

    fn plan(conn: &Connection, sql: &str) -> String {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters = statement.parameter_count();
        let steps = statement
            .query_map(rusqlite::params_from_iter(vec![1i64; parameters]), |row| row.get::<_, String>(3))
            .unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    fn update_sql(table: &str, redo: Redo) -> String {
        update(table, redo, &[Slot::KEY, Slot::KEY]).statement.sql
    }

    #[test]
    fn reads_and_updates_use_the_index_and_visit_the_row() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(&format!(
            "CREATE TABLE dyno_rows_1(custid INTEGER, ver INTEGER NOT NULL DEFAULT 0, {});
             CREATE INDEX dyno_rows_1_custid ON dyno_rows_1(custid)",
            columns().map(|column| format!("{column} TEXT")).collect::<Vec<_>>().join(", ")
        ))
        .unwrap();
        let table = "dyno_rows_1";
        for sql in [select_sql(table), lookup_sql(table), update_sql(table, Redo::Lite)] {
            let plan = plan(&conn, &sql);
            assert!(plan.contains("SEARCH dyno_rows_1 USING INDEX dyno_rows_1_custid (custid"), "{plan}");
            assert!(!plan.contains("COVERING"), "{plan}");
        }
    }

    #[test]
    fn heavy_update_sql_sets_all_columns_and_lite_one_two() {
        assert_eq!(
            update_sql("t", Redo::Lite),
            "UPDATE t SET ver = ver + 1, c2 = ?1, c20 = ?2 WHERE custid BETWEEN ?3 AND ?4"
        );
        let heavy = update_sql("t", Redo::Heavy);
        assert!(heavy.contains(", c2 = ?1,"));
        assert!(heavy.contains(", c20 = ?19 WHERE custid BETWEEN ?20 AND ?21"));
    }
}
