//! Loading, recognizing and dropping data: the types that all engines share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_plan::{DataSpec, WorkloadSettings};

/// A request to stop, shared by all threads of a command.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// Another reason to stop, for a part of the command only.
    also: Option<Arc<AtomicBool>>,
}

impl Cancel {
    /// Asks all threads of the command to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the command was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.also.as_ref().is_some_and(|also| also.load(Ordering::Relaxed))
    }

    /// The same request for a part of the command, which also stops when `also` is set.
    pub fn part(&self, also: Arc<AtomicBool>) -> Self {
        Self { flag: Arc::clone(&self.flag), also: Some(also) }
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// The options of a load.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Connections that load at the same time.
    pub parallel: u32,
    /// Whether data of another spec may be dropped first.
    pub replace: bool,
    /// The program's version, for the metadata.
    pub dyno_version: String,
}

/// Receives the progress of a load or a drop, from any thread.
pub trait LoadProgressSink: Sync {
    /// A phase begins: `rows`, `copy`, `index`, `vacuum`, `verify`. `rows` is the number of rows it will process, 0
    /// if unknown.
    fn phase(&self, name: &str, rows: u64);
    /// `rows` more rows with `bytes` of content were processed.
    fn advance(&self, rows: u64, bytes: u64);
}

/// A progress receiver that ignores all reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl LoadProgressSink for Silent {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
}

/// The figures measured for one table after the load.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaFacts {
    /// The schema's number, from 1.
    pub schema: u32,
    /// The table's kind: `rows` or `scan`.
    pub kind: &'static str,
    /// The table's full name, schema included.
    pub table: String,
    /// Rows counted by the database.
    pub rows: u64,
    /// Blocks that hold rows, as the database counts them.
    pub blocks: u64,
    /// Bytes of table and index on disk.
    pub bytes: u64,
}

impl SchemaFacts {
    /// Rows per block; the method requires one.
    pub fn rows_per_block(&self) -> f64 {
        if self.blocks == 0 { 0.0 } else { self.rows as f64 / self.blocks as f64 }
    }
}

/// The result of a load.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// The spec of the loaded data.
    pub spec: DataSpec,
    /// Whether the data was already there and no rows were written.
    pub already: bool,
    /// Rows that this call wrote (fewer than all when it resumed).
    pub rows_written: u64,
    /// Bytes of row content that this call wrote.
    pub bytes_written: u64,
    /// Seconds the call took, index and vacuum included.
    pub seconds: f64,
    /// The measured figures of each table.
    pub tables: Vec<SchemaFacts>,
}

/// The state of Dyno's data on a target.
#[derive(Debug, Clone, PartialEq)]
pub enum DataState {
    /// The target holds no data of Dyno.
    Empty,
    /// A load began and did not finish.
    Partial {
        /// The spec of the unfinished load.
        spec: DataSpec,
        /// When it began, RFC 3339.
        since: String,
        /// Rows in committed chunks.
        rows: u64,
    },
    /// The data is loaded and verified.
    Loaded {
        /// The spec of the loaded data.
        spec: DataSpec,
        /// When it was finished, RFC 3339.
        at: String,
        /// The figures measured after the load.
        tables: Vec<SchemaFacts>,
    },
}

impl DataState {
    /// The measured figures of each loaded table.
    pub fn into_tables(self) -> Vec<SchemaFacts> {
        match self {
            Self::Loaded { tables, .. } => tables,
            Self::Empty | Self::Partial { .. } => Vec::new(),
        }
    }

    /// The data that a plan of `wanted` would run on: the loaded data where it serves the plan, else what the
    /// plan asks for.
    pub fn serving(&self, wanted: DataSpec, workload: &WorkloadSettings) -> DataSpec {
        match self {
            Self::Loaded { spec: there, .. } if there.serves(&wanted, workload) => there.clone(),
            _ => wanted,
        }
    }
}

/// One object that a drop would remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropItem {
    /// `table`, `index`, `procedure`, `schema`, `file`.
    pub kind: String,
    /// Its full name, schema included.
    pub name: String,
    /// Its size on disk in bytes; absent where the database does not report it.
    pub bytes: Option<u64>,
}
