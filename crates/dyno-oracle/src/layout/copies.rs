//! Copies the tables of schema 1 to the other schemas inside the database, one transaction per table.
//!
//! A copy is one direct-path insert and the note of its table. If it is interrupted, the database rolls back
//! both, so the table is empty and the next load copies it again.

use super::super::connection::OracleConnection;
use super::super::sql;
use super::rows::{CONTENT_BYTES, note_chunk};
use super::session::{OracleLoadContext, explain};
use super::tables::{TestTable, dictionary_name};
use super::verify::table_error;
use dyno_engine::TargetError;
use dyno_engine::chunks::{LoadChunk, cut, interleave_tables};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, CopyRotation, TEXT_COLUMNS, table_seed};
use dyno_engine::layout::{ChunkPositions, LoadTotals, text_columns};

/// Copies the tables that are still missing. The tables of schema 1 must be complete.
pub(super) fn copy(
    loading: &OracleLoadContext<'_>,
    completed: &ChunkPositions,
) -> Result<LoadTotals, TargetError> {
    let tables = loading.tables.iter().enumerate().filter(|(_, table)| loading.spec.copies(table.schema));
    let whole = tables.flat_map(|(place, table)| cut(place, 0..table.rows, table.rows));
    let missing = interleave_tables(whole, completed);
    if missing.is_empty() {
        return Ok(LoadTotals::default());
    }
    loading.copy(&missing, CONTENT_BYTES, |connection, chunk| copy_table(connection, loading, chunk))
}

/// Copies one table and records it in one transaction.
fn copy_table(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
    chunk: LoadChunk,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let copied = connection.run(&copy_sql(&table, loading.spec.seed), &[]).and_then(|count| {
        if count != table.rows {
            let source = dictionary_name(&source_of(&table));
            let fault = format!("received {count} rows from {source}, expected {}", table.rows);
            return Err(table_error(&dictionary_name(&table), &fault));
        }
        note_chunk(connection, &table, chunk)?;
        connection.commit()
    });
    copied.map_err(|error| {
        connection.rollback();
        explain(error, &format!("rows cannot be copied to {}", table.name()), loading.loaders.0)
    })
}

/// The table of schema 1 with the rows that `table` copies.
fn source_of(table: &TestTable) -> TestTable {
    TestTable { schema: 1, ..*table }
}

/// The statement that copies all rows of `table` from schema 1.
pub(in super::super) fn copy_sql(table: &TestTable, seed: u64) -> String {
    let rotation = CopyRotation::of_schema(table.schema, CLASSIC_COLUMN_BYTES);
    let moved = rotation.characters();
    let text = |column| match rotation.source_column(column) + 2 {
        source if moved == 0 => format!("c{source}"),
        source => format!("SUBSTR(c{source}, {}) || SUBSTR(c{source}, 1, {moved})", moved + 1),
    };
    let texts: Vec<String> = (0..TEXT_COLUMNS).map(text).collect();
    // The largest seed that ORA_HASH accepts.
    let order_seed = table_seed(seed, table.schema, table.kind) & u64::from(u32::MAX);
    sql::COPY_ROWS.with(&[
        ("table", &table.name()),
        ("source", &source_of(table).name()),
        ("names", &text_columns(", ")),
        ("texts", &texts.join(", ")),
        ("seed", &order_seed.to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::TableKind;

    fn table(schema: u32, kind: TableKind) -> TestTable {
        TestTable { prefix: "dyno_", kind, schema, rows: 100 }
    }

    #[test]
    fn copy_statement_reads_schema_1_in_hash_order() {
        let sql = copy_sql(&table(2, TableKind::Scan), 42);
        assert!(sql.starts_with("INSERT /*+ APPEND */ INTO dyno_scan_2 (custid, ver, c2, c3, "), "{sql}");
        assert!(sql.contains(" custid, 0, c3, c4, "), "{sql}");
        assert!(sql.contains(", c19, c20, c2\n  FROM dyno_scan_1 t\n ORDER BY ORA_HASH(custid, 42"), "{sql}");
        let order =
            |sql: &str| sql.rsplit_once(", ").unwrap().1.trim_end_matches(')').parse::<u32>().unwrap();
        let seeds = [(2, TableKind::Scan), (2, TableKind::Rows), (3, TableKind::Rows)]
            .map(|(schema, kind)| order(&copy_sql(&table(schema, kind), 42)));
        assert!(seeds[0] != seeds[1], "each table has its own order: {seeds:?}");
        assert!(seeds[1] != seeds[2], "each table has its own order: {seeds:?}");
    }

    #[test]
    fn copy_statement_moves_characters_from_schema_20_on() {
        let sql = |schema| copy_sql(&table(schema, TableKind::Rows), 1);
        assert!(!sql(19).contains("SUBSTR"), "nothing moves within the first 19 schemas");
        assert!(sql(20).contains(" 0, SUBSTR(c2, 2) || SUBSTR(c2, 1, 1), SUBSTR(c3, 2) || "), "{}", sql(20));
        // Schema 2432 is the last one before the contents repeat.
        assert!(sql(2_432).contains(" 0, SUBSTR(c20, 128) || SUBSTR(c20, 1, 127), "), "{}", sql(2_432));
        assert!(sql(2_433).contains(" 0, c2, c3, "), "{}", sql(2_433));
    }
}
