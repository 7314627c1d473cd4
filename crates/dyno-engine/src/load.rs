//! Loading, recognising and dropping data: the words shared by all engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_plan::{DataSpec, Workload};

/// A request to stop, shared by all threads of a command.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// Another reason to stop, of a part of the command.
    also: Option<Arc<AtomicBool>>,
}

impl Cancel {
    /// Asks everyone to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.also.as_ref().is_some_and(|also| also.load(Ordering::Relaxed))
    }

    /// The same request for a part of the command, which stops where `also` is set, too.
    pub fn part(&self, also: Arc<AtomicBool>) -> Self {
        Self { flag: Arc::clone(&self.flag), also: Some(also) }
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// How to load.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Connections that load at the same time.
    pub parallel: u32,
    /// Whether data of another spec may be dropped first.
    pub replace: bool,
    /// The version of the program, for the metadata.
    pub dyno_version: String,
}

/// Told of a load's (or a drop's) progress from any thread.
pub trait Progress: Sync {
    /// A phase begins: `rows`, `index`, `vacuum`, `verify`; `rows` is how many rows it will handle, 0 if it cannot tell.
    fn phase(&self, name: &str, rows: u64);
    /// `rows` more rows with `bytes` of content have been handled.
    fn advance(&self, rows: u64, bytes: u64);
}

/// Progress that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
}

/// What was measured of one table after the load.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaFacts {
    /// The schema's number, from 1.
    pub schema: u32,
    /// `rows` or `scan`.
    pub kind: &'static str,
    /// The table's full name.
    pub table: String,
    /// Rows counted by the database.
    pub rows: u64,
    /// Blocks that hold rows, as the database counts them.
    pub blocks: u64,
    /// Bytes of table and index on disk.
    pub bytes: u64,
}

impl SchemaFacts {
    /// Rows per block; one is what the method asks for.
    pub fn rows_per_block(&self) -> f64 {
        if self.blocks == 0 { 0.0 } else { self.rows as f64 / self.blocks as f64 }
    }
}

/// What a load did.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// The data as loaded.
    pub spec: DataSpec,
    /// Whether the data was already there and no rows were written.
    pub already: bool,
    /// Rows that this call wrote (fewer than all when it resumed).
    pub rows_written: u64,
    /// Bytes of row content that this call wrote.
    pub bytes_written: u64,
    /// Seconds the call took, index and vacuum included.
    pub seconds: f64,
    /// What was measured of each table.
    pub tables: Vec<SchemaFacts>,
}

/// What a target holds of Dyno's.
#[derive(Debug, Clone, PartialEq)]
pub enum DataState {
    /// Nothing.
    Empty,
    /// A load began and did not end.
    Partial {
        /// What it was loading.
        spec: DataSpec,
        /// When it began, RFC 3339.
        since: String,
        /// Rows that are there for good.
        rows: u64,
    },
    /// Loaded and verified.
    Loaded {
        /// What it is.
        spec: DataSpec,
        /// When it was finished, RFC 3339.
        at: String,
        /// What was measured then.
        tables: Vec<SchemaFacts>,
    },
}

impl DataState {
    /// What was measured of each table that is loaded.
    pub fn into_tables(self) -> Vec<SchemaFacts> {
        match self {
            Self::Loaded { tables, .. } => tables,
            Self::Empty | Self::Partial { .. } => Vec::new(),
        }
    }

    /// The data that a plan of `wanted` would run on: what is loaded where that serves it, else what it asks for.
    pub fn serving(&self, wanted: DataSpec, workload: &Workload) -> DataSpec {
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
    /// Its full name.
    pub name: String,
    /// Its size on disk in bytes, where the database tells.
    pub bytes: Option<u64>,
}
