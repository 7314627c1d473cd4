//! What comes after the rows: index, vacuum, measuring, and the note that all is done.

use super::super::wire::Connection;
use super::meta::{Found, finish_sql, record_relation_sql};
use super::session::{Loading, explain};
use super::tables::{Table, indexes};
use super::verify::measure;
use dyno_engine::{SchemaFacts, TargetError};

/// Builds the indexes that are not there yet, each recorded in the transaction that makes it.
pub(super) fn index(loading: &Loading<'_>, found: &Found) -> Result<(), TargetError> {
    let all = loading.tables.iter().flat_map(|table| {
        indexes(table, loading.spec).into_iter().map(|(name, create)| (table.rows, name, create))
    });
    let missing: Vec<_> = all.filter(|(_, name, _)| !found.indexes.contains(name)).collect();
    loading.progress.phase("index", missing.iter().map(|(rows, ..)| rows).sum());
    loading.each(missing.len(), |connection, job| {
        let (rows, name, create) = &missing[job];
        connection
            .simple(&format!("{create}; {}", record_relation_sql("index", name)))
            .map_err(|error| explain(error, &format!("index {name} cannot be built"), loading.loaders.0))?;
        loading.progress.advance(*rows, 0);
        Ok(())
    })
}

/// Runs `command` (a VACUUM with its options) on every table.
pub(super) fn vacuum(loading: &Loading<'_>, phase: &str, command: &str) -> Result<(), TargetError> {
    loading.each_table(&loading.tables, phase, |connection, table| {
        vacuum_one(connection, loading, table, command)
    })
}

/// Runs `command` on one table.
pub(super) fn vacuum_one(
    connection: &mut Connection,
    loading: &Loading<'_>,
    table: &Table,
    command: &str,
) -> Result<(), TargetError> {
    let name = table.name();
    let explained = |error| explain(error, &format!("{name} cannot be vacuumed"), loading.loaders.0);
    connection.simple(&format!("{command} {name}")).map(|_| ()).map_err(explained)
}

/// Writes what the load left in the buffers, so that the first run does not pay for it. Only superusers and members of
/// `pg_checkpoint` (15 and later) may; for others the server does it in its own time.
pub(super) fn checkpoint(connection: &mut Connection) {
    let _ = connection.simple("CHECKPOINT");
}

/// Measures every table, fails if one is not what it shall be, and notes the facts and the end of the load.
pub(super) fn verify(
    control: &mut Connection,
    loading: &Loading<'_>,
) -> Result<Vec<SchemaFacts>, TargetError> {
    let measured = loading.measure(|connection, table| measure(connection, loading.spec, table))?;
    control
        .simple(&finish_sql(&measured))
        .map_err(|error| explain(error, "the end of the load cannot be noted", loading.loaders.0))?;
    Ok(measured.into_iter().map(|(facts, _)| facts).collect())
}
