//! Dyno's data in PostgreSQL: schema `dyno`, its tables, and how they are filled, recognised and dropped.
//!
//! One row of some 2.5 KiB per block of 8 KiB: `fillfactor = 10` keeps a second row out and leaves room for HOT updates,
//! `STORAGE PLAIN` keeps every byte in the row. Rows go in by binary `COPY` in chunks that each commit with a note of
//! themselves, so a killed load resumes exactly; then index, `VACUUM (FREEZE, ANALYZE)`, slice procedures, and a
//! measurement of what is really there.

mod chunks;
mod copy_rows;
mod create;
pub(super) mod deletions;
mod drop;
mod finish;
mod keys;
mod loading;
mod meta;
pub(super) mod own_rows;
mod quote;
mod rows;
mod session;
mod spot;
mod tables;
mod verify;
mod versions;

use std::time::Instant;

use dyno_plan::DataSpec;

use super::connect::ConnectConfig;
use super::wire::Connection;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{Cancel, DataState, LoadOptions, LoadReport, Progress};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use quote::{ident, literal};
pub(super) use session::explain_look;
pub(super) use spot::spot_check;
pub(super) use tables::{SCHEMA, Table};
pub(super) use versions::versions;

use loading::Loading;
use meta::Found;
use rows::Written;

/// What the database holds of Dyno's.
pub(super) fn survey(connection: &mut Connection) -> Result<DataState, TargetError> {
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
    let mut control = session::loader(config)?;
    check_block_size(&mut control, spec)?;
    session::lock(&mut control)?;
    session::outlast(&mut control, progress, cancel)?;
    let report = |already, written: Written, tables| LoadReport {
        spec: spec.clone(),
        already,
        rows_written: written.rows,
        bytes_written: written.bytes,
        seconds: began.elapsed().as_secs_f64(),
        tables,
    };
    let found = match meta::read(&mut control)? {
        Some(Found { state: DataState::Loaded { spec: there, tables, .. }, .. }) if there == *spec => {
            create::complete(&mut control, spec, config)?;
            return Ok(report(true, Written::default(), tables));
        }
        Some(found) if is_partial_of(&found.state, spec) => {
            create::complete(&mut control, spec, config)?;
            found
        }
        Some(found) => {
            if !options.replace {
                return Err(refused(&found.state, spec));
            }
            drop::remove(&mut control, config)?;
            created(&mut control, spec, options, config)?
        }
        None => created(&mut control, spec, options, config)?,
    };
    let tables = Table::all(spec);
    let parallel = options.parallel;
    let loading = Loading { config, spec, tables: &tables, parallel, progress, cancel };
    let done = loading.done(&found);
    let mut written = rows::fill_bodies(&loading, &done)?;
    written.add(rows::fill_tails(&loading, &done)?);
    finish::index(&loading, &found)?;
    // Nearly all blocks are frozen already and skipped.
    finish::vacuum(&loading, "analyze", "VACUUM (FREEZE, ANALYZE)")?;
    finish::checkpoint(&mut control);
    let facts = finish::verify(&mut control, &loading)?;
    control.close();
    Ok(report(false, written, facts))
}

fn created(
    control: &mut Connection,
    spec: &DataSpec,
    options: &LoadOptions,
    config: &ConnectConfig,
) -> Result<Found, TargetError> {
    create::create(control, spec, &options.dyno_version, config)?;
    meta::read(control)?.ok_or_else(|| {
        TargetError::new(TargetErrorKind::Data, "the metadata was dropped while the load began")
            .hint("make sure that nobody else drops objects in schema dyno, and load again")
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
        "{} schemas of {} rows and {} scan rows, {} % compressible, seed {}{secondary}",
        spec.schemas, spec.rows, spec.scan_rows, spec.compressible, spec.seed
    )
}

fn check_block_size(control: &mut Connection, spec: &DataSpec) -> Result<(), TargetError> {
    let rows = control.simple("SHOW block_size")?;
    let own: Option<u64> = rows.first().and_then(|row| row.parse(0));
    if own == Some(spec.block_size) {
        return Ok(());
    }
    let message = format!(
        "the data asks for blocks of {} bytes, and this server's have {}",
        spec.block_size,
        own.unwrap_or(0)
    );
    Err(TargetError::new(TargetErrorKind::Unsupported, message)
        .hint("leave data.block_size out, or use a server that was built with that block size"))
}
