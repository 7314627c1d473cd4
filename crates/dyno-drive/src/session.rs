//! The results of one session: a plain value, so that it can come from another host.
//!
//! A record's facts about sessions come from these results and from the counts of their threads. Only the
//! intervals of the series arrive while sessions work.

use dyno_record::ErrorTally;
use serde::{Deserialize, Serialize};

use crate::boundary_marks::SessionMarkBounds;
use crate::connection_losses::AnswerTimes;
use crate::lifetime_counts::LifetimeCounts;
use crate::served_by::ServedBy;

/// The measurements of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionResult {
    /// The index of the session's target.
    pub(crate) target: usize,
    pub(crate) life: LifetimeCounts,
    pub(crate) errors: Vec<ErrorTally>,
    /// When it had answers; only if outages are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<Box<AnswerTimes>>,
    pub(crate) moments: Moments,
    /// What the two boundary snapshots include of this session.
    pub(crate) marks: [SessionMarkBounds; 2],
    /// Which instance of the database served it; results of several sessions have it in common.
    #[serde(default)]
    pub(crate) served_by: ServedBy,
    /// Operations without an error in the window.
    #[serde(default)]
    pub(crate) window_ops: u64,
    /// For several sessions added up (`fold`): values that cannot be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) many: Option<Box<FoldedSessions>>,
}

/// Values of one session or several that cannot be added: numbers of sessions, and first and last times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoldedSessions {
    pub(crate) sessions: u32,
    /// Number of sessions that began, and when the first and the last of them did.
    pub(crate) started: u32,
    pub(crate) starts_ns: Option<(u64, u64)>,
    /// Seconds from the window's begin to the last counted operation, summed, and number of sessions.
    pub(crate) spans: (f64, u32),
    /// Sessions whose work in the snapshot of each boundary is unknown.
    pub(crate) late: [u32; 2],
    /// The first and the last time up to which the snapshot of each boundary may include their work.
    pub(crate) most_ns: [Option<(u64, u64)>; 2],
}

impl SessionResult {
    /// The values of this result that cannot be added.
    pub(crate) fn many(&self) -> FoldedSessions {
        if let Some(many) = &self.many {
            return FoldedSessions::clone(many);
        }
        let span_s = match self.moments.edge_ns {
            [Some(began_ns), Some(ended_ns)] => Some(ended_ns.saturating_sub(began_ns) as f64 / 1e9),
            _ => None,
        };
        let most = |edge: usize| self.marks[edge].upper().map(|mark| (mark.at_ns, mark.at_ns));
        FoldedSessions {
            sessions: 1,
            started: u32::from(self.moments.start_ns.is_some()),
            starts_ns: self.moments.start_ns.map(|start_ns| (start_ns, start_ns)),
            spans: span_s.map_or((0.0, 0), |span_s| (span_s, 1)),
            late: [0, 1].map(|edge: usize| u32::from(self.marks[edge].low.is_none())),
            most_ns: [most(0), most(1)],
        }
    }
}

impl FoldedSessions {
    /// Adds the values of other sessions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.started += other.started;
        self.starts_ns = enclosing_span(self.starts_ns, other.starts_ns);
        self.spans = (self.spans.0 + other.spans.0, self.spans.1 + other.spans.1);
        for edge in [0, 1] {
            self.late[edge] += other.late[edge];
            self.most_ns[edge] = enclosing_span(self.most_ns[edge], other.most_ns[edge]);
        }
    }

    /// Mean seconds from the window's begin to a session's last counted operation.
    pub(crate) fn mean_work_s(&self) -> Option<f64> {
        let (sum_s, sessions) = self.spans;
        (sessions > 0).then(|| sum_s / f64::from(sessions))
    }

    /// All times in it, for conversion to another clock.
    pub(crate) fn moments_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let most = self.most_ns.iter_mut().flatten();
        self.starts_ns.iter_mut().chain(most).flat_map(|(first_ns, last_ns)| [first_ns, last_ns])
    }
}

/// The period that contains both.
fn enclosing_span(first: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (first, other) {
        (Some(span), Some(other)) => Some((span.0.min(other.0), span.1.max(other.1))),
        (left, other) => left.or(other),
    }
}

/// The session's own times, on the run's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Moments {
    /// The end of the last operation that counted.
    pub(crate) last_ns: u64,
    /// Just before the first operation (closed loop), or the start of the schedule (open loop).
    pub(crate) start_ns: Option<u64>,
    /// The time from which its work counts, and the time until which it does.
    pub(crate) edge_ns: [Option<u64>; 2],
}
