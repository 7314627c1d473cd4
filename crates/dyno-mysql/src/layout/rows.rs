//! Filling the tables, one transaction per chunk.

use super::super::wire::Connection;
use super::fill::{self, Way};
use super::row_text::{RowMaker, content_bytes};
use super::session::{Loading, explain};
use super::tables::Shape;
use dyno_engine::TargetError;
use dyno_engine::chunks::{Chunk, whole_tables};
use dyno_engine::layout::{Chunks, Written, all_taken};

/// Rows of one chunk: 64 MiB of pages of 16 KiB and some 33 MB on the wire. Long enough that its commit does not count,
/// short enough that taking it back after a crash is a matter of seconds.
const CHUNK_ROWS: u64 = 4096;

/// Writes the rows that are not there yet.
pub(super) fn fill(
    loading: &Loading<'_>,
    shape: Shape,
    way: Way,
    done: &Chunks,
) -> Result<Written, TargetError> {
    let chunks = whole_tables(loading.tables.iter().map(|table| table.rows), CHUNK_ROWS, done);
    loading.fill(&chunks, content_bytes(shape), |connection, chunk| {
        write_chunk(connection, loading, shape, way, chunk)
    })
}

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    shape: Shape,
    way: Way,
    chunk: Chunk,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let mut maker = RowMaker::new(loading.spec, &table, shape);
    let (kind, schema, Chunk { first, rows, .. }) = (table.kind.name(), table.schema, chunk);
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
        // Whether or not this arrives, what is not committed is gone.
        let _ = connection.simple("ROLLBACK");
    }
    let doing = format!("rows cannot be written to {name}");
    written.map_err(|error| explain(error, &doing, loading.loaders.0))
}
