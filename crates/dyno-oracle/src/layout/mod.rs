//! Dyno's data in Oracle: tables `DYNO_…` in the user's own schema, and how they are filled, recognised and dropped.
//!
//! **One row per block.** PCTFREE 99 closes a block to inserts as soon as 1 % of it is used, and a row of 2.5 KB uses more in
//! every block size. Nothing else could keep a second row out: MINIMIZE RECORDS_PER_BLOCK cannot give less than two rows a block, for
//! the factor behind it stores the number of rows less one. The load measures what came of it, from the rows' own
//! addresses, and `dyno check --deep` where rows go that are inserted after others were deleted.
//!
//! Rows go in by array inserts in chunks that each commit with a note of themselves, so a killed load resumes exactly; then the
//! index, the optimizer's statistics, and the measurement.

mod create;
mod drop;
pub(super) mod filler;
mod finish;
mod meta;
pub(super) mod own_rows;
mod rows;
mod session;
mod spot;
mod tables;
mod tablespace;
mod verify;

use dyno_plan::{Bytes, DataSpec};

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::sql;
use dyno_engine::advice::own_block_size;
use dyno_engine::layout::{Loading, Steps};
use dyno_engine::{Cancel, DataState, LoadOptions, LoadReport, Progress, RowVersion, TargetError};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use spot::spot_check;
pub(super) use tables::{check_block_bytes, names_and_binds};
pub(super) use tablespace::{Tablespace, tablespace};

#[cfg(test)]
pub(super) use tables::{Table, column_definitions, indexes};

use meta::Found;
use session::Loaders;

/// What the schema holds of Dyno's.
pub(super) fn survey(connection: &Connection) -> Result<DataState, TargetError> {
    Ok(meta::read(connection)?.map_or(DataState::Empty, |found| found.state))
}

/// Creates, fills and verifies the data of `spec`; see [`dyno_engine::Target::load`].
pub(super) fn load(
    config: &ConnectConfig,
    spec: &DataSpec,
    options: &LoadOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let mut control = Connection::open(config, "load")?;
    let tablespace = tablespace(&control, config)?;
    check_block_bytes(tablespace.block_size)?;
    chosen_block_size(Some(Bytes(spec.block_size)), &tablespace)?;
    let loading =
        Loading { loaders: Loaders(config), spec, tables: tables::tables(spec), options, progress, cancel };
    let steps = Steps {
        objects: "tables DYNO_…",
        find: &|control: &mut Connection| meta::read(control),
        state: |found: &Found| &found.state,
        remove: &|control| drop::remove(control, config).map(|_| ()),
        begin: &|control| create::metadata(control, &loading),
        complete: &|control, found| create::tables(control, &loading, found),
        fill: &|_, found| {
            let written = rows::fill(&loading, &loading.places(&found.chunks))?;
            finish::index(&loading)?;
            finish::statistics(&loading)?;
            Ok(written)
        },
        verify: &|control| finish::verify(control, &loading),
    };
    let report = steps.load(&mut control, spec, options)?;
    control.close();
    Ok(report)
}

/// The block size of the tablespace, which the wish has to be.
pub(super) fn chosen_block_size(wish: Option<Bytes>, tablespace: &Tablespace) -> Result<Bytes, TargetError> {
    let (own, whose) =
        (Bytes(tablespace.block_size), format!("blocks of tablespace {} have", tablespace.name));
    own_block_size(wish, own, &whose, "name a tablespace of that block size by ?tablespace=NAME")
}

/// Tells `visit` of every row of the tables that updates go to, each table as it is at one moment.
pub(super) fn versions(
    connection: &Connection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    for table in tables::tables_of_rows(spec) {
        let sql = sql::VERSIONS.with(&[("table", &table.name())]);
        connection.each(&sql, &[], &mut |row| visit(&RowVersion::read(table.schema, &row, 0)))?;
    }
    Ok(())
}
