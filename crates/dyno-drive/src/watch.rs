//! Reports the progress of a run to a listener.

use dyno_record::SeriesChunk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::complete::{CompletedInterval, RunningTotals};

/// The events of a run, reported on the coordinator's thread.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// Agents are awaited before the run.
    Awaiting {
        /// Number of hosts that have joined.
        there: usize,
        /// Number of hosts that are needed.
        of: usize,
    },
    /// Sessions are connecting.
    Connecting {
        /// Number of sessions that are ready.
        ready: u32,
        /// Number of sessions in all.
        of: u32,
    },
    /// The gate is open; the warm-up runs.
    Warmup {
        /// Length of the warm-up, s.
        seconds: f64,
    },
    /// The window begins; its operations count.
    Window {
        /// The time on the run's clock, ns.
        at_ns: u64,
        /// How late sessions could learn of it, because this program lost its processor in the millisecond
        /// before, ns. Operations of that time are not counted.
        late_ns: u64,
    },
    /// The window is over, except for operations in progress.
    Closing {
        /// The time on the run's clock, ns.
        at_ns: u64,
    },
    /// An interval of the window is over.
    Interval(LiveProgress),
    /// The last complete interval, with everything known up to its end.
    Complete(Box<CompletedInterval>),
    /// The window is over and its sessions have ended: its totals, late reports included.
    Whole(Box<RunningTotals>),
    /// Final intervals of the window: of all targets together, or of one.
    Final(SeriesChunk),
    /// Late reports of a session in a long operation, to be added to intervals already reported.
    Late(SeriesChunk),
    /// The window is over, and sessions end.
    Draining,
}

/// Figures of the last interval on which all sessions have reported, and the progress of the run. Serialized,
/// it has the progress only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveProgress {
    /// Seconds since the window began.
    pub elapsed_s: f64,
    /// Length of the window, s; absent if it ends after a number of operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_s: Option<f64>,
    /// Completed share of the window, 0–1.
    pub done: f64,
    /// The end of that interval in seconds since the window began; absent before the first one.
    #[serde(skip)]
    pub until_s: Option<f64>,
    /// Operations per second in the interval.
    #[serde(skip)]
    pub ops_per_s: f64,
    /// Median response time in the interval, µs.
    #[serde(skip)]
    pub p50_us: Option<f64>,
    /// 99th percentile of response time in the interval, µs.
    #[serde(skip)]
    pub p99_us: Option<f64>,
    /// Failed operations since the window began.
    pub errors: u64,
}

/// Receives the events of a run. There are no default methods, so that a wrapper must forward every call.
pub trait RunListener {
    /// Receives an event of the run.
    fn event(&self, event: &RunEvent);

    /// Called when all sessions are connected and prepared; they start together afterwards.
    ///
    /// # Errors
    /// The reason why the run must fail instead.
    fn connected(&self) -> Result<(), String>;

    /// Called when the warm-up is over and the window is about to begin; sessions are at work until it returns.
    fn window_begins(&self);

    /// Called when the window has ended in time and its counters are read; sessions are still at work.
    fn window_ended(&self);

    /// Called when the window is over and its sessions have ended, once for every run whose sessions had all
    /// connected.
    ///
    /// # Errors
    /// The reason why the run must count as failed.
    fn drained(&self) -> Result<(), String>;
}

/// A listener that ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopRunListener;

impl RunListener for NoopRunListener {
    fn event(&self, _: &RunEvent) {}

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn window_begins(&self) {}

    fn window_ended(&self) {}

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}
