//! Handles results: which statements have one, how many rows are fetched at once, and what is read of them.

use oracledb::{
    Cursor, DB_TYPE_BINARY_DOUBLE, DB_TYPE_BINARY_FLOAT, DB_TYPE_DATE, DB_TYPE_LONG_RAW, DB_TYPE_NUMBER,
    DB_TYPE_RAW, DB_TYPE_TIMESTAMP, DB_TYPE_TIMESTAMP_LTZ, DB_TYPE_TIMESTAMP_TZ, DbType, Error, OracleNumber,
    OracleTimestamp,
};

use dyno_engine::{LastRow, ResultKind, Statement, Value};

/// Whether a statement is a query. Any statement that is neither a query nor a change of rows is a block,
/// which returns its number in its last bind.
pub(super) fn is_query(statement: &Statement) -> bool {
    !statement.writes() && !is_block(statement)
}

pub(super) fn is_block(statement: &Statement) -> bool {
    let word = statement.sql.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
    let is = |name: &&str| word.is_some_and(|word| word.eq_ignore_ascii_case(name));
    ["BEGIN", "DECLARE", "CALL"].iter().any(is)
}

/// The most rows that one fetch returns if there may be many.
const FETCH_ROWS: u32 = 1_000;

/// Builds the driver's statement. The database reports the end of rows only if more rows were requested than
/// exist, and the driver then closes the cursor. A query with one row requests exactly one, so it is parsed
/// only once.
pub(super) fn build_statement(
    driver: &oracledb::Connection,
    sql: &str,
    single_row: bool,
) -> Result<oracledb::Statement, Error> {
    let builder = driver.statement(sql)?;
    match single_row {
        true => builder.prefetch_rows(1).fetch_array_size(1),
        false => builder.fetch_array_size(FETCH_ROWS),
    }
    .build()
}

/// Builds the driver's statement for parsing alone. A query with several rows keeps no cursor, because each
/// of its executions is parsed anyway. In a result that does not describe its columns, the driver misreads
/// rows that repeat the values of others.
pub(super) fn build_for_parse(
    driver: &oracledb::Connection,
    sql: &str,
    keeps_cursor: bool,
    single_row: bool,
) -> Result<oracledb::Statement, Error> {
    match keeps_cursor {
        true => build_statement(driver, sql, single_row),
        false => driver.statement(sql)?.exclude_from_cache().build(),
    }
}

/// Whether a query returns at most one row: it is declared so, or aggregates without groups.
pub(super) fn has_one_row(statement: &Statement) -> bool {
    match statement.answer {
        ResultKind::Row => true,
        ResultKind::Number | ResultKind::Columns => is_aggregate(&statement.sql),
        ResultKind::Rows | ResultKind::Changed { .. } => false,
    }
}

/// Whether the text begins with `SELECT COUNT(…`, ignoring comments, and has no later word that allows
/// several rows.
fn is_aggregate(sql: &str) -> bool {
    let select = sql.trim_start();
    let Some(list) = select.get(..6).filter(|word| word.eq_ignore_ascii_case("select")).map(|_| &select[6..])
    else {
        return false;
    };
    let list = list.trim_start();
    let list = match list.strip_prefix("/*") {
        Some(comment) => comment.split_once("*/").map_or("", |(_, rest)| rest.trim_start()),
        None => list,
    };
    let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let has_several = words.clone().any(|word| {
        ["group", "over", "union", "intersect", "minus", "except"]
            .iter()
            .any(|several| word.eq_ignore_ascii_case(several))
    });
    let name = list.split('(').next().unwrap_or_default().trim();
    let aggregates =
        ["count", "sum", "min", "max", "avg"].iter().any(|aggregate| name.eq_ignore_ascii_case(aggregate));
    aggregates && list.contains('(') && !has_several
}

/// Reads the part of a query's result that is used.
pub(super) fn read(
    cursor: Cursor,
    answer: ResultKind,
    single_row: bool,
    last_row: &mut LastRow,
) -> Result<u64, Error> {
    let most = if single_row { 1 } else { usize::MAX };
    let (mut count, mut last) = (0, 0);
    for row in cursor.take(most) {
        let row = row?;
        count += 1;
        match answer {
            ResultKind::Number => last = number(&row)?,
            ResultKind::Columns => columns(&row, last_row)?,
            ResultKind::Row | ResultKind::Rows | ResultKind::Changed { .. } => {}
        }
    }
    Ok(if answer == ResultKind::Number { last } else { count })
}

/// The columns of a row: integers, floating-point numbers, and text, which includes decimal numbers.
fn columns(row: &oracledb::Row, last_row: &mut LastRow) -> Result<(), Error> {
    last_row.clear();
    for (column, metadata) in row.columns().iter().enumerate() {
        match metadata.db_type().name() {
            of if of == DB_TYPE_NUMBER.name() => {
                let text = row.get::<Option<OracleNumber>>(column)?.map(|number| number.to_string());
                let whole = text.as_ref().and_then(|text| text.parse().ok()).map(Value::Int);
                let value = whole.or_else(|| text.as_ref().map(|text| Value::Text(text.as_bytes())));
                last_row.push(value.unwrap_or(Value::Null));
            }
            of if of == DB_TYPE_BINARY_DOUBLE.name() || of == DB_TYPE_BINARY_FLOAT.name() => {
                last_row.push(row.get::<Option<f64>>(column)?.map_or(Value::Null, Value::Real));
            }
            of if MOMENTS.iter().any(|moment| moment.name() == of) => {
                let moment = row.get::<Option<OracleTimestamp>>(column)?.map(|moment| moment_text(&moment));
                last_row.push(moment.as_ref().map_or(Value::Null, |text| Value::Text(text.as_bytes())));
            }
            of if of == DB_TYPE_RAW.name() || of == DB_TYPE_LONG_RAW.name() => {
                let bytes = row.get::<Option<Vec<u8>>>(column)?;
                last_row.push(bytes.as_ref().map_or(Value::Null, |bytes| Value::Bytes(bytes)));
            }
            _ => {
                let text = row.get::<Option<String>>(column)?;
                last_row.push(text.as_ref().map_or(Value::Null, |text| Value::Text(text.as_bytes())));
            }
        }
    }
    Ok(())
}

/// The types that are read as a point in time.
const MOMENTS: [&DbType; 4] = [DB_TYPE_DATE, DB_TYPE_TIMESTAMP, DB_TYPE_TIMESTAMP_LTZ, DB_TYPE_TIMESTAMP_TZ];

/// A timestamp in the session's format, so that it can be sent again: `2026-03-21 14:25:01`. It has a
/// fraction if the value has one, and `+00:00` if its type has a time zone, because such values arrive in
/// UTC.
fn moment_text(moment: &OracleTimestamp) -> String {
    let (year, month, day) = (moment.year(), moment.month(), moment.day());
    let (hour, minute, second) = (moment.hour(), moment.minute(), moment.second());
    let fraction = match moment.nanoseconds() {
        0 => String::new(),
        nanoseconds => format!(".{nanoseconds:09}").trim_end_matches('0').to_owned(),
    };
    let zone = if moment.is_utc() { " +00:00" } else { "" };
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

/// The number in the first column of a row; 0 if it is NULL.
pub(super) fn number(row: &oracledb::Row) -> Result<u64, Error> {
    Ok(row.get::<Option<i64>>(0)?.unwrap_or(0) as u64)
}

#[cfg(test)]
mod tests {
    use dyno_engine::Type;

    use super::*;

    #[test]
    fn single_row_is_fetched_when_query_cannot_return_more() {
        let is_one =
            |sql: &str, answer| has_one_row(&Statement::read("s", sql.to_owned(), &[Type::Int], answer));
        assert!(is_one("SELECT c2 FROM t WHERE k = :1", ResultKind::Row));
        for sql in [
            "SELECT COUNT(*) FROM t WHERE k > :1",
            " select /*+ INDEX(t i) */ count(c2) AS n FROM t WHERE k > :1",
            "SELECT MAX (k) FROM t",
        ] {
            assert!(is_one(sql, ResultKind::Number), "{sql}");
        }
        for sql in [
            "SELECT k FROM t WHERE k = :1",
            "SELECT COUNT(*) FROM t GROUP BY k",
            "SELECT SUM(x) OVER (ORDER BY k) FROM t",
            "SELECT COUNT(*) FROM t UNION ALL SELECT 1 FROM DUAL",
            "SELECT maximum FROM t",
            "WITH x AS (SELECT 1 AS n FROM DUAL) SELECT n FROM x",
            "",
        ] {
            assert!(!is_one(sql, ResultKind::Number), "{sql}");
        }
        assert!(!is_one("SELECT COUNT(*) FROM t", ResultKind::Rows), "how many there are is asked");
    }

    #[test]
    fn timestamps_are_written_in_session_format() {
        let moment = OracleTimestamp::new_timestamp(2026, 3, 21, 4, 5, 6, 120_000_000);
        assert_eq!(moment_text(&moment), "2026-03-21 04:05:06.12");
        assert_eq!(moment_text(&OracleTimestamp::new_date(1999, 12, 31)), "1999-12-31 00:00:00");
        let zoned = OracleTimestamp::new_utc_timestamp(2026, 3, 21, 4, 5, 6, 0);
        assert_eq!(moment_text(&zoned), "2026-03-21 04:05:06 +00:00");
    }

    #[test]
    fn statements_without_result_set_are_not_queries() {
        let read =
            |sql: &str| is_query(&Statement::read("s", sql.to_owned(), &[Type::Int], ResultKind::Number));
        assert!(read("SELECT 1 FROM DUAL WHERE 1 = :a"));
        assert!(read("  with x AS (SELECT 1 FROM DUAL) SELECT * FROM x"));
        assert!(!read("BEGIN :b := f(:a); END;"));
        assert!(!read("declare n NUMBER; BEGIN NULL; END;"));
        assert!(!read("CALL f(:a) INTO :b"));
        assert!(!is_query(&Statement::write("s", "DELETE FROM t WHERE a = :a".to_owned(), &[Type::Int])));
    }
}
