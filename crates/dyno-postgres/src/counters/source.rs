//! A query that reads some of the counters.

/// One source of counters. A source that this server lacks or this user may not read leaves the others alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The view, or `server`, or `dyno.rows`.
    pub(super) name: &'static str,
    /// The query; columns source, key and value, all text.
    pub(super) sql: String,
}
