//! Drops exactly the objects that Dyno created.

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::sql;
use super::meta::{self, OracleExistingTable};
use super::session::explain;
use dyno_engine::layout::MARK;
use dyno_engine::{DropItem, TargetError};

/// The most rows of a table whose creation was interrupted: the probe row.
const PROBE_ROWS: u32 = 1;

/// The objects that a drop would remove; empty without metadata.
pub(crate) fn inventory(connection: &OracleConnection) -> Result<Vec<DropItem>, TargetError> {
    Ok(split_by_owner(connection)?.0.iter().map(OracleExistingTable::item).collect())
}

/// Tables whose names begin like Dyno's but that Dyno did not create; a drop leaves them.
pub(crate) fn foreign(connection: &OracleConnection) -> Result<Vec<DropItem>, TargetError> {
    let (_, others) = split_by_owner(connection)?;
    Ok(others.iter().map(OracleExistingTable::item).collect())
}

/// Removes the objects that [`inventory`] lists.
pub(crate) fn drop_all(config: &OracleConnectConfig) -> Result<Vec<DropItem>, TargetError> {
    let connection = OracleConnection::open(config, "drop")?;
    let removed = remove(&connection, config)?;
    connection.close();
    Ok(removed)
}

/// Like [`drop_all`], on an existing connection.
///
/// A drop cannot be rolled back. The list of tables is removed last, so another drop completes one that was
/// interrupted.
pub(super) fn remove(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
) -> Result<Vec<DropItem>, TargetError> {
    let tables = split_by_owner(connection)?.0;
    for table in &tables {
        connection.run(&sql::DROP_TABLE.with(&[("table", &quoted(&table.name))]), &[]).map_err(|error| {
            explain(error, &format!("table {}, which Dyno created, cannot be dropped", table.name), config)
        })?;
    }
    Ok(tables.iter().map(OracleExistingTable::item).collect())
}

/// A dictionary name in quotes. Dyno's own names need none; names that it finds may contain anything.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', ""))
}

/// Tables that are recorded and exist, newest first and the list itself last; and other tables with similar
/// names.
///
/// The creation of a recorded table without a comment was interrupted, if it holds at most the probe row.
fn split_by_owner(
    connection: &OracleConnection,
) -> Result<(Vec<OracleExistingTable>, Vec<OracleExistingTable>), TargetError> {
    const LIST: &str = "DYNO_OBJECTS";
    let existing_tables = meta::list_tables(connection)?;
    if !meta::has_marked(&existing_tables, LIST) {
        return Ok((Vec::new(), existing_tables));
    }
    let recorded = meta::recorded(connection)?;
    let place = |table: &OracleExistingTable| {
        // The list itself is recognized by name and mark alone: a load may have been killed before it
        // recorded it.
        if table.name == LIST { Some(recorded.len()) } else { recorded.iter().position(|n| *n == table.name) }
    };
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for table in existing_tables {
        let is_recorded = place(&table).is_some();
        let is_ours = is_recorded
            && (table.mark.starts_with(MARK)
                || (table.mark.is_empty() && is_unfinished(connection, &table)?));
        if is_ours { ours.push(table) } else { others.push(table) }
    }
    ours.sort_by_key(place);
    Ok((ours, others))
}

fn is_unfinished(connection: &OracleConnection, table: &OracleExistingTable) -> Result<bool, TargetError> {
    let rows = connection.rows(&sql::COUNT_FEW.with(&[("table", &quoted(&table.name))]), &[])?;
    Ok(rows.first().and_then(|row| row.parse::<u32>(0)).is_some_and(|few| few <= PROBE_ROWS))
}
