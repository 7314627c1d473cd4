//! What the coordinator has measured, before it is a record.

use dyno_engine::target::Stuck;
use dyno_record::{Fleet, Placed, Profile, Series, UnreadIntervals, Waits};

use crate::job::Outcome;
use crate::observe::Taken;
use crate::processors::Processors;
use crate::results::Results;
use crate::stalls::Stalls;
use crate::vigil::Vigil;

/// All that a record is made of.
pub(crate) struct Finished {
    pub(crate) measured: Measured,
    /// What sessions and their threads handed in.
    pub(crate) results: Results,
    /// Of all targets, then of each where there are several.
    pub(crate) series: Vec<Series>,
    pub(crate) outcome: Outcome,
}

/// What the coordinator has measured.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) sessions: u32,
    /// Threads that led them.
    pub(crate) threads: u32,
    /// Where they and the server's processes were.
    pub(crate) placement: Option<Placed>,
    /// Those who did it, where they are on hosts of their own.
    pub(crate) fleet: Option<Fleet>,
    /// What the server says of sessions that had to be broken off.
    pub(crate) stuck: Vec<Stuck>,
    pub(crate) gate_opened_ns: Option<u64>,
    pub(crate) connect_s: f64,
    pub(crate) origin_ns: Option<u64>,
    pub(crate) begin_at: String,
    pub(crate) end_at: String,
    pub(crate) stalls: Stalls,
    pub(crate) broken_off: Vec<u32>,
    /// Who had the processors in the window.
    pub(crate) processors: Processors,
    /// Where their time went.
    pub(crate) profile: Option<Profile>,
    /// What was read of each target, in their order.
    pub(crate) targets: Vec<MeasuredTarget>,
}

/// What was read of one target.
#[derive(Default)]
pub(crate) struct MeasuredTarget {
    pub(crate) begin: Option<Taken>,
    /// When the database's counters in it were read, where that was later than the machine's.
    pub(crate) begin_counts_ns: Option<u64>,
    pub(crate) end: Option<Taken>,
    pub(crate) no_end: Option<String>,
    pub(crate) whole_begin: Option<Taken>,
    pub(crate) whole_end: Option<Taken>,
    /// Intervals inside the window at whose end its counters could not be read.
    pub(crate) unread: Option<UnreadIntervals>,
    /// What changed from one snapshot to the next.
    pub(crate) vigil: Vigil,
    pub(crate) waits: Option<Waits>,
    /// Rows beyond the loaded ones, as the database counted them afterwards.
    pub(crate) rows_left: Option<u64>,
}

impl MeasuredTarget {
    /// Notes that the counters could not be read at the end of an interval, so many s after the window's begin.
    pub(crate) fn note_unread(&mut self, at_s: f64, reason: &str) {
        let first = || UnreadIntervals { count: 0, first_s: at_s, reason: reason.to_owned() };
        self.unread.get_or_insert_with(first).count += 1;
    }
}
