//! Shapes, loads, measures, recognizes and drops the tables.

mod guard;
pub(super) mod leftover_rows;
mod load;
mod meta;
mod names;
mod ownership;
mod remove;
mod spot_check;
mod verify;
mod versions;

pub(super) use load::{load, page_size_differs};
pub(super) use meta::{has, read as read_meta, state};
#[cfg(test)]
pub(super) use names::columns;
pub(super) use names::{DEFAULT_PAGE_BYTES, SqliteTable, check_page_bytes, column_bytes};
pub(super) use ownership::create_if_missing;
pub(super) use remove::{drop_all, foreign, inventory};
pub(super) use spot_check::spot_check;
pub(super) use versions::versions;
