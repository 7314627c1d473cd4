//! Fills the tables with arrays of rows in random key order, one transaction per chunk.

use oracledb::ToDbValue;

use super::super::connection::OracleConnection;
use super::super::sql;
use super::session::{OracleLoadContext, explain};
use super::tables::{TestTable, dictionary_name, names_and_binds};
use dyno_engine::TargetError;
use dyno_engine::chunks::{LoadChunk, cut, interleave_tables};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
use dyno_engine::layout::{ChunkPositions, LoadTotals, RowText, all_taken};
use dyno_engine::pool::cancelled;

/// Rows of one array: 640 KB on the connection, and one round trip.
const ARRAY_ROWS: u64 = 256;

/// Rows of one chunk: 32 MiB of 8 KiB blocks and about 10 MB on the connection. The chunk is large enough
/// that its commit costs little, and small enough that rolling it back takes seconds.
const CHUNK_ROWS: u64 = 4096;

/// Bytes of content in one row: key, version and text.
pub(super) const CONTENT_BYTES: u64 = (16 + TEXT_COLUMNS * CLASSIC_COLUMN_BYTES) as u64;

/// Writes the rows that are still missing, except those of tables that are copies.
pub(super) fn fill(
    loading: &OracleLoadContext<'_>,
    completed: &ChunkPositions,
) -> Result<LoadTotals, TargetError> {
    let tables = loading.tables.iter().enumerate().filter(|(_, table)| !loading.spec.copies(table.schema));
    let chunks = tables.flat_map(|(place, table)| cut(place, 0..table.rows, CHUNK_ROWS));
    let missing = interleave_tables(chunks, completed);
    loading.fill(&missing, CONTENT_BYTES, |connection, chunk| write_chunk(connection, loading, chunk))
}

/// Writes one chunk and its note in one transaction.
fn write_chunk(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
    chunk: LoadChunk,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let LoadChunk { first, rows, .. } = chunk;
    let written = insert(connection, loading, &table, first..first + rows).and_then(|()| {
        note_chunk(connection, &table, chunk)?;
        connection.commit()
    });
    written.map_err(|error| {
        connection.rollback();
        explain(error, &format!("rows cannot be written to {}", table.name()), loading.loaders.0)
    })
}

/// Records a chunk of `table`, in the transaction of its rows.
pub(super) fn note_chunk(
    connection: &OracleConnection,
    table: &TestTable,
    LoadChunk { first, rows, .. }: LoadChunk,
) -> Result<(), TargetError> {
    let (kind, schema) = (table.kind.name(), table.schema);
    let binds: [(&str, &dyn ToDbValue); 4] =
        [("kind", &kind), ("schema_no", &schema), ("first_position", &first), ("row_count", &rows)];
    connection.run(&sql::NOTE_CHUNK.text(), &binds).map(|_| ())
}

/// Inserts the rows at `positions`, one array after the other.
fn insert(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
    table: &TestTable,
    positions: std::ops::Range<u64>,
) -> Result<(), TargetError> {
    let mut maker = RowText::new(loading.spec, table, CLASSIC_COLUMN_BYTES);
    let sql = insert_sql(table);
    let mut text = Vec::new();
    for first in positions.clone().step_by(ARRAY_ROWS as usize) {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let count = ARRAY_ROWS.min(positions.end - first);
        let keys: Vec<u64> = (first..first + count).map(|position| maker.key(position)).collect();
        text.clear();
        keys.iter().for_each(|key| text.extend_from_slice(maker.of(*key)));
        let took = send(connection, &sql, &keys, &text)?;
        all_taken(&dictionary_name(table), count, took, "triggers")?;
    }
    Ok(())
}

/// The statement that inserts one row of `table`: the key, then the text columns in order.
pub(super) fn insert_sql(table: &TestTable) -> String {
    let (names, binds) = names_and_binds();
    sql::INSERT_ROWS.with(&[("table", &table.name()), ("names", &names), ("binds", &binds)])
}

/// Sends one array of rows.
fn send(connection: &OracleConnection, sql: &str, keys: &[u64], text: &[u8]) -> Result<u64, TargetError> {
    let columns: Vec<&str> = text
        .chunks_exact(CLASSIC_COLUMN_BYTES)
        .map(|column| std::str::from_utf8(column).expect("filler is ASCII"))
        .collect();
    let rows: Vec<Vec<&dyn ToDbValue>> = keys
        .iter()
        .zip(columns.chunks_exact(TEXT_COLUMNS))
        .map(|(key, columns)| {
            let key: &dyn ToDbValue = key;
            std::iter::once(key).chain(columns.iter().map(|column| column as &dyn ToDbValue)).collect()
        })
        .collect();
    let rows: Vec<&[&dyn ToDbValue]> = rows.iter().map(Vec::as_slice).collect();
    connection.batch(sql, &rows)
}
