//! Waits for a lock.
//!
//! SQLite's own busy timeout sleeps for 1, 2, 5 … 100 ms between attempts, which would dominate the time of
//! an update on a busy file. This one begins at 50 µs, stays below 1 ms, and can be interrupted.

// A busy handler is a C function pointer with a context.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};

use crate::fault::SqliteError;

const SLEEP_US_MIN: u64 = 50;
const SLEEP_US_MAX: u64 = 1_000;

/// How long one connection waits for locks.
#[derive(Debug)]
pub(crate) struct SqliteBusyWaiter {
    longest: Duration,
    began: Cell<Option<Instant>>,
    stop: Arc<AtomicBool>,
}

impl SqliteBusyWaiter {
    /// Waits up to `longest`, or until `stop` is set.
    pub(super) fn new(longest: Duration, stop: Arc<AtomicBool>) -> Box<Self> {
        Box::new(Self { longest, began: Cell::new(None), stop })
    }

    /// Makes `conn` use this wait. This value must outlive the connection.
    pub(super) fn install(&self, conn: &Connection) -> Result<(), SqliteError> {
        let context = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the connection is open; its owner keeps this box until after the connection is closed.
        match unsafe { ffi::sqlite3_busy_handler(conn.handle(), Some(wait), context) } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(SqliteError::bare(code)),
        }
    }

    /// Sleeps before attempt number `attempts`; returns false to give up.
    fn wait(&self, attempts: u32) -> bool {
        let now = Instant::now();
        let began = match self.began.get().filter(|_| attempts > 0) {
            Some(began) => began,
            None => {
                self.began.set(Some(now));
                now
            }
        };
        let left = self.longest.saturating_sub(now - began);
        if left.is_zero() || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let sleep_us = (SLEEP_US_MIN << attempts.min(8)).min(SLEEP_US_MAX);
        std::thread::sleep(left.min(Duration::from_micros(sleep_us)));
        true
    }
}

/// # Safety
/// SQLite calls it, with the `SqliteBusyWaiter` that was passed with it, on the thread of the connection.
unsafe extern "C" fn wait(context: *mut c_void, attempts: c_int) -> c_int {
    // SAFETY: the context is the `SqliteBusyWaiter` passed to `install`, and only the connection's thread runs this.
    let patience = unsafe { &*context.cast::<SqliteBusyWaiter>() };
    c_int::from(patience.wait(attempts.unsigned_abs()))
}
