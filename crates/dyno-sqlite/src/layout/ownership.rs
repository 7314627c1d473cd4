//! The mark in a file's header that states that Dyno created the file.
//!
//! Test data and workloads can share a file, and either may be dropped first. The mark remains after either
//! drop, so the last drop knows that it may remove the file itself.

use std::sync::Arc;

use rusqlite::Connection;

use crate::connect::{Params, Purpose, pragma, pragma_number};
use crate::fault::{SqliteError, SqliteErrorContext as _};
use dyno_engine::TargetError;

/// "Dyno" in ASCII, stored as `PRAGMA application_id` (SQLite file format, section 1.3.19).
const APPLICATION_ID: i64 = 0x4479_6e6f;

/// Creates the file of `params` with the mark, unless it exists or the database is in memory.
pub(crate) fn create_if_missing(params: &Params) -> Result<(), TargetError> {
    let is_new = params.file().is_some_and(|path| !path.exists());
    // Only a loading connection may create a file.
    let link = params.connect(Purpose::Load, &Arc::default())?;
    if is_new { mark(&link.conn).doing("create the file") } else { Ok(()) }
}

/// Marks a file that Dyno has just created. The first write fixes the page size, so the page size must be set
/// before.
pub(super) fn mark(conn: &Connection) -> Result<(), SqliteError> {
    pragma(conn, "application_id", &APPLICATION_ID.to_string()).map(drop)
}

/// Whether the mark states that Dyno created the file.
pub(super) fn is_marked(conn: &Connection) -> Result<bool, SqliteError> {
    Ok(pragma_number(conn, "application_id")? == APPLICATION_ID)
}
