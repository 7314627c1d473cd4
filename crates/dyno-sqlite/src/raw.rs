//! Executes prepared statements without the driver's overhead.
//!
//! A lookup in memory takes less than a microsecond. A driver looks up the cached statement, copies texts to
//! bind them and checks column types, which would be a large part of the measured time. A [`SqlitePreparedStatement`] is
//! prepared once, binds parameters by number, and owns the texts that it binds. Texts are bound once, at
//! their address, and new values of the same length overwrite them between two executions.

// The C interface is called directly, for the reason above.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint};
use std::ptr::NonNull;

use rusqlite::{Connection, ffi};

use super::fault::SqliteError;
use dyno_engine::{LastRow, ResultKind, Value};

/// SQLite's code and message of the last error on `db`.
fn fault(db: NonNull<ffi::sqlite3>, code: c_int) -> Box<SqliteError> {
    // SAFETY: the connection is open, and the message is copied before anything else is called on it.
    let (extended, message) = unsafe {
        let message = ffi::sqlite3_errmsg(db.as_ptr());
        (ffi::sqlite3_extended_errcode(db.as_ptr()), CStr::from_ptr(message).to_string_lossy().into_owned())
    };
    // The connection's code is more precise if it belongs to the same call.
    let code = if extended & 0xff == code & 0xff { extended } else { code };
    Box::new(SqliteError { code, message })
}

/// The SQLite handle of `conn`.
fn database(conn: &Connection) -> NonNull<ffi::sqlite3> {
    // SAFETY: the handle is only used while the connection is open; see `SqlitePreparedStatement`.
    NonNull::new(unsafe { conn.handle() }).expect("an open connection has a handle")
}

/// A prepared statement. It must be dropped before its connection, so owners declare it first.
pub(super) struct SqlitePreparedStatement {
    db: NonNull<ffi::sqlite3>,
    stmt: NonNull<ffi::sqlite3_stmt>,
    /// The bound texts, concatenated. From `Box::into_raw`.
    texts: *mut [u8],
    /// The start and length of each parameter's text among them; absent if the parameter is not a text.
    places: Vec<Option<(usize, usize)>>,
}

// SAFETY: a statement is used by the one thread that has its session, and SQLite is built threadsafe: connections opened
// without a mutex may move between threads as long as one uses them at a time.
unsafe impl Send for SqlitePreparedStatement {}

impl SqlitePreparedStatement {
    /// Prepares `sql` on the connection.
    pub(super) fn prepare(conn: &Connection, sql: &str) -> Result<Self, Box<SqliteError>> {
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
        let texts = Box::into_raw(Box::default());
        Ok(Self { db, stmt, texts, places: Vec::new() })
    }

    /// Prepares `sql`, whose parameters `?1` to `?count` are texts of `width` bytes each.
    pub(super) fn with_texts(
        conn: &Connection,
        sql: &str,
        count: usize,
        width: usize,
    ) -> Result<Self, Box<SqliteError>> {
        let mut statement = Self::prepare(conn, sql)?;
        let blank = vec![b' '; width];
        statement.bind_anew(&vec![Value::Text(&blank); count])?;
        Ok(statement)
    }

    /// The number of its parameters.
    pub(super) fn parameters(&self) -> usize {
        // SAFETY: the statement is prepared.
        unsafe { ffi::sqlite3_bind_parameter_count(self.stmt.as_ptr()) as usize }
    }

    /// The bound texts, concatenated, to be overwritten with ASCII before the next execution.
    pub(super) fn texts(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours, and SQLite reads it only inside `answer`, which borrows the statement too.
        unsafe { &mut *self.texts }
    }

    fn code(&self, code: c_int) -> Result<(), Box<SqliteError>> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(fault(self.db, code)) }
    }

    /// Binds `integer` to the parameter `number`, from 1.
    #[inline]
    pub(super) fn bind_integer(&mut self, number: usize, integer: i64) -> Result<(), Box<SqliteError>> {
        // SAFETY: the statement is prepared, and reset after each run, so binding is allowed.
        let code = unsafe { ffi::sqlite3_bind_int64(self.stmt.as_ptr(), number as c_int, integer) };
        self.code(code)
    }

    /// Binds `values` to the parameters.
    #[inline]
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<(), Box<SqliteError>> {
        for (index, value) in values.iter().enumerate() {
            match *value {
                // A parameter that was a text must be bound again before another value is used.
                Value::Int(integer) if !matches!(self.places.get(index), Some(Some(_))) => {
                    self.bind_integer(index + 1, integer)?;
                }
                Value::Text(text) => match self.places.get(index) {
                    Some(&Some((at, len))) if len == text.len() => {
                        self.texts()[at..at + len].copy_from_slice(text);
                    }
                    _ => return self.bind_anew(values),
                },
                Value::Null | Value::Int(_) | Value::Real(_) | Value::Bytes(_) => {
                    return self.bind_anew(values);
                }
            }
        }
        Ok(())
    }

    /// Binds all values again, if texts have other lengths than before or a value is neither integer nor
    /// text.
    #[inline(never)]
    fn bind_anew(&mut self, values: &[Value<'_>]) -> Result<(), Box<SqliteError>> {
        let bytes = |value: &Value<'_>| match *value {
            Value::Text(bytes) | Value::Bytes(bytes) => bytes.to_vec(),
            Value::Null | Value::Int(_) | Value::Real(_) => Vec::new(),
        };
        let texts: Vec<u8> = values.iter().flat_map(bytes).collect();
        let old = std::mem::replace(&mut self.texts, Box::into_raw(texts.into_boxed_slice()));
        let stmt = self.stmt.as_ptr();
        // SAFETY: no parameter is bound to the old texts when they are freed.
        unsafe {
            ffi::sqlite3_clear_bindings(stmt);
            drop(Box::from_raw(old));
        }
        self.places.clear();
        let mut at = 0;
        for (number, value) in (1..).zip(values) {
            // SAFETY: the statement is prepared and reset. Texts are in memory that lives and does not move
            // until they are bound again or the statement is finalized. Without a destructor SQLite neither
            // copies nor frees them.
            let (code, place) = unsafe {
                let memory = self.texts.cast::<u8>().add(at);
                match *value {
                    Value::Null => (ffi::sqlite3_bind_null(stmt, number), None),
                    Value::Int(integer) => (ffi::sqlite3_bind_int64(stmt, number, integer), None),
                    Value::Real(real) => (ffi::sqlite3_bind_double(stmt, number, real), None),
                    Value::Text(text) => {
                        let length = text.len() as c_int;
                        let code =
                            ffi::sqlite3_bind_text(stmt, number, memory.cast(), length, ffi::SQLITE_STATIC());
                        (code, Some((at, text.len())))
                    }
                    Value::Bytes(bytes) => {
                        at += bytes.len();
                        let length = bytes.len() as c_int;
                        let code =
                            ffi::sqlite3_bind_blob(stmt, number, memory.cast(), length, ffi::SQLITE_STATIC());
                        (code, None)
                    }
                }
            };
            self.code(code)?;
            at += place.map_or(0, |(_, length)| length);
            self.places.push(place);
        }
        Ok(())
    }

    /// Whether the statement changes nothing in the database.
    pub(super) fn is_readonly(&self) -> bool {
        // SAFETY: the statement is prepared.
        unsafe { ffi::sqlite3_stmt_readonly(self.stmt.as_ptr()) != 0 }
    }

    /// Executes the statement and returns what `answer` selects; columns are stored in `row`.
    #[inline]
    pub(super) fn answer(&mut self, answer: ResultKind, row: &mut LastRow) -> Result<u64, Box<SqliteError>> {
        match answer {
            ResultKind::Number => {
                let is_odd = Cell::new(false);
                let number = self.run(false, |stmt| {
                    // SAFETY: there is a row.
                    unsafe {
                        let kind = ffi::sqlite3_column_type(stmt, 0);
                        is_odd.set(!matches!(kind, ffi::SQLITE_INTEGER | ffi::SQLITE_NULL));
                        ffi::sqlite3_column_int64(stmt, 0) as u64
                    }
                })?;
                match is_odd.get() {
                    false => Ok(number),
                    true => {
                        let message =
                            "the first column that the statement returns is not an integer".to_owned();
                        Err(Box::new(SqliteError { code: ffi::SQLITE_MISMATCH, message }))
                    }
                }
            }
            ResultKind::Row => self.run(false, read),
            ResultKind::Rows => self.run(true, read),
            ResultKind::Columns => self.columns(row),
            ResultKind::Changed { per_row } => {
                self.run(true, |_| 0)?;
                Ok(self.changed() / u64::from(per_row))
            }
        }
    }

    /// The number of rows that the statement changed.
    fn changed(&self) -> u64 {
        // SAFETY: the connection is open as long as there is a statement.
        unsafe { ffi::sqlite3_changes64(self.db.as_ptr()) }.unsigned_abs()
    }

    /// Executes the statement and keeps the last row.
    #[inline(never)]
    fn columns(&mut self, row: &mut LastRow) -> Result<u64, Box<SqliteError>> {
        row.clear();
        // SAFETY: the statement is prepared.
        let columns = unsafe { ffi::sqlite3_column_count(self.stmt.as_ptr()) };
        let rows = self.run(true, |stmt| {
            row.clear();
            (0..columns).for_each(|column| row.push(value(stmt, column)));
            1
        })?;
        Ok(if columns == 0 { self.changed() } else { rows })
    }

    /// Executes a statement without a result.
    pub(super) fn step(&mut self) -> Result<(), Box<SqliteError>> {
        self.run(true, |_| 0).map(|_| ())
    }

    /// Executes the statement to its end, or to its first row; returns the sum of `of_row` over the rows.
    #[inline]
    fn run(
        &mut self,
        to_its_end: bool,
        mut of_row: impl FnMut(*mut ffi::sqlite3_stmt) -> u64,
    ) -> Result<u64, Box<SqliteError>> {
        let stmt = self.stmt.as_ptr();
        let mut sum = 0;
        // SAFETY: the statement is prepared; a column is read only while there is a row.
        unsafe {
            loop {
                match ffi::sqlite3_step(stmt) {
                    ffi::SQLITE_ROW => sum += of_row(stmt),
                    ffi::SQLITE_DONE => break,
                    code => {
                        let fault = fault(self.db, code);
                        ffi::sqlite3_reset(stmt);
                        return Err(fault);
                    }
                }
                if !to_its_end {
                    break;
                }
            }
            match ffi::sqlite3_reset(stmt) {
                ffi::SQLITE_OK => Ok(sum),
                code => Err(fault(self.db, code)),
            }
        }
    }

    /// The number of executions since the last call, from SQLite's own counter.
    pub(super) fn take_runs(&mut self) -> u64 {
        // SAFETY: the statement is prepared. The counter is 32 bits wide and reset here.
        let runs = unsafe { ffi::sqlite3_stmt_status(self.stmt.as_ptr(), ffi::SQLITE_STMTSTATUS_RUN, 1) };
        u64::from(runs as u32)
    }
}

impl Drop for SqlitePreparedStatement {
    fn drop(&mut self) {
        // SAFETY: the connection outlives the statement, which is finalized once and before its texts are freed.
        unsafe {
            ffi::sqlite3_finalize(self.stmt.as_ptr());
            drop(Box::from_raw(self.texts));
        }
    }
}

/// Reads the first column of the current row of `stmt` and counts one row.
#[inline]
fn read(stmt: *mut ffi::sqlite3_stmt) -> u64 {
    // SAFETY: there is a row. The value belongs to the caller once its bytes can be read.
    unsafe {
        std::hint::black_box(ffi::sqlite3_column_blob(stmt, 0));
    }
    1
}

/// The value of a column in the current row of `stmt`, valid until the next step.
fn value<'a>(stmt: *mut ffi::sqlite3_stmt, column: c_int) -> Value<'a> {
    // SAFETY: there is a row with this column. SQLite gives the length in bytes, and the bytes are read
    // before the next step.
    unsafe {
        let bytes = || {
            let start = ffi::sqlite3_column_blob(stmt, column).cast::<u8>();
            let length = ffi::sqlite3_column_bytes(stmt, column) as usize;
            if start.is_null() { &[][..] } else { std::slice::from_raw_parts(start, length) }
        };
        match ffi::sqlite3_column_type(stmt, column) {
            ffi::SQLITE_INTEGER => Value::Int(ffi::sqlite3_column_int64(stmt, column)),
            ffi::SQLITE_FLOAT => Value::Real(ffi::sqlite3_column_double(stmt, column)),
            ffi::SQLITE_TEXT => Value::Text(bytes()),
            ffi::SQLITE_BLOB => Value::Bytes(bytes()),
            _ => Value::Null,
        }
    }
}

/// Rows changed on `conn` since it was opened, including those rolled back.
pub(super) fn total_changes(conn: &Connection) -> u64 {
    // SAFETY: the connection is open.
    let total = unsafe { ffi::sqlite3_total_changes64(database(conn).as_ptr()) };
    total.unsigned_abs()
}

/// The increase of one of the page cache's counters of `conn` since the last call.
pub(super) fn take_status(conn: &Connection, verb: c_int) -> u64 {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: the connection is open; SQLite writes both values. The counter is 32 bits wide and reset here.
    let code =
        unsafe { ffi::sqlite3_db_status64(database(conn).as_ptr(), verb, &mut current, &mut highest, 1) };
    if code == ffi::SQLITE_OK { current.unsigned_abs() } else { 0 }
}

/// The name under which SQLite's VFS knows the main database file of `conn`; empty for a database in memory.
pub(super) fn file_name(conn: &Connection) -> Vec<u8> {
    // SAFETY: the connection is open; the name is copied at once.
    unsafe {
        let name = ffi::sqlite3_db_filename(database(conn).as_ptr(), c"main".as_ptr());
        if name.is_null() { Vec::new() } else { CStr::from_ptr(name).to_bytes().to_vec() }
    }
}

/// Allows a database in memory to grow to `bytes`.
pub(super) fn set_size_limit(conn: &Connection, bytes: i64) {
    let mut limit = bytes;
    // SAFETY: the connection is open; SIZE_LIMIT reads and writes one 64-bit integer. A VFS that does not
    // support it returns an error and has no limit.
    unsafe {
        ffi::sqlite3_file_control(
            database(conn).as_ptr(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_SIZE_LIMIT,
            (&raw mut limit).cast(),
        );
    }
}
