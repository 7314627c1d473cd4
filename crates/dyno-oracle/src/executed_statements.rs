//! Reads statements from the cursor cache, `V$SQLSTATS`, which needs no management pack.

use dyno_engine::executed_statements::{
    MOST, ObservedStatement, ObservedStatements, PlaceholderStyle, StatementOrder, StatementQuery,
};
use dyno_engine::{TargetError, TextRow};

use super::connection::OracleConnection;
use super::sql;

/// Reads the recorded statements that `asked` selects.
pub(super) fn seen(
    connection: &OracleConnection,
    request: &StatementQuery,
) -> Result<ObservedStatements, TargetError> {
    if request.user.is_some() {
        let message = "V$SQLSTATS does not show which user ran a statement";
        return Err(TargetError::unsupported(message)
            .hint("leave --user out; --schema NAME selects the statements that were parsed in one schema"));
    }
    let schema = match &request.schema {
        Some(schema) => schema.clone(),
        None => {
            let session_rows = connection.rows(&sql::WHO.text(), &[])?;
            session_rows.first().map_or_else(String::new, |row| row.text(1).to_owned())
        }
    };
    let most = i64::try_from(MOST).unwrap_or(i64::MAX);
    let rows = connection.rows_if_allowed(
        &sql::SEEN.with(&[("order", order(request.order))]),
        &[("schema_name", &schema.as_str()), ("most", &most)],
    )?;
    let rows = rows.ok_or_else(|| unreadable_cursors(""))?;
    Ok(ObservedStatements {
        source: format!("V$SQLSTATS, schema {schema}"),
        marks: PlaceholderStyle::Colon,
        schemas: &["sys", "system"],
        reads: "blocks read from disk",
        statements: rows.iter().map(parse_statement).collect(),
        notes: vec!["statements that have left the cursor cache of this instance are not counted".to_owned()],
    })
}

/// Why the cursor cache is not read; `prefix` is `g` for the views of all instances.
pub(super) fn unreadable_cursors(prefix: &str) -> TargetError {
    let prefix = prefix.to_uppercase();
    TargetError::privilege(format!("{prefix}V$SQLSTATS and {prefix}V$SQL cannot be read")).hint(format!(
        "as SYS: GRANT SELECT ON SYS.{prefix}V_$SQLSTATS TO the user of --target, and the same with SYS.{prefix}V_$SQL"
    ))
}

/// The column of the requested order.
pub(super) fn order(order: StatementOrder) -> &'static str {
    match order {
        StatementOrder::Time => "elapsed_time",
        StatementOrder::Calls => "executions",
        StatementOrder::Reads => "disk_reads",
    }
}

/// The columns with the pieces of a text, and their total length.
const PIECES: std::ops::Range<usize> = 6..10;
const LETTERS_MAX: u64 = 4_000;

fn parse_statement(row: &TextRow) -> ObservedStatement {
    let text: String = PIECES.map(|piece| row.text(piece)).collect();
    ObservedStatement {
        id: row.text(0).to_owned(),
        whole: (!text.is_empty()).then(|| row.parse(5).is_some_and(|letters: u64| letters <= LETTERS_MAX)),
        text: (!text.is_empty()).then_some(text),
        calls: row.parse(1),
        time_s: row.parse::<f64>(2).map(|us| us / 1e6),
        rows: row.parse(3),
        reads: row.parse(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_text_is_joined_and_truncation_is_detected() {
        let row = |letters: &str| {
            let figures = ["81qbw", "40", "2500000", "80", "7", letters, "SELECT a", " FROM t"]
                .map(|text| Some(text.to_owned()));
            TextRow(figures.into_iter().chain([None, None]).collect())
        };
        let statement = parse_statement(&row("15"));
        assert_eq!((statement.text.as_deref(), statement.whole), (Some("SELECT a FROM t"), Some(true)));
        assert_eq!(
            (statement.calls, statement.time_s, statement.rows, statement.reads),
            (Some(40), Some(2.5), Some(80), Some(7))
        );
        assert_eq!(parse_statement(&row("4001")).whole, Some(false));
    }
}
