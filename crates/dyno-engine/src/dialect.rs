//! What an engine writes in a way of its own, of what all engines can do.

/// How an engine writes SQL.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The mark of the parameter of this number, from 1: `$1`, `?`.
    pub mark: fn(usize) -> String,
    /// What stands behind a query that reads no table: ` FROM dual`, or nothing.
    pub from_nothing: &'static str,
    /// The function that tells how many bytes there are: `octet_length`.
    pub bytes_length: &'static str,
    /// Statements behind which a connection sees one moment, until it commits.
    pub snapshot: &'static [&'static str],
    /// How a `CALL` is sent, and with which mark for the number that it tells if that is read; absent where it is sent as it was
    /// written, and tells in a row.
    pub call: Option<fn(&str, Option<&str>) -> String>,
    /// What stands before the names of Dyno's tables: `dyno_`, or a schema as in `dyno.`.
    pub prefix: &'static str,
}
