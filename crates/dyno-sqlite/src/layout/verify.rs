//! Measuring what was loaded, by SQLite's own account of its pages.
//!
//! The virtual table `dbstat` visits every page of a table and tells how many rows it holds. That is the measurement the
//! method asks for: rows per block is not what the layout intends but what the file shows.

use dyno_plan::DataSpec;
use rusqlite::Connection;

use super::names::Table;
use crate::fault::{Doing, Fault};
use dyno_engine::{SchemaFacts, TargetError};

/// Pages of one table, counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pages {
    rows: u64,
    /// Leaf pages with at least one row.
    with_rows: u64,
    overflow: u64,
    bytes: u64,
}

fn pages(conn: &Connection, table: &str) -> Result<Pages, Fault> {
    let sql = "SELECT
            COALESCE(SUM(ncell) FILTER (WHERE pagetype = 'leaf'), 0),
            COUNT(*) FILTER (WHERE pagetype = 'leaf' AND ncell > 0),
            COUNT(*) FILTER (WHERE pagetype = 'overflow'),
            COALESCE(SUM(pgsize), 0)
        FROM dbstat WHERE name = ?1";
    let pages = conn.query_row(sql, [table], |row| {
        Ok(Pages { rows: row.get(0)?, with_rows: row.get(1)?, overflow: row.get(2)?, bytes: row.get(3)? })
    })?;
    Ok(pages)
}

/// Keys in the index: how many there are, how many differ, the least and the greatest.
type Keys = (u64, u64, u64, u64);

fn keys(conn: &Connection, table: &str, index: &str) -> Result<Keys, Fault> {
    let sql = format!(
        "SELECT COUNT(custid), COUNT(DISTINCT custid), COALESCE(MIN(custid), 0), COALESCE(MAX(custid), 0)
         FROM {table} INDEXED BY {index}"
    );
    Ok(conn.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?)
}

/// What is wrong with the rows of some values of the secondary key, by its index.
pub(super) fn secondary_fault(
    conn: &Connection,
    spec: &DataSpec,
    table: Table,
    index: &str,
) -> Result<Option<String>, Fault> {
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let (name, key) = (table.name(), spec.secondary_sql("%"));
        let sql = format!("SELECT COUNT(*) FROM {name} INDEXED BY {index} WHERE ({key}) = ?1");
        let found: u64 = conn.query_row(&sql, [value], |row| row.get(0))?;
        let wanted = spec.group_rows(value);
        if found != wanted {
            return Ok(Some(format!("{found} rows have secondary key {value}, and {wanted} is right")));
        }
    }
    Ok(None)
}

fn miss(table: &str, what: &str) -> TargetError {
    TargetError::data(format!("the load of {table} missed its aim: {what}"))
        .hint("drop the data and load again; if it happens again, this is a fault of dyno")
}

/// Measures `table` and compares it with what it should be.
///
/// # Errors
/// Rows are missing, a block holds more than one row, a row spills over its block, or the index lacks a key.
pub(super) fn measure(conn: &Connection, spec: &DataSpec, table: Table) -> Result<SchemaFacts, TargetError> {
    let name = table.name();
    let counted = pages(conn, &name).doing("count pages")?;
    let mut bytes = counted.bytes;
    if counted.rows != table.rows {
        return Err(miss(&name, &format!("it has {} rows, {} were to be loaded", counted.rows, table.rows)));
    }
    if counted.with_rows != counted.rows {
        let found = format!("{} rows are in {} blocks", counted.rows, counted.with_rows);
        return Err(miss(&name, &found));
    }
    if counted.overflow > 0 {
        return Err(miss(&name, &format!("{} blocks hold what rows could not", counted.overflow)));
    }
    if let Some(index) = table.index() {
        bytes += pages(conn, &index).doing("count pages")?.bytes;
        let found = keys(conn, &name, &index).doing("count keys")?;
        let (rows, least) = (table.rows, table.rows.min(1));
        if found != (rows, rows, least, rows) {
            let (count, distinct, least, greatest) = found;
            let found =
                format!("{index} has {count} keys, {distinct} of them different, from {least} to {greatest}");
            return Err(miss(&name, &found));
        }
    }
    if let Some(index) = table.secondary_index(spec) {
        bytes += pages(conn, &index).doing("count pages")?.bytes;
        if let Some(found) = secondary_fault(conn, spec, table, &index).doing("count keys")? {
            return Err(miss(&name, &found));
        }
    }
    Ok(SchemaFacts {
        schema: table.schema,
        kind: table.kind.name(),
        table: name,
        rows: counted.rows,
        blocks: counted.with_rows,
        bytes,
    })
}
