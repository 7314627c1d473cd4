//! Dyno's data in MySQL and MariaDB: tables `dyno_…` in the database that the URL names, and how they are filled,
//! recognised and dropped.
//!
//! **One row per page.** InnoDB clusters a table by its primary key and by design lets at least two rows share a page, so
//! neither a fill factor nor a wide row alone keeps a second row out. Here rows and spacers alternate in the order of a
//! surrogate key `id`: every row is as long as InnoDB keeps whole (just under half of a page), and between each two lies a
//! spacer of some hundred bytes. Two rows and the spacer between them are more than a page holds, so whatever the
//! order of inserts and the splits, no page has two rows. (On pages of 64 KiB, whose records are at most 16 KiB long, three
//! long spacers precede each row.) Spacers have no `custid` and no `c2`, so no operation touches
//! them. Keys `custid` come in random order along `id`, with a non-unique index, so a range of keys visits scattered pages.
//!
//! Rows go in in chunks that each commit with a note of themselves, so a killed load resumes exactly; then index,
//! statistics, and a measurement of what is really there.

mod create;
mod drop;
mod fill;
mod finish;
mod keys;
mod loading;
mod meta;
pub(super) mod own_rows;
mod quote;
mod row_text;
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
pub(super) use quote::literal;
pub(super) use session::{explain_look, grants, settle};
pub(super) use spot::spot_check;
pub(super) use tables::{Shape, Table};
pub(super) use versions::versions;

use loading::{Loading, Way};
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
    let shape = Shape::of(spec.block_size)?;
    check_block_size(&mut control, spec)?;
    let report = |already, written: Written, tables| LoadReport {
        spec: spec.clone(),
        already,
        rows_written: written.rows,
        bytes_written: written.bytes,
        seconds: began.elapsed().as_secs_f64(),
        tables,
    };
    let found = match meta::read(&mut control)? {
        Some(found) if is_loaded(&found.state, spec) => {
            create::procedures(&mut control, spec, shape, &found, config)?;
            return Ok(report(true, Written::default(), found.state.into_tables()));
        }
        Some(found) if is_partial_of(&found.state, spec) => found,
        Some(found) => {
            if !options.replace {
                return Err(refused(&found.state, spec));
            }
            drop::remove(&mut control, config)?;
            created(&mut control, spec, shape, options, config)?
        }
        None => {
            // What a load that was killed at its very beginning has left.
            drop::remove(&mut control, config)?;
            created(&mut control, spec, shape, options, config)?
        }
    };
    let tables = Table::all(spec);
    let fill = Way::choose(&mut control)?;
    let loading = Loading { config, spec, shape, tables: &tables, fill, options, progress, cancel };
    // What a broken-off load, or one killed while it created, has not made yet.
    create::tables(&mut control, &loading, &found)?;
    let written = rows::fill(&loading, &loading.done(&found))?;
    finish::index(&loading)?;
    finish::write_out(&loading);
    let facts = finish::verify(&mut control, &loading)?;
    control.close();
    Ok(report(false, written, facts))
}

fn created(
    control: &mut Connection,
    spec: &DataSpec,
    shape: Shape,
    options: &LoadOptions,
    config: &ConnectConfig,
) -> Result<Found, TargetError> {
    create::metadata(control, spec, shape, &options.dyno_version, config)?;
    meta::read(control)?.ok_or_else(|| {
        TargetError::new(TargetErrorKind::Data, "the metadata was dropped while the load began")
            .hint("make sure that nobody else drops tables dyno_…, and load again")
    })
}

fn is_loaded(state: &DataState, wanted: &DataSpec) -> bool {
    matches!(state, DataState::Loaded { spec, .. } if spec == wanted)
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
    let own = page_size(control)?;
    if own == spec.block_size {
        return Ok(());
    }
    let message = format!(
        "the data asks for blocks of {} bytes, and this server's pages have {own} (innodb_page_size)",
        spec.block_size
    );
    Err(TargetError::new(TargetErrorKind::Unsupported, message)
        .hint("leave data.block_size out, or use a server that was initialised with that innodb_page_size"))
}

/// The server's page size in bytes.
pub(super) fn page_size(connection: &mut Connection) -> Result<u64, TargetError> {
    let rows = connection.simple("SELECT @@innodb_page_size")?;
    rows.first().and_then(|row| row.parse(0)).ok_or_else(|| {
        TargetError::new(TargetErrorKind::Database, "the server's innodb_page_size cannot be read")
    })
}
