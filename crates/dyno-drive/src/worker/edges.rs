//! Handles a session's window boundaries: it publishes its work there, and notes what it has done.

use dyno_engine::Session;
use dyno_plan::Connect;
use dyno_workload::Pace;

use super::{NO_OPERATION, SessionWorker, WorkerExit};
use crate::boundary_marks::{REFRESH_NS, SessionMark};
use crate::counts::ThreadCounts;
use crate::lifetime_counts::LifetimeCounts;
use crate::shared::DrivePhase;
use crate::snapshot_status::SnapshotStage;

/// The window boundary between two phases: its begin (0), its end (1), or none. A session that was in one
/// operation during the whole window is at its end.
pub(crate) fn edge_between(from: DrivePhase, to: DrivePhase) -> Option<usize> {
    match (from, to) {
        (DrivePhase::Warmup, DrivePhase::Opening | DrivePhase::Window) => Some(0),
        (DrivePhase::Warmup | DrivePhase::Opening | DrivePhase::Window, DrivePhase::Closing) => Some(1),
        (DrivePhase::Opening | DrivePhase::Window, DrivePhase::Stop) => Some(1),
        _ => None,
    }
}

/// The boundary whose snapshot has not arrived yet.
pub(crate) fn open_edge(phase: DrivePhase) -> Option<usize> {
    match phase {
        DrivePhase::Opening => Some(0),
        DrivePhase::Closing => Some(1),
        DrivePhase::Warmup | DrivePhase::Window | DrivePhase::Stop => None,
    }
}

impl SessionWorker {
    /// Crosses the boundary between two phases, if there is one.
    pub(super) fn cross(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        from: DrivePhase,
        to: DrivePhase,
    ) -> Result<(), WorkerExit> {
        if self.needs_overhead_sync(from, session) {
            self.make_visible(counts, session)?;
        }
        self.leave_phase(counts, from, to, session);
        let Some(edge) = edge_between(from, to) else { return Ok(()) };
        self.make_visible(counts, session)?;
        self.after_edge(edge, session);
        Ok(())
    }

    fn make_visible(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
    ) -> Result<(), WorkerExit> {
        if self.setup.connect == Connect::Transaction {
            // Closing the connection of the last operation has published its work.
            return Ok(());
        }
        self.visibility_asked_ns = self.clock.now_ns();
        match session.edge() {
            Ok(()) => Ok(()),
            Err(error) => self.recover(counts, session, NO_OPERATION, &error),
        }
    }

    /// Handles the end of the last operation in a phase: it changes what counts from now on.
    pub(crate) fn leave_phase(
        &mut self,
        counts: &mut ThreadCounts,
        from: DrivePhase,
        to: DrivePhase,
        session: &dyn Session,
    ) {
        if from <= DrivePhase::Opening && to < DrivePhase::Stop {
            self.begin(counts, session, to > DrivePhase::Opening);
        }
        if let Some(edge) = open_edge(from) {
            let mark = self.mark(session);
            let held_back_ns = self.publishes.then_some(self.held_back_ns);
            let answered_ns = self.snapshot_status.answered_ns(edge);
            self.recorder.marks[edge].note_answered(mark, answered_ns, held_back_ns);
        }
        if self.recorder.is_counting() && to >= DrivePhase::Closing {
            let now_ns = self.clock.now_ns();
            self.note_overdue(counts, 1, now_ns);
            self.recorder.end(counts, now_ns);
            self.recorder.moments.edge_ns[1] = Some(now_ns);
        }
    }

    /// Lets the session's work count from the window's begin, which is announced a moment before. `now`, or
    /// when that time has come.
    pub(crate) fn begin(&mut self, counts: &mut ThreadCounts, session: &dyn Session, now: bool) {
        let origin_ns = self.shared.origin_ns();
        if self.recorder.is_counting() || (!now && self.clock.now_ns() < origin_ns) {
            return;
        }
        // If its commits are not known exactly, the mark is taken at the boundary itself.
        if !self.publishes && self.recorder.marks[0].low.is_none() && session.knows_overhead() {
            // The snapshot may have arrived already: it includes the work before the operation in progress at
            // that time.
            let life = self.recorder.life_before(origin_ns);
            let overhead_commits = match self.recorder.was_under_way(origin_ns) {
                true => self.overhead_before,
                false => session.overhead_commits(),
            };
            let life = LifetimeCounts { overhead_commits, ..life };
            self.recorder.marks[0].note_visible(SessionMark { at_ns: origin_ns, life }, origin_ns, false);
        }
        self.recorder.begin(counts, origin_ns);
        self.note_overdue(counts, 0, origin_ns);
    }

    /// Notes how many operations of an open loop are due at a window boundary and have not begun.
    fn note_overdue(&mut self, counts: &mut ThreadCounts, edge: usize, at_ns: u64) {
        if let (Pace::Open(schedule), Some(opens_ns)) = (&self.pace, self.shared.opens_ns()) {
            let operations = schedule.clone().pass(at_ns.saturating_sub(opens_ns));
            self.recorder.overdue(counts, edge, operations);
        }
    }

    fn mark(&self, session: &dyn Session) -> SessionMark {
        self.recorder.mark(self.clock.now_ns(), session.overhead_commits())
    }

    /// Notes that all work before the boundary is visible to the observer.
    pub(crate) fn after_edge(&mut self, edge: usize, session: &dyn Session) {
        self.note_visible(edge, session);
        self.shared.note_boundary(edge);
    }

    /// Notes that this session's work is visible, at a boundary whose snapshot has not arrived yet.
    pub(crate) fn note_visible(&mut self, edge: usize, session: &dyn Session) {
        let mark = self.mark(session);
        self.shared.note_visible(self.setup.number, mark.at_ns);
        match self.snapshot_stage(edge) {
            SnapshotStage::Answered if !self.publishes => {
                self.recorder.marks[edge].note_answered(mark, self.snapshot_status.answered_ns(edge), None);
            }
            look => {
                let asked_ns = match self.setup.connect {
                    Connect::Session => self.visibility_asked_ns,
                    Connect::Transaction => mark.at_ns,
                };
                self.recorder.marks[edge].note_visible(mark, asked_ns, look != SnapshotStage::Before);
            }
        }
        self.report_overhead(session);
    }

    /// Reports new overhead transactions to the coordinator.
    pub(crate) fn report_overhead(&mut self, session: &dyn Session) {
        let overhead = session.overhead_commits();
        self.shared.add_overhead(self.recorder.target(), overhead - self.reported_overhead);
        self.reported_overhead = overhead;
    }

    /// Whether the counters need something before the next operation.
    #[inline]
    pub(crate) fn needs_visibility(&self, phase: DrivePhase) -> bool {
        match open_edge(phase) {
            None => phase == DrivePhase::Window && self.publishes && self.recorder.has_ticked(),
            Some(edge) => self.needs_mark(edge),
        }
    }

    /// Whether this session must note a mark, at a boundary whose snapshot the run waits for.
    fn needs_mark(&self, edge: usize) -> bool {
        let marks = &self.recorder.marks[edge];
        match (self.snapshot_stage(edge), &marks.low) {
            (SnapshotStage::Asked, _) | (_, None) => false,
            (SnapshotStage::Before, Some(low)) => {
                !self.publishes || self.clock.now_ns() >= low.at_ns + REFRESH_NS
            }
            (SnapshotStage::Answered, Some(_)) => !self.publishes && !marks.is_complete,
        }
    }

    /// Whether this session, before it leaves `phase`, must request how much of its work the boundary's
    /// snapshot may include.
    pub(crate) fn needs_overhead_sync(&self, phase: DrivePhase, session: &dyn Session) -> bool {
        let lacks = |edge: usize| {
            let marks = &self.recorder.marks[edge];
            marks.low.is_some() && !marks.is_complete
        };
        !session.knows_overhead() && open_edge(phase).is_some_and(lacks)
    }

    /// Whether only a request can tell what the database's counters include of this session.
    pub(crate) fn needs_request(&self, session: &dyn Session) -> bool {
        self.publishes || !session.knows_overhead()
    }

    fn snapshot_stage(&self, edge: usize) -> SnapshotStage {
        self.snapshot_status.stage(edge)
    }

    /// Does what the phase requires between two operations.
    pub(super) fn sync_between_operations(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        phase: DrivePhase,
    ) -> Result<(), WorkerExit> {
        if phase == DrivePhase::Opening {
            self.begin(counts, session, false);
        }
        if !self.needs_visibility(phase) {
            return Ok(());
        }
        if self.needs_request(session) {
            self.make_visible(counts, session)?;
        }
        self.note_work_visible(phase, session);
        Ok(())
    }

    /// Notes that this session's work is visible now.
    pub(crate) fn note_work_visible(&mut self, phase: DrivePhase, session: &dyn Session) {
        self.recorder.clear_tick();
        match open_edge(phase) {
            Some(edge) => self.note_visible(edge, session),
            None => {
                self.shared.note_visible(self.setup.number, self.clock.now_ns());
                self.report_overhead(session);
            }
        }
    }
}
