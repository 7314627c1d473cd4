//! Cumulative counts of tables and indexes, read twice to know what happened in between.

use std::collections::{BTreeMap, HashMap};

/// The most tables and indexes that are read; reading more would disturb a measurement.
pub const RELATIONS_MAX: usize = 2_000;

/// The counts of all tables and indexes at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSnapshot {
    /// The statistics that were read.
    pub source: String,
    /// What a size is the size of, as a clause.
    pub size_note: String,
    /// A mark that changes when all counts are reset, or the server restarts.
    pub epoch: String,
    /// Each table and index by the server's identifier for it. Where that is its name, one that is dropped and created
    /// again has the same.
    pub relations: HashMap<String, CumulativeRelation>,
}

/// One table or index in a snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CumulativeRelation {
    /// Its name with its schema.
    pub name: String,
    /// The table of an index; `None` for a table.
    pub table: Option<String>,
    /// Size in bytes; `None` where unknown.
    pub bytes: Option<u64>,
    /// Estimated number of dead rows; `None` where not reported.
    pub dead_rows: Option<u64>,
    /// Counts by name, since the server began to count.
    pub counts: BTreeMap<&'static str, u64>,
}
