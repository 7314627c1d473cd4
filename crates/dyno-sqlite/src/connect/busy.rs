//! Waiting for a lock.
//!
//! SQLite's own busy timeout sleeps for 1, 2, 5 … 100 ms between attempts, which would be most of what an update on a
//! busy file is seen to take. This one begins at 50 µs and stays below 1 ms, and it can be told to give up.

// A busy handler is a C function pointer with a context.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};

use crate::fault::Fault;

const SLEEP_US_MIN: u64 = 50;
const SLEEP_US_MAX: u64 = 1_000;

/// One connection's patience.
#[derive(Debug)]
pub(crate) struct Patience {
    longest: Duration,
    began: Cell<Option<Instant>>,
    stop: Arc<AtomicBool>,
}

impl Patience {
    /// Waits up to `longest`, and no longer once `stop` is set.
    pub(super) fn new(longest: Duration, stop: Arc<AtomicBool>) -> Box<Self> {
        Box::new(Self { longest, began: Cell::new(None), stop })
    }

    /// Makes `conn` wait like this. It must outlive the connection.
    pub(super) fn install(&self, conn: &Connection) -> Result<(), Fault> {
        let context = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the connection is open; its owner keeps this box until after the connection is closed.
        match unsafe { ffi::sqlite3_busy_handler(conn.handle(), Some(wait), context) } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(Fault::bare(code)),
        }
    }

    /// Sleeps before attempt number `attempts`; false is giving up.
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
/// SQLite calls it, with the `Patience` that was given with it, on the thread of the connection.
unsafe extern "C" fn wait(context: *mut c_void, attempts: c_int) -> c_int {
    // SAFETY: the context is the `Patience` given to `install`, and only the connection's thread is here.
    let patience = unsafe { &*context.cast::<Patience>() };
    c_int::from(patience.wait(attempts.unsigned_abs()))
}
