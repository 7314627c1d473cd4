//! What a database itself can testify: the words shared by all engines.

use crate::row::Row;

/// One row, as the table holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowVersion<'a> {
    /// The schema, from 1.
    pub schema: u32,
    /// The key.
    pub key: u64,
    /// How many updates the row has seen since it was loaded: each adds 1.
    pub version: i64,
    /// The beginning of its `c2`: the stamp of the last update, [`UpdateValues::STAMP_BYTES`](crate::data::UpdateValues::STAMP_BYTES) long.
    pub stamp: &'a str,
}

impl<'a> RowVersion<'a> {
    /// Key, version and stamp from column `at` of a `row` of `schema` on.
    pub fn read(schema: u32, row: &'a Row, at: usize) -> Self {
        // Keys below 1 are none of Dyno's, whichever they are.
        let (key, version) = (row.parse(at).unwrap_or(0), row.parse(at + 1).unwrap_or(-1));
        Self { schema, key, version, stamp: row.text(at + 2) }
    }
}

/// What tells one life of a server from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLife {
    /// When the server was started, in its own words.
    pub started: String,
    /// Since when it has kept statistics, in its own words: another moment after recovery from a crash, the same after a
    /// restart in good order.
    pub statistics_since: String,
}
