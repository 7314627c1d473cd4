//! Filling the tables, one transaction per chunk.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::wire::Connection;
use super::fill::Way;
use super::meta::Found;
use super::row_text::RowMaker;
use super::session::{Loaders, explain};
use super::tables::{Shape, Table};
use dyno_engine::chunks::{Chunk, whole_tables};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{Cancel, LoadOptions, Progress};
use dyno_engine::pool;

/// Rows of one chunk: 64 MiB of pages of 16 KiB and some 33 MB on the wire. Long enough that its commit does not count,
/// short enough that taking it back after a crash is a matter of seconds.
const CHUNK_ROWS: u64 = 4096;

/// What a filling wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// How and by whom a load is done.
pub(super) struct Loading<'a> {
    pub(super) config: &'a ConnectConfig,
    pub(super) spec: &'a DataSpec,
    pub(super) shape: Shape,
    pub(super) tables: &'a [Table],
    pub(super) fill: Way,
    pub(super) options: &'a LoadOptions,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
}

impl Loading<'_> {
    /// The chunks that are there for good, by the table's place in the list and first position.
    pub(super) fn done(&self, found: &Found) -> HashSet<(usize, u64)> {
        let chunk = |(kind, schema, first): &(String, u32, u64)| {
            let is_it = |table: &Table| table.kind.name() == kind && table.schema == *schema;
            Some((self.tables.iter().position(is_it)?, *first))
        };
        found.chunks.iter().filter_map(chunk).collect()
    }

    /// Does `jobs` jobs on the load's connections.
    pub(super) fn each(
        &self,
        jobs: usize,
        work: &(dyn Fn(&mut Connection, usize) -> Result<(), TargetError> + Sync),
    ) -> Result<(), TargetError> {
        pool::run(&Loaders(self.config), self.options.parallel, jobs, self.cancel, work)
    }
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
        .and_then(|_| loading.fill.write(connection, loading, chunk, &mut maker))
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
