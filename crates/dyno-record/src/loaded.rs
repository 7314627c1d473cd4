//! A bulk load that was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run has loaded into a table that was empty when it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The table.
    pub table: String,
    /// Rows that it was to have in the end.
    pub wanted: u64,
    /// Rows of one transaction.
    pub part_rows: u64,
    /// Rows that the database acknowledged to the sessions until the run was over.
    pub rows: u64,
    /// Bytes of these as they went to the database.
    pub bytes: u64,
    /// Seconds from the first session's first row to the last session's last one, in the window.
    pub seconds: f64,
    /// Indexes and keys that were there before the rows, and those that were made behind them.
    pub indexes: (u32, u32),
    /// Constraints beside the keys.
    pub constraints: u32,
    /// Whether what was written was logged.
    pub logged: bool,
    /// Seconds in which the indexes were made that come behind the rows, or why there are none of these.
    pub indexed_s: Result<f64, String>,
    /// The statements that made the database write what it had only in its cache and its log, and what they took, or why that is
    /// not known.
    pub durable_by: String,
    /// Seconds that they took.
    pub durable_s: Result<f64, String>,
    /// Rows that the database counts afterwards, or why it does not.
    pub counted: Result<u64, String>,
    /// Sums of the key's columns that are not what they have to be, in words; of a load that is whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

impl Loaded {
    /// What nobody has asked for yet.
    pub const NOT_YET: &str = "nobody has asked after the run, which is stored first";

    /// Whether all rows are there that were to be.
    pub fn is_whole(&self) -> bool {
        self.rows == self.wanted
    }

    /// Rows per second.
    pub fn rows_per_s(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.rows as f64 / self.seconds)
    }

    /// Rows per second until they are indexed and on the disk for good, where that is known.
    pub fn durable_rows_per_s(&self) -> Option<f64> {
        let indexed_s = if self.indexes.1 == 0 { 0.0 } else { *self.indexed_s.as_ref().ok()? };
        let seconds = self.seconds + indexed_s + self.durable_s.as_ref().ok()?;
        (seconds > 0.0).then(|| self.rows as f64 / seconds)
    }
}
