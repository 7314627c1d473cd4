//! Filling the tables: binary COPY, one transaction per chunk.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::wire::Connection;
use super::chunks::{Chunk, pending};
use super::copy_rows::{HEADER, ROW_BYTES, RowMaker, TRAILER};
use super::meta::Found;
use super::pool::{self, cancelled};
use super::session::explain;
use super::tables::Table;
use crate::error::{TargetError, TargetErrorKind};
use crate::load::{Cancel, Progress};

/// Rows are gathered into sends of about this many bytes.
const SEND_BYTES: usize = 256 * 1024;

/// What a filling wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// How and by whom a load is done.
pub(super) struct Loading<'a> {
    pub(super) config: &'a ConnectConfig,
    pub(super) spec: &'a DataSpec,
    pub(super) tables: &'a [Table],
    pub(super) parallel: u32,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
}

/// Writes every row that `found` says is not there yet.
pub(super) fn fill(loading: &Loading<'_>, found: &Found) -> Result<Written, TargetError> {
    let done: HashSet<(usize, u64)> = found
        .chunks
        .iter()
        .filter_map(|(kind, schema, first)| {
            let is_it = |table: &Table| table.kind.name() == kind && table.schema == *schema;
            Some((loading.tables.iter().position(is_it)?, *first))
        })
        .collect();
    let chunks = pending(loading.tables, &done);
    if !done.is_empty() {
        // A load that was broken off left blocks with dead rows. Vacuumed, they are filled now instead of staying empty.
        super::finish::vacuum(loading, &unfinished(loading.tables, &chunks), "VACUUM")?;
    }
    loading.progress.phase("rows", chunks.iter().map(|chunk| chunk.rows).sum());
    let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    pool::run(loading.config, loading.parallel, chunks.len(), loading.cancel, &|connection, job| {
        let written = write_chunk(connection, loading, chunks[job])
            .map_err(|error| explain(error, "rows cannot be written", loading.config))?;
        rows.fetch_add(written.rows, Ordering::Relaxed);
        bytes.fetch_add(written.bytes, Ordering::Relaxed);
        loading.progress.advance(written.rows, written.bytes);
        Ok(())
    })?;
    Ok(Written { rows: rows.into_inner(), bytes: bytes.into_inner() })
}

fn unfinished(tables: &[Table], chunks: &[Chunk]) -> Vec<Table> {
    let with_work: HashSet<usize> = chunks.iter().map(|chunk| chunk.table).collect();
    tables.iter().enumerate().filter(|(i, _)| with_work.contains(i)).map(|(_, table)| *table).collect()
}

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
) -> Result<Written, TargetError> {
    let table = loading.tables[chunk.table];
    connection.simple("BEGIN")?;
    let copied = copy_chunk(connection, loading, &table, chunk);
    if copied.is_err() {
        // Whether or not this arrives, what is not committed is gone.
        let _ = connection.simple("ROLLBACK");
    }
    let bytes = copied?;
    let (kind, schema, first) = (table.kind.name(), table.schema, chunk.first);
    connection.simple(&format!(
        "INSERT INTO dyno.chunks VALUES ('{kind}', {schema}, {first}, {}); COMMIT",
        chunk.rows
    ))?;
    Ok(Written { rows: chunk.rows, bytes })
}

fn copy_chunk(
    connection: &mut Connection,
    loading: &Loading<'_>,
    table: &Table,
    chunk: Chunk,
) -> Result<u64, TargetError> {
    let mut maker = RowMaker::new(loading.spec, table);
    let mut buffer = Vec::with_capacity(SEND_BYTES + HEADER.len() + ROW_BYTES + TRAILER.len());
    buffer.extend_from_slice(HEADER);
    let mut copy = connection.copy_in(&format!("COPY {} FROM STDIN (FORMAT binary)", table.full_name()))?;
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
    let rows = copy.finish()?;
    if rows != chunk.rows {
        let message =
            format!("{} rows were sent to {} and the database took {rows}", chunk.rows, table.full_name());
        return Err(TargetError::new(TargetErrorKind::Data, message));
    }
    Ok(rows * maker.content_bytes())
}
