//! Dyno's data in PostgreSQL: schema `dyno`, its tables, and how they are loaded, recognized and dropped.
//!
//! Each block of 8 KiB holds one row of about 2.5 KiB. `fillfactor = 10` prevents a second row and leaves
//! space for HOT updates, and `STORAGE PLAIN` keeps every byte in the row. Binary `COPY` writes rows in
//! chunks. Each chunk commits together with a note of itself, so a killed load resumes exactly. Index,
//! `VACUUM (FREEZE, ANALYZE)`, slice procedures and a measurement of the result follow.

mod chunks;
mod copy_rows;
mod create;
pub(super) mod deletions;
mod drop;
pub(super) mod filler;
mod finish;
mod keys;
pub(super) mod leftover_rows;
mod meta;
pub(super) mod named_objects;
mod quote;
mod rows;
mod session;
mod spot_check;
mod tables;
mod verify;
mod versions;

use dyno_plan::{Bytes, DataSpec};

use super::connections::PostgresConnections;
use super::identity::block::{block_size, chosen_block_size};
use super::wire::PostgresConnection;
use dyno_engine::layout::{LoadSteps, LoadTotals, ParallelLoad};
use dyno_engine::{
    Cancel, ConnectionPurpose, DataState, LoadOptions, LoadProgressSink, LoadReport, TargetError,
};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use named_objects::named_bytes;
pub(super) use quote::{ident, literal};
pub(super) use session::explain_inspection;
pub(super) use spot_check::spot_check;
pub(super) use tables::{SCHEMA, TestTable, tables};
pub(super) use versions::versions;

use meta::PostgresLoadedLayout;

/// Determines what Dyno has loaded in the database.
pub(super) fn survey(connection: &mut PostgresConnection) -> Result<DataState, TargetError> {
    Ok(meta::read(connection)?.map_or(DataState::Empty, |found| found.state))
}

/// Creates, fills and verifies the data of `spec`; see [`dyno_engine::Target::load`].
pub(super) fn load(
    connections: &PostgresConnections,
    spec: &DataSpec,
    options: &LoadOptions,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let mut control = connections.open_for(ConnectionPurpose::Load)?;
    chosen_block_size(Some(Bytes(spec.block_size)), block_size(&mut control)?)?;
    session::lock(&mut control)?;
    session::wait_for_leftover_load(&mut control, progress, cancel)?;
    let loading =
        ParallelLoad { loaders: connections.clone(), spec, tables: tables(spec), options, progress, cancel };
    let steps = LoadSteps {
        objects: "objects in schema dyno",
        find: &meta::read,
        state: |layout: &PostgresLoadedLayout| &layout.state,
        remove: &|control| drop::remove(control, &connections.config).map(|_| ()),
        begin: &|control| create::create(control, &loading),
        complete: &|control, _| create::complete(control, &loading),
        fill: &|control, loaded| {
            let completed = loading.places(&loaded.chunks);
            let bodies = rows::fill_bodies(&loading, &completed)?;
            let tails = rows::fill_tails(&loading, &completed)?;
            finish::index(&loading, loaded)?;
            // Nearly all blocks are already frozen and are skipped.
            finish::vacuum(&loading, "analyze", "VACUUM (FREEZE, ANALYZE)")?;
            finish::checkpoint(control);
            Ok(LoadTotals { rows: bodies.rows + tails.rows, bytes: bodies.bytes + tails.bytes })
        },
        verify: &|control| finish::verify(control, &loading),
    };
    let report = steps.load(&mut control, spec, options)?;
    control.close();
    Ok(report)
}
