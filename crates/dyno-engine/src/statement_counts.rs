//! Cumulative counts of every statement that a server has executed, read twice to know what happened in between.

use std::collections::HashMap;

use dyno_record::StatementCounts;

/// The most statements of a server that are read; reading more would disturb a measurement.
pub const STATEMENTS_MAX: usize = 20_000;

/// The cumulative counts of all statements at one moment, without their texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatementSnapshot {
    /// The statistics that were read: `pg_stat_statements`.
    pub source: String,
    /// A mark that changes when all counts are reset; empty where the server has none.
    pub epoch: String,
    /// How often the server has discarded statements for lack of room; `None` where it does not report it.
    pub evictions: Option<u64>,
    /// The counts of all statements that the server does not count separately for lack of room; `None` where it
    /// discards statements instead.
    pub overflow: Option<StatementOverflow>,
    /// Each statement by an identifier that is unique in the snapshot.
    pub statements: HashMap<String, CumulativeStatement>,
    /// What the counts do not include.
    pub notes: Vec<String>,
}

/// Statements that are counted together, because the server's list is full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementOverflow {
    /// Their identifier in the snapshot, which has it once there is such a statement.
    pub key: String,
    /// Why they are together, and what to do about it.
    pub hint: String,
}

/// One statement in a snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CumulativeStatement {
    /// A mark that changes when the server starts its counts of this statement from 0; empty where it has none.
    pub since: String,
    /// The counts since then.
    pub counts: StatementCounts,
}

/// What is known about a statement besides its counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatementDescription {
    /// The identifier in the snapshot.
    pub key: String,
    /// The server's identifier, for readers.
    pub id: String,
    /// The first characters of its text; absent where this user may not see it.
    pub text: Option<String>,
    /// The database or schema in which it ran.
    pub database: Option<String>,
    /// The user who ran it.
    pub user: Option<String>,
    /// Whether Dyno observes the server with it.
    pub is_monitoring: bool,
}
