//! Filling the tables: binary COPY for their bodies, INSERT for their tails, one transaction per chunk.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::super::wire::Connection;
use super::chunks::{bodies, tail};
use super::copy_rows::{HEADER, ROW_BYTES, RowMaker, TRAILER};
use super::finish;
use super::loading::Loading;
use super::session::{Loaders, explain};
use super::tables::Table;
use dyno_engine::chunks::Chunk;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::pool::{self, cancelled};

/// Rows are gathered into sends of about this many bytes.
const SEND_BYTES: usize = 256 * 1024;

/// Rows of one INSERT: some 80 KB of text.
const INSERT_ROWS: u64 = 32;

/// What a filling wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

impl Written {
    /// Adds what another part of the load wrote.
    pub(super) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// Writes the rows of the tables' bodies that are not there yet.
pub(super) fn fill_bodies(
    loading: &Loading<'_>,
    done: &HashSet<(usize, u64)>,
) -> Result<Written, TargetError> {
    let chunks = bodies(loading.tables, done);
    if !done.is_empty() && !chunks.is_empty() {
        // A load that was broken off left blocks with dead rows. Vacuumed, they are filled now instead of staying empty.
        finish::vacuum(loading, "vacuum", "VACUUM (FREEZE)")?;
    }
    loading.progress.phase("rows", chunks.iter().map(|chunk| chunk.rows).sum());
    let written = Mutex::new(Written::default());
    pool::run(
        &Loaders(loading.config),
        loading.parallel,
        chunks.len(),
        loading.cancel,
        &|connection, job| {
            let chunk = write_chunk(connection, loading, chunks[job], copy)?;
            loading.progress.advance(chunk.rows, chunk.bytes);
            written.lock().unwrap_or_else(PoisonError::into_inner).add(chunk);
            Ok(())
        },
    )?;
    Ok(written.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Vacuums each table whose tail is not there yet, and writes the tail, on one connection per table.
pub(super) fn fill_tails(
    loading: &Loading<'_>,
    done: &HashSet<(usize, u64)>,
) -> Result<Written, TargetError> {
    let tails = loading.tables.iter().enumerate().map(|(i, table)| (*table, tail(i, table, done)));
    let tails: Vec<(Table, Vec<Chunk>)> = tails.filter(|(_, chunks)| !chunks.is_empty()).collect();
    loading.progress.phase("vacuum", tails.iter().map(|(table, _)| table.rows).sum());
    let written = Mutex::new(Written::default());
    pool::run(
        &Loaders(loading.config),
        loading.parallel,
        tails.len(),
        loading.cancel,
        &|connection, job| {
            let (table, chunks) = &tails[job];
            finish::vacuum_one(connection, loading, table, "VACUUM (FREEZE)")?;
            for chunk in chunks {
                let chunk = write_chunk(connection, loading, *chunk, insert)?;
                written.lock().unwrap_or_else(PoisonError::into_inner).add(chunk);
            }
            loading.progress.advance(table.rows, 0);
            Ok(())
        },
    )?;
    Ok(written.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A way to write the rows of one chunk with what makes them.
type Write = fn(&mut Connection, &Loading<'_>, Chunk, &mut RowMaker) -> Result<(), TargetError>;

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    write: Write,
) -> Result<Written, TargetError> {
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
    let name = table.full_name();
    written.map_err(|error| explain(error, &format!("rows cannot be written to {name}"), loading.config))?;
    Ok(Written { rows, bytes: rows * maker.content_bytes() })
}

/// Writes the rows of `chunk` by one COPY.
fn copy(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].full_name();
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
    complete(&name, chunk.rows, taken)
}

/// Writes the rows of `chunk` by INSERTs of a few rows each.
fn insert(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].full_name();
    let end = chunk.first + chunk.rows;
    let mut first = chunk.first;
    while first < end {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let next = end.min(first + INSERT_ROWS);
        let rows: Vec<String> = (first..next).map(|position| maker.values(position)).collect();
        connection.simple(&format!("INSERT INTO {name} VALUES {}", rows.join(", ")))?;
        complete(&name, next - first, connection.rows_affected())?;
        first = next;
    }
    Ok(())
}

fn complete(table: &str, sent: u64, taken: u64) -> Result<(), TargetError> {
    if taken == sent {
        return Ok(());
    }
    let message = format!("{sent} rows were sent to {table} and the database took {taken}");
    Err(TargetError::new(TargetErrorKind::Data, message)
        .hint("look for triggers or rules on the table, drop what Dyno made, and load again"))
}
