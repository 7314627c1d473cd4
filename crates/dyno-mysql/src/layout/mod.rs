//! Dyno's data in MySQL and MariaDB: tables `dyno_…` in the URL's database, and how they are loaded,
//! recognized and dropped.
//!
//! **One row per page.** InnoDB clusters a table by its primary key and always allows at least two rows per
//! page. Neither a fill factor nor a wide row alone prevents a second row. Here rows and spacers alternate in
//! the order of a surrogate key `id`. Every row has the maximum length that InnoDB stores in the page: just
//! under half of it. A spacer of some hundred bytes lies between two rows. Two rows and the spacer between
//! them exceed a page, so no page has two rows, in whatever order rows are inserted and pages split. On pages
//! of 64 KiB, whose records are at most 16 KiB long, three long spacers precede each row. Spacers have no
//! `custid` and no `c2`, so no operation touches them. Keys `custid` are in random order along `id` and have
//! a non-unique index, so a range of keys reads scattered pages.
//!
//! Rows are written in chunks. Each chunk commits together with a note of itself, so a killed load resumes
//! exactly. Index, statistics and a measurement of the result follow.

mod create;
mod drop;
mod fill;
pub(super) mod filler;
mod finish;
mod keys;
pub(super) mod leftover_rows;
mod meta;
pub(super) mod named_objects;
mod quote;
mod required_key;
mod row_text;
mod rows;
mod session;
mod spot_check;
mod tables;
mod verify;
mod versions;

use dyno_plan::{Bytes, DataSpec};

use super::connections::MySqlConnections;
use super::wire::MySqlConnection;
use dyno_engine::advice::own_block_size;
use dyno_engine::layout::{LoadSteps, ParallelLoad};
use dyno_engine::row::first;
use dyno_engine::{
    Cancel, ConnectionPurpose, DataState, LoadOptions, LoadProgressSink, LoadReport, TargetError,
};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use named_objects::named_bytes;
pub(super) use quote::{ident, literal};
pub(super) use required_key::required_key;
pub(super) use session::explain_inspection;
pub(super) use spot_check::spot_check;
pub(super) use tables::{MySqlRowShape, tables};
pub(super) use versions::versions;

pub(super) use fill::MySqlLoadMethod;
use meta::MySqlLoadedLayout;

/// Determines what Dyno has loaded in the database.
pub(super) fn survey(connection: &mut MySqlConnection) -> Result<DataState, TargetError> {
    Ok(meta::read(connection)?.map_or(DataState::Empty, |found| found.state))
}

/// Creates, fills and verifies the data of `spec`; see [`dyno_engine::Target::load`].
pub(super) fn load(
    connections: &MySqlConnections,
    spec: &DataSpec,
    options: &LoadOptions,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let mut control = connections.open_for(ConnectionPurpose::Load)?;
    let shape = MySqlRowShape::of(spec.block_size)?;
    chosen_block_size(Some(Bytes(spec.block_size)), &mut control)?;
    let loading =
        ParallelLoad { loaders: connections.clone(), spec, tables: tables(spec), options, progress, cancel };
    let steps = LoadSteps {
        objects: "tables dyno_…",
        find: &meta::read,
        state: |found: &MySqlLoadedLayout| &found.state,
        remove: &|control| drop::remove(control, &connections.config).map(|_| ()),
        begin: &|control| create::metadata(control, &loading, shape),
        complete: &|control, found| create::complete(control, &loading, shape, found),
        fill: &|control, found| {
            let way = MySqlLoadMethod::choose(control)?;
            let written = rows::fill(&loading, shape, way, &loading.places(&found.chunks))?;
            finish::index(&loading)?;
            finish::write_out(&loading);
            Ok(written)
        },
        verify: &|control| finish::verify(control, &loading, shape),
    };
    let report = steps.load(&mut control, spec, options)?;
    control.close();
    Ok(report)
}

/// The block size to use: the server's page size, which a requested size must equal.
pub(super) fn chosen_block_size(
    wish: Option<Bytes>,
    connection: &mut MySqlConnection,
) -> Result<Bytes, TargetError> {
    own_page_size(wish, page_size(connection)?)
}

/// Like [`chosen_block_size`], for a known page size.
pub(super) fn own_page_size(wish: Option<Bytes>, page_bytes: u64) -> Result<Bytes, TargetError> {
    let way_out = "use a server that was initialized with that innodb_page_size";
    own_block_size(wish, Bytes(page_bytes), "this server's page size (innodb_page_size) is", way_out)
}

/// The server's page size in bytes.
pub(super) fn page_size(connection: &mut MySqlConnection) -> Result<u64, TargetError> {
    let rows = connection.simple("SELECT @@innodb_page_size")?;
    first(&rows, 0).ok_or_else(|| TargetError::database("the server's innodb_page_size cannot be read"))
}
