//! Filling the tables, one transaction per chunk.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::super::wire::Connection;
use super::fill;
use super::loading::Loading;
use super::row_text::RowMaker;
use super::session::explain;
use dyno_engine::chunks::{Chunk, whole_tables};
use dyno_engine::error::{TargetError, TargetErrorKind};

/// Rows of one chunk: 64 MiB of pages of 16 KiB and some 33 MB on the wire. Long enough that its commit does not count,
/// short enough that taking it back after a crash is a matter of seconds.
const CHUNK_ROWS: u64 = 4096;

/// What a filling wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// Writes the rows that are not there yet.
pub(super) fn fill(loading: &Loading<'_>, done: &HashSet<(usize, u64)>) -> Result<Written, TargetError> {
    let chunks = whole_tables(loading.tables.iter().map(|table| table.rows), CHUNK_ROWS, done);
    loading.progress.phase("rows", chunks.iter().map(|chunk| chunk.rows).sum());
    let written = Mutex::new(Written::default());
    loading.each(chunks.len(), &|connection, job| {
        let chunk = write_chunk(connection, loading, chunks[job])?;
        loading.progress.advance(chunk.rows, chunk.bytes);
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        written.rows += chunk.rows;
        written.bytes += chunk.bytes;
        Ok(())
    })?;
    Ok(written.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
) -> Result<Written, TargetError> {
    let table = loading.tables[chunk.table];
    let mut maker = RowMaker::new(loading.spec, &table, loading.shape);
    let (kind, schema, Chunk { first, rows, .. }) = (table.kind.name(), table.schema, chunk);
    let name = table.name();
    let written = connection
        .simple("START TRANSACTION")
        .and_then(|_| fill::write(connection, loading, chunk, &mut maker))
        .and_then(|taken| complete(&name, loading.shape.records() * rows, taken))
        .and_then(|()| {
            let note =
                format!("INSERT INTO dyno_chunks VALUES ('{kind}', {schema}, {first}, {rows}); COMMIT");
            connection.simple(&note).map(|_| ())
        });
    if written.is_err() {
        // Whether or not this arrives, what is not committed is gone.
        let _ = connection.simple("ROLLBACK");
    }
    written.map_err(|error| explain(error, &format!("rows cannot be written to {name}"), loading.config))?;
    Ok(Written { rows, bytes: rows * maker.content_bytes() })
}

fn complete(table: &str, sent: u64, taken: u64) -> Result<(), TargetError> {
    if taken == sent {
        return Ok(());
    }
    let message = format!("{sent} records were sent to {table} and the database took {taken}");
    Err(TargetError::new(TargetErrorKind::Data, message)
        .hint("look for triggers on the table, drop what Dyno made, and load again"))
}
