//! What comes after the rows: index, vacuum, measuring, and the note that all is done.

use std::sync::{Mutex, PoisonError};

use super::super::wire::Connection;
use super::loading::Loading;
use super::meta::{Found, finish_sql, record_relation_sql};
use super::session::{Loaders, explain};
use super::tables::Table;
use super::verify::measure;
use dyno_engine::error::TargetError;
use dyno_engine::load::SchemaFacts;
use dyno_engine::pool;

/// Builds the indexes that are not there yet, each recorded in the transaction that makes it.
pub(super) fn index(loading: &Loading<'_>, found: &Found) -> Result<(), TargetError> {
    let of =
        |table: &Table| table.indexes(loading.spec).into_iter().map(|index| (table.rows, index)).collect();
    let all: Vec<(u64, (String, String))> =
        loading.tables.iter().flat_map(|table| -> Vec<_> { of(table) }).collect();
    let missing: Vec<_> = all.iter().filter(|(_, (name, _))| !found.indexes.contains(name)).collect();
    loading.progress.phase("index", missing.iter().map(|(rows, _)| rows).sum());
    pool::run(
        &Loaders(loading.config),
        loading.parallel,
        missing.len(),
        loading.cancel,
        &|connection, job| {
            let (rows, (name, create)) = missing[job];
            connection
                .simple(&format!("{create}; {}", record_relation_sql("index", name)))
                .map_err(|error| explain(error, &format!("index {name} cannot be built"), loading.config))?;
            loading.progress.advance(*rows, 0);
            Ok(())
        },
    )
}

/// Runs `command` (a VACUUM with its options) on every table.
pub(super) fn vacuum(loading: &Loading<'_>, phase: &str, command: &str) -> Result<(), TargetError> {
    loading.progress.phase(phase, loading.spec.total_rows());
    pool::run(
        &Loaders(loading.config),
        loading.parallel,
        loading.tables.len(),
        loading.cancel,
        &|connection, job| {
            vacuum_one(connection, loading, &loading.tables[job], command)?;
            loading.progress.advance(loading.tables[job].rows, 0);
            Ok(())
        },
    )
}

/// Runs `command` on one table.
pub(super) fn vacuum_one(
    connection: &mut Connection,
    loading: &Loading<'_>,
    table: &Table,
    command: &str,
) -> Result<(), TargetError> {
    let name = table.full_name();
    let explained = |error| explain(error, &format!("{name} cannot be vacuumed"), loading.config);
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
    loading.progress.phase("verify", loading.spec.total_rows());
    let measured = Mutex::new(Vec::new());
    pool::run(
        &Loaders(loading.config),
        loading.parallel,
        loading.tables.len(),
        loading.cancel,
        &|connection, job| {
            let table = loading.tables[job];
            let (facts, relation_blocks) = measure(connection, loading.spec, &table)?;
            loading.progress.advance(facts.rows, 0);
            measured.lock().unwrap_or_else(PoisonError::into_inner).push((table, facts, relation_blocks));
            Ok(())
        },
    )?;
    let mut measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
    measured.sort_by_key(|(table, ..)| (table.kind, table.schema));
    control
        .simple(&finish_sql(&measured))
        .map_err(|error| explain(error, "the end of the load cannot be noted", loading.config))?;
    Ok(measured.into_iter().map(|(_, facts, _)| facts).collect())
}
