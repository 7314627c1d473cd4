//! Telling whoever watches how a run goes.

use dyno_record::Chunk;

use crate::complete::{Complete, SoFar};

/// What happens during a run, told on the coordinator's thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Hosts that are to drive are waited for.
    Awaiting {
        /// Hosts that are there.
        there: usize,
        /// How many there are to be.
        of: usize,
    },
    /// Sessions are being connected: ready so far, of how many.
    Connecting {
        /// Sessions that are ready.
        ready: u32,
        /// Sessions in all.
        of: u32,
    },
    /// The gate is open: warm-up of so many seconds.
    Warmup {
        /// Length, s.
        seconds: f64,
    },
    /// The window begins.
    Window {
        /// When, on the run's clock.
        at_ns: u64,
        /// How much later sessions could hear of it, where this program lost its processor in the millisecond before; operations
        /// of that time are in nobody's count.
        late_ns: u64,
    },
    /// The window is over but for operations that are under way.
    Closing {
        /// When, on the run's clock.
        at_ns: u64,
    },
    /// An interval of the window is over.
    Interval(Live),
    /// The last complete interval, with everything that is known up to its end.
    Complete(Box<Complete>),
    /// The window is over and its sessions have ended: what all of it was, with what came late.
    Whole(Box<SoFar>),
    /// Intervals of the window that are over: those of all targets together, or of one.
    Final(Chunk),
    /// What a session, which was in a long operation, reports of intervals that were told before: to be added to these.
    Late(Chunk),
    /// The window is over; sessions end.
    Draining,
}

/// Figures of the last interval of which all sessions have reported, and how far the run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Live {
    /// Seconds since the window began.
    pub elapsed_s: f64,
    /// Length of the window, s; absent when it ends by operations.
    pub total_s: Option<f64>,
    /// Share of the window that is done, 0–1.
    pub done: f64,
    /// The end of that interval in seconds since the window began; absent while there is none.
    pub until_s: Option<f64>,
    /// Operations per second in the interval.
    pub ops_per_s: f64,
    /// Median response time in the interval, µs.
    pub p50_us: Option<f64>,
    /// 99th percentile of response time in the interval, µs.
    pub p99_us: Option<f64>,
    /// Failed operations since the window began.
    pub errors: u64,
}

/// Somebody who watches a run. There are no default methods: who wraps another one passes on all of them.
pub trait Watch {
    /// Something has happened.
    fn event(&self, event: &Event);

    /// All sessions are connected and prepared; they start together after this.
    ///
    /// # Errors
    /// Why the run shall fail instead.
    fn connected(&self) -> Result<(), String>;

    /// The window is over and its sessions have ended. Called once for every run whose sessions had all connected.
    ///
    /// # Errors
    /// Why the run shall count as failed.
    fn drained(&self) -> Result<(), String>;
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn event(&self, _: &Event) {}

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}
