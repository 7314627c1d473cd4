//! Completes a load after the rows are written: builds indexes, vacuums, measures tables and records the end.

use super::super::wire::PostgresConnection;
use super::meta::{PostgresLoadedLayout, finish_sql, record_relation_sql};
use super::session::{PostgresLoadContext, explain};
use super::tables::{TestTable, indexes};
use super::verify::measure;
use dyno_engine::{SchemaFacts, TargetError};

/// Builds the indexes that do not exist yet; each is recorded in the transaction that creates it.
pub(super) fn index(
    loading: &PostgresLoadContext<'_>,
    loaded: &PostgresLoadedLayout,
) -> Result<(), TargetError> {
    let all = loading.tables.iter().flat_map(|table| {
        indexes(table, loading.spec).into_iter().map(|(name, create)| (table.rows, name, create))
    });
    let missing: Vec<_> = all.filter(|(_, name, _)| !loaded.indexes.contains(name)).collect();
    loading.progress.phase("index", missing.iter().map(|(rows, ..)| rows).sum());
    loading.each(missing.len(), |connection, job| {
        let (rows, name, create) = &missing[job];
        connection.simple(&format!("{create}; {}", record_relation_sql("index", name))).map_err(|error| {
            explain(error, &format!("index {name} cannot be built"), &loading.loaders.config)
        })?;
        loading.progress.advance(*rows, 0);
        Ok(())
    })
}

/// Executes `command` (a VACUUM with its options) on every table.
pub(super) fn vacuum(
    loading: &PostgresLoadContext<'_>,
    phase: &str,
    command: &str,
) -> Result<(), TargetError> {
    loading.each_table(&loading.tables, phase, |connection, table| {
        vacuum_one(connection, loading, table, command)
    })
}

/// Runs `command` on one table.
pub(super) fn vacuum_one(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
    table: &TestTable,
    command: &str,
) -> Result<(), TargetError> {
    let name = table.name();
    let explained = |error| explain(error, &format!("{name} cannot be vacuumed"), &loading.loaders.config);
    connection.simple(&format!("{command} {name}")).map(|_| ()).map_err(explained)
}

/// Flushes the blocks that the load left in the buffers, so that the first run does not write them. Only
/// superusers and members of `pg_checkpoint` (15 and later) may do this; for others the server flushes later.
pub(super) fn checkpoint(connection: &mut PostgresConnection) {
    let _ = connection.simple("CHECKPOINT");
}

/// Measures every table, returns an error if one does not match the spec, and records the results and the end
/// of the load.
pub(super) fn verify(
    control: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
) -> Result<Vec<SchemaFacts>, TargetError> {
    let measured = loading.measure(|connection, table| measure(connection, loading.spec, table))?;
    control
        .simple(&finish_sql(&measured))
        .map_err(|error| explain(error, "the end of the load cannot be recorded", &loading.loaders.config))?;
    Ok(measured.into_iter().map(|(facts, _)| facts).collect())
}
