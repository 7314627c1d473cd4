//! What happened to tables and indexes in a window, from the server's own statistics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The activity of tables and indexes in a window, or why it is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TableActivity {
    /// What the server's counts rose by.
    Counted(Box<CountedTables>),
    /// The counts could not be read, or were reset in the window.
    Absent {
        /// The reason, in one clause.
        absent: String,
        /// What to do about it; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        hint: String,
    },
}

/// What the counts of tables and indexes rose by between two readings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountedTables {
    /// The statistics that were read.
    pub source: String,
    /// Seconds between the two readings.
    pub seconds: f64,
    /// The tables with the most activity, most first; at most [`CountedTables::LISTED_MAX`].
    pub tables: Vec<RelationActivity>,
    /// Number of tables with activity that are not listed.
    #[serde(default)]
    pub more_tables: u64,
    /// The indexes with the most activity, most first; at most [`CountedTables::LISTED_MAX`].
    pub indexes: Vec<RelationActivity>,
    /// Number of indexes with activity that are not listed.
    #[serde(default)]
    pub more_indexes: u64,
    /// What sizes are the size of, and what the counts lack, in one clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl CountedTables {
    /// The most tables, and the most indexes, that are listed.
    pub const LISTED_MAX: usize = 20;
}

/// The activity of one table or index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelationActivity {
    /// Its name with its schema.
    pub name: String,
    /// The table of an index; absent for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Whether the server counted it from 0 again in between: the counts are then a lower limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// What each count rose by, by name: `rows_inserted`, `blocks_read`. A count that the server lacks is absent.
    pub counts: BTreeMap<String, u64>,
    /// Size in bytes at the begin, 0 if it did not exist then; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_bytes: Option<u64>,
    /// Size in bytes at the end; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_bytes: Option<u64>,
    /// The server's estimate of dead rows at the end; absent for indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_rows: Option<u64>,
}
