//! Statements that a database has seen, as its own statistics tell of them.

/// What statements are ordered by, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The time that all their executions took together.
    Time,
    /// Executions.
    Calls,
    /// Blocks, or rows where the source counts these, that were read for them.
    Reads,
}

dyno_plan::names! {
    /// The word on the command line: `time`.
    Order { Time = "time", Calls = "calls", Reads = "reads" }
}

/// How a source writes the places of values that it has taken out of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// `$1`, as PostgreSQL does.
    Dollar,
    /// `?`, and `...` for several of them, as digests of MySQL and MariaDB do.
    Question,
    /// `:1`, `:name` and `:"SYS_B_0"`, as Oracle does.
    Colon,
}

/// Which statements are asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What they are ordered by.
    pub order: Order,
    /// The schema that they were parsed in, instead of the target's own.
    pub schema: Option<String>,
    /// The user who ran them; all that can be seen where there is none.
    pub user: Option<String>,
}

/// Statements that are asked for at most: those behind them in the order are not looked at.
pub const MOST: usize = 5_000;

/// A statement and what its executions took together.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenStatement {
    /// What the source calls it: a query id, a digest, a SQL id.
    pub id: String,
    /// Its text; `None` where the source has none, or this user may not see it.
    pub text: Option<String>,
    /// Whether the text is all of it; `None` where the source does not tell.
    pub whole: Option<bool>,
    /// How often it was executed; `None` where the source does not tell.
    pub calls: Option<u64>,
    /// Time of all executions, s.
    pub time_s: Option<f64>,
    /// Rows that it returned or changed.
    pub rows: Option<u64>,
    /// What [`Seen::reads`] says of all executions.
    pub reads: Option<u64>,
}

/// What a source tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Where it is from: `pg_stat_statements of database bench`.
    pub source: String,
    /// How values are marked in the texts.
    pub marks: Marks,
    /// Schemas of the server's own, in small letters: `pg_catalog`.
    pub schemas: &'static [&'static str],
    /// What is counted as reads: `blocks from outside the cache`.
    pub reads: &'static str,
    /// The statements, in the order that was asked for.
    pub statements: Vec<SeenStatement>,
    /// What is to be known of them: what is not among them, how far back they go.
    pub notes: Vec<String>,
}

/// The types of a statement's parameters, in the words of the database; `None` where it does not tell.
pub type ParameterTypes = Option<Vec<String>>;
