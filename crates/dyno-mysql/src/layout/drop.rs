//! Removing exactly what Dyno made.

use super::super::connect::ConnectConfig;
use super::super::wire::Connection;
use super::meta::{self, Object};
use super::quote::ident;
use super::session::{explain, loader};
use dyno_engine::layout::MARK;
use dyno_engine::{DropItem, TargetError};

/// What a drop would remove; nothing if there is no metadata.
pub(crate) fn inventory(connection: &mut Connection) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    Ok(ours(connection)?.0.iter().map(|object| object.item(&database)).collect())
}

/// What is called as Dyno's objects are and is not Dyno's: a drop leaves it.
pub(crate) fn foreign(connection: &mut Connection) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    let (_, others) = ours(connection)?;
    Ok(others.iter().map(|object| object.item(&database)).collect())
}

/// Removes what [`inventory`] lists.
pub(crate) fn drop_all(config: &ConnectConfig) -> Result<Vec<DropItem>, TargetError> {
    let mut connection = loader(config)?;
    let removed = remove(&mut connection, config)?;
    connection.close();
    Ok(removed)
}

/// As [`drop_all`], on a connection that is there.
///
/// A drop cannot be taken back and is not one transaction. The list of objects goes last, so a drop that breaks off is
/// ended by the next one.
pub(super) fn remove(
    connection: &mut Connection,
    config: &ConnectConfig,
) -> Result<Vec<DropItem>, TargetError> {
    let database = database(connection)?;
    let objects = ours(connection)?.0;
    for object in &objects {
        let Object { kind, name, .. } = object;
        connection.simple(&format!("DROP {} {}", kind.to_uppercase(), ident(name))).map_err(|error| {
            explain(error, &format!("{kind} {name}, which Dyno made, cannot be dropped"), config)
        })?;
    }
    Ok(objects.iter().map(|object| object.item(&database)).collect())
}

fn database(connection: &mut Connection) -> Result<String, TargetError> {
    let rows = connection.simple("SELECT DATABASE()")?;
    Ok(rows.first().and_then(|row| row.get(0)).unwrap_or_default().to_owned())
}

/// What is recorded, there, and still carries the mark it was recorded with, last made first; and what is called alike.
fn ours(connection: &mut Connection) -> Result<(Vec<Object>, Vec<Object>), TargetError> {
    let there = meta::objects(connection)?;
    if !meta::has_table(&there, "dyno_objects") {
        return Ok((Vec::new(), there));
    }
    let rows = connection.simple("SELECT kind, name, mark FROM dyno_objects ORDER BY seq DESC")?;
    let place = |object: &Object| {
        // The list itself is known by its name and mark alone: a load may have been killed before it recorded it.
        if object.name == "dyno_objects" && object.mark.starts_with(MARK) {
            return Some(rows.len());
        }
        rows.iter().position(|row| {
            [row.get(0), row.get(1), row.get(2)]
                == [&object.kind, &object.name, &object.mark].map(|text| Some(text.as_str()))
        })
    };
    let (mut ours, others): (Vec<Object>, Vec<Object>) =
        there.into_iter().partition(|object| place(object).is_some());
    ours.sort_by_key(place);
    Ok((ours, others))
}
