//! A session whose request has failed, or whose connection was lost: what is left to be done, and how it goes on.

use dyno_engine::{OpError, Request};
use dyno_workload::{ClassId, Failed};

use super::{Doing, Next, SessionState};
use crate::counts::Counts;
use crate::worker::NO_OPERATION;

impl SessionState {
    /// Gives up the operation under way, which has failed with `error`; what that leaves to be done.
    pub(crate) fn give_up(&mut self, error: &OpError) -> Failed {
        match self.doing {
            Doing::Operation { .. } => self.worker.failed_op(error),
            _ => Failed::default(),
        }
    }

    /// When the operation under way was due, and when it began.
    fn since(&self) -> Option<(u64, u64)> {
        match self.doing {
            Doing::Operation { due_ns, began_ns, .. } => Some((due_ns, began_ns)),
            _ => None,
        }
    }

    /// Rolls back what an operation has begun that failed, which begins anew then if it `may_again`.
    pub(crate) fn roll_back(&mut self, may_again: bool) -> Next {
        let again = self.since().filter(|_| may_again);
        self.send(Doing::RollingBack(again), |_, session| session.send(Request::Rollback))
    }

    /// Begins the operation anew that failed.
    pub(crate) fn again(&mut self, counts: &mut Counts) -> Next {
        let Some((due_ns, began_ns)) = self.since() else { return Next::Waits };
        self.worker.actor.again();
        self.begin(counts, due_ns, began_ns)
    }

    /// Goes on after a failure: an operation is given up, an edge counts as crossed.
    pub(crate) fn recovered(&mut self) {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Edge { edge, to } => self.crossed(edge, to),
            Doing::Showing(phase) => self.worker.shown(phase, self.session.as_ref()),
            Doing::Called => self.start(),
            _ => {}
        }
    }

    /// Notes that the connection was lost while nothing was under way: the next request will fail with it.
    pub(crate) fn note_lost(&mut self, error: Box<OpError>) {
        self.doing = Doing::Lost(error);
    }

    /// The class that a failure of the request under way counts for.
    pub(crate) fn class(&self) -> ClassId {
        match self.doing {
            Doing::Operation { .. } => self.worker.doing,
            _ => NO_OPERATION,
        }
    }
}
