//! Stops a long statement after the user has canceled the command.

// A progress handler is a C function pointer with a context.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ffi};

use dyno_engine::Cancel;

/// Instructions of SQLite's virtual machine between two checks: some tenths of a millisecond.
const INSTRUCTIONS_PER_LOOK: c_int = 10_000;

/// # Safety
/// SQLite calls it, with the flag that [`cancellable`] passed and keeps alive while it may be called.
unsafe extern "C" fn look(context: *mut c_void) -> c_int {
    // SAFETY: the context is the flag that `cancellable` keeps alive while the handler is set.
    let stop = unsafe { &*context.cast::<AtomicBool>() };
    c_int::from(stop.load(Ordering::Relaxed))
}

/// Executes `work` on `conn`; its statements end as interrupted once `cancel` is set.
pub(super) fn cancellable<T>(conn: &Connection, cancel: &Cancel, work: impl FnOnce() -> T) -> T {
    let flag = cancel.flag();
    let context = std::ptr::from_ref::<AtomicBool>(&flag).cast_mut().cast();
    // SAFETY: the connection is open, and the flag outlives the handler, which is removed below.
    unsafe { ffi::sqlite3_progress_handler(conn.handle(), INSTRUCTIONS_PER_LOOK, Some(look), context) };
    let result = work();
    // SAFETY: as above.
    unsafe { ffi::sqlite3_progress_handler(conn.handle(), 0, None, std::ptr::null_mut()) };
    result
}
