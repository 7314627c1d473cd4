//! Distributes a load over several connections.

use std::collections::HashSet;

use dyno_plan::DataSpec;
use parking_lot::Mutex;

use super::table::TestTable;
use crate::chunks::LoadChunk;
use crate::error::TargetError;
use crate::load::{Cancel, LoadOptions, LoadProgressSink};
use crate::pool::{self, LoadConnector};

/// Totals of what a load wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadTotals {
    /// Number of rows written.
    pub rows: u64,
    /// Bytes of the content of these rows.
    pub bytes: u64,
}

/// Finished chunks by the table's index in the list and first position.
pub type ChunkPositions = HashSet<(usize, u64)>;

/// Everything that the connections of a load share.
pub struct ParallelLoad<'a, L> {
    /// Opens the connections of the load.
    pub loaders: L,
    /// The data to be loaded.
    pub spec: &'a DataSpec,
    /// The tables of that data, in load order.
    pub tables: Vec<TestTable>,
    /// The options of the load.
    pub options: &'a LoadOptions,
    /// Receives the progress of the load.
    pub progress: &'a dyn LoadProgressSink,
    /// The user's request to stop.
    pub cancel: &'a Cancel,
}

impl<L: LoadConnector> ParallelLoad<'_, L> {
    /// Converts `chunks` (kind, schema, first position) to [`ChunkPositions`].
    pub fn places(&self, chunks: &HashSet<(String, u32, u64)>) -> ChunkPositions {
        let place = |(kind, schema, first): &(String, u32, u64)| {
            let is_it = |table: &TestTable| table.kind.name() == kind && table.schema == *schema;
            Some((self.tables.iter().position(is_it)?, *first))
        };
        chunks.iter().filter_map(place).collect()
    }

    /// Runs `jobs` jobs on the load's connections.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn each<W>(&self, jobs: usize, work: W) -> Result<(), TargetError>
    where
        W: Fn(&mut L::Connection, usize) -> Result<(), TargetError> + Sync,
    {
        pool::run(&self.loaders, self.options.parallel, jobs, self.cancel, &work)
    }

    /// Does `work` for each of `tables` in the phase `name`.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn each_table<W>(&self, tables: &[TestTable], name: &str, work: W) -> Result<(), TargetError>
    where
        W: Fn(&mut L::Connection, &TestTable) -> Result<(), TargetError> + Sync,
    {
        self.progress.phase(name, tables.iter().map(|table| table.rows).sum());
        self.each(tables.len(), |connection, job| {
            work(connection, &tables[job])?;
            self.progress.advance(tables[job].rows, 0);
            Ok(())
        })
    }

    /// Writes `chunks` of rows with `row_bytes` of content; `write` writes one chunk.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn fill<W>(&self, chunks: &[LoadChunk], row_bytes: u64, write: W) -> Result<LoadTotals, TargetError>
    where
        W: Fn(&mut L::Connection, LoadChunk) -> Result<(), TargetError> + Sync,
    {
        self.write("rows", chunks, row_bytes, write)
    }

    /// Like [`fill`](Self::fill), for `chunks` that the database copies from other tables.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn copy<W>(&self, chunks: &[LoadChunk], row_bytes: u64, copy: W) -> Result<LoadTotals, TargetError>
    where
        W: Fn(&mut L::Connection, LoadChunk) -> Result<(), TargetError> + Sync,
    {
        self.write("copy", chunks, row_bytes, copy)
    }

    fn write<W>(
        &self,
        phase: &str,
        chunks: &[LoadChunk],
        row_bytes: u64,
        write: W,
    ) -> Result<LoadTotals, TargetError>
    where
        W: Fn(&mut L::Connection, LoadChunk) -> Result<(), TargetError> + Sync,
    {
        let written = LoadTotals::of(chunks, row_bytes);
        self.progress.phase(phase, written.rows);
        self.each(chunks.len(), |connection, job| {
            write(connection, chunks[job])?;
            self.progress.advance(chunks[job].rows, chunks[job].rows * row_bytes);
            Ok(())
        })?;
        Ok(written)
    }

    /// The result of `measure` for each table, in their order.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn measure<T: Send, W>(&self, measure: W) -> Result<Vec<T>, TargetError>
    where
        W: Fn(&mut L::Connection, &TestTable) -> Result<T, TargetError> + Sync,
    {
        let measured = Mutex::new(Vec::new());
        self.each_table(&self.tables, "verify", |connection, table| {
            let table_result = (table.kind, table.schema, measure(connection, table)?);
            measured.lock().push(table_result);
            Ok(())
        })?;
        let mut measured = measured.into_inner();
        measured.sort_by_key(|(kind, schema, _)| (*kind, *schema));
        Ok(measured.into_iter().map(|(.., measurement)| measurement).collect())
    }
}

impl LoadTotals {
    /// The totals of `chunks`, for rows with `row_bytes` of content.
    pub fn of(chunks: &[LoadChunk], row_bytes: u64) -> Self {
        let rows: u64 = chunks.iter().map(|chunk| chunk.rows).sum();
        Self { rows, bytes: rows * row_bytes }
    }
}

/// Checks that the database accepted all `sent` records; `culprits` names what may have rejected some.
///
/// # Errors
/// The database accepted another number of records.
pub fn all_taken(table: &str, sent: u64, took: u64, culprits: &str) -> Result<(), TargetError> {
    if took == sent {
        return Ok(());
    }
    let message = format!("{sent} records were sent to {table}, but the database stored {took}");
    Err(TargetError::data(message)
        .hint(format!("check the table for {culprits}, drop the objects that Dyno created, and load again")))
}
