//! A load's work on several connections.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dyno_plan::DataSpec;

use super::table::Table;
use crate::chunks::Chunk;
use crate::error::TargetError;
use crate::load::{Cancel, LoadOptions, Progress};
use crate::pool::{self, Loaders};

/// What a filling wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

/// Chunks by the table's place in the list and first position.
pub type Chunks = HashSet<(usize, u64)>;

/// How and by whom a load is done.
pub struct Loading<'a, L> {
    /// Its connections.
    pub loaders: L,
    /// What is loaded.
    pub spec: &'a DataSpec,
    /// Its tables.
    pub tables: Vec<Table>,
    /// How it is loaded.
    pub options: &'a LoadOptions,
    /// Told of it.
    pub progress: &'a dyn Progress,
    /// The user's wish to stop.
    pub cancel: &'a Cancel,
}

impl<L: Loaders> Loading<'_, L> {
    /// `chunks` (kind, schema, first position) as [`Chunks`].
    pub fn places(&self, chunks: &HashSet<(String, u32, u64)>) -> Chunks {
        let place = |(kind, schema, first): &(String, u32, u64)| {
            let is_it = |table: &Table| table.kind.name() == kind && table.schema == *schema;
            Some((self.tables.iter().position(is_it)?, *first))
        };
        chunks.iter().filter_map(place).collect()
    }

    /// Does `jobs` jobs on the load's connections.
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
    pub fn each_table<W>(&self, tables: &[Table], name: &str, work: W) -> Result<(), TargetError>
    where
        W: Fn(&mut L::Connection, &Table) -> Result<(), TargetError> + Sync,
    {
        self.progress.phase(name, tables.iter().map(|table| table.rows).sum());
        self.each(tables.len(), |connection, job| {
            work(connection, &tables[job])?;
            self.progress.advance(tables[job].rows, 0);
            Ok(())
        })
    }

    /// Writes `chunks` of rows with `row_bytes` of content by `write`.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn fill<W>(&self, chunks: &[Chunk], row_bytes: u64, write: W) -> Result<Written, TargetError>
    where
        W: Fn(&mut L::Connection, Chunk) -> Result<(), TargetError> + Sync,
    {
        let written = Written::of(chunks, row_bytes);
        self.progress.phase("rows", written.rows);
        self.each(chunks.len(), |connection, job| {
            write(connection, chunks[job])?;
            self.progress.advance(chunks[job].rows, chunks[job].rows * row_bytes);
            Ok(())
        })?;
        Ok(written)
    }

    /// What `measure` says of each table, in their order.
    ///
    /// # Errors
    /// As [`pool::run`].
    pub fn measure<T: Send, W>(&self, measure: W) -> Result<Vec<T>, TargetError>
    where
        W: Fn(&mut L::Connection, &Table) -> Result<T, TargetError> + Sync,
    {
        let measured = Mutex::new(Vec::new());
        self.each_table(&self.tables, "verify", |connection, table| {
            let told = (table.kind, table.schema, measure(connection, table)?);
            measured.lock().unwrap_or_else(PoisonError::into_inner).push(told);
            Ok(())
        })?;
        let mut measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
        measured.sort_by_key(|(kind, schema, _)| (*kind, *schema));
        Ok(measured.into_iter().map(|(.., told)| told).collect())
    }
}

impl Written {
    /// All of `chunks`, of rows with `row_bytes` of content.
    pub fn of(chunks: &[Chunk], row_bytes: u64) -> Self {
        let rows: u64 = chunks.iter().map(|chunk| chunk.rows).sum();
        Self { rows, bytes: rows * row_bytes }
    }
}

/// Fails where of `sent` records the database `took` others than all; `culprits` may have kept some off.
///
/// # Errors
/// It did not.
pub fn all_taken(table: &str, sent: u64, took: u64, culprits: &str) -> Result<(), TargetError> {
    if took == sent {
        return Ok(());
    }
    let message = format!("{sent} records were sent to {table} and the database took {took}");
    Err(TargetError::data(message)
        .hint(format!("look for {culprits} on the table, drop what Dyno made, and load again")))
}
