//! Opening connections: from the URL's parameters to a connection that has been told all of them.

mod busy;
mod params;

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::{Connection, OpenFlags, ffi};

use super::fault::{Doing, Fault};
use super::vfs;
use busy::Patience;
use dyno_engine::{Cancel, TargetError, TargetErrorKind};
pub(super) use params::{DEFAULT_CACHE, DEFAULT_CHECKPOINT, Params, Storage};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To look: the file must exist, and how it keeps its journal is left as it is.
    Inspect,
    /// To load: the file is created if it is not there, and the loader sets what it needs.
    Load,
    /// To do operations, with everything as the URL says.
    Work,
}

/// An open connection and what must live as long as it.
pub(super) struct Link {
    /// The connection; declared first, so that it is closed before the rest is freed.
    pub(super) conn: Connection,
    _patience: Box<Patience>,
}

/// `PRAGMA {name} = {value}`, and the value that is in force afterwards, if SQLite says it.
pub(super) fn pragma(conn: &Connection, name: &str, value: &str) -> Result<Option<String>, Fault> {
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

/// The value of a pragma that is a number.
pub(super) fn number(conn: &Connection, name: &str) -> Result<i64, Fault> {
    Ok(conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

/// The value of a pragma that is a word.
pub(super) fn word(conn: &Connection, name: &str) -> Result<String, Fault> {
    Ok(conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

impl Params {
    /// The URI that SQLite opens, past the page cache if `direct`.
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

    /// What errors call the database.
    pub(super) fn name(&self) -> String {
        self.file().map_or_else(|| "the database in memory".to_owned(), |path| path.display().to_string())
    }

    /// Opens a connection. Waiting for locks ends when `stop` is set.
    ///
    /// # Errors
    /// The file cannot be opened, is no database, or refuses a setting; says which and why.
    pub(super) fn connect(&self, purpose: Purpose, stop: &Arc<AtomicBool>) -> Result<Link, TargetError> {
        match vfs::register() {
            ffi::SQLITE_OK => {}
            code => return Err(Fault::bare(code).into_target("register the instrumented file layer")),
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        if purpose == Purpose::Load || self.in_memory() {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        // A load writes page after page, and waiting for the device at each would take many times as long; its commits
        // sync all the same.
        let direct = self.direct && purpose != Purpose::Load;
        let conn = Connection::open_with_flags(self.uri(direct), flags).map_err(|e| self.refused(e))?;
        let patience = Patience::new(self.busy, Arc::clone(stop));
        patience.install(&conn).doing("set the busy handler")?;
        let link = Link { conn, _patience: patience };
        self.settle(&link.conn, purpose).map_err(|error| self.explain(error))?;
        Ok(link)
    }

    /// Why the file could not be opened.
    fn refused(&self, error: rusqlite::Error) -> TargetError {
        let fault = Fault::from(error);
        match vfs::take_reason() {
            Some(reason) => TargetError::unreachable(format!("sqlite: {reason}"))
                .hint("use direct=off, or a file system that knows O_DIRECT (ext4, xfs, btrfs, nfs)")
                .cause(fault),
            None => fault.into_target(&format!("open {}", self.name())),
        }
    }

    /// Names the file in an error about something that is no database.
    fn explain(&self, error: TargetError) -> TargetError {
        if error.kind != TargetErrorKind::Unreachable {
            return error;
        }
        let message = format!("{} ({})", error.message, self.name());
        TargetError { message, ..error }
    }

    /// Tells the connection what the URL says.
    fn settle(&self, conn: &Connection, purpose: Purpose) -> Result<(), TargetError> {
        // With the value's sign SQLite is told KiB instead of pages.
        let cache = format!("-{}", self.cache.0 / 1024);
        pragma(conn, "cache_size", &cache).doing("set the cache size")?;
        if purpose != Purpose::Work {
            return Ok(());
        }
        // Exclusive locking comes before the journal: WAL then keeps its index in private memory.
        pragma(conn, "locking_mode", self.locking).doing("set the locking mode")?;
        self.set_journal(conn)?;
        pragma(conn, "synchronous", self.sync).doing("set synchronous")?;
        pragma(conn, "mmap_size", &self.mmap.0.to_string()).doing("set the mapped size")?;
        Ok(())
    }

    /// Makes the database keep its journal as the URL says.
    pub(super) fn set_journal(&self, conn: &Connection) -> Result<(), TargetError> {
        let now = pragma(conn, "journal_mode", self.journal).doing("set the journal mode")?;
        match now {
            Some(mode) if mode == self.journal => Ok(()),
            mode => Err(TargetError::database(format!(
                "sqlite: {} keeps journal mode {}, {} was asked for",
                self.name(),
                mode.unwrap_or_default(),
                self.journal
            ))
            .hint("end every other connection to the file, or ask for the mode that it is in")),
        }
    }
}

/// The flag of a command that nobody stops.
pub(super) fn never() -> Arc<AtomicBool> {
    Cancel::default().flag()
}
