//! A scripted database in memory: every operation's time and every counter is known beforehand.
//!
//! It proves gate, pacing, window, series and audit without a real database, on a clock that the script
//! advances. Like real servers, it shows a session's work only after the session publishes it, at its
//! boundaries and its end.

mod counters;
mod ledger;
mod session;
mod target;

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::{BlockOp, Clock, OpError};

pub use counters::REDO_BYTES_PER_ROW;
pub use ledger::{Ledger, LedgerSpan, NOTICED_NS, ScriptedClassTotals, ScriptedTotals};
pub use target::ScriptedTarget;

/// A clock that only a script advances, or a thread that sleeps on it.
#[derive(Debug, Default)]
pub struct ScriptedClock(AtomicU64);

impl ScriptedClock {
    /// Advances the time by `ns`.
    pub fn advance(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::AcqRel);
    }
}

impl Clock for ScriptedClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    fn park_until(&self, deadline_ns: u64) {
        self.0.fetch_max(deadline_ns, Ordering::AcqRel);
    }
}

/// Decides what a session's next operation does, from the session, the operation's number (from 0 over the
/// session's life) and the operation.
pub type OperationScript = dyn Fn(u32, u64, BlockOp) -> Act + Send + Sync;

/// Lets this many nanoseconds pass.
pub type Pass = dyn Fn(u64) + Send + Sync;

/// The outcome of one operation.
#[derive(Debug, Clone)]
pub enum Act {
    /// It succeeds after this many nanoseconds.
    Take(u64),
    /// It fails with this error.
    Fail(OpError),
    /// It never ends until it is interrupted.
    Hang,
    /// It panics inside the engine.
    Panic,
}
