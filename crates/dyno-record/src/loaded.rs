//! The result of a measured bulk load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bulk load of one table that was empty at its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BulkLoadResult {
    /// Name of the loaded table.
    pub table: String,
    /// Number of rows that the complete table has.
    pub wanted: u64,
    /// Number of rows in one transaction.
    pub part_rows: u64,
    /// Rows that the database acknowledged until the end of the run.
    pub rows: u64,
    /// Bytes of these rows as sent to the database.
    pub bytes: u64,
    /// Seconds from the first row of any session to the last row of any session, in the window.
    pub seconds: f64,
    /// Number of indexes and keys created before the rows, and number created after them.
    pub indexes: (u32, u32),
    /// Number of constraints besides the keys.
    pub constraints: u32,
    /// Whether the database logged the writes.
    pub logged: bool,
    /// Seconds to create the indexes after the rows, or why there are none.
    pub indexed_s: Result<f64, String>,
    /// The statements that made the database write its cache and log to storage, with their times, or why this is unknown.
    pub durable_by: String,
    /// Seconds that these statements took.
    pub durable_s: Result<f64, String>,
    /// Rows that the database counts afterwards, or why it does not.
    pub counted: Result<u64, String>,
    /// Wrong checksums of the key columns, in words; only for a complete load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

impl BulkLoadResult {
    /// The reason before Dyno has queried the database after the run.
    pub const NOT_YET: &str = "nobody has asked after the run, which is stored first";

    /// Whether the table has all its rows.
    pub fn is_whole(&self) -> bool {
        self.rows == self.wanted
    }

    /// Rows loaded per second; `None` if unknown.
    pub fn rows_per_s(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.rows as f64 / self.seconds)
    }

    /// Rows per second until they are indexed and durable; `None` if unknown.
    pub fn durable_rows_per_s(&self) -> Option<f64> {
        let indexed_s = if self.indexes.1 == 0 { 0.0 } else { *self.indexed_s.as_ref().ok()? };
        let seconds = self.seconds + indexed_s + self.durable_s.as_ref().ok()?;
        (seconds > 0.0).then(|| self.rows as f64 / seconds)
    }
}
