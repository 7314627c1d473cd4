//! Drops exactly the objects that Dyno created.

use super::super::connect::MySqlConnectConfig;
use super::super::connections::MySqlConnections;
use super::super::wire::MySqlConnection;
use super::meta::{self, MySqlDatabaseObject};
use super::quote::ident;
use super::session::explain;
use dyno_engine::layout::MARK;
use dyno_engine::{ConnectionPurpose, DropItem, TargetError};

/// The objects that a drop would remove; empty without metadata.
pub(crate) fn inventory(connection: &mut MySqlConnection) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    Ok(split_by_owner(connection)?.0.iter().map(|object| object.item(&database)).collect())
}

/// Objects whose names begin like Dyno's but that Dyno did not create; a drop leaves them.
pub(crate) fn foreign(connection: &mut MySqlConnection) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    let (_, others) = split_by_owner(connection)?;
    Ok(others.iter().map(|object| object.item(&database)).collect())
}

/// Removes the objects that [`inventory`] lists.
pub(crate) fn drop_all(connections: &MySqlConnections) -> Result<Vec<DropItem>, TargetError> {
    connections.ask_for(ConnectionPurpose::Load, |connection| remove(connection, &connections.config))
}

/// Like [`drop_all`], on an existing connection.
///
/// A drop is not one transaction and cannot be rolled back. The list of objects is removed last, so another
/// drop completes one that was interrupted.
pub(super) fn remove(
    connection: &mut MySqlConnection,
    config: &MySqlConnectConfig,
) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    let objects = split_by_owner(connection)?.0;
    for object in &objects {
        let MySqlDatabaseObject { kind, name, .. } = object;
        connection.simple(&format!("DROP {} {}", kind.to_uppercase(), ident(name))).map_err(|error| {
            explain(error, &format!("{kind} {name}, which Dyno created, cannot be dropped"), config)
        })?;
    }
    Ok(objects.iter().map(|object| object.item(&database)).collect())
}

fn database(connection: &mut MySqlConnection) -> Result<String, TargetError> {
    let rows = connection.simple("SELECT DATABASE()")?;
    Ok(rows.first().and_then(|row| row.get(0)).unwrap_or_default().to_owned())
}

/// Objects that are recorded, exist and still carry their recorded mark, newest first; and other objects with
/// similar names.
fn split_by_owner(
    connection: &mut MySqlConnection,
) -> Result<(Vec<MySqlDatabaseObject>, Vec<MySqlDatabaseObject>), TargetError> {
    let existing_objects = meta::objects(connection)?;
    if !meta::has_table(&existing_objects, "dyno_objects") {
        return Ok((Vec::new(), existing_objects));
    }
    let rows = connection.simple("SELECT kind, name, mark FROM dyno_objects ORDER BY seq DESC")?;
    let place = |object: &MySqlDatabaseObject| {
        // The list itself is recognized by name and mark alone: a load may have been killed before it
        // recorded it.
        if object.name == "dyno_objects" && object.mark.starts_with(MARK) {
            return Some(rows.len());
        }
        rows.iter().position(|row| {
            [row.get(0), row.get(1), row.get(2)]
                == [&object.kind, &object.name, &object.mark].map(|text| Some(text.as_str()))
        })
    };
    let (mut ours, others): (Vec<MySqlDatabaseObject>, Vec<MySqlDatabaseObject>) =
        existing_objects.into_iter().partition(|object| place(object).is_some());
    ours.sort_by_key(place);
    Ok((ours, others))
}
