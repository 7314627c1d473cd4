//! The mark in a file's header that says Dyno created the file.
//!
//! Test data and workloads can share a file, and either may be dropped first. The mark outlives both, so the last drop knows
//! that it may remove the file itself.

use std::sync::Arc;

use rusqlite::Connection;

use crate::connect::{Params, Purpose, number, pragma};
use crate::fault::{Doing as _, Fault};
use dyno_engine::TargetError;

/// "Dyno" in ASCII, as `PRAGMA application_id` keeps it (SQLite file format, section 1.3.19).
const APPLICATION_ID: i64 = 0x4479_6e6f;

/// Creates the file of `params` with the mark, unless it exists or the database is in memory.
pub(crate) fn create_if_missing(params: &Params) -> Result<(), TargetError> {
    let is_new = params.file().is_some_and(|path| !path.exists());
    // Only a connection that loads may create a file.
    let link = params.connect(Purpose::Load, &Arc::default())?;
    if is_new { mark(&link.conn).doing("create the file") } else { Ok(()) }
}

/// Marks a file that Dyno has just created. The first write fixes the page size, so that has to be set before.
pub(super) fn mark(conn: &Connection) -> Result<(), Fault> {
    pragma(conn, "application_id", &APPLICATION_ID.to_string()).map(drop)
}

/// Whether Dyno created the file.
pub(super) fn is_marked(conn: &Connection) -> Result<bool, Fault> {
    Ok(number(conn, "application_id")? == APPLICATION_ID)
}
