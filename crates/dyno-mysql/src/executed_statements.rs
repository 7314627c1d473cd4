//! Reads the statements that the server has recorded: the digests of `performance_schema`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dyno_engine::executed_statements::{
    MOST, ObservedStatement, ObservedStatements, PlaceholderStyle, StatementOrder, StatementQuery,
};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::layout::literal;
use super::wire::{MySqlConnection, MySqlError};

/// The settings for digests: whether `performance_schema` is on, the maximum number of digests, and the maximum
/// length of a text.
const KEPT: &str = "SELECT @@performance_schema AS dyno_monitoring, @@performance_schema_digests_size,
       LEAST(@@max_digest_length, @@performance_schema_max_digest_length), DATABASE()";

/// Consumers of `performance_schema` that are off and without which the server counts no digests.
const CONSUMERS_OFF: &str = "SELECT NAME AS dyno_monitoring FROM performance_schema.setup_consumers
       WHERE ENABLED <> 'YES' AND NAME IN ('global_instrumentation', 'statements_digest')";

/// Picoseconds per second, the unit of the server's timers.
pub(super) const PICO: f64 = 1e12;

/// How the server keeps digests.
pub(super) struct MySqlDigestSettings {
    /// The most bytes of a text's tokens.
    pub(super) length_max: usize,
    /// The connection's database; empty without one.
    pub(super) database: String,
}

/// Reads how the server keeps digests.
///
/// # Errors
/// It keeps none, or this user may not read them, with a hint; else the connection is lost.
pub(super) fn digest_settings(connection: &mut MySqlConnection) -> Result<MySqlDigestSettings, TargetError> {
    let settings = connection.simple(KEPT).map_err(may_not_read)?;
    let setting = |index: usize| settings.first().map_or("", |row| row.text(index));
    let off = |message: &str, hint: &str| Err(TargetError::unsupported(message).hint(hint));
    if setting(0) != "1" {
        return off(
            "performance_schema is off, and it is the only source of statement statistics",
            "set performance_schema = ON in the server's option file and restart it, then let the application work for a while",
        );
    }
    let consumers = connection.simple(CONSUMERS_OFF).map_err(may_not_read)?;
    if let Some(consumer) = consumers.first().map(|row| row.text(0)) {
        return off(
            &format!("the consumer {consumer} of performance_schema is off"),
            &format!(
                "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = '{consumer}'; then let the application work for a while"
            ),
        );
    }
    if setting(1) == "0" || setting(2) == "0" {
        return off(
            "performance_schema_digests_size, max_digest_length or performance_schema_max_digest_length is \
            0: the server stores no statements",
            "remove these settings from the server's option file and restart it",
        );
    }
    Ok(MySqlDigestSettings { length_max: setting(2).parse().unwrap_or(0), database: setting(3).to_owned() })
}

/// Adds to an error of the server how to make the digests readable.
pub(super) fn may_not_read(error: TargetError) -> TargetError {
    match MySqlError::of(&error).map(MySqlError::code).as_deref() {
        Some("1142" | "1044" | "1227") => error
            .during("performance_schema.events_statements_summary_by_digest")
            .hint("GRANT SELECT ON performance_schema.* TO the user of --target"),
        _ => error,
    }
}

/// Reads the recorded statements that `asked` selects.
pub(super) fn seen(
    connection: &mut MySqlConnection,
    request: &StatementQuery,
) -> Result<ObservedStatements, TargetError> {
    if request.user.is_some() {
        let message = "digests do not show which user ran a statement";
        return Err(TargetError::unsupported(message)
            .hint("leave --user out; --schema NAME selects the statements of one database"));
    }
    let MySqlDigestSettings { length_max, database } = digest_settings(connection)?;
    let schema = match &request.schema {
        Some(schema) => schema.clone(),
        None if database.is_empty() => {
            return Err(TargetError::unsupported("no database is named")
                .hint("name one in the URL of --target, or with --schema NAME"));
        }
        None => database,
    };
    let order = match request.order {
        StatementOrder::Time => "SUM_TIMER_WAIT",
        StatementOrder::Calls => "COUNT_STAR",
        StatementOrder::Reads => "SUM_ROWS_EXAMINED",
    };
    // The name is inserted last because it may contain braces.
    let sql = include_str!("sql/seen.sql")
        .replace("{order}", order)
        .replace("{most}", &MOST.to_string())
        .replace("{schema}", &literal(&schema));
    let rows = connection.simple(&sql).map_err(may_not_read)?;
    let mut notes = Vec::new();
    if let Some(since) = connection.simple(SINCE).map_err(may_not_read)?.first().and_then(|row| row.get(0)) {
        notes.push(format!("counted since {since}"));
    }
    if let Some(lost) = uncounted_executions(connection).map_err(may_not_read)? {
        notes.push(lost);
    }
    if connection.is_mariadb()
        && let Some(note) = without_digest(connection).map_err(may_not_read)?
    {
        notes.push(note);
    }
    let statements =
        merge_by_text(rows.iter().map(|row| parse_statement(row, length_max)).collect(), request.order);
    Ok(ObservedStatements {
        source: format!("the digests of database {schema}"),
        marks: PlaceholderStyle::Question,
        schemas: &["mysql", "sys", "information_schema", "performance_schema"],
        reads: "rows examined",
        statements,
        notes,
    })
}

const SINCE: &str = "SELECT MIN(FIRST_SEEN) FROM performance_schema.events_statements_summary_by_digest";

/// Executions that the server did not record because its table of digests was full.
fn uncounted_executions(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple(
        "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL",
    )?;
    let calls: u64 = rows.first().and_then(|row| row.parse(0)).unwrap_or(0);
    Ok((calls > 0).then(|| {
        format!(
            "{calls} executions on the whole server are missing because the digest table was full: \
            raise performance_schema_digests_size"
        )
    }))
}

/// Executions of prepared statements, for which MariaDB records no digests.
fn without_digest(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple(
        "SELECT SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_global_by_event_name
          WHERE EVENT_NAME IN ('statement/com/Execute', 'statement/sql/execute_sql')",
    )?;
    let calls: u64 = rows.first().and_then(|row| row.parse(0)).unwrap_or(0);
    Ok((calls > 0).then(|| {
        format!(
            "{calls} executions of prepared statements on the whole server are missing: MariaDB keeps no \
            digests of them, so the weights cover only statements sent as text"
        )
    }))
}

/// The statement inside a digest of MySQL 9 that begins with EXECUTE, such as `EXECUTE SELECT …`. The form
/// `EXECUTE `name`` does not show the statement.
fn strip_execute(text: &str) -> &str {
    match text.strip_prefix("EXECUTE ") {
        Some(statement) if !statement.starts_with(['`', '@']) => statement,
        _ => text,
    }
}

/// Merges statements with the same text: direct and prepared executions of a statement have separate digests.
fn merge_by_text(statements: Vec<ObservedStatement>, order: StatementOrder) -> Vec<ObservedStatement> {
    let mut all: Vec<ObservedStatement> = Vec::with_capacity(statements.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for statement in statements {
        let Some(text) = statement.text.clone() else {
            all.push(statement);
            continue;
        };
        match places.entry(text) {
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push(statement);
            }
            Entry::Occupied(place) => {
                let first = &mut all[*place.get()];
                first.whole = first.whole.zip(statement.whole).map(|(a, b)| a && b);
                first.calls = sum(first.calls, statement.calls, u64::saturating_add);
                first.time_s = sum(first.time_s, statement.time_s, |a, b| a + b);
                first.rows = sum(first.rows, statement.rows, u64::saturating_add);
                first.reads = sum(first.reads, statement.reads, u64::saturating_add);
            }
        }
    }
    let amount = |statement: &ObservedStatement| match order {
        StatementOrder::Time => statement.time_s,
        StatementOrder::Calls => statement.calls.map(|calls| calls as f64),
        StatementOrder::Reads => statement.reads.map(|reads| reads as f64),
    };
    all.sort_by(|a, b| amount(b).unwrap_or(0.0).total_cmp(&amount(a).unwrap_or(0.0)));
    all
}

fn sum<T>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}

/// One recorded statement. The server truncates its text after `length_max` bytes of tokens.
fn parse_statement(row: &TextRow, length_max: usize) -> ObservedStatement {
    let text = row.get(1);
    ObservedStatement {
        id: row.text(0).to_owned(),
        whole: text.map(|text| !is_cut(text, length_max)),
        text: text.map(|text| strip_execute(text).to_owned()),
        calls: row.parse(2),
        time_s: row.parse::<f64>(3).map(|pico| pico / PICO),
        rows: row.parse(4),
        reads: row.parse(5),
    }
}

/// Bytes that a token takes of a digest's maximum length, and bytes that a name takes beside its letters.
const TOKEN_BYTES: usize = 2;
const NAME_BYTES: usize = 4;
/// The most bytes that the first omitted token can have taken: a name of 64 letters.
const LAST_MAX: usize = NAME_BYTES + 64;

/// Whether a statement's text may be truncated. MySQL appends `...`; MariaDB appends nothing. On MariaDB a
/// text counts as truncated if a token of the longest name would not have fitted.
pub(super) fn is_cut(text: &str, length_max: usize) -> bool {
    // A list of values also ends with dots: `LIMIT ?, ...`.
    let dots = text.trim_end().ends_with("...") && !text.trim_end().ends_with("?, ...");
    dots || kept_bytes(text) + LAST_MAX.min(length_max / 4) > length_max
}

/// The bytes that the tokens of a digest's text take. Tokens are separated by spaces, and names are in
/// backquotes.
fn kept_bytes(text: &str) -> usize {
    let (mut bytes, mut in_name, mut in_word) = (0, false, false);
    for c in text.chars() {
        match c {
            '`' => {
                bytes += if in_name { 0 } else { NAME_BYTES };
                (in_name, in_word) = (!in_name, true);
            }
            _ if in_name => bytes += c.len_utf8(),
            ' ' => in_word = false,
            _ if !in_word => (bytes, in_word) = (bytes + TOKEN_BYTES, true),
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepared_executions_count_as_their_statement() {
        let statement = |text: &str, calls: u64| ObservedStatement {
            id: calls.to_string(),
            text: Some(strip_execute(text).to_owned()),
            whole: Some(true),
            calls: Some(calls),
            time_s: Some(0.5),
            rows: None,
            reads: Some(calls),
        };
        let statements =
            [("SELECT ?", 5), ("UPDATE `t` SET `a` = ?", 7), ("EXECUTE SELECT ?", 3), ("EXECUTE `s`", 1)];
        let all = merge_by_text(
            statements.map(|(text, calls)| statement(text, calls)).to_vec(),
            StatementOrder::Calls,
        );
        let counted: Vec<_> =
            all.iter().map(|one| (one.text.as_deref().unwrap(), one.calls.unwrap())).collect();
        assert_eq!(counted, [("SELECT ?", 8), ("UPDATE `t` SET `a` = ?", 7), ("EXECUTE `s`", 1)]);
        assert_eq!((all[0].time_s, all[0].rows, all[0].reads), (Some(1.0), None, Some(8)));
    }

    #[test]
    fn truncated_statement_is_distinguished_from_value_lists() {
        assert!(is_cut("SELECT `a` FROM `t` WHERE `b` ...", 1024));
        assert!(!is_cut("SELECT `a` FROM `t` LIMIT ?, ...", 1024));
        assert!(!is_cut("SELECT `a` FROM `t` WHERE `b` IN (...)", 1024));
        assert!(!is_cut("INSERT INTO `t` VALUES (...) /* , ... */", 1024));
        // A statement with `names` columns.
        let long = |names: usize| format!("SELECT {}", "`column_123` , ".repeat(names));
        assert_eq!(kept_bytes(&long(10)), 2 + 10 * (4 + 10 + 2));
        assert!(!is_cut(&long(59), 1024));
        assert!(is_cut(&long(63), 1024));
        assert!(!is_cut(&long(63), 4096));
    }
}
