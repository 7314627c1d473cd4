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
pub(super) mod filler;
mod finish;
mod keys;
mod meta;
pub(super) mod named_objects;
pub(super) mod own_rows;
mod quote;
mod rows;
mod session;
mod spot;
mod tables;
mod verify;
mod versions;

use dyno_plan::{Bytes, DataSpec};

use super::connect::ConnectConfig;
use super::identity::block::{block_size, chosen_block_size};
use super::wire::Connection;
use dyno_engine::layout::{Loading, Steps, Written};
use dyno_engine::{Cancel, DataState, LoadOptions, LoadReport, Progress, TargetError};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use named_objects::named_bytes;
pub(super) use quote::{ident, literal};
pub(super) use session::explain_look;
pub(super) use spot::spot_check;
pub(super) use tables::{SCHEMA, Table, tables};
pub(super) use versions::versions;

use meta::Found;
use session::Loaders;

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
    let mut control = session::loader(config)?;
    chosen_block_size(Some(Bytes(spec.block_size)), block_size(&mut control)?)?;
    session::lock(&mut control)?;
    session::outlast(&mut control, progress, cancel)?;
    let loading = Loading { loaders: Loaders(config), spec, tables: tables(spec), options, progress, cancel };
    let steps = Steps {
        objects: "objects in schema dyno",
        find: &meta::read,
        state: |found: &Found| &found.state,
        remove: &|control| drop::remove(control, config).map(|_| ()),
        begin: &|control| create::create(control, &loading),
        complete: &|control, _| create::complete(control, &loading),
        fill: &|control, found| {
            let done = loading.places(&found.chunks);
            let bodies = rows::fill_bodies(&loading, &done)?;
            let tails = rows::fill_tails(&loading, &done)?;
            finish::index(&loading, found)?;
            // Nearly all blocks are frozen already and skipped.
            finish::vacuum(&loading, "analyze", "VACUUM (FREEZE, ANALYZE)")?;
            finish::checkpoint(control);
            Ok(Written { rows: bodies.rows + tails.rows, bytes: bodies.bytes + tails.bytes })
        },
        verify: &|control| finish::verify(control, &loading),
    };
    let report = steps.load(&mut control, spec, options)?;
    control.close();
    Ok(report)
}
