//! Reads what the server knows about columns: `pg_stats`, the ends of indexes, and a sample of rows.

use dyno_engine::column_statistics::{ColumnKind, ColumnName, ColumnStatistics, SAMPLE_ROWS};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::wire::{PostgresConnection, PostgresError};

/// Where [`COLUMN`] has what it reads.
mod at {
    pub(super) const TABLE: usize = 3;
    pub(super) const COLUMN: usize = 4;
    pub(super) const TYPE: usize = 5;
    pub(super) const BASE_TYPE: usize = 6;
    pub(super) const SCALE: usize = 7;
    pub(super) const ROWS: usize = 8;
    pub(super) const DISTINCT: usize = 9;
    pub(super) const NULLS: usize = 10;
    pub(super) const LOW: usize = 11;
    pub(super) const HIGH: usize = 12;
    pub(super) const UNIQUE: usize = 13;
    pub(super) const INDEXED: usize = 14;
    pub(super) const VISIBLE: usize = 15;
}

const COLUMN: &str = include_str!("sql/column.sql");

/// The most common values with their share of the rows.
const COMMON: &str =
    "SELECT v, f FROM pg_stats s, unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS u (v, f)
     WHERE s.schemaname = $1 AND s.tablename = $2 AND s.attname = $3
     ORDER BY s.inherited DESC, f DESC LIMIT 100";

/// Limits of the time that this may take from the database's users.
const LIMITS: &str = "SET lock_timeout = '2s'; SET statement_timeout = '10s'";

/// What the server knows about each of `columns`; `None` where it has no such column, or this user may not read
/// it.
pub(super) fn read(
    connection: &mut PostgresConnection,
    schema: Option<&str>,
    columns: &[ColumnName],
) -> Result<Vec<Option<ColumnStatistics>>, TargetError> {
    connection.simple(LIMITS)?;
    columns
        .iter()
        .map(|column| match read_column(connection, schema, column) {
            // The server refuses: no privilege, a locked table.
            Err(error) if PostgresError::of(&error).is_some() => Ok(None),
            read => read,
        })
        .collect()
}

fn read_column(
    connection: &mut PostgresConnection,
    schema: Option<&str>,
    column: &ColumnName,
) -> Result<Option<ColumnStatistics>, TargetError> {
    let schema = column.schema.as_deref().or(schema).unwrap_or_default();
    let rows = connection.query(COLUMN, &[schema, &column.table, &column.column])?;
    let Some(row) = rows.first() else { return Ok(None) };
    // Two tables outside the search path, of which the statement may mean either.
    if rows.len() > 1 && rows[0].get(at::VISIBLE) == rows[1].get(at::VISIBLE) {
        return Ok(None);
    }
    let mut statistics = parse_column(row);
    if statistics.kind != ColumnKind::Bytes {
        // Names with `dyno_` mark the statement as Dyno's own where it is recorded.
        let (table, name) = (row.text(at::TABLE), row.text(at::COLUMN));
        let sql = format!(
            "SELECT dyno_value::text FROM (SELECT {name} AS dyno_value FROM {table} LIMIT {SAMPLE_ROWS}) AS dyno_rows"
        );
        let sample = connection.query(&sql, &[])?;
        let sample: Vec<Option<String>> = sample.iter().map(|row| row.get(0).map(str::to_owned)).collect();
        statistics.add_sample(&sample);
        if row.get(at::INDEXED) == Some("t") && statistics.range.is_some() {
            let sql =
                format!("SELECT min({name})::text AS dyno_min, max({name})::text AS dyno_max FROM {table}");
            let ends = connection.query(&sql, &[])?;
            (0..2).filter_map(|end| ends.first()?.get(end)).for_each(|end| statistics.extend_range(end));
        }
    }
    if let Some(null_share) = row.parse(at::NULLS) {
        add_server_statistics(&mut statistics, row, null_share);
        let common = connection.query(COMMON, &[row.text(0), row.text(1), row.text(2)])?;
        statistics.set_common(
            common.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.parse(1)?))).collect(),
        );
    }
    Ok(Some(statistics))
}

fn parse_column(row: &TextRow) -> ColumnStatistics {
    let kind = match row.text(at::BASE_TYPE) {
        "int2" | "int4" | "int8" | "oid" => ColumnKind::Integer,
        "float4" | "float8" => ColumnKind::Real,
        "numeric" => ColumnKind::Decimal,
        "text" | "varchar" | "bpchar" | "name" | "citext" => ColumnKind::Text,
        "date" => ColumnKind::Date,
        "timestamp" | "timestamptz" => ColumnKind::Timestamp,
        "bool" => ColumnKind::Boolean,
        "uuid" => ColumnKind::Uuid,
        "bytea" => ColumnKind::Bytes,
        "json" | "jsonb" => ColumnKind::Json,
        _ => ColumnKind::Other,
    };
    let mut statistics = ColumnStatistics::new(kind, row.text(at::TYPE), row.get(at::UNIQUE) == Some("t"));
    statistics.scale = row.parse(at::SCALE);
    statistics.rows = row.parse(at::ROWS);
    statistics
}

/// Adds the row of `pg_stats`. Its number of distinct values is negative where it is a share of the rows.
fn add_server_statistics(statistics: &mut ColumnStatistics, row: &TextRow, null_share: f64) {
    statistics.is_sample = false;
    statistics.null_share = null_share;
    let rows = statistics.rows.map_or(0.0, |rows| rows as f64);
    let distinct: Option<f64> = row.parse(at::DISTINCT);
    statistics.distinct = distinct
        .map(|distinct| if distinct < 0.0 { -distinct * rows } else { distinct })
        .filter(|distinct| *distinct >= 1.0)
        .map(|distinct| distinct.round() as u64);
    [at::LOW, at::HIGH]
        .into_iter()
        .filter_map(|end| row.get(end))
        .for_each(|end| statistics.extend_range(end));
}
