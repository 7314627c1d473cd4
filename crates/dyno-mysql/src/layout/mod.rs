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
pub(super) mod filler;
mod finish;
mod keys;
mod meta;
pub(super) mod named_objects;
pub(super) mod own_rows;
mod quote;
mod required_key;
mod row_text;
mod rows;
mod session;
mod spot;
mod tables;
mod verify;
mod versions;

use dyno_plan::{Bytes, DataSpec};

use super::connect::ConnectConfig;
use super::wire::Connection;
use dyno_engine::advice::own_block_size;
use dyno_engine::layout::{Loading, Steps};
use dyno_engine::row::first;
use dyno_engine::{Cancel, DataState, LoadOptions, LoadReport, Progress, TargetError};

pub(super) use drop::{drop_all, foreign, inventory};
pub(super) use named_objects::named_bytes;
pub(super) use quote::literal;
pub(super) use required_key::required_key;
pub(super) use session::{READ_ONLY, explain_look, grants, settle, settle_script};
pub(super) use spot::spot_check;
pub(super) use tables::{Shape, tables};
pub(super) use versions::versions;

pub(super) use fill::Way;
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
    let shape = Shape::of(spec.block_size)?;
    chosen_block_size(Some(Bytes(spec.block_size)), &mut control)?;
    let loading = Loading { loaders: Loaders(config), spec, tables: tables(spec), options, progress, cancel };
    let steps = Steps {
        objects: "tables dyno_…",
        find: &meta::read,
        state: |found: &Found| &found.state,
        remove: &|control| drop::remove(control, config).map(|_| ()),
        begin: &|control| create::metadata(control, &loading, shape),
        complete: &|control, found| create::complete(control, &loading, shape, found),
        fill: &|control, found| {
            let way = Way::choose(control)?;
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

/// The server's page size, which the wish has to be.
pub(super) fn chosen_block_size(
    wish: Option<Bytes>,
    connection: &mut Connection,
) -> Result<Bytes, TargetError> {
    own_page_size(wish, page_size(connection)?)
}

/// The same of a page size that is known.
pub(super) fn own_page_size(wish: Option<Bytes>, page_bytes: u64) -> Result<Bytes, TargetError> {
    let way_out = "use a server that was initialised with that innodb_page_size";
    own_block_size(wish, Bytes(page_bytes), "this server's pages (innodb_page_size) have", way_out)
}

/// The server's page size in bytes.
pub(super) fn page_size(connection: &mut Connection) -> Result<u64, TargetError> {
    let rows = connection.simple("SELECT @@innodb_page_size")?;
    first(&rows, 0).ok_or_else(|| TargetError::database("the server's innodb_page_size cannot be read"))
}
