//! What one session has measured, as it hands it in: a plain value, so that it can come from anywhere.
//!
//! All that a record says of sessions is made of these and of what their threads have added up, but for the intervals of the
//! series, which come while they work.

use dyno_record::ErrorTally;
use serde::{Deserialize, Serialize};

use crate::life::Life;
use crate::losses::AnswerTimes;
use crate::marks::Marks;

/// What one session has measured by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionResult {
    /// The place of the session's target.
    pub(crate) target: usize,
    pub(crate) life: Life,
    pub(crate) errors: Vec<ErrorTally>,
    /// When it had answers, where outages are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<Box<AnswerTimes>>,
    pub(crate) moments: Moments,
    /// What the snapshots at the window's two ends hold of this session.
    pub(crate) marks: [Marks; 2],
    /// Where this is several sessions added up (`fold`): what of them lies apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) many: Option<Box<Many>>,
}

/// What of one session or of several lies apart: how many, and first and last moments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Many {
    pub(crate) sessions: u32,
    /// Those that began, and when the first and the last of them did.
    pub(crate) started: u32,
    pub(crate) starts_ns: Option<(u64, u64)>,
    /// Seconds from the window's begin to the last counted moment, added up, and of how many.
    pub(crate) spans: (f64, u32),
    /// Those of which nobody knows what the snapshot at each edge holds.
    pub(crate) late: [u32; 2],
    /// The first and the last moment up to which the snapshot at each edge may hold their work.
    pub(crate) most_ns: [Option<(u64, u64)>; 2],
}

impl SessionResult {
    /// What of it lies apart.
    pub(crate) fn many(&self) -> Many {
        if let Some(many) = &self.many {
            return Many::clone(many);
        }
        let span_s = match self.moments.edge_ns {
            [Some(began_ns), Some(ended_ns)] => Some(ended_ns.saturating_sub(began_ns) as f64 / 1e9),
            _ => None,
        };
        let most = |edge: usize| self.marks[edge].most().map(|mark| (mark.at_ns, mark.at_ns));
        Many {
            sessions: 1,
            started: u32::from(self.moments.start_ns.is_some()),
            starts_ns: self.moments.start_ns.map(|start_ns| (start_ns, start_ns)),
            spans: span_s.map_or((0.0, 0), |span_s| (span_s, 1)),
            late: [0, 1].map(|edge: usize| u32::from(self.marks[edge].low.is_none())),
            most_ns: [most(0), most(1)],
        }
    }
}

impl Many {
    /// Adds others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.started += other.started;
        self.starts_ns = around(self.starts_ns, other.starts_ns);
        self.spans = (self.spans.0 + other.spans.0, self.spans.1 + other.spans.1);
        for edge in [0, 1] {
            self.late[edge] += other.late[edge];
            self.most_ns[edge] = around(self.most_ns[edge], other.most_ns[edge]);
        }
    }

    /// All of `results` together.
    pub(crate) fn of(results: &[&SessionResult]) -> Self {
        let mut all = Self::default();
        results.iter().for_each(|result| all.add(&result.many()));
        all
    }

    /// Its moments.
    pub(crate) fn moments_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let most = self.most_ns.iter_mut().flatten();
        self.starts_ns.iter_mut().chain(most).flat_map(|(first_ns, last_ns)| [first_ns, last_ns])
    }
}

/// The stretch that holds both.
fn around(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// The session's own moments, on the run's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Moments {
    /// End of the last operation that counted.
    pub(crate) last_ns: u64,
    /// Just before the first operation (closed loop), or when the schedule began (open loop).
    pub(crate) start_ns: Option<u64>,
    /// Since when what it does counts, and until when it did.
    pub(crate) edge_ns: [Option<u64>; 2],
}
