//! A scripted database in memory: every operation's time and every counter is known beforehand.
//!
//! It is how gate, pacing, window, series and audit are proved right without a database, on a clock that the script moves.
//! Like real servers, it shows what a session did only when the session publishes it (at its edges and its end).

mod books;
mod ledger;
mod session;
mod target;

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::{Clock, Op, OpError};

pub use books::REDO_BYTES_PER_ROW;
pub use ledger::{Account, ClassAccount, Ledger, NOTICED_NS, Span};
pub use target::ScriptedTarget;

/// A clock that moves only when a script moves it, or when somebody sleeps on it.
#[derive(Debug, Default)]
pub struct ScriptedClock(AtomicU64);

impl ScriptedClock {
    /// Moves time on by `ns`.
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

/// What the next operation of a session will do: its number (from 0 over the session's life) and itself come in.
pub type Script = dyn Fn(u32, u64, Op) -> Act + Send + Sync;

/// Lets so many nanoseconds go by.
pub type Pass = dyn Fn(u64) + Send + Sync;

/// How one operation ends.
#[derive(Debug, Clone)]
pub enum Act {
    /// Well, after so many nanoseconds.
    Take(u64),
    /// With an error.
    Fail(OpError),
    /// Never, until it is broken off.
    Hang,
    /// With a panic of the engine.
    Panic,
}
