//! Statements in the cursor cache: `V$SQLSTATS`, for which no management pack is needed.

use dyno_engine::seen::{Asked, MOST, Marks, Order, Seen, SeenStatement};
use dyno_engine::{Row, TargetError};

use super::connection::Connection;
use super::sql;

/// What can be told of the statements that were `asked` for.
pub(super) fn seen(connection: &Connection, asked: &Asked) -> Result<Seen, TargetError> {
    if asked.user.is_some() {
        let message = "V$SQLSTATS does not tell which user a statement is from";
        return Err(TargetError::unsupported(message)
            .hint("leave --user out; --schema NAME takes those that were parsed in one schema"));
    }
    let schema = match &asked.schema {
        Some(schema) => schema.clone(),
        None => {
            let who = connection.rows(&sql::WHO.text(), &[])?;
            who.first().map_or_else(String::new, |row| row.text(1).to_owned())
        }
    };
    let most = i64::try_from(MOST).unwrap_or(i64::MAX);
    let rows = connection.rows_if_allowed(
        &sql::SEEN.with(&[("order", order(asked.order))]),
        &[("schema_name", &schema.as_str()), ("most", &most)],
    )?;
    let Some(rows) = rows else {
        return Err(TargetError::privilege("V$SQLSTATS and V$SQL cannot be read").hint(
            "as SYS: GRANT SELECT ON SYS.V_$SQLSTATS TO the user of --target, and the same with SYS.V_$SQL",
        ));
    };
    Ok(Seen {
        source: format!("V$SQLSTATS, schema {schema}"),
        marks: Marks::Colon,
        schemas: &["sys", "system"],
        reads: "blocks read from disk",
        statements: rows.iter().map(one).collect(),
        notes: vec!["what has left the cursor cache of this instance is not counted".to_owned()],
    })
}

/// The column that is ordered by.
pub(super) fn order(order: Order) -> &'static str {
    match order {
        Order::Time => "elapsed_time",
        Order::Calls => "executions",
        Order::Reads => "disk_reads",
    }
}

/// The columns of a text's pieces, and the letters that they hold together.
const PIECES: std::ops::Range<usize> = 6..10;
const LETTERS_MAX: u64 = 4_000;

fn one(row: &Row) -> SeenStatement {
    let text: String = PIECES.map(|piece| row.text(piece)).collect();
    SeenStatement {
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
    fn a_text_is_put_together_and_known_to_be_cut() {
        let row = |letters: &str| {
            let figures = ["81qbw", "40", "2500000", "80", "7", letters, "SELECT a", " FROM t"]
                .map(|text| Some(text.to_owned()));
            Row(figures.into_iter().chain([None, None]).collect())
        };
        let seen = one(&row("15"));
        assert_eq!((seen.text.as_deref(), seen.whole), (Some("SELECT a FROM t"), Some(true)));
        assert_eq!(
            (seen.calls, seen.time_s, seen.rows, seen.reads),
            (Some(40), Some(2.5), Some(80), Some(7))
        );
        assert_eq!(one(&row("4001")).whole, Some(false));
    }
}
