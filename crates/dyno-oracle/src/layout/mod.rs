//! Dyno's data in Oracle: tables `DYNO_…` in the user's own schema, and how they are loaded, recognized and
//! dropped.
//!
//! **One row per block.** PCTFREE 99 closes a block to inserts as soon as 1 % of it is used, and a row of 2.5
//! KB uses more in every block size. No other option prevents a second row. MINIMIZE RECORDS_PER_BLOCK allows
//! at least two rows per block, because its factor stores the number of rows less one. The load measures the
//! result from the rows' addresses. `dyno check --deep` checks where rows go that are inserted after others
//! were deleted.
//!
//! Array inserts write rows in chunks. Each chunk commits together with a note of itself, so a killed load
//! resumes exactly. Where the plan asks for it, the database copies the other schemas from schema 1. The
//! index, the optimizer's statistics and the measurement follow.

mod copies;
mod create;
mod drop;
pub(super) mod filler;
mod finish;
pub(super) mod leftover_rows;
mod meta;
mod rows;
mod session;
mod spot_check;
mod tables;
mod tablespace;
mod verify;

use dyno_plan::{Bytes, DataSpec};

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::sql;
use dyno_engine::advice::own_block_size;
use dyno_engine::layout::{LoadSteps, LoadTotals, ParallelLoad};
use dyno_engine::{Cancel, DataState, LoadOptions, LoadProgressSink, LoadReport, RowVersion, TargetError};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use spot_check::spot_check;
pub(super) use tables::{check_block_bytes, names_and_binds};
pub(super) use tablespace::{Tablespace, tablespace};

#[cfg(test)]
pub(super) use copies::copy_sql;
#[cfg(test)]
pub(super) use tables::{TestTable, column_definitions, indexes};

use meta::OracleLoadedLayout;
use session::OracleLoaderFactory;

/// Determines what Dyno has loaded in the schema.
pub(super) fn survey(connection: &OracleConnection) -> Result<DataState, TargetError> {
    Ok(meta::read(connection)?.map_or(DataState::Empty, |found| found.state))
}

/// Creates, fills and verifies the data of `spec`; see [`dyno_engine::Target::load`].
pub(super) fn load(
    config: &OracleConnectConfig,
    spec: &DataSpec,
    options: &LoadOptions,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let mut control = OracleConnection::open(config, "load")?;
    let tablespace = tablespace(&control, config)?;
    check_block_bytes(tablespace.block_size)?;
    chosen_block_size(Some(Bytes(spec.block_size)), &tablespace)?;
    let loading = ParallelLoad {
        loaders: OracleLoaderFactory(config),
        spec,
        tables: tables::tables(spec),
        options,
        progress,
        cancel,
    };
    let steps = LoadSteps {
        objects: "tables DYNO_…",
        find: &|control: &mut OracleConnection| meta::read(control),
        state: |found: &OracleLoadedLayout| &found.state,
        remove: &|control| drop::remove(control, config).map(|_| ()),
        begin: &|control| create::metadata(control, &loading),
        complete: &|control, found| create::tables(control, &loading, found),
        fill: &|_, found| {
            let completed = loading.places(&found.chunks);
            let sent = rows::fill(&loading, &completed)?;
            let copied = copies::copy(&loading, &completed)?;
            finish::index(&loading)?;
            finish::statistics(&loading)?;
            Ok(LoadTotals { rows: sent.rows + copied.rows, bytes: sent.bytes + copied.bytes })
        },
        verify: &|control| finish::verify(control, &loading),
    };
    let report = steps.load(&mut control, spec, options)?;
    control.close();
    Ok(report)
}

/// The block size to use: that of the tablespace, which a requested size must equal.
pub(super) fn chosen_block_size(wish: Option<Bytes>, tablespace: &Tablespace) -> Result<Bytes, TargetError> {
    let (own, whose) =
        (Bytes(tablespace.block_size), format!("the block size of tablespace {} is", tablespace.name));
    own_block_size(wish, own, &whose, "name a tablespace of that block size by ?tablespace=NAME")
}

/// Calls `visit` for every row of the tables that updates modify, each table in one consistent snapshot.
pub(super) fn versions(
    connection: &OracleConnection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    for table in tables::tables_of_rows(spec) {
        let sql = sql::VERSIONS.with(&[("table", &table.name())]);
        connection.each(&sql, &[], &mut |row| visit(&RowVersion::read(table.schema, &row, 0)))?;
    }
    Ok(())
}
