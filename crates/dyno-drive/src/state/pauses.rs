//! Pauses a session in the middle of an operation, or between two.

use dyno_engine::OpError;

use super::{SessionAction, SessionActivity, SessionState};
use crate::counts::{ThreadCounts, Timing};
use crate::shared::DrivePhase;

impl SessionState {
    /// Pauses for this long in the middle of an operation, unless the run is over.
    #[cold]
    pub(super) fn pause(&mut self, ns: u64) -> SessionAction {
        let Self { worker, doing, .. } = self;
        let ns = if worker.shared.phase() == DrivePhase::Stop { 0 } else { ns };
        let until_ns = worker.clock.now_ns().saturating_add(ns);
        if let SessionActivity::Operation { rests_until_ns, .. } = doing {
            *rests_until_ns = Some(until_ns);
        }
        SessionAction::Sleeps(until_ns)
    }

    /// Until when it pauses in the middle of an operation, if it does.
    #[inline]
    pub(crate) fn rests_until_ns(&self) -> Option<u64> {
        match self.doing {
            SessionActivity::Operation { rests_until_ns, .. } => rests_until_ns,
            _ => None,
        }
    }

    /// Continues the operation after its pause. Returns whether the operation has ended.
    #[cold]
    pub(crate) fn rested(&mut self, counts: &mut ThreadCounts) -> Result<bool, Box<OpError>> {
        if let SessionActivity::Operation { rests_until_ns, .. } = &mut self.doing {
            *rests_until_ns = None;
        }
        self.step(counts, None)
    }

    /// Ends a transaction right after its begin, because its conditions left no statement to execute. The
    /// next one follows after other sessions had their turn.
    #[cold]
    pub(super) fn end_empty_transaction(
        &mut self,
        counts: &mut ThreadCounts,
        due_ns: u64,
        began_ns: u64,
    ) -> SessionAction {
        self.doing = SessionActivity::Nothing;
        let ended_ns = self.worker.clock.now_ns();
        self.worker.count(counts, Timing { due_ns, began_ns, ended_ns }, None);
        self.worker.report_reached_ops(counts);
        SessionAction::Sleeps(ended_ns)
    }
}
