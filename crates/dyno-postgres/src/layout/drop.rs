//! Removing exactly what Dyno made.

use super::super::connect::ConnectConfig;
use super::super::wire::{Connection, Row};
use super::session::{explain, loader, lock};
use super::tables::SCHEMA;
use dyno_engine::{DropItem, TargetError};

/// Recorded objects that are still there and still the ones that were recorded, last made first. The schema counts only
/// if nothing would be left in it.
const INVENTORY: &str = include_str!("../sql/inventory.sql");

/// What is in schema `dyno` and not recorded.
const FOREIGN: &str = include_str!("../sql/foreign.sql");

/// What a drop would remove; nothing if there is no metadata.
pub(crate) fn inventory(connection: &mut Connection) -> Result<Vec<DropItem>, TargetError> {
    Ok(objects(connection)?.into_iter().map(|(item, _)| item).collect())
}

/// What lies in schema `dyno` and is not Dyno's: a drop leaves it, and then leaves the schema too.
pub(crate) fn foreign(connection: &mut Connection) -> Result<Vec<DropItem>, TargetError> {
    let there = connection.simple(&format!("SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'"))?;
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let recorded = recorded(connection)?;
    let list = if recorded { FOREIGN.to_owned() } else { unrecorded() };
    let mut left: Vec<DropItem> = connection.simple(&list)?.iter().filter_map(item).collect();
    let schema_goes = recorded && objects(connection)?.iter().any(|(item, _)| item.kind == "schema");
    if !schema_goes {
        left.push(DropItem { kind: "schema".to_owned(), name: SCHEMA.to_owned(), bytes: None });
    }
    Ok(left)
}

/// [`FOREIGN`] where the list of what is Dyno's is gone: then nothing can be told to be.
fn unrecorded() -> String {
    let none = "(SELECT NULL::oid AS oid WHERE false)";
    FOREIGN.replace("dyno.objects o", &format!("{none} o"))
}

/// Removes what [`inventory`] lists, all or nothing.
pub(crate) fn drop_all(config: &ConnectConfig) -> Result<Vec<DropItem>, TargetError> {
    let mut connection = loader(config)?;
    lock(&mut connection)?;
    let removed = remove(&mut connection, config)?;
    connection.close();
    Ok(removed)
}

/// As [`drop_all`], on a connection that holds the lock.
pub(super) fn remove(
    connection: &mut Connection,
    config: &ConnectConfig,
) -> Result<Vec<DropItem>, TargetError> {
    let objects = objects(connection)?;
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let statements: Vec<&str> = objects.iter().map(|(_, statement)| statement.as_str()).collect();
    // One simple query is one transaction. synchronous_commit is turned on again, since a drop is not resumed.
    connection
        .simple(&format!("SET LOCAL synchronous_commit = on; {}", statements.join("; ")))
        .map_err(|error| explain(error, "what Dyno made cannot be dropped", config))?;
    Ok(objects.into_iter().map(|(item, _)| item).collect())
}

fn recorded(connection: &mut Connection) -> Result<bool, TargetError> {
    let rows = connection.simple("SELECT to_regclass('dyno.objects')")?;
    Ok(rows.first().is_some_and(|row| row.get(0).is_some()))
}

/// Items with the statement that removes each.
fn objects(connection: &mut Connection) -> Result<Vec<(DropItem, String)>, TargetError> {
    if !recorded(connection)? {
        return Ok(Vec::new());
    }
    let rows = connection.simple(INVENTORY)?;
    Ok(rows.iter().filter_map(|row| Some((item(row)?, row.get(3)?.to_owned()))).collect())
}

fn item(row: &Row) -> Option<DropItem> {
    let (kind, name) = (row.get(0)?.to_owned(), row.get(1)?);
    let name = if kind == "schema" { name.to_owned() } else { format!("{SCHEMA}.{name}") };
    Some(DropItem { kind, name, bytes: row.parse(2) })
}
