//! Fills the tables with one transaction per chunk.

use super::super::wire::MySqlConnection;
use super::fill::{self, MySqlLoadMethod};
use super::row_text::{MySqlRowGenerator, content_bytes};
use super::session::{MySqlLoadContext, explain};
use super::tables::MySqlRowShape;
use dyno_engine::TargetError;
use dyno_engine::chunks::{LoadChunk, whole_tables};
use dyno_engine::layout::{ChunkPositions, LoadTotals, all_taken};

/// Rows of one chunk: 64 MiB of 16 KiB pages and about 33 MB on the connection. The chunk is large enough
/// that its commit costs little, and small enough that rolling it back takes seconds.
const CHUNK_ROWS: u64 = 4096;

/// Writes the rows that are still missing.
pub(super) fn fill(
    loading: &MySqlLoadContext<'_>,
    shape: MySqlRowShape,
    way: MySqlLoadMethod,
    done: &ChunkPositions,
) -> Result<LoadTotals, TargetError> {
    let chunks = whole_tables(loading.tables.iter().map(|table| table.rows), CHUNK_ROWS, done);
    loading.fill(&chunks, content_bytes(shape), |connection, chunk| {
        write_chunk(connection, loading, shape, way, chunk)
    })
}

/// Writes one chunk and its note in one transaction.
fn write_chunk(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    shape: MySqlRowShape,
    way: MySqlLoadMethod,
    chunk: LoadChunk,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let mut maker = MySqlRowGenerator::new(loading.spec, &table, shape);
    let (kind, schema, LoadChunk { first, rows, .. }) = (table.kind.name(), table.schema, chunk);
    let name = table.name();
    let written = connection
        .simple("START TRANSACTION")
        .and_then(|_| fill::write(connection, loading, way, chunk, &mut maker))
        .and_then(|took| all_taken(&name, shape.records() * rows, took, "triggers"))
        .and_then(|()| {
            let note =
                format!("INSERT INTO dyno_chunks VALUES ('{kind}', {schema}, {first}, {rows}); COMMIT");
            connection.simple(&note).map(|_| ())
        });
    if written.is_err() {
        // Even if this does not arrive, the server discards what was not committed.
        let _ = connection.simple("ROLLBACK");
    }
    let doing = format!("rows cannot be written to {name}");
    written.map_err(|error| explain(error, &doing, &loading.loaders.config))
}
