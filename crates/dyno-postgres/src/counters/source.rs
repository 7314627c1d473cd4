//! A query that reads some of the counters.

/// One source of counters. If the server lacks it or this user may not read it, the other sources remain
/// usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PostgresCounterSource {
    /// The name of the view, or `server`, or `dyno.rows`.
    pub(super) name: &'static str,
    /// The query, with the text columns source, key and value.
    pub(super) sql: String,
}
