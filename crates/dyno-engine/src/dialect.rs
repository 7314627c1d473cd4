//! Describes what each engine writes in its own SQL syntax.

/// How an engine writes SQL.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The placeholder of the parameter with this number, from 1: `$1`, `?`.
    pub mark: fn(usize) -> String,
    /// The end of a query that reads no table: ` FROM dual`, or nothing.
    pub from_nothing: &'static str,
    /// The function that returns a length in bytes: `octet_length`.
    pub bytes_length: &'static str,
    /// Statements after which a connection sees one consistent snapshot, until it commits.
    pub snapshot: &'static [&'static str],
    /// How to send a `CALL`, and the placeholder for its result if that is read. Absent where the `CALL` is
    /// sent as written and returns a row.
    pub call: Option<fn(&str, Option<&str>) -> String>,
    /// The prefix of the names of Dyno's tables: `dyno_`, or a schema as in `dyno.`.
    pub prefix: &'static str,
}
