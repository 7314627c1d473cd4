//! A session at the edges of the window: what it has done is visible there, and it notes where it stands.

use dyno_engine::Session;
use dyno_plan::Connect;
use dyno_workload::Pace;

use super::{Ended, NO_OPERATION, Worker};
use crate::counts::Counts;
use crate::life::Life;
use crate::looks::Look;
use crate::marks::{Mark, REFRESH_NS};
use crate::shared::Phase;

/// Which end of the window lies between two phases: its begin (0), its end (1), or none. A session that was in one operation
/// for the whole of the window is at its end.
pub(crate) fn edge_between(from: Phase, to: Phase) -> Option<usize> {
    match (from, to) {
        (Phase::Warmup, Phase::Opening | Phase::Window) => Some(0),
        (Phase::Warmup | Phase::Opening | Phase::Window, Phase::Closing) => Some(1),
        (Phase::Opening | Phase::Window, Phase::Stop) => Some(1),
        _ => None,
    }
}

/// The edge whose snapshot is not there yet.
pub(crate) fn open_edge(phase: Phase) -> Option<usize> {
    match phase {
        Phase::Opening => Some(0),
        Phase::Closing => Some(1),
        Phase::Warmup | Phase::Window | Phase::Stop => None,
    }
}

impl Worker {
    /// Crosses the edge between two phases, if there is one.
    pub(super) fn cross(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        from: Phase,
        to: Phase,
    ) -> Result<(), Ended> {
        if self.owes_truth(from, session) {
            self.make_visible(counts, session)?;
        }
        self.leave_phase(counts, from, to, session);
        let Some(edge) = edge_between(from, to) else { return Ok(()) };
        self.make_visible(counts, session)?;
        self.after_edge(edge, session);
        Ok(())
    }

    fn make_visible(&mut self, counts: &mut Counts, session: &mut dyn Session) -> Result<(), Ended> {
        if self.setup.connect == Connect::Transaction {
            // It was when the connection of the last operation was closed.
            return Ok(());
        }
        self.visibility_asked_ns = self.clock.now_ns();
        match session.edge() {
            Ok(()) => Ok(()),
            Err(error) => self.recover(counts, session, NO_OPERATION, &error),
        }
    }

    /// The last operation in a phase has ended: what it means for what counts from now on.
    pub(crate) fn leave_phase(&mut self, counts: &mut Counts, from: Phase, to: Phase, session: &dyn Session) {
        if from <= Phase::Opening && to < Phase::Stop {
            self.begin(counts, session, to > Phase::Opening);
        }
        if let Some(edge) = open_edge(from) {
            let mark = self.mark(session);
            let held_back_ns = self.publishes.then_some(self.held_back_ns);
            let answered_ns = self.looks.answered_ns(edge);
            self.recorder.marks[edge].settle(mark, answered_ns, held_back_ns);
        }
        if self.recorder.is_counting() && to >= Phase::Closing {
            let now_ns = self.clock.now_ns();
            self.note_overdue(counts, 1, now_ns);
            self.recorder.end(counts, now_ns);
            self.recorder.moments.edge_ns[1] = Some(now_ns);
        }
    }

    /// From the window's begin on, which is announced a moment before, what this session does counts. `now` or when that
    /// moment has come.
    pub(crate) fn begin(&mut self, counts: &mut Counts, session: &dyn Session, now: bool) {
        let origin_ns = self.shared.origin_ns();
        if self.recorder.is_counting() || (!now && self.clock.now_ns() < origin_ns) {
            return;
        }
        // What is not known of its commits is told at the edge itself.
        if !self.publishes && self.recorder.marks[0].low.is_none() && session.knows_overhead() {
            // The snapshot may be there already: it holds what was done before the operation that was under way then.
            let life = self.recorder.life_before(origin_ns);
            let overhead_commits = match self.recorder.was_under_way(origin_ns) {
                true => self.overhead_before,
                false => session.overhead_commits(),
            };
            let life = Life { overhead_commits, ..life };
            self.recorder.marks[0].visible(Mark { at_ns: origin_ns, life }, origin_ns, false);
        }
        self.recorder.begin(counts, origin_ns);
        self.note_overdue(counts, 0, origin_ns);
    }

    /// Notes how many operations of an open loop are due at an edge of the window and have not begun.
    fn note_overdue(&mut self, counts: &mut Counts, edge: usize, at_ns: u64) {
        if let (Pace::Open(schedule), Some(opens_ns)) = (&self.pace, self.shared.opens_ns()) {
            let operations = schedule.clone().pass(at_ns.saturating_sub(opens_ns));
            self.recorder.overdue(counts, edge, operations);
        }
    }

    fn mark(&self, session: &dyn Session) -> Mark {
        self.recorder.mark(self.clock.now_ns(), session.overhead_commits())
    }

    /// Everything before the edge is visible to the observer.
    pub(crate) fn after_edge(&mut self, edge: usize, session: &dyn Session) {
        self.note_visible(edge, session);
        self.shared.note_edge(edge);
    }

    /// What this session has done is visible, at an edge whose snapshot is not there yet.
    pub(crate) fn note_visible(&mut self, edge: usize, session: &dyn Session) {
        let mark = self.mark(session);
        self.shared.note_shown(self.setup.number, mark.at_ns);
        match self.look(edge) {
            Look::Answered if !self.publishes => {
                self.recorder.marks[edge].settle(mark, self.looks.answered_ns(edge), None);
            }
            look => {
                let asked_ns = match self.setup.connect {
                    Connect::Session => self.visibility_asked_ns,
                    Connect::Transaction => mark.at_ns,
                };
                self.recorder.marks[edge].visible(mark, asked_ns, look != Look::Before);
            }
        }
        self.tell_overhead(session);
    }

    /// Lets the coordinator know of transactions that were no operations.
    pub(crate) fn tell_overhead(&mut self, session: &dyn Session) {
        let overhead = session.overhead_commits();
        self.shared.add_overhead(self.recorder.target(), overhead - self.overhead_told);
        self.overhead_told = overhead;
    }

    /// Whether something has to be done for the counters before the next operation.
    #[inline]
    pub(crate) fn owes_visibility(&self, phase: Phase) -> bool {
        match open_edge(phase) {
            None => phase == Phase::Window && self.publishes && self.recorder.has_ticked(),
            Some(edge) => self.owes_mark(edge),
        }
    }

    /// Whether this session is to note where it stands, at an edge whose snapshot the run waits for.
    fn owes_mark(&self, edge: usize) -> bool {
        let marks = &self.recorder.marks[edge];
        match (self.look(edge), &marks.low) {
            (Look::Asked, _) | (_, None) => false,
            (Look::Before, Some(low)) => !self.publishes || self.clock.now_ns() >= low.at_ns + REFRESH_NS,
            (Look::Answered, Some(_)) => !self.publishes && marks.high.is_none(),
        }
    }

    /// Whether this session, before it leaves `phase`, has to ask how much of what it did the snapshot of its edge may hold.
    pub(crate) fn owes_truth(&self, phase: Phase, session: &dyn Session) -> bool {
        let lacks = |edge: usize| {
            let marks = &self.recorder.marks[edge];
            marks.low.is_some() && marks.high.is_none()
        };
        !session.knows_overhead() && open_edge(phase).is_some_and(lacks)
    }

    /// Whether an edge has to be asked for before anybody knows what the database's counters hold of this session.
    pub(crate) fn has_to_ask(&self, session: &dyn Session) -> bool {
        self.publishes || !session.knows_overhead()
    }

    fn look(&self, edge: usize) -> Look {
        self.looks.at(edge)
    }

    /// Between two operations in a phase that asks for more than working on.
    pub(super) fn see_to(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        phase: Phase,
    ) -> Result<(), Ended> {
        if phase == Phase::Opening {
            self.begin(counts, session, false);
        }
        if !self.owes_visibility(phase) {
            return Ok(());
        }
        if self.has_to_ask(session) {
            self.make_visible(counts, session)?;
        }
        self.shown(phase, session);
        Ok(())
    }

    /// What this session has done is visible now.
    pub(crate) fn shown(&mut self, phase: Phase, session: &dyn Session) {
        self.recorder.tick_seen();
        match open_edge(phase) {
            Some(edge) => self.note_visible(edge, session),
            None => {
                self.shared.note_shown(self.setup.number, self.clock.now_ns());
                self.tell_overhead(session);
            }
        }
    }
}
