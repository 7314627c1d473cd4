//! Prepared statements without the driver's own work around them.
//!
//! A lookup in memory takes less than a microsecond, so what a driver adds (looking up the cached statement, copying
//! text to bind it, checking types of columns) would be a good part of what is measured. A [`Statement`] is prepared
//! once, binds integers by number, and owns the texts that it binds: they are bound once, where they lie, and new values
//! are written into place between two runs.

// The C interface is called directly, for the reason above.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_uint};
use std::ptr::NonNull;

use rusqlite::{Connection, ffi};

use super::fault::Fault;

/// SQLite's own words for what went wrong last on `db`.
fn fault(db: NonNull<ffi::sqlite3>, code: c_int) -> Box<Fault> {
    // SAFETY: the connection is open, and the message is copied before anything else is called on it.
    let (extended, message) = unsafe {
        let message = ffi::sqlite3_errmsg(db.as_ptr());
        (ffi::sqlite3_extended_errcode(db.as_ptr()), CStr::from_ptr(message).to_string_lossy().into_owned())
    };
    // The connection's code is more precise if it is of the same call.
    let code = if extended & 0xff == code & 0xff { extended } else { code };
    Box::new(Fault { code, message })
}

/// The connection underneath `conn`.
fn database(conn: &Connection) -> NonNull<ffi::sqlite3> {
    // SAFETY: the handle is only used while the connection is open; see `Statement`.
    NonNull::new(unsafe { conn.handle() }).expect("an open connection has a handle")
}

/// A prepared statement. Must be dropped before the connection it was prepared on: owners declare it first.
pub(super) struct Statement {
    db: NonNull<ffi::sqlite3>,
    stmt: NonNull<ffi::sqlite3_stmt>,
    /// The texts bound to parameters 1.., one after the other; null if there are none. From `Box::into_raw`.
    texts: *mut [u8],
}

// SAFETY: a statement is used by the one thread that has its session, and SQLite is built threadsafe: connections opened
// without a mutex may move between threads as long as one uses them at a time.
unsafe impl Send for Statement {}

/// What a run gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Whether there was a row.
    pub(super) row: bool,
    /// The first column of the first row, as an integer; 0 without a row.
    pub(super) value: i64,
}

impl Statement {
    /// Prepares `sql`.
    pub(super) fn prepare(conn: &Connection, sql: &str) -> Result<Self, Box<Fault>> {
        Self::with_texts(conn, sql, 0, 0)
    }

    /// Prepares `sql`, whose parameters `?1` to `?count` are texts of `width` bytes each.
    pub(super) fn with_texts(
        conn: &Connection,
        sql: &str,
        count: usize,
        width: usize,
    ) -> Result<Self, Box<Fault>> {
        let db = database(conn);
        let mut stmt = std::ptr::null_mut();
        let flags = ffi::SQLITE_PREPARE_PERSISTENT as c_uint;
        // SAFETY: `sql` is given with its length; SQLite writes the statement to `stmt`.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                db.as_ptr(),
                sql.as_ptr().cast(),
                sql.len() as c_int,
                flags,
                &mut stmt,
                std::ptr::null_mut(),
            )
        };
        let stmt = NonNull::new(stmt).ok_or_else(|| fault(db, code))?;
        let texts = Box::into_raw(vec![b' '; count * width].into_boxed_slice());
        let statement = Self { db, stmt, texts };
        for i in 0..count {
            // SAFETY: the texts lie in memory that lives, and does not move, until after the statement is finalized;
            // without a destructor SQLite neither copies nor frees them.
            let code = unsafe {
                let text = texts.cast::<u8>().add(i * width);
                ffi::sqlite3_bind_text(
                    stmt.as_ptr(),
                    i as c_int + 1,
                    text.cast(),
                    width as c_int,
                    ffi::SQLITE_STATIC(),
                )
            };
            if code != ffi::SQLITE_OK {
                return Err(fault(db, code));
            }
        }
        Ok(statement)
    }

    /// The texts, one after the other, to be overwritten with ASCII before the next run.
    pub(super) fn texts(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours, and SQLite reads it only inside `run`, which borrows the statement too.
        unsafe { &mut *self.texts }
    }

    /// Binds `integers` to the parameters from number `first` on, and runs the statement to its first row or its end.
    pub(super) fn run(&mut self, first: usize, integers: &[i64]) -> Result<Outcome, Box<Fault>> {
        let stmt = self.stmt.as_ptr();
        // SAFETY: the statement is prepared, and reset after each run, so binding is allowed; a column is asked for only
        // while there is a row.
        unsafe {
            for (i, &integer) in integers.iter().enumerate() {
                let code = ffi::sqlite3_bind_int64(stmt, (first + i) as c_int, integer);
                if code != ffi::SQLITE_OK {
                    return Err(fault(self.db, code));
                }
            }
            let outcome = match ffi::sqlite3_step(stmt) {
                ffi::SQLITE_ROW => Outcome { row: true, value: ffi::sqlite3_column_int64(stmt, 0) },
                ffi::SQLITE_DONE => Outcome { row: false, value: 0 },
                code => {
                    let fault = fault(self.db, code);
                    ffi::sqlite3_reset(stmt);
                    return Err(fault);
                }
            };
            match ffi::sqlite3_reset(stmt) {
                ffi::SQLITE_OK => Ok(outcome),
                code => Err(fault(self.db, code)),
            }
        }
    }

    /// Binds `key` to the first parameter and reads the first column of the first row, a text; whether there was a row.
    pub(super) fn fetch_text(&mut self, key: i64) -> Result<bool, Box<Fault>> {
        let stmt = self.stmt.as_ptr();
        // SAFETY: as in `run`.
        unsafe {
            ffi::sqlite3_bind_int64(stmt, 1, key);
            let row = match ffi::sqlite3_step(stmt) {
                ffi::SQLITE_ROW => {
                    // The value is the caller's once its bytes can be read; a NULL would have none.
                    let bytes = ffi::sqlite3_column_blob(stmt, 0);
                    ffi::sqlite3_column_bytes(stmt, 0) > 0 && !bytes.is_null()
                }
                ffi::SQLITE_DONE => false,
                code => {
                    let fault = fault(self.db, code);
                    ffi::sqlite3_reset(stmt);
                    return Err(fault);
                }
            };
            match ffi::sqlite3_reset(stmt) {
                ffi::SQLITE_OK => Ok(row),
                code => Err(fault(self.db, code)),
            }
        }
    }

    /// How often it has been run since this was last asked: SQLite's own count.
    pub(super) fn take_runs(&mut self) -> u64 {
        // SAFETY: the statement is prepared. The counter is 32 bits wide and reset here.
        let runs = unsafe { ffi::sqlite3_stmt_status(self.stmt.as_ptr(), ffi::SQLITE_STMTSTATUS_RUN, 1) };
        u64::from(runs as u32)
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the connection outlives the statement, which is finalized once and before its texts are freed.
        unsafe {
            ffi::sqlite3_finalize(self.stmt.as_ptr());
            drop(Box::from_raw(self.texts));
        }
    }
}

/// Rows that the last statement on `conn` changed.
pub(super) fn changes(conn: &Connection) -> u64 {
    conn.changes()
}

/// Rows changed on `conn` since it was opened, those rolled back included.
pub(super) fn total_changes(conn: &Connection) -> u64 {
    // SAFETY: the connection is open.
    let total = unsafe { ffi::sqlite3_total_changes64(database(conn).as_ptr()) };
    total.unsigned_abs()
}

/// One of the page cache's counters of `conn` since this was last asked.
pub(super) fn take_status(conn: &Connection, verb: c_int) -> u64 {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: the connection is open; SQLite writes both values. The counter is 32 bits wide and reset here.
    let code =
        unsafe { ffi::sqlite3_db_status64(database(conn).as_ptr(), verb, &mut current, &mut highest, 1) };
    if code == ffi::SQLITE_OK { current.unsigned_abs() } else { 0 }
}

/// The name by which SQLite's VFS knows the main database file of `conn`; empty for a database in memory.
pub(super) fn file_name(conn: &Connection) -> Vec<u8> {
    // SAFETY: the connection is open; the name is copied at once.
    unsafe {
        let name = ffi::sqlite3_db_filename(database(conn).as_ptr(), c"main".as_ptr());
        if name.is_null() { Vec::new() } else { CStr::from_ptr(name).to_bytes().to_vec() }
    }
}

/// Lets a database in memory grow to `bytes`.
pub(super) fn set_size_limit(conn: &Connection, bytes: i64) {
    let mut limit = bytes;
    // SAFETY: the connection is open; SIZE_LIMIT reads and writes one 64-bit integer. A VFS without it says so, and
    // then has no limit.
    unsafe {
        ffi::sqlite3_file_control(
            database(conn).as_ptr(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_SIZE_LIMIT,
            (&raw mut limit).cast(),
        );
    }
}
