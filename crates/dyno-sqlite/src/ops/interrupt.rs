//! Breaking off a session from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, InterruptHandle};

use dyno_engine::Interrupter;

/// A session's break: ends the statement that runs, the wait for a lock, and every operation after it until the session
/// reconnects. SQLite's own interrupt does only the first, and is lost between two statements.
pub(super) struct Break {
    asked: Arc<AtomicBool>,
    statement: Mutex<InterruptHandle>,
}

impl Break {
    /// A break for `conn`, which gives up waiting when `asked` is set.
    pub(super) fn new(conn: &Connection, asked: Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self { asked, statement: Mutex::new(conn.get_interrupt_handle()) })
    }

    /// Whether it was asked for.
    #[inline]
    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag itself.
    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.asked
    }

    /// Lets the session go on.
    pub(super) fn release(&self) {
        self.asked.store(false, Ordering::Relaxed);
    }

    /// Takes `conn` as what is to be broken off from now on.
    pub(super) fn follow(&self, conn: &Connection) {
        *self.statement.lock().unwrap_or_else(PoisonError::into_inner) = conn.get_interrupt_handle();
    }
}

impl Interrupter for Break {
    fn interrupt(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.statement.lock().unwrap_or_else(PoisonError::into_inner).interrupt();
    }
}
