//! Handles a session whose request failed or whose connection was lost: what remains to be done, and how it
//! continues.

use dyno_engine::{OpError, SessionRequest};
use dyno_workload::{ClassId, FailureRecovery};

use super::{SessionAction, SessionActivity, SessionState};
use crate::counts::ThreadCounts;
use crate::worker::NO_OPERATION;

impl SessionState {
    /// Gives up the operation in progress, which failed with `error`; returns what remains to be done.
    pub(crate) fn give_up(&mut self, error: &OpError) -> FailureRecovery {
        match self.doing {
            SessionActivity::Operation { .. } => self.worker.failed_op(error),
            _ => FailureRecovery::default(),
        }
    }

    /// When the operation in progress was due, and when it began.
    fn since(&self) -> Option<(u64, u64)> {
        match self.doing {
            SessionActivity::Operation { due_ns, began_ns, .. } => Some((due_ns, began_ns)),
            _ => None,
        }
    }

    /// Rolls back a failed operation; it is retried afterwards if it `may_again`.
    pub(crate) fn roll_back(&mut self, may_again: bool) -> SessionAction {
        let again = self.since().filter(|_| may_again);
        self.send(SessionActivity::RollingBack(again), |_, session| session.send(SessionRequest::Rollback))
    }

    /// Retries the operation that failed.
    pub(crate) fn retry(&mut self, counts: &mut ThreadCounts) -> SessionAction {
        let Some((due_ns, began_ns)) = self.since() else { return SessionAction::Waits };
        self.worker.actor.retry();
        self.begin(counts, due_ns, began_ns)
    }

    /// Continues after a failure: the operation is given up, a boundary counts as crossed.
    pub(crate) fn recovered(&mut self) {
        match std::mem::replace(&mut self.doing, SessionActivity::Nothing) {
            SessionActivity::Edge { edge, to } => self.note_crossed(edge, to),
            SessionActivity::Showing(phase) => self.worker.note_work_visible(phase, self.session.as_ref()),
            SessionActivity::Called => self.start(),
            _ => {}
        }
    }

    /// Notes that the connection was lost while no request was in progress; the next request fails with this
    /// error.
    pub(crate) fn note_lost(&mut self, error: Box<OpError>) {
        self.doing = SessionActivity::Lost(error);
    }

    /// The class for which a failure of the request in progress counts.
    pub(crate) fn class(&self) -> ClassId {
        match self.doing {
            SessionActivity::Operation { .. } => self.worker.doing,
            _ => NO_OPERATION,
        }
    }
}
