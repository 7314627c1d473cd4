//! Drops exactly the objects that Dyno created.

use super::super::connect::PostgresConnectConfig;
use super::super::connections::PostgresConnections;
use super::super::wire::{PostgresConnection, TextRow};
use super::session::{explain, lock};
use super::tables::SCHEMA;
use dyno_engine::{ConnectionPurpose, DropItem, TargetError};

/// Recorded objects that still exist and are the recorded ones, newest first. The schema is included only if
/// nothing else remains in it.
const INVENTORY: &str = include_str!("../sql/inventory.sql");

/// Objects in schema `dyno` that are not recorded.
const FOREIGN: &str = include_str!("../sql/foreign.sql");

/// The objects that a drop would remove; empty without metadata.
pub(crate) fn inventory(connection: &mut PostgresConnection) -> Result<Vec<DropItem>, TargetError> {
    Ok(objects(connection)?.into_iter().map(|(item, _)| item).collect())
}

/// Objects in schema `dyno` that Dyno did not create: a drop leaves them, and then leaves the schema too.
pub(crate) fn foreign(connection: &mut PostgresConnection) -> Result<Vec<DropItem>, TargetError> {
    let schema_rows = connection.simple(&format!("SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'"))?;
    if schema_rows.is_empty() {
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

/// [`FOREIGN`] for a schema without the list of Dyno's objects, where nothing counts as Dyno's.
fn unrecorded() -> String {
    let empty_relation = "(SELECT NULL::oid AS oid WHERE false)";
    FOREIGN.replace("dyno.objects o", &format!("{empty_relation} o"))
}

/// Removes everything that [`inventory`] lists, in one transaction.
pub(crate) fn drop_all(connections: &PostgresConnections) -> Result<Vec<DropItem>, TargetError> {
    connections.ask_for(ConnectionPurpose::Load, |connection| {
        lock(connection)?;
        remove(connection, &connections.config)
    })
}

/// Like [`drop_all`], on a connection that holds the lock.
pub(super) fn remove(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
) -> Result<Vec<DropItem>, TargetError> {
    let objects = objects(connection)?;
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let statements: Vec<&str> = objects.iter().map(|(_, statement)| statement.as_str()).collect();
    // One simple query is one transaction. synchronous_commit is on for it, because a drop is not resumed.
    connection
        .simple(&format!("SET LOCAL synchronous_commit = on; {}", statements.join("; ")))
        .map_err(|error| explain(error, "the objects that Dyno created cannot be dropped", config))?;
    Ok(objects.into_iter().map(|(item, _)| item).collect())
}

fn recorded(connection: &mut PostgresConnection) -> Result<bool, TargetError> {
    let rows = connection.simple("SELECT to_regclass('dyno.objects')")?;
    Ok(rows.first().is_some_and(|row| row.get(0).is_some()))
}

/// The objects to remove, each with its DROP statement.
fn objects(connection: &mut PostgresConnection) -> Result<Vec<(DropItem, String)>, TargetError> {
    if !recorded(connection)? {
        return Ok(Vec::new());
    }
    let rows = connection.simple(INVENTORY)?;
    Ok(rows.iter().filter_map(|row| Some((item(row)?, row.get(3)?.to_owned()))).collect())
}

fn item(row: &TextRow) -> Option<DropItem> {
    let (kind, name) = (row.get(0)?.to_owned(), row.get(1)?);
    let name = if kind == "schema" { name.to_owned() } else { format!("{SCHEMA}.{name}") };
    Some(DropItem { kind, name, bytes: row.parse(2) })
}
