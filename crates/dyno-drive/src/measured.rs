//! Holds what the coordinator has measured, before it becomes a record.

use dyno_engine::target::HungSessionReport;
use dyno_observe::CounterWatchdog;
use dyno_observe::TargetSnapshot;
use dyno_record::{Fleet, Profile, Series, ThreadPlacement, UnreadIntervals, Waits};

use crate::job::DriveOutcome;
use crate::processors::Processors;
use crate::results::Results;
use crate::stalls::Stalls;

/// Everything that a record is built from.
pub(crate) struct Finished {
    pub(crate) measured: RunMeasurement,
    /// The results of sessions and their threads.
    pub(crate) results: Results,
    /// The series of all targets, then of each if there are several.
    pub(crate) series: Vec<Series>,
    pub(crate) outcome: DriveOutcome,
}

/// What the coordinator has measured.
#[derive(Default)]
pub(crate) struct RunMeasurement {
    pub(crate) sessions: u32,
    /// Number of threads that ran the sessions.
    pub(crate) threads: u32,
    /// Where threads and the server's processes ran.
    pub(crate) placement: Option<ThreadPlacement>,
    /// The agents, if they drove the sessions.
    pub(crate) fleet: Option<Fleet>,
    /// The servers' reports on sessions that had to be interrupted.
    pub(crate) stuck: Vec<HungSessionReport>,
    pub(crate) gate_opened_ns: Option<u64>,
    pub(crate) connect_s: f64,
    pub(crate) origin_ns: Option<u64>,
    pub(crate) begin_at: String,
    pub(crate) end_at: String,
    pub(crate) stalls: Stalls,
    pub(crate) broken_off: Vec<u32>,
    /// Who used the processors in the window.
    pub(crate) processors: Processors,
    /// The functions that used the processors.
    pub(crate) profile: Option<Profile>,
    /// The measurements of each target, in target order.
    pub(crate) targets: Vec<MeasuredTarget>,
}

/// The measurements of one target.
#[derive(Default)]
pub(crate) struct MeasuredTarget {
    pub(crate) begin: Option<TargetSnapshot>,
    /// When the database's counters in it were read, if later than the machine's.
    pub(crate) begin_counts_ns: Option<u64>,
    pub(crate) end: Option<TargetSnapshot>,
    pub(crate) no_end: Option<String>,
    pub(crate) whole_begin: Option<TargetSnapshot>,
    pub(crate) whole_end: Option<TargetSnapshot>,
    /// Intervals of the window at whose end its counters could not be read.
    pub(crate) unread: Option<UnreadIntervals>,
    /// What changed between consecutive snapshots.
    pub(crate) watchdog: CounterWatchdog,
    pub(crate) waits: Option<Waits>,
    /// Rows beyond the loaded ones, as the database counted them after the run.
    pub(crate) rows_left: Option<u64>,
}

impl MeasuredTarget {
    /// Notes that the counters could not be read at the end of an interval, `at_s` seconds after the window's
    /// begin.
    pub(crate) fn note_unread(&mut self, at_s: f64, reason: &str) {
        let first = || UnreadIntervals { count: 0, first_s: at_s, reason: reason.to_owned() };
        self.unread.get_or_insert_with(first).count += 1;
    }
}
