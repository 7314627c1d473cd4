//! Measures the loaded tables with SQLite's own report of its pages.
//!
//! The virtual table `dbstat` visits every page of a table and reports how many rows it holds. The method
//! requires this measurement: rows per block is what the file contains, not what the layout intends.

use dyno_plan::DataSpec;
use rusqlite::Connection;

use super::names::SqliteTable;
use crate::fault::{SqliteError, SqliteErrorContext};
use dyno_engine::{SchemaFacts, TargetError};

/// The counted pages of one table.
#[derive(Debug, Default, PartialEq, Eq)]
struct SqlitePageCounts {
    rows: u64,
    /// Leaf pages with at least one row.
    with_rows: u64,
    overflow: u64,
    bytes: u64,
}

fn pages(conn: &Connection, table: &str) -> Result<SqlitePageCounts, SqliteError> {
    let sql = "SELECT
            COALESCE(SUM(ncell) FILTER (WHERE pagetype = 'leaf'), 0),
            COUNT(*) FILTER (WHERE pagetype = 'leaf' AND ncell > 0),
            COUNT(*) FILTER (WHERE pagetype = 'overflow'),
            COALESCE(SUM(pgsize), 0)
        FROM dbstat WHERE name = ?1";
    let pages = conn.query_row(sql, [table], |row| {
        Ok(SqlitePageCounts {
            rows: row.get(0)?,
            with_rows: row.get(1)?,
            overflow: row.get(2)?,
            bytes: row.get(3)?,
        })
    })?;
    Ok(pages)
}

/// Keys in the index: their number, the number of distinct ones, the smallest and the largest.
type Keys = (u64, u64, u64, u64);

fn keys(conn: &Connection, table: &str, index: &str) -> Result<Keys, SqliteError> {
    let sql = format!(
        "SELECT COUNT(custid), COUNT(DISTINCT custid), COALESCE(MIN(custid), 0), COALESCE(MAX(custid), 0)
         FROM {table} INDEXED BY {index}"
    );
    Ok(conn.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?)
}

/// The problem with the rows of some values of the secondary key, read by its index; `None` if there is none.
pub(super) fn secondary_fault(
    conn: &Connection,
    spec: &DataSpec,
    table: SqliteTable,
    index: &str,
) -> Result<Option<String>, SqliteError> {
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let (name, key) = (table.name(), spec.secondary_sql("%"));
        let sql = format!("SELECT COUNT(*) FROM {name} INDEXED BY {index} WHERE ({key}) = ?1");
        let row_count: u64 = conn.query_row(&sql, [value], |row| row.get(0))?;
        let wanted = spec.group_rows(value);
        if row_count != wanted {
            return Ok(Some(format!("{row_count} rows have secondary key {value}, expected {wanted}")));
        }
    }
    Ok(None)
}

fn layout_error(table: &str, problem: &str) -> TargetError {
    TargetError::data(format!("the load of {table} has a wrong result: {problem}"))
        .hint("drop the data and load again; if it happens again, report it as a bug in Dyno")
}

/// Measures `table` and compares it with its spec.
///
/// # Errors
/// Rows are missing, a block holds more than one row, a row overflows its block, or the index lacks a key.
pub(super) fn measure(
    conn: &Connection,
    spec: &DataSpec,
    table: SqliteTable,
) -> Result<SchemaFacts, TargetError> {
    let name = table.name();
    let counted = pages(conn, &name).doing("count pages")?;
    let mut bytes = counted.bytes;
    if counted.rows != table.rows {
        return Err(layout_error(&name, &format!("it has {} rows, expected {}", counted.rows, table.rows)));
    }
    if counted.with_rows != counted.rows {
        let fault = format!("{} rows are in {} blocks", counted.rows, counted.with_rows);
        return Err(layout_error(&name, &fault));
    }
    if counted.overflow > 0 {
        return Err(layout_error(
            &name,
            &format!("{} blocks contain the overflow of rows", counted.overflow),
        ));
    }
    if let Some(index) = table.index() {
        bytes += pages(conn, &index).doing("count pages")?.bytes;
        let key_stats = keys(conn, &name, &index).doing("count keys")?;
        let (rows, least) = (table.rows, table.rows.min(1));
        if key_stats != (rows, rows, least, rows) {
            let (count, distinct, least, greatest) = key_stats;
            let key_fault =
                format!("{index} has {count} keys, {distinct} of them different, from {least} to {greatest}");
            return Err(layout_error(&name, &key_fault));
        }
    }
    if let Some(index) = table.secondary_index(spec) {
        bytes += pages(conn, &index).doing("count pages")?.bytes;
        if let Some(secondary_key_fault) = secondary_fault(conn, spec, table, &index).doing("count keys")? {
            return Err(layout_error(&name, &secondary_key_fault));
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
