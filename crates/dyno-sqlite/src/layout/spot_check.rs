//! Checks before a run, from a sample, that the data is still what was loaded.
//!
//! The schema shows whether index and table are unchanged and have no additional objects. The ends of both
//! trees show where rows and keys begin and end. Up to [`COUNTED_ROWS`] rows, the keys in the index are
//! counted. A sample of rows is compared byte for byte.

use dyno_plan::DataSpec;
use rusqlite::{Connection, OptionalExtension, Row};

use super::names::{SqliteTable, column_bytes, columns, tables};
use super::verify::secondary_fault;
use crate::fault::{SqliteError, SqliteErrorContext};
use dyno_engine::TargetError;
use dyno_engine::data::{Filler, TableKind, mix, order_fault, order_keys, row_fault, spot_keys};

/// The most rows for which the index's keys are counted: about 12 bytes each, so at most 24 MB are read.
const COUNTED_ROWS: u64 = 2_000_000;

const DOING: &str = "read the data";

/// Checks every table of `spec`; another `seed` samples other rows.
///
/// # Errors
/// `Data` names the table and the problem.
pub(crate) fn spot_check(conn: &Connection, spec: &DataSpec, seed: u64) -> Result<(), TargetError> {
    for table in tables(spec) {
        check_schema(conn, spec, table)?;
        check_ends(conn, table)?;
        check_secondary(conn, spec, table)?;
        let seed = mix(seed ^ mix(u64::from(table.schema)));
        check_order(conn, table, seed)?;
        check_rows(conn, spec, table, seed)?;
    }
    Ok(())
}

/// Checks that keys are still in random order; the rowid is the order of the table.
fn check_order(conn: &Connection, table: SqliteTable, seed: u64) -> Result<(), TargetError> {
    let Some(index) = table.index() else { return Ok(()) };
    let sql = format!("SELECT rowid FROM {} INDEXED BY {index} WHERE custid = ?1", table.name());
    let mut statement = conn.prepare(&sql).doing(DOING)?;
    let mut places = Vec::new();
    for key in order_keys(table.rows, seed) {
        let place: Option<u64> =
            statement.query_row([key as i64], |row| row.get(0)).optional().doing(DOING)?;
        places.extend(place.map(|place| (key, place)));
    }
    match order_fault(table.rows, &places) {
        Some(fault) => Err(table_error(table, &fault)),
        None => Ok(()),
    }
}

/// Key, version and text of a row; each is absent if the row lacks it.
type SqliteSpotRow = (Option<i64>, Option<i64>, Option<String>);

fn table_error(table: SqliteTable, fault: &str) -> TargetError {
    let message = format!("table {} is not as loaded: it {fault}", table.name());
    TargetError::data(message).hint("find out what changed it; `dyno load --replace` loads it again")
}

/// Checks that table and index are unchanged and that the table has no other index or trigger.
fn check_schema(conn: &Connection, spec: &DataSpec, table: SqliteTable) -> Result<(), TargetError> {
    let name = table.name();
    let sql_of = |name: &str| -> Result<Option<String>, SqliteError> {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        Ok(conn.query_row(sql, [name], |row| row.get(0)).optional()?)
    };
    if sql_of(&name).doing(DOING)?.as_deref() != Some(&table.ddl()) {
        return Err(table_error(table, "does not exist, or has other columns"));
    }
    if let Some(index) = table.index()
        && sql_of(&index).doing(DOING)?.as_deref() != Some(&table.index_ddl(&index))
    {
        return Err(table_error(table, "lacks its index on custid"));
    }
    for (index, ddl) in table.indexes(spec).into_iter().skip(1) {
        if sql_of(&index).doing(DOING)?.as_deref() != Some(&ddl) {
            return Err(table_error(table, "lacks its index on the secondary key"));
        }
    }
    let sql = "SELECT name FROM sqlite_schema WHERE tbl_name = ?1 AND type IN ('index', 'trigger')
        AND name IS NOT ?2 AND name IS NOT ?3 LIMIT 1";
    let own_names = (&name, table.index(), table.secondary_index(spec));
    let other: Option<String> = conn.query_row(sql, own_names, |row| row.get(0)).optional().doing(DOING)?;
    match other {
        Some(other) => Err(table_error(table, &format!("has a further object {other}, which adds work to \
            every update"))
            .hint(format!(
                "DROP INDEX {other}, or DROP TRIGGER {other}; or `dyno load --replace`, which loads the data again"
            ))),
        None => Ok(()),
    }
}

/// Checks the first and last row and key, and the number of keys if that is cheap.
fn check_ends(conn: &Connection, table: SqliteTable) -> Result<(), TargetError> {
    let name = table.name();
    let ends = |column: &str, from: &str| -> Result<(i64, i64), SqliteError> {
        // One statement for both ends would read everything between them.
        let end = |order: &str| -> Result<i64, SqliteError> {
            let sql = format!("SELECT {column} FROM {from} ORDER BY {column} {order} LIMIT 1");
            Ok(conn.query_row(&sql, [], |row| row.get(0)).optional()?.unwrap_or(0))
        };
        Ok((end("ASC")?, end("DESC")?))
    };
    let loaded = (1, table.rows as i64);
    let rows = ends("rowid", &name).doing(DOING)?;
    if rows != loaded {
        let row_range_fault =
            format!("has rows {} to {}, but the load wrote 1 to {}", rows.0, rows.1, table.rows);
        return Err(table_error(table, &row_range_fault));
    }
    let Some(index) = table.index() else { return Ok(()) };
    let keys = ends("custid", &format!("{name} INDEXED BY {index}")).doing(DOING)?;
    if keys != loaded {
        let key_range_fault =
            format!("has keys from {} to {}, but the load wrote 1 to {}", keys.0, keys.1, table.rows);
        return Err(table_error(table, &key_range_fault));
    }
    if table.rows > COUNTED_ROWS {
        return Ok(());
    }
    let sql = format!("SELECT COUNT(*) FROM {name} INDEXED BY {index} WHERE custid > 0");
    let count: u64 = conn.query_row(&sql, [], |row| row.get(0)).doing(DOING)?;
    if count == table.rows {
        return Ok(());
    }
    Err(table_error(table, &format!("has {count} rows, but {} were loaded", table.rows)))
}

/// Checks the rows of some values of the secondary key.
fn check_secondary(conn: &Connection, spec: &DataSpec, table: SqliteTable) -> Result<(), TargetError> {
    let Some(index) = table.secondary_index(spec) else { return Ok(()) };
    match secondary_fault(conn, spec, table, &index).doing(DOING)? {
        Some(found) => Err(table_error(table, &format!("has other rows: {found}"))),
        None => Ok(()),
    }
}

/// Compares a sample of rows with the loaded ones, by key if there is an index and by rowid otherwise.
fn check_rows(conn: &Connection, spec: &DataSpec, table: SqliteTable, seed: u64) -> Result<(), TargetError> {
    let filler = Filler::new(spec, table.schema, table.kind, column_bytes(spec.block_size));
    let text = columns().collect::<Vec<_>>().join(" || ");
    let (by, hint) = match (table.kind, table.index()) {
        (TableKind::Rows, Some(index)) => ("custid", format!(" INDEXED BY {index}")),
        _ => ("rowid", String::new()),
    };
    let sql = format!("SELECT custid, ver, {text} FROM {}{hint} WHERE {by} = ?1", table.name());
    let mut statement = conn.prepare(&sql).doing(DOING)?;
    let mut loaded = vec![0; filler.row_bytes()];
    for number in spot_keys(table.rows, seed) {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let query_result: Result<Vec<SqliteSpotRow>, _> =
            statement.query_map([number as i64], read).and_then(Iterator::collect);
        let matching_rows = match query_result {
            Ok(fetched_rows) => fetched_rows,
            Err(rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)) => {
                return Err(table_error(
                    table,
                    &format!("has a row at {by} {number} with other types than the loaded row"),
                ));
            }
            Err(error) => return Err(error).doing(DOING),
        };
        let [(Some(key), Some(ver), contents)] = matching_rows.as_slice() else {
            let count_fault =
                format!("has {} complete rows at {by} {number}, expected one", matching_rows.len());
            return Err(table_error(table, &count_fault));
        };
        if !(1..=table.rows as i64).contains(key) {
            let key_fault = format!("has a row with key {key}, but the load wrote keys 1 to {}", table.rows);
            return Err(table_error(table, &key_fault));
        }
        filler.fill(key.unsigned_abs(), &mut loaded);
        if let Some(fault) = row_fault(&loaded, *ver, contents.as_ref().map(String::as_bytes)) {
            return Err(table_error(table, &format!("has a row with key {key} that {fault}")));
        }
    }
    Ok(())
}
