//! Interrupts a session from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::{Connection, InterruptHandle};

use dyno_engine::Interrupter;

/// Interrupts a session: its current statement, its wait for a lock, and every operation after that until the
/// session reconnects. SQLite's own interrupt only ends the statement, and has no effect between two
/// statements.
pub(super) struct SqliteInterrupter {
    stop_flag: Arc<AtomicBool>,
    statement: Mutex<InterruptHandle>,
}

impl SqliteInterrupter {
    /// An interrupter for `conn`, which stops waiting for locks when the flag is set.
    pub(super) fn new(conn: &Connection, stop_flag: Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self { stop_flag, statement: Mutex::new(conn.get_interrupt_handle()) })
    }

    /// Whether an interruption was requested.
    #[inline]
    pub(super) fn is_requested(&self) -> bool {
        self.stop_flag.load(Ordering::Relaxed)
    }

    /// The flag that requests an interruption.
    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.stop_flag
    }

    /// Clears the request, so that the session can continue.
    pub(super) fn release(&self) {
        self.stop_flag.store(false, Ordering::Relaxed);
    }

    /// Sets `conn` as the connection to interrupt from now on.
    pub(super) fn set_connection(&self, conn: &Connection) {
        *self.statement.lock() = conn.get_interrupt_handle();
    }
}

impl Interrupter for SqliteInterrupter {
    fn interrupt(&self) {
        self.stop_flag.store(true, Ordering::Relaxed);
        self.statement.lock().interrupt();
    }
}
