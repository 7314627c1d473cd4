//! Finds the tables and routines that statements name, and the size of the tables.

use std::collections::BTreeSet;

use dyno_engine::watched_names::with_definitions;
use dyno_engine::{Refusal as _, TargetError};

use super::super::wire::{MySqlConnection, MySqlError};
use super::quote::literal;

/// The tables, views and routines in the database that statements with the identifiers `names` use, under
/// their names in the dictionary.
pub(in super::super) fn find(
    connection: &mut MySqlConnection,
    names: &BTreeSet<String>,
) -> Result<BTreeSet<String>, TargetError> {
    let definitions = |names: &BTreeSet<String>| column(connection, &definitions_sql(names));
    let names = with_definitions(names.clone(), definitions)?;
    let existing = if names.is_empty() { Vec::new() } else { column(connection, &existing_sql(&names))? };
    Ok(existing.into_iter().collect())
}

/// Bytes of the tables that statements with the identifiers `names` use, including indexes, from InnoDB's
/// statistics; absent if none exists.
pub(in super::super) fn named_bytes(
    connection: &mut MySqlConnection,
    names: &BTreeSet<String>,
) -> Result<Option<u64>, TargetError> {
    let tables = find(connection, names)?;
    if tables.is_empty() {
        return Ok(None);
    }
    let sql = format!(
        "SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME IN ({})",
        list(tables.iter())
    );
    Ok(column(connection, &sql)?.first().and_then(|bytes| bytes.parse().ok()))
}

/// The first column of the rows of `sql`; empty if this user may not read them.
fn column(connection: &mut MySqlConnection, sql: &str) -> Result<Vec<String>, TargetError> {
    match connection.simple(sql) {
        Ok(rows) => Ok(rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect()),
        Err(error) if MySqlError::of(&error).is_some() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The names as a comma-separated list of SQL literals.
pub(in super::super) fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| literal(name)).collect::<Vec<_>>().join(", ")
}

/// The query for definitions of views and routines in `names`, and of triggers on tables in `names`.
fn definitions_sql(names: &BTreeSet<String>) -> String {
    let list = list(names.iter());
    format!(
        "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND LOWER(TABLE_NAME) IN ({list})
         UNION ALL
         SELECT ROUTINE_DEFINITION FROM information_schema.ROUTINES
         WHERE ROUTINE_SCHEMA = DATABASE() AND LOWER(ROUTINE_NAME) IN ({list})
         UNION ALL
         SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND LOWER(EVENT_OBJECT_TABLE) IN ({list})"
    )
}

/// The query for those of `names` that are tables, views or routines of the database.
fn existing_sql(names: &BTreeSet<String>) -> String {
    let list = list(names.iter());
    format!(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND LOWER(TABLE_NAME) IN ({list})
         UNION
         SELECT ROUTINE_NAME FROM information_schema.ROUTINES
         WHERE ROUTINE_SCHEMA = DATABASE() AND LOWER(ROUTINE_NAME) IN ({list})"
    )
}
