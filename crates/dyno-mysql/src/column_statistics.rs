//! Reads what the server knows about columns: `information_schema`, the ends of indexes, and a sample of rows.

use dyno_engine::column_statistics::{ColumnKind, ColumnName, ColumnStatistics, SAMPLE_ROWS};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::layout::{ident, literal};
use super::wire::{MySqlConnection, MySqlError};

/// Where [`column_sql`] has what it reads.
mod at {
    pub(super) const TYPE: usize = 3;
    pub(super) const WHOLE_TYPE: usize = 4;
    pub(super) const SCALE: usize = 5;
    pub(super) const ROWS: usize = 6;
    pub(super) const UNIQUE: usize = 7;
    pub(super) const INDEXED: usize = 8;
    pub(super) const KEY: usize = 9;
}

/// Limits how long a table that is being changed is waited for, in s.
const LIMITS: &str = "SET SESSION lock_wait_timeout = 2";

/// What the server knows about each of `columns`; `None` where it has no such column, or this user may not read
/// it.
pub(super) fn read(
    connection: &mut MySqlConnection,
    schema: Option<&str>,
    columns: &[ColumnName],
) -> Result<Vec<Option<ColumnStatistics>>, TargetError> {
    connection.simple(LIMITS)?;
    columns
        .iter()
        .map(|column| match read_column(connection, schema, column) {
            Err(error) if MySqlError::of(&error).is_some() => Ok(None),
            read => read,
        })
        .collect()
}

fn read_column(
    connection: &mut MySqlConnection,
    schema: Option<&str>,
    column: &ColumnName,
) -> Result<Option<ColumnStatistics>, TargetError> {
    let schema = column.schema.as_deref().or(schema).map_or_else(|| "DATABASE()".to_owned(), literal);
    let sql = column_sql(&schema, &literal(&column.table), &literal(&column.column));
    let rows = connection.simple(&sql)?;
    let [row] = rows.as_slice() else { return Ok(None) };
    let mut statistics = parse_column(row);
    if statistics.kind != ColumnKind::Bytes {
        let sample = connection.simple(&sample_sql(row, statistics.rows))?;
        let sample: Vec<Option<String>> = sample.iter().map(|row| row.get(0).map(str::to_owned)).collect();
        statistics.add_sample(&sample);
        if row.get(at::INDEXED) == Some("1") && statistics.range.is_some() {
            let (table, name) = (table_name(row), ident(row.text(2)));
            let ends = connection
                .simple(&format!("SELECT MIN({name}) AS dyno_min, MAX({name}) AS dyno_max FROM {table}"))?;
            (0..2).filter_map(|end| ends.first()?.get(end)).for_each(|end| statistics.extend_range(end));
        }
    }
    Ok(Some(statistics))
}

/// A column of a base table; all names are literals, those of table and column in lower case.
fn column_sql(schema: &str, table: &str, column: &str) -> String {
    // Whether an index begins with the column, and conditions on that index.
    let index = |conditions: &str| {
        format!(
            "EXISTS (SELECT 1 FROM information_schema.STATISTICS s
              WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME AND s.SEQ_IN_INDEX = 1
                AND s.COLUMN_NAME = c.COLUMN_NAME AND s.SUB_PART IS NULL AND {conditions})"
        )
    };
    let is_unique = index(
        "s.NON_UNIQUE = 0 AND NOT EXISTS (SELECT 1 FROM information_schema.STATISTICS n
           WHERE n.TABLE_SCHEMA = s.TABLE_SCHEMA AND n.TABLE_NAME = s.TABLE_NAME AND n.INDEX_NAME = s.INDEX_NAME
             AND n.SEQ_IN_INDEX = 2)",
    );
    let is_indexed = index("s.INDEX_TYPE = 'BTREE'");
    format!(
        "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, LOWER(c.DATA_TYPE), c.COLUMN_TYPE, c.NUMERIC_SCALE, t.TABLE_ROWS,
           {is_unique}, {is_indexed},
           (SELECT MIN(s.COLUMN_NAME) FROM information_schema.STATISTICS s
             WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME AND s.INDEX_NAME = 'PRIMARY' AND s.SEQ_IN_INDEX = 1)
         FROM information_schema.COLUMNS c
         JOIN information_schema.TABLES t
           ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE = 'BASE TABLE'
        WHERE c.TABLE_SCHEMA = {schema} AND LOWER(c.TABLE_NAME) = {table} AND LOWER(c.COLUMN_NAME) = {column}
        LIMIT 2"
    )
}

fn table_name(row: &TextRow) -> String {
    format!("{}.{}", ident(row.text(0)), ident(row.text(1)))
}

/// The statement for a sample: half of it from each end of the primary key, because old and new rows often differ.
/// Names with `dyno_` mark it as Dyno's own where it is recorded.
fn sample_sql(row: &TextRow, rows: Option<u64>) -> String {
    let (table, name) = (table_name(row), ident(row.text(2)));
    let is_large = rows.is_some_and(|rows| rows >= 2 * SAMPLE_ROWS as u64);
    match row.get(at::KEY).filter(|_| is_large) {
        None => format!("SELECT {name} AS dyno_value FROM {table} LIMIT {SAMPLE_ROWS}"),
        Some(key) => {
            let key = ident(key);
            let half = SAMPLE_ROWS / 2;
            format!(
                "(SELECT {name} AS dyno_value FROM {table} ORDER BY {key} LIMIT {half})
                 UNION ALL (SELECT {name} FROM {table} ORDER BY {key} DESC LIMIT {half})"
            )
        }
    }
}

fn parse_column(row: &TextRow) -> ColumnStatistics {
    let kind = match row.text(at::TYPE) {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" => ColumnKind::Integer,
        "float" | "double" => ColumnKind::Real,
        "decimal" => ColumnKind::Decimal,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => ColumnKind::Text,
        "date" => ColumnKind::Date,
        "datetime" | "timestamp" => ColumnKind::Timestamp,
        "uuid" => ColumnKind::Uuid,
        "json" => ColumnKind::Json,
        "bit" | "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => ColumnKind::Bytes,
        _ => ColumnKind::Other,
    };
    let mut statistics =
        ColumnStatistics::new(kind, row.text(at::WHOLE_TYPE), row.get(at::UNIQUE) == Some("1"));
    statistics.scale = row.parse(at::SCALE).filter(|_| kind == ColumnKind::Decimal);
    statistics.rows = row.parse(at::ROWS);
    statistics
}
