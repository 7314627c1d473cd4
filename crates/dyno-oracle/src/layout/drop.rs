//! Removing exactly what Dyno made.

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::super::sql;
use super::meta::{self, There};
use super::session::explain;
use dyno_engine::layout::MARK;
use dyno_engine::{DropItem, TargetError};

/// Rows of a table that was begun and not finished: the probe row at most.
const PROBE_ROWS: u32 = 1;

/// What a drop would remove; nothing if there is no metadata.
pub(crate) fn inventory(connection: &Connection) -> Result<Vec<DropItem>, TargetError> {
    Ok(ours(connection)?.0.iter().map(There::item).collect())
}

/// What is called as Dyno's tables are and is not Dyno's: a drop leaves it.
pub(crate) fn foreign(connection: &Connection) -> Result<Vec<DropItem>, TargetError> {
    let (_, others) = ours(connection)?;
    Ok(others.iter().map(There::item).collect())
}

/// Removes what [`inventory`] lists.
pub(crate) fn drop_all(config: &ConnectConfig) -> Result<Vec<DropItem>, TargetError> {
    let connection = Connection::open(config, "drop")?;
    let removed = remove(&connection, config)?;
    connection.close();
    Ok(removed)
}

/// As [`drop_all`], on a connection that is there.
///
/// A drop cannot be taken back. The list of tables goes last, so a drop that breaks off is ended by the next one.
pub(super) fn remove(connection: &Connection, config: &ConnectConfig) -> Result<Vec<DropItem>, TargetError> {
    let tables = ours(connection)?.0;
    for table in &tables {
        connection.run(&sql::DROP_TABLE.with(&[("table", &quoted(&table.name))]), &[]).map_err(|error| {
            explain(error, &format!("table {}, which Dyno made, cannot be dropped", table.name), config)
        })?;
    }
    Ok(tables.iter().map(There::item).collect())
}

/// A name of the dictionary in quotes. Names that Dyno makes need none; those that it finds may be anything.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', ""))
}

/// What is recorded and there, last made first and the list itself last; and what is called alike.
///
/// A recorded table without a comment is one whose making was broken off, if it holds no more than the probe row.
fn ours(connection: &Connection) -> Result<(Vec<There>, Vec<There>), TargetError> {
    const LIST: &str = "DYNO_OBJECTS";
    let there = meta::there(connection)?;
    if !meta::has_marked(&there, LIST) {
        return Ok((Vec::new(), there));
    }
    let recorded = meta::recorded(connection)?;
    let place = |table: &There| {
        // The list itself is known by its name and mark alone: a load may have been killed before it recorded it.
        if table.name == LIST { Some(recorded.len()) } else { recorded.iter().position(|n| *n == table.name) }
    };
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for table in there {
        let known = place(&table).is_some();
        let is_ours = known
            && (table.mark.starts_with(MARK)
                || (table.mark.is_empty() && is_unfinished(connection, &table)?));
        if is_ours { ours.push(table) } else { others.push(table) }
    }
    ours.sort_by_key(place);
    Ok((ours, others))
}

fn is_unfinished(connection: &Connection, table: &There) -> Result<bool, TargetError> {
    let rows = connection.rows(&sql::COUNT_FEW.with(&[("table", &quoted(&table.name))]), &[])?;
    Ok(rows.first().and_then(|row| row.parse::<u32>(0)).is_some_and(|few| few <= PROBE_ROWS))
}
