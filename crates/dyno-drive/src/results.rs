//! All that was handed in of a run, and what of it is one target's.

use serde::{Deserialize, Serialize};

use crate::session::SessionResult;
use crate::thread_result::{HotCounts, PhaseResult, ThreadResult, Times};

/// What the sessions of a run have measured, and what their threads have added up.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) sessions: Vec<SessionResult>,
    pub(crate) threads: Vec<ThreadResult>,
}

/// A part of that, or all.
pub(crate) struct Handed<'a> {
    pub(crate) sessions: Vec<&'a SessionResult>,
    pub(crate) threads: Vec<&'a ThreadResult>,
}

impl Results {
    /// Of all targets.
    pub(crate) fn all(&self) -> Handed<'_> {
        Handed { sessions: self.sessions.iter().collect(), threads: self.threads.iter().collect() }
    }

    /// Of the target at `at`.
    pub(crate) fn of_target(&self, at: usize) -> Handed<'_> {
        Handed {
            sessions: self.sessions.iter().filter(|one| one.target == at).collect(),
            threads: self.threads.iter().filter(|one| one.target == at).collect(),
        }
    }
}

impl Handed<'_> {
    /// Times of all sessions.
    pub(crate) fn times(&self) -> Times {
        let mut sum = Times::default();
        for one in &self.threads {
            let Times { late_ns_max, busy_ns, before_ns, closing_ns, thought_ns, thoughts } = one.times;
            sum.late_ns_max = sum.late_ns_max.max(late_ns_max);
            sum.busy_ns += busy_ns;
            sum.before_ns += before_ns;
            sum.closing_ns += closing_ns;
            sum.thought_ns += thought_ns;
            sum.thoughts += thoughts;
        }
        sum
    }

    /// Where all operations went.
    pub(crate) fn hot(&self) -> HotCounts {
        let mut sum = HotCounts::default();
        for HotCounts { spot, keyed, schema, movable } in self.threads.iter().map(|one| one.hot) {
            sum.spot += spot;
            sum.keyed += keyed;
            sum.schema += schema;
            sum.movable += movable;
        }
        sum
    }

    /// What was due in a part of the run, thread by thread.
    pub(crate) fn phase(&self, part: usize) -> Vec<&PhaseResult> {
        self.threads.iter().filter_map(|one| one.phases.get(part)).collect()
    }
}
