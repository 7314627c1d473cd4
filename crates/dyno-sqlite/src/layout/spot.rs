//! Whether the data is still what was loaded, found out before a run and without reading it all.
//!
//! The schema says whether index and table are there as they were made, and nothing beside them; the ends of both trees
//! say where rows and keys begin and end; up to [`COUNTED_ROWS`] the keys in the index are counted; and a sample of rows
//! is compared byte for byte.

use dyno_plan::DataSpec;
use rusqlite::{Connection, OptionalExtension, Row};

use super::names::{Table, column_bytes, columns, tables};
use super::verify::secondary_fault;
use crate::fault::{Doing, Fault};
use dyno_engine::TargetError;
use dyno_engine::data::{Filler, TableKind, mix, order_fault, order_keys, row_fault, spot_keys};

/// Rows up to which the index's keys are counted: some 12 bytes each, so 24 MB at most are read.
const COUNTED_ROWS: u64 = 2_000_000;

const DOING: &str = "look at the data";

/// Looks at every table of `spec`; another `seed` looks at other rows.
///
/// # Errors
/// `Data` names the table and what is wrong with it.
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

/// Whether keys still lie at random: the row's number is the order of the table.
fn check_order(conn: &Connection, table: Table, seed: u64) -> Result<(), TargetError> {
    let Some(index) = table.index() else { return Ok(()) };
    let sql = format!("SELECT rowid FROM {} INDEXED BY {index} WHERE custid = ?1", table.name());
    let mut statement = conn.prepare(&sql).doing(DOING)?;
    let mut found = Vec::new();
    for key in order_keys(table.rows, seed) {
        let place: Option<u64> =
            statement.query_row([key as i64], |row| row.get(0)).optional().doing(DOING)?;
        found.extend(place.map(|place| (key, place)));
    }
    match order_fault(table.rows, &found) {
        Some(fault) => Err(wrong(table, &fault)),
        None => Ok(()),
    }
}

/// Key, version and text of a row, each as far as it is there.
type Found = (Option<i64>, Option<i64>, Option<String>);

fn wrong(table: Table, found: &str) -> TargetError {
    let message = format!("table {} is not what was loaded: it {found}", table.name());
    TargetError::data(message).hint("find out who changed it; `dyno load --replace` makes it anew")
}

/// Whether table and index are there, and nothing else hangs on the table.
fn check_schema(conn: &Connection, spec: &DataSpec, table: Table) -> Result<(), TargetError> {
    let name = table.name();
    let sql_of = |name: &str| -> Result<Option<String>, Fault> {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        Ok(conn.query_row(sql, [name], |row| row.get(0)).optional()?)
    };
    if sql_of(&name).doing(DOING)?.as_deref() != Some(&table.ddl()) {
        return Err(wrong(table, "is gone, or has other columns"));
    }
    if let Some(index) = table.index()
        && sql_of(&index).doing(DOING)?.as_deref() != Some(&table.index_ddl(&index))
    {
        return Err(wrong(table, "has lost its index on custid"));
    }
    for (index, ddl) in table.indexes(spec).into_iter().skip(1) {
        if sql_of(&index).doing(DOING)?.as_deref() != Some(&ddl) {
            return Err(wrong(table, "has lost its index on the secondary key"));
        }
    }
    let sql = "SELECT name FROM sqlite_schema WHERE tbl_name = ?1 AND type IN ('index', 'trigger')
        AND name IS NOT ?2 AND name IS NOT ?3 LIMIT 1";
    let own = (&name, table.index(), table.secondary_index(spec));
    let other: Option<String> = conn.query_row(sql, own, |row| row.get(0)).optional().doing(DOING)?;
    match other {
        Some(other) => Err(wrong(table, &format!("carries {other}, which every update would have to serve"))
            .hint(format!(
                "DROP INDEX {other}, or DROP TRIGGER {other}; or `dyno load --replace`, which makes the data anew"
            ))),
        None => Ok(()),
    }
}

/// Whether rows and keys begin and end where they were loaded, and, where that is cheap, how many keys there are.
fn check_ends(conn: &Connection, table: Table) -> Result<(), TargetError> {
    let name = table.name();
    let ends = |column: &str, from: &str| -> Result<(i64, i64), Fault> {
        // One statement for both ends would read all that lies between them.
        let end = |order: &str| -> Result<i64, Fault> {
            let sql = format!("SELECT {column} FROM {from} ORDER BY {column} {order} LIMIT 1");
            Ok(conn.query_row(&sql, [], |row| row.get(0)).optional()?.unwrap_or(0))
        };
        Ok((end("ASC")?, end("DESC")?))
    };
    let loaded = (1, table.rows as i64);
    let rows = ends("rowid", &name).doing(DOING)?;
    if rows != loaded {
        let found = format!("has rows {} to {}, and 1 to {} were loaded", rows.0, rows.1, table.rows);
        return Err(wrong(table, &found));
    }
    let Some(index) = table.index() else { return Ok(()) };
    let keys = ends("custid", &format!("{name} INDEXED BY {index}")).doing(DOING)?;
    if keys != loaded {
        let found = format!("has keys from {} to {}, and 1 to {} were loaded", keys.0, keys.1, table.rows);
        return Err(wrong(table, &found));
    }
    if table.rows > COUNTED_ROWS {
        return Ok(());
    }
    let sql = format!("SELECT COUNT(*) FROM {name} INDEXED BY {index} WHERE custid > 0");
    let count: u64 = conn.query_row(&sql, [], |row| row.get(0)).doing(DOING)?;
    if count == table.rows {
        return Ok(());
    }
    Err(wrong(table, &format!("has {count} rows, and {} were loaded", table.rows)))
}

/// Whether some values of the secondary key have their rows.
fn check_secondary(conn: &Connection, spec: &DataSpec, table: Table) -> Result<(), TargetError> {
    let Some(index) = table.secondary_index(spec) else { return Ok(()) };
    match secondary_fault(conn, spec, table, &index).doing(DOING)? {
        Some(found) => Err(wrong(table, &format!("has other rows: {found}"))),
        None => Ok(()),
    }
}

/// Whether a sample of rows, by key where there is an index and by place where there is none, is what was loaded.
fn check_rows(conn: &Connection, spec: &DataSpec, table: Table, seed: u64) -> Result<(), TargetError> {
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
        let found: Result<Vec<Found>, _> =
            statement.query_map([number as i64], read).and_then(Iterator::collect);
        let found = match found {
            Ok(found) => found,
            Err(rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)) => {
                return Err(wrong(
                    table,
                    &format!("has a row at {by} {number} of other types than were loaded"),
                ));
            }
            Err(error) => return Err(error).doing(DOING),
        };
        let [(Some(key), Some(ver), contents)] = found.as_slice() else {
            let found = format!("has {} whole rows at {by} {number}, and one was loaded", found.len());
            return Err(wrong(table, &found));
        };
        if !(1..=table.rows as i64).contains(key) {
            let found = format!("has a row with key {key}, and 1 to {} were loaded", table.rows);
            return Err(wrong(table, &found));
        }
        filler.fill(key.unsigned_abs(), &mut loaded);
        if let Some(fault) = row_fault(&loaded, *ver, contents.as_ref().map(String::as_bytes)) {
            return Err(wrong(table, &format!("has a row with key {key} that {fault}")));
        }
    }
    Ok(())
}
