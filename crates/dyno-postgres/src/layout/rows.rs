//! Filling the tables: binary COPY for their bodies, INSERT for their tails, one transaction per chunk.

use super::super::wire::Connection;
use super::chunks::{bodies, tail};
use super::copy_rows::{CONTENT_BYTES, HEADER, ROW_BYTES, RowMaker, TRAILER};
use super::finish;
use super::session::{Loading, explain};
use super::tables::Table;
use dyno_engine::TargetError;
use dyno_engine::chunks::Chunk;
use dyno_engine::layout::{Chunks, Written, all_taken};
use dyno_engine::pool::cancelled;

/// Rows are gathered into sends of about this many bytes.
const SEND_BYTES: usize = 256 * 1024;

/// Rows of one INSERT: some 80 KB of text.
const INSERT_ROWS: u64 = 32;

/// What may keep rows off a table.
const CULPRITS: &str = "triggers or rules";

/// Writes the rows of the tables' bodies that are not there yet.
pub(super) fn fill_bodies(loading: &Loading<'_>, done: &Chunks) -> Result<Written, TargetError> {
    let chunks = bodies(&loading.tables, done);
    if !done.is_empty() && !chunks.is_empty() {
        // A load that was broken off left blocks with dead rows. Vacuumed, they are filled now instead of staying empty.
        finish::vacuum(loading, "vacuum", "VACUUM (FREEZE)")?;
    }
    loading.fill(&chunks, CONTENT_BYTES, |connection, chunk| write_chunk(connection, loading, chunk, copy))
}

/// Vacuums each table whose tail is not there yet, and writes the tail, on one connection per table.
pub(super) fn fill_tails(loading: &Loading<'_>, done: &Chunks) -> Result<Written, TargetError> {
    let tail_of = |table: &Table| {
        let place = loading.tables.iter().position(|other| other == table);
        place.map_or(Vec::new(), |place| tail(place, table, done))
    };
    let tables: Vec<Table> =
        loading.tables.iter().filter(|table| !tail_of(table).is_empty()).copied().collect();
    loading.each_table(&tables, "vacuum", |connection, table| {
        finish::vacuum_one(connection, loading, table, "VACUUM (FREEZE)")?;
        tail_of(table).into_iter().try_for_each(|chunk| write_chunk(connection, loading, chunk, insert))
    })?;
    let chunks: Vec<Chunk> = tables.iter().flat_map(tail_of).collect();
    Ok(Written::of(&chunks, CONTENT_BYTES))
}

/// A way to write the rows of one chunk with what makes them.
type Write = fn(&mut Connection, &Loading<'_>, Chunk, &mut RowMaker) -> Result<(), TargetError>;

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    write: Write,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let mut maker = RowMaker::new(loading.spec, &table);
    let (kind, schema, Chunk { first, rows, .. }) = (table.kind.name(), table.schema, chunk);
    let note = format!("INSERT INTO dyno.chunks VALUES ('{kind}', {schema}, {first}, {rows}); COMMIT");
    let mut written = connection.simple("BEGIN").map(|_| ());
    written = written.and_then(|()| write(connection, loading, chunk, &mut maker));
    written = written.and_then(|()| connection.simple(&note).map(|_| ()));
    if written.is_err() {
        // Whether or not this arrives, what is not committed is gone.
        let _ = connection.simple("ROLLBACK");
    }
    let doing = format!("rows cannot be written to {}", table.name());
    written.map_err(|error| explain(error, &doing, loading.loaders.0))
}

/// Writes the rows of `chunk` by one COPY.
fn copy(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].name();
    let mut copy = connection.copy_in(&format!("COPY {name} FROM STDIN (FORMAT binary)"))?;
    let mut buffer = Vec::with_capacity(SEND_BYTES + ROW_BYTES + TRAILER.len());
    buffer.extend_from_slice(HEADER);
    for position in chunk.first..chunk.first + chunk.rows {
        maker.append(position, &mut buffer);
        if buffer.len() >= SEND_BYTES {
            if loading.cancel.is_cancelled() {
                copy.fail()?;
                return Err(cancelled());
            }
            copy.send(&buffer)?;
            buffer.clear();
        }
    }
    buffer.extend_from_slice(&TRAILER);
    copy.send(&buffer)?;
    let taken = copy.finish()?;
    all_taken(&name, chunk.rows, taken, CULPRITS)
}

/// Writes the rows of `chunk` by INSERTs of a few rows each.
fn insert(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].name();
    let end = chunk.first + chunk.rows;
    let mut first = chunk.first;
    while first < end {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let next = end.min(first + INSERT_ROWS);
        let rows: Vec<String> = (first..next).map(|position| maker.values(position)).collect();
        connection.simple(&format!("INSERT INTO {name} VALUES {}", rows.join(", ")))?;
        all_taken(&name, next - first, connection.rows_affected(), CULPRITS)?;
        first = next;
    }
    Ok(())
}
