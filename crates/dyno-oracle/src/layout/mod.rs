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
mod finish;
mod meta;
pub(super) mod own_rows;
mod rows;
mod session;
mod spot;
mod tables;
mod tablespace;
mod verify;

use std::time::Instant;

use dyno_plan::DataSpec;

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::sql;
use dyno_engine::data::TableKind;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{Cancel, DataState, LoadOptions, LoadReport, Progress};
use dyno_engine::witness::RowVersion;

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use spot::spot_check;
pub(super) use tables::{Table, check_block_bytes, names_and_binds};
pub(super) use tablespace::{Place, tablespace};

#[cfg(test)]
pub(super) use tables::text_expression;

use meta::Found;
use rows::{Loading, Written};

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
    let began = Instant::now();
    let control = Connection::open(config, "load")?;
    check_block_size(&control, config, spec)?;
    let report = |already, written: Written, tables| LoadReport {
        spec: spec.clone(),
        already,
        rows_written: written.rows,
        bytes_written: written.bytes,
        seconds: began.elapsed().as_secs_f64(),
        tables,
    };
    let found = match meta::read(&control)? {
        Some(Found { state: DataState::Loaded { spec: there, tables, .. }, .. }) if there == *spec => {
            return Ok(report(true, Written::default(), tables));
        }
        Some(found) if is_partial_of(&found.state, spec) => found,
        Some(found) => {
            if !options.replace {
                return Err(refused(&found.state, spec));
            }
            drop::remove(&control, config)?;
            created(&control, config, spec, options)?
        }
        None => {
            // What a load that was killed at its very beginning has left.
            drop::remove(&control, config)?;
            created(&control, config, spec, options)?
        }
    };
    let tables = Table::all(spec);
    let loading = Loading { config, spec, tables: &tables, options, progress, cancel };
    // What a broken-off load, or one killed while it created, has not made yet.
    create::tables(&control, &loading, &found)?;
    let written = rows::fill(&loading, &loading.done(&found))?;
    finish::index(&loading)?;
    finish::statistics(&loading)?;
    let facts = finish::verify(&control, &loading)?;
    control.close();
    Ok(report(false, written, facts))
}

fn created(
    control: &Connection,
    config: &ConnectConfig,
    spec: &DataSpec,
    options: &LoadOptions,
) -> Result<Found, TargetError> {
    create::metadata(control, config, spec, &options.dyno_version)?;
    meta::read(control)?.ok_or_else(|| {
        TargetError::new(TargetErrorKind::Data, "the metadata was dropped while the load began")
            .hint("make sure that nobody else drops tables DYNO_…, and load again")
    })
}

fn is_partial_of(state: &DataState, wanted: &DataSpec) -> bool {
    matches!(state, DataState::Partial { spec, .. } if spec == wanted)
}

fn refused(state: &DataState, wanted: &DataSpec) -> TargetError {
    let (what, there) = match state {
        DataState::Partial { spec, .. } => ("a load of other data was begun and not finished", spec),
        DataState::Loaded { spec, .. } => ("other data is loaded", spec),
        DataState::Empty => ("nothing is loaded", wanted),
    };
    let message = format!("{what}: {} is there, and the plan asks for {}", words(there), words(wanted));
    TargetError::new(TargetErrorKind::Data, message)
        .hint("load with --replace to drop it first, or change the plan")
}

fn words(spec: &DataSpec) -> String {
    let secondary = if spec.secondary { "" } else { ", no secondary key" };
    format!(
        "{} schemas of {} rows and {} scan rows in blocks of {} bytes, {} % compressible, seed {}{secondary}",
        spec.schemas, spec.rows, spec.scan_rows, spec.block_size, spec.compressible, spec.seed
    )
}

fn check_block_size(
    control: &Connection,
    config: &ConnectConfig,
    spec: &DataSpec,
) -> Result<(), TargetError> {
    let place = tablespace(control, config)?;
    check_block_bytes(place.block_size)?;
    if place.block_size == spec.block_size {
        return Ok(());
    }
    let message = format!(
        "the data asks for blocks of {} bytes, and those of tablespace {} have {}",
        spec.block_size, place.name, place.block_size
    );
    Err(TargetError::new(TargetErrorKind::Unsupported, message)
        .hint("leave data.block_size out, or name a tablespace of that block size by ?tablespace=NAME"))
}

/// Tells `visit` of every row of the tables that updates go to, each table as it is at one moment.
pub(super) fn versions(
    connection: &Connection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    for table in Table::all(spec).iter().filter(|table| table.kind == TableKind::Rows) {
        let sql = sql::VERSIONS.with(&[("table", &table.name())]);
        connection.each(&sql, &[], &mut |row| {
            visit(&RowVersion {
                schema: table.schema,
                // Keys below 1 are none of Dyno's, whichever they are.
                key: row.parse(0).unwrap_or(0),
                version: row.parse(1).unwrap_or(-1),
                stamp: row.get(2).unwrap_or_default(),
            });
        })?;
    }
    Ok(())
}
