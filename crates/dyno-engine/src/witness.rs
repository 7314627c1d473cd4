//! What a database reports about its own rows and restarts, in the types that all engines share.

use crate::row::TextRow;

/// One row, as the table holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowVersion<'a> {
    /// The schema's number, from 1.
    pub schema: u32,
    /// The key of the row.
    pub key: u64,
    /// Number of updates of the row since it was loaded; each adds 1.
    pub version: i64,
    /// The first characters of its `c2`: the stamp of the last update,
    /// [`UpdateValues::STAMP_BYTES`](crate::data::UpdateValues::STAMP_BYTES) long.
    pub stamp: &'a str,
}

impl<'a> RowVersion<'a> {
    /// Reads key, version and stamp from a `row` of `schema`, beginning at column `at`.
    pub fn read(schema: u32, row: &'a TextRow, at: usize) -> Self {
        // Keys below 1 are never Dyno's.
        let (key, version) = (row.parse(at).unwrap_or(0), row.parse(at + 1).unwrap_or(-1));
        Self { schema, key, version, stamp: row.text(at + 2) }
    }
}

/// Identifies one start of a server and its statistics period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLife {
    /// When the server was started, in its own words.
    pub started: String,
    /// Since when it has kept statistics, in its own words. Crash recovery changes this time; a clean restart
    /// does not.
    pub statistics_since: String,
}
