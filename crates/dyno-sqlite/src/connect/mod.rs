//! Opens connections and applies all of the URL's parameters.

mod busy;
mod params;

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::{Connection, OpenFlags, ffi};

use super::fault::{SqliteError, SqliteErrorContext};
use super::vfs;
use busy::SqliteBusyWaiter;
use dyno_engine::{Cancel, TargetError, TargetErrorKind};
pub(super) use params::{DEFAULT_CACHE, DEFAULT_CHECKPOINT, Params, Storage};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To read metadata: the file must exist, and its journal mode is not changed.
    Inspect,
    /// To load: the file is created if it does not exist, and the loader makes its own settings.
    Load,
    /// To execute operations, with all settings from the URL.
    Work,
}

/// An open connection and what must live as long as it.
pub(super) struct SqliteConnection {
    /// The connection; declared first, so that it is closed before the rest is freed.
    pub(super) conn: Connection,
    _busy_waiter: Box<SqliteBusyWaiter>,
}

/// Executes `PRAGMA {name} = {value}`; returns the effective value, if SQLite reports it.
pub(super) fn pragma(conn: &Connection, name: &str, value: &str) -> Result<Option<String>, SqliteError> {
    let mut statement = conn.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let value = match row.get_ref(0)? {
        rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
        _ => String::new(),
    };
    Ok(Some(value))
}

/// The value of a numeric pragma.
pub(super) fn pragma_number(conn: &Connection, name: &str) -> Result<i64, SqliteError> {
    Ok(conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

/// The value of a textual pragma.
pub(super) fn pragma_text(conn: &Connection, name: &str) -> Result<String, SqliteError> {
    Ok(conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

impl Params {
    /// The URI that SQLite opens; with `direct` it bypasses the page cache.
    fn uri(&self, direct: bool) -> String {
        match &self.storage {
            Storage::Memory(name) => format!("file:{name}?vfs=memdb"),
            Storage::File(path) => {
                let mut uri = String::from("file:");
                for &byte in path.as_os_str().as_bytes() {
                    if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                        uri.push(char::from(byte));
                    } else {
                        write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
                    }
                }
                write!(uri, "?vfs={}", vfs::NAME.to_string_lossy()).expect("writing to a string cannot fail");
                if direct {
                    write!(uri, "&{}=1", vfs::DIRECT_PARAMETER.to_string_lossy())
                        .expect("writing to a string cannot fail");
                }
                uri
            }
        }
    }

    /// The name of the database in error messages.
    pub(super) fn name(&self) -> String {
        self.file().map_or_else(|| "the database in memory".to_owned(), |path| path.display().to_string())
    }

    /// Opens a connection. Waiting for locks ends when `stop` is set.
    ///
    /// # Errors
    /// The file cannot be opened, is not a database, or rejects a setting; the error states which and why.
    pub(super) fn connect(
        &self,
        purpose: Purpose,
        stop: &Arc<AtomicBool>,
    ) -> Result<SqliteConnection, TargetError> {
        match vfs::register() {
            ffi::SQLITE_OK => {}
            code => return Err(SqliteError::bare(code).into_target("register the instrumented file layer")),
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        if purpose == Purpose::Load || self.in_memory() {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        // A load writes page after page, and waiting for the device each time would be many times slower. Its
        // commits are synced in any case.
        let direct = self.direct && purpose != Purpose::Load;
        let conn = Connection::open_with_flags(self.uri(direct), flags).map_err(|e| self.refused(e))?;
        let patience = SqliteBusyWaiter::new(self.busy, Arc::clone(stop));
        patience.install(&conn).doing("set the busy handler")?;
        let link = SqliteConnection { conn, _busy_waiter: patience };
        self.settle(&link.conn, purpose).map_err(|error| self.explain(error))?;
        Ok(link)
    }

    /// The error if the file could not be opened.
    fn refused(&self, error: rusqlite::Error) -> TargetError {
        let fault = SqliteError::from(error);
        match vfs::take_reason() {
            Some(reason) => TargetError::unreachable(format!("sqlite: {reason}"))
                .hint("use direct=off, or a file system that supports O_DIRECT (ext4, xfs, btrfs, nfs)")
                .cause(fault),
            None => fault.into_target(&format!("open {}", self.name())),
        }
    }

    /// Adds the file's name to an error about a file that is not a database.
    fn explain(&self, error: TargetError) -> TargetError {
        if error.kind != TargetErrorKind::Unreachable {
            return error;
        }
        let message = format!("{} ({})", error.message, self.name());
        TargetError { message, ..error }
    }

    /// Applies the URL's settings to the connection.
    fn settle(&self, conn: &Connection, purpose: Purpose) -> Result<(), TargetError> {
        // A negative value of cache_size means KiB instead of pages.
        let cache = format!("-{}", self.cache.0 / 1024);
        pragma(conn, "cache_size", &cache).doing("set the cache size")?;
        if purpose != Purpose::Work {
            return Ok(());
        }
        // Exclusive locking is set before the journal: WAL then keeps its index in private memory.
        pragma(conn, "locking_mode", self.locking).doing("set the locking mode")?;
        self.set_journal(conn)?;
        pragma(conn, "synchronous", self.sync).doing("set synchronous")?;
        pragma(conn, "mmap_size", &self.mmap.0.to_string()).doing("set the mapped size")?;
        Ok(())
    }

    /// Sets the journal mode from the URL.
    pub(super) fn set_journal(&self, conn: &Connection) -> Result<(), TargetError> {
        let now = pragma(conn, "journal_mode", self.journal).doing("set the journal mode")?;
        match now {
            Some(mode) if mode == self.journal => Ok(()),
            mode => Err(TargetError::database(format!(
                "sqlite: {} keeps journal mode {}, but {} was requested",
                self.name(),
                mode.unwrap_or_default(),
                self.journal
            ))
            .hint("end every other connection to the file, or request its present mode")),
        }
    }
}

/// A stop flag that is never set.
pub(super) fn no_stop_flag() -> Arc<AtomicBool> {
    Cancel::default().flag()
}
