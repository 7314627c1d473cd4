//! Statements that a database has executed, from its own statistics.

/// The figure that statements are ordered by, largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementOrder {
    /// Total time of all executions.
    Time,
    /// Number of executions of the statement.
    Calls,
    /// Blocks read by all executions, or rows where the source counts rows.
    Reads,
}

dyno_plan::names! {
    /// The word on the command line: `time`.
    StatementOrder { Time = "time", Calls = "calls", Reads = "reads" }
}

/// How a source marks the values that it removed from a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderStyle {
    /// `$1`, as PostgreSQL writes it.
    Dollar,
    /// `?`, and `...` for several values, as digests of MySQL and MariaDB.
    Question,
    /// `:1`, `:name` and `:"SYS_B_0"`, as Oracle writes them.
    Colon,
}

/// Which statements to return.
#[derive(Debug, Clone)]
pub struct StatementQuery {
    /// The figure that they are ordered by.
    pub order: StatementOrder,
    /// The schema they were parsed in; absent for the target's own.
    pub schema: Option<String>,
    /// The user who ran them; absent for all visible users.
    pub user: Option<String>,
}

/// The most statements that are returned; later ones in the order are not considered.
pub const MOST: usize = 5_000;

/// A statement and the totals of its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedStatement {
    /// The source's identifier: a query id, a digest, a SQL id.
    pub id: String,
    /// Its text; `None` where the source has none, or this user may not see it.
    pub text: Option<String>,
    /// Whether the text is complete; `None` where the source does not report it.
    pub whole: Option<bool>,
    /// Number of executions; `None` where the source does not report it.
    pub calls: Option<u64>,
    /// Total time of all executions in seconds; `None` where not reported.
    pub time_s: Option<f64>,
    /// Rows that it returned or changed.
    pub rows: Option<u64>,
    /// Total reads, in the unit of [`ObservedStatements::reads`]; `None` where not reported.
    pub reads: Option<u64>,
}

/// The statistics that a source returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedStatements {
    /// The source: `pg_stat_statements of database bench`.
    pub source: String,
    /// How the texts mark removed values.
    pub marks: PlaceholderStyle,
    /// Schemas that belong to the server itself, in lower case: `pg_catalog`.
    pub schemas: &'static [&'static str],
    /// What counts as a read: `blocks from outside the cache`.
    pub reads: &'static str,
    /// The statements, in the requested order.
    pub statements: Vec<ObservedStatement>,
    /// Limits of the list: which statements it lacks, how far back it goes.
    pub notes: Vec<String>,
}

/// The database's types of a statement's parameters; `None` where it does not report them.
pub type ParameterTypes = Option<Vec<String>>;
