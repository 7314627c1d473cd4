//! What a database itself can testify: the words shared by all engines.

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

/// What tells one life of a server from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLife {
    /// When the server was started, in its own words.
    pub started: String,
    /// Since when it has kept statistics, in its own words: another moment after recovery from a crash, the same after a
    /// restart in good order.
    pub statistics_since: String,
}
