//! Prepared statements without the driver's own work around them.
//!
//! A lookup in memory takes less than a microsecond, so what a driver adds (looking up the cached statement, copying
//! text to bind it, checking types of columns) would be a good part of what is measured. A [`Statement`] is prepared
//! once, binds numbers by number, and owns the texts that it binds: they are bound once, where they lie, and new values
//! of the same length are written into place between two runs.

// The C interface is called directly, for the reason above.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint};
use std::ptr::NonNull;

use rusqlite::{Connection, ffi};

use super::fault::Fault;
use dyno_engine::{Answer, LastRow, Value};

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
    /// The texts that are bound, one after the other. From `Box::into_raw`.
    texts: *mut [u8],
    /// Where the text of each parameter begins among them, and how long it is; absent where it is bound to something else.
    places: Vec<Option<(usize, usize)>>,
}

// SAFETY: a statement is used by the one thread that has its session, and SQLite is built threadsafe: connections opened
// without a mutex may move between threads as long as one uses them at a time.
unsafe impl Send for Statement {}

impl Statement {
    /// Prepares `sql`.
    pub(super) fn prepare(conn: &Connection, sql: &str) -> Result<Self, Box<Fault>> {
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
    ) -> Result<Self, Box<Fault>> {
        let mut statement = Self::prepare(conn, sql)?;
        let blank = vec![b' '; width];
        statement.bind_anew(&vec![Value::Text(&blank); count])?;
        Ok(statement)
    }

    /// How many parameters it has.
    pub(super) fn parameters(&self) -> usize {
        // SAFETY: the statement is prepared.
        unsafe { ffi::sqlite3_bind_parameter_count(self.stmt.as_ptr()) as usize }
    }

    /// The texts, one after the other, to be overwritten with ASCII before the next run.
    pub(super) fn texts(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours, and SQLite reads it only inside `answer`, which borrows the statement too.
        unsafe { &mut *self.texts }
    }

    fn code(&self, code: c_int) -> Result<(), Box<Fault>> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(fault(self.db, code)) }
    }

    /// Binds `integer` to the parameter `number`, from 1.
    #[inline]
    pub(super) fn bind_integer(&mut self, number: usize, integer: i64) -> Result<(), Box<Fault>> {
        // SAFETY: the statement is prepared, and reset after each run, so binding is allowed.
        let code = unsafe { ffi::sqlite3_bind_int64(self.stmt.as_ptr(), number as c_int, integer) };
        self.code(code)
    }

    /// Binds `values` to the parameters.
    #[inline]
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<(), Box<Fault>> {
        for (index, value) in values.iter().enumerate() {
            match *value {
                // What a text was bound to last is told so, before another one is written in its place.
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

    /// The same where texts have other lengths than before, or there is something else than integers and texts.
    #[inline(never)]
    fn bind_anew(&mut self, values: &[Value<'_>]) -> Result<(), Box<Fault>> {
        let bytes = |value: &Value<'_>| match *value {
            Value::Text(bytes) | Value::Bytes(bytes) => bytes.to_vec(),
            Value::Null | Value::Int(_) | Value::Real(_) => Vec::new(),
        };
        let texts: Vec<u8> = values.iter().flat_map(bytes).collect();
        let old = std::mem::replace(&mut self.texts, Box::into_raw(texts.into_boxed_slice()));
        let stmt = self.stmt.as_ptr();
        // SAFETY: nothing is bound to the old texts any more when they are freed.
        unsafe {
            ffi::sqlite3_clear_bindings(stmt);
            drop(Box::from_raw(old));
        }
        self.places.clear();
        let mut at = 0;
        for (number, value) in (1..).zip(values) {
            // SAFETY: the statement is prepared and reset. Texts lie in memory that lives, and does not move, until they are
            // bound anew or the statement is finalized; without a destructor SQLite neither copies nor frees them.
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

    /// Whether it changes nothing in the database.
    pub(super) fn is_readonly(&self) -> bool {
        // SAFETY: the statement is prepared.
        unsafe { ffi::sqlite3_stmt_readonly(self.stmt.as_ptr()) != 0 }
    }

    /// Runs the statement, and tells what `answer` asks for; its columns go to `row`.
    #[inline]
    pub(super) fn answer(&mut self, answer: Answer, row: &mut LastRow) -> Result<u64, Box<Fault>> {
        match answer {
            Answer::Number => {
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
                        let message = "the first column that the statement returns is no integer".to_owned();
                        Err(Box::new(Fault { code: ffi::SQLITE_MISMATCH, message }))
                    }
                }
            }
            Answer::Row => self.run(false, read),
            Answer::Rows => self.run(true, read),
            Answer::Columns => self.columns(row),
            Answer::Changed { per_row } => {
                self.run(true, |_| 0)?;
                Ok(self.changed() / u64::from(per_row))
            }
        }
    }

    /// Rows that it has changed.
    fn changed(&self) -> u64 {
        // SAFETY: the connection is open as long as there is a statement.
        unsafe { ffi::sqlite3_changes64(self.db.as_ptr()) }.unsigned_abs()
    }

    /// Runs the statement, and keeps the last row.
    #[inline(never)]
    fn columns(&mut self, row: &mut LastRow) -> Result<u64, Box<Fault>> {
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

    /// Runs the statement, which tells nothing.
    pub(super) fn step(&mut self) -> Result<(), Box<Fault>> {
        self.run(true, |_| 0).map(|_| ())
    }

    /// Runs the statement to its end, or to its first row: the sum of what `of_row` makes of each.
    #[inline]
    fn run(
        &mut self,
        to_its_end: bool,
        mut of_row: impl FnMut(*mut ffi::sqlite3_stmt) -> u64,
    ) -> Result<u64, Box<Fault>> {
        let stmt = self.stmt.as_ptr();
        let mut sum = 0;
        // SAFETY: the statement is prepared; a column is asked for only while there is a row.
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

/// Reads the first column of the row that `stmt` is at: one row.
#[inline]
fn read(stmt: *mut ffi::sqlite3_stmt) -> u64 {
    // SAFETY: there is a row. The value is the caller's once its bytes can be read.
    unsafe {
        std::hint::black_box(ffi::sqlite3_column_blob(stmt, 0));
    }
    1
}

/// The value of a column in the row that `stmt` is at, until that goes on.
fn value<'a>(stmt: *mut ffi::sqlite3_stmt, column: c_int) -> Value<'a> {
    // SAFETY: there is a row with this column; what SQLite gives is so many bytes long, and is read before the next step.
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
