//! Opens and creates the repository's file, and refuses files that are not a repository.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::classify_sqlite_error;
use super::{Repository, RepositoryError};
use crate::private_file;

/// Identifies the file as Dyno's in SQLite's header (`DYNO` in ASCII).
pub(super) const APPLICATION_ID: i64 = 0x4459_4E4F;

/// The version of the tables that this program creates and reads.
pub(super) const VERSION: i64 = 7;

/// How long another process may keep the file locked before Dyno reports an error.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Size of SQLite's page cache while records are written, in KiB.
const CACHE_KIB: i64 = 8 << 10;

/// The pause between two attempts when SQLite does not wait itself.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Summary columns are in `run`, so that lists never read the (large) records.
const TABLES: &str = "
CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    started_at TEXT NOT NULL,            -- RFC 3339 in UTC, as written
    started_us INTEGER NOT NULL,         -- the same in microseconds after 1970, to sort by
    status TEXT,                         -- NULL: started, no record yet
    engine TEXT NOT NULL,
    target TEXT NOT NULL,                -- URLs without secrets
    sessions INTEGER NOT NULL,
    update_pct INTEGER NOT NULL,
    ops_per_s REAL,
    p99_us REAL,
    logical_reads_per_s REAL,
    physical_reads_per_s REAL,
    redo_mb_per_s REAL,                  -- 10^6 bytes
    seconds REAL,                        -- length of the window
    reason TEXT,                         -- the first reason why it is not valid
    pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT, pid_namespace TEXT, host TEXT,
    plan TEXT                            -- JSON; NULL for records that came from elsewhere
);
CREATE INDEX run_by_start ON run (started_us DESC, id DESC);
CREATE TABLE record (
    -- the JSON, zlib-compressed: SELECT sqlar_uncompress(packed, json_bytes) FROM record
    id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    json_bytes INTEGER NOT NULL,
    packed BLOB NOT NULL
);
CREATE TABLE sweep (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,                  -- sweep, search, soak, ab
    started_at TEXT NOT NULL,            -- RFC 3339 in UTC
    target TEXT NOT NULL,                -- URL without secrets
    runs_planned INTEGER,                -- NULL: depends on outcomes
    ended TEXT,                          -- NULL: under way, or its process is gone
    pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT, pid_namespace TEXT, host TEXT,
    definition TEXT NOT NULL             -- JSON: what it is to do
);
CREATE TABLE member (
    run TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    sweep TEXT NOT NULL,                 -- records from elsewhere may belong to one that is not noted here
    kind TEXT NOT NULL,
    point INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    side TEXT,
    settings TEXT NOT NULL               -- JSON
);
CREATE INDEX member_by_sweep ON member (sweep);
CREATE TABLE mark (
    -- names under which several runs are found again; kind is tag or variant; and as note what workloads want said
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, id)
) WITHOUT ROWID;
CREATE INDEX mark_by_run ON mark (id);
CREATE TABLE draft (
    -- what is known of a long run that is under way: the record without results, packed as in record
    id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    json_bytes INTEGER NOT NULL,
    packed BLOB NOT NULL
);
CREATE TABLE detail (
    -- more of each run's summary
    id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    database TEXT NOT NULL,              -- product and version; empty where nobody tells
    undated INTEGER NOT NULL,            -- 1: imported figures whose source does not tell when they were measured
    marked TEXT NOT NULL                 -- metrics in which others had part, with blanks between them
);
CREATE TABLE conclusion (
    -- what runs that belong together came to
    sweep TEXT NOT NULL PRIMARY KEY REFERENCES sweep (id) ON DELETE CASCADE,
    conclusion TEXT NOT NULL             -- JSON
);
CREATE TABLE chunk (
    -- the intervals of long runs, while these last and, where a record holds an overview of them, from then on
    id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    part INTEGER NOT NULL,               -- 0: all targets together; else the number of the target, from 1
    first INTEGER NOT NULL,              -- number of its first interval, from 0
    points INTEGER NOT NULL,             -- how many intervals it holds, one behind the other
    json_bytes INTEGER NOT NULL,
    packed BLOB NOT NULL,                -- the JSON, column by column, packed as in record
    PRIMARY KEY (id, part, first)
) WITHOUT ROWID;
";

/// The kind of a file according to its header.
enum RepositoryFile {
    /// The file is missing or empty.
    Empty,
    /// A repository with a supported version.
    Ours,
}

impl Repository {
    /// Opens the repository at `path` for reading and writing; creates a missing one with its directory. Tests here, not at the
    /// end of a run, that the file can be written.
    ///
    /// # Errors
    /// The file cannot be opened, read or written, is not a repository, is newer or older, is damaged, or is locked for longer than 10 s.
    pub fn open(path: &Path) -> Result<Self, RepositoryError> {
        Self::open_waiting(path, LOCK_WAIT)
    }

    /// Like [`Repository::open`], but waits `wait` for locks.
    pub(super) fn open_waiting(path: &Path, wait: Duration) -> Result<Self, RepositoryError> {
        private_file::check_not_public(path).map_err(|error| unsafe_file(path, &error))?;
        let file_state = probe(path, wait)?;
        if let RepositoryFile::Empty = &file_state {
            make_private(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let repository = Self::connect(path, path, flags, wait)?;
        let failed = |e| repository.classify_error(e);
        if repository.connection.is_readonly("main").map_err(failed)? {
            let detail = "the file is write-protected".to_owned();
            return Err(RepositoryError::ReadOnly { path: path.to_path_buf(), detail });
        }
        if let RepositoryFile::Empty = file_state {
            repository.create()?;
        }
        repository.write_ahead(wait)?;
        // Another user could have created the files between the first check and the opening.
        check_files(path)?;
        // An acknowledged record must survive a power failure.
        repository.connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        repository.connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // One transaction can contain thousands of records; pages that do not fit into the cache are written more than once.
        repository.connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
        repository.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(failed)?;
        repository.check_version()?;
        Ok(repository)
    }

    /// Opens the repository at `path` for reading; never changes or creates it.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, is not a repository, is newer or older, or is damaged.
    pub fn open_read_only(path: &Path) -> Result<Self, RepositoryError> {
        if let RepositoryFile::Empty = probe(path, LOCK_WAIT)? {
            let path = path.to_path_buf();
            let detail = "the file does not exist or is empty: `dyno run` creates it".to_owned();
            return Err(RepositoryError::CannotOpen { path, detail });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Self::connect(path, path, flags, LOCK_WAIT)
            .and_then(|repository| repository.check_version().map(|()| repository));
        match opened {
            // Reading beside writers needs files next to this one, which a read-only directory refuses. Without a log, the file itself
            // is complete and can be opened as immutable.
            Err(RepositoryError::CannotOpen { .. } | RepositoryError::ReadOnly { .. }) if !has_log(path) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                let repository = Self::connect(path, &immutable_uri(path), flags, LOCK_WAIT)?;
                repository.check_version()?;
                Ok(repository)
            }
            opened => opened,
        }
    }

    fn connect(path: &Path, name: &Path, flags: OpenFlags, wait: Duration) -> Result<Self, RepositoryError> {
        let connection =
            Connection::open_with_flags(name, flags).map_err(|e| classify_sqlite_error(path, wait, e))?;
        let repository = Self { connection, path: path.to_path_buf(), wait };
        let failed = |e| repository.classify_error(e);
        let connection = &repository.connection;
        connection.busy_timeout(wait).map_err(failed)?;
        // The file may come from anyone: its schema must not call functions or change anything.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map_err(failed)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false).map_err(failed)?;
        Ok(repository)
    }

    /// Creates the tables, unless another process did so after the check.
    ///
    /// The application id and the tables are written in one transaction without a write-ahead log, so a file with contents always
    /// has the id in its header.
    fn create(&self) -> Result<(), RepositoryError> {
        let failed = |e| self.classify_error(e);
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let made = self.is_blank().and_then(|blank| {
            if blank {
                self.connection.pragma_update(None, "application_id", APPLICATION_ID)?;
                self.connection.pragma_update(None, "user_version", VERSION)?;
                self.connection.execute_batch(TABLES)?;
            }
            self.connection.execute_batch("COMMIT")
        });
        made.map_err(|e| {
            // The first error says what failed; often SQLite has already ended the transaction.
            let _ = self.connection.execute_batch("ROLLBACK");
            self.classify_error(e)
        })
    }

    fn is_blank(&self) -> rusqlite::Result<bool> {
        let tables: i64 =
            self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        Ok(tables == 0 && pragma(&self.connection, "application_id")? == 0)
    }

    /// Enables the write-ahead log permanently. SQLite does not wait for locks here, so this function does. File systems without
    /// support for it (network) keep the rollback journal, which is as safe but admits one process at a time.
    fn write_ahead(&self, wait: Duration) -> Result<(), RepositoryError> {
        let deadline = Instant::now() + wait;
        loop {
            let turned =
                self.connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0));
            match turned {
                Ok(_) => return Ok(()),
                Err(e) if is_busy(&e) && Instant::now() < deadline => std::thread::sleep(RETRY_PAUSE),
                Err(e) => return Err(self.classify_error(e)),
            }
        }
    }

    fn check_version(&self) -> Result<(), RepositoryError> {
        let read = |name| pragma(&self.connection, name).map_err(|e| self.classify_error(e));
        verdict(&self.path, read("application_id")?, read("user_version")?)?;
        // Reads the tables, so that a file with a wrong structure fails here.
        let touch = "SELECT 1 FROM run LEFT JOIN record USING (id) LIMIT 1";
        self.connection.prepare(touch).map(|_| ()).map_err(|e| self.classify_error(e))
    }

    pub(super) fn classify_error(&self, source: rusqlite::Error) -> RepositoryError {
        classify_sqlite_error(&self.path, self.wait, source)
    }
}

/// The error that another user could have prepared the file at `path`.
fn unsafe_file(path: &Path, error: &std::io::Error) -> RepositoryError {
    RepositoryError::CannotOpen { path: path.to_path_buf(), detail: error.to_string() }
}

/// Checks the repository's file, including the target of a link, and the files beside it. SQLite applies a journal or log to
/// the database without checking its owner.
fn check_files(path: &Path) -> Result<(), RepositoryError> {
    private_file::check_shared(path).map_err(|error| unsafe_file(path, &error))?;
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = OsString::from(&real);
        name.push(suffix);
        let file = PathBuf::from(name);
        private_file::check_shared(&file).map_err(|error| {
            let detail = format!(
                "SQLite would treat {} as a part of it: {error}; remove that file if it is not yours",
                file.display()
            );
            RepositoryError::CannotOpen { path: path.to_path_buf(), detail }
        })?;
    }
    Ok(())
}

/// Reads the file's header without a lock and without touching it or the files beside it.
///
/// It uses SQLite instead of opening the file directly: closing a file that SQLite has open elsewhere in this process would
/// release its locks (sqlite.org/howtocorrupt.html, 2.2).
fn probe(path: &Path, wait: Duration) -> Result<RepositoryFile, RepositoryError> {
    check_files(path)?;
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(RepositoryFile::Empty),
        Err(e) => {
            return Err(RepositoryError::CannotOpen { path: path.to_path_buf(), detail: e.to_string() });
        }
        Ok(facts) if !facts.is_file() => {
            let detail = "it is not a regular file".to_owned();
            return Err(RepositoryError::CannotOpen { path: path.to_path_buf(), detail });
        }
        Ok(facts) if facts.len() == 0 => return Ok(RepositoryFile::Empty),
        Ok(_) => {}
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let read = || -> rusqlite::Result<(i64, i64)> {
        let connection = Connection::open_with_flags(immutable_uri(path), flags)?;
        Ok((pragma(&connection, "application_id")?, pragma(&connection, "user_version")?))
    };
    let (application_id, version) = read().map_err(|e| classify_sqlite_error(path, wait, e))?;
    verdict(path, application_id, version)?;
    Ok(RepositoryFile::Ours)
}

fn verdict(path: &Path, application_id: i64, version: i64) -> Result<(), RepositoryError> {
    let path = path.to_path_buf();
    if application_id != APPLICATION_ID {
        let detail = format!("an SQLite file with application_id {application_id}");
        return Err(RepositoryError::Foreign { path, detail });
    }
    match version {
        VERSION => Ok(()),
        found if found > VERSION => Err(RepositoryError::Newer { path, found, known: VERSION }),
        found if found > 0 => Err(RepositoryError::Older { path, found, known: VERSION }),
        found => Err(RepositoryError::Damaged { path, detail: format!("its version is {found}") }),
    }
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether a non-empty write-ahead log is beside the file.
fn has_log(path: &Path) -> bool {
    let mut log = OsString::from(path);
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|facts| facts.len() > 0)
}

/// The file as a URI that makes SQLite treat it as immutable: no locks, no files beside it.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    PathBuf::from(uri)
}

/// Creates the file at `path` and its folders with access for this user only, because plans and results describe servers.
/// SQLite gives the files beside it the same permissions.
fn make_private(path: &Path) -> Result<(), RepositoryError> {
    let cannot = |detail| RepositoryError::CannotOpen { path: path.to_path_buf(), detail };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|e| cannot(format!("its directory cannot be created: {e}")))?;
    }
    // If creation fails, opening the file reports the reason; an existing empty file keeps its permissions.
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    Ok(())
}
