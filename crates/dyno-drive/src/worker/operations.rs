//! Executes one operation after the other: draws it, executes its steps, and counts it.

use dyno_engine::{Session, SessionRequest};
use dyno_plan::Connect;
use dyno_workload::SessionTurn;

use super::{SessionWorker, WorkerExit};
use crate::counts::{ThreadCounts, Timing};
use crate::shared::DrivePhase;

impl SessionWorker {
    /// Executes the next operation, on a connection of its own if the plan asks for that.
    #[inline]
    pub(super) fn one_op(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        due_ns: Option<u64>,
    ) -> Result<(), WorkerExit> {
        self.note_overhead(session);
        self.doing = self.actor.draw();
        let began_ns = self.clock.now_ns();
        match self.setup.connect {
            Connect::Session => self.steps(counts, session, due_ns, began_ns),
            Connect::Transaction => self.connected(counts, session, due_ns, began_ns),
        }
    }

    /// Executes the steps of an operation that has begun.
    #[inline]
    pub(super) fn steps(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        due_ns: Option<u64>,
        began_ns: u64,
    ) -> Result<(), WorkerExit> {
        let mut timing = Timing { due_ns: due_ns.unwrap_or(began_ns), began_ns, ended_ns: began_ns };
        let (mut last, mut commit_began_ns) = (None, None);
        loop {
            let (mut commits, mut was_queued) = (false, false);
            let outcome = self.actor.step(last, |request| {
                // Pipelined requests have no individual times.
                commits = matches!(request, SessionRequest::Commit) && !was_queued;
                was_queued |= matches!(request, SessionRequest::Queue(_));
                session.ask(request)
            });
            let turn = match outcome {
                Ok(SessionTurn::Asked(done)) => {
                    self.actor.queued(session.queued());
                    self.actor.read(|column| session.answered(column)).map(|()| SessionTurn::Asked(done))
                }
                other => other,
            };
            match turn {
                Ok(SessionTurn::Asked(done)) => {
                    let explicit = commits.then_some(timing.ended_ns);
                    timing.ended_ns = self.clock.now_ns();
                    commit_began_ns = explicit.or(done.commit_began_ns).or(commit_began_ns);
                    last = Some(done);
                }
                Ok(SessionTurn::Over) => break,
                Ok(SessionTurn::Rests(ns)) => {
                    timing.ended_ns = self.pause(ns);
                    last = None;
                }
                Err(error) if self.give_up(counts, session, &error)? => {
                    (last, commit_began_ns) = (None, None);
                }
                Err(_) => return Ok(()),
            }
        }
        self.count(counts, timing, commit_began_ns);
        Ok(())
    }

    /// Pauses inside an operation, at most until the run is over; returns the time of its end.
    #[cold]
    pub(super) fn pause(&self, ns: u64) -> u64 {
        let until_ns = self.clock.now_ns().saturating_add(ns);
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns || self.shared.phase() == DrivePhase::Stop {
                return now_ns;
            }
            self.clock.park_until(until_ns);
        }
    }

    /// Counts an operation that ended without an error.
    #[inline]
    pub(crate) fn count(&mut self, counts: &mut ThreadCounts, timing: Timing, commit_began_ns: Option<u64>) {
        self.rest.note_success();
        let effect = self.actor.effect();
        if effect.empty_polls > 0 {
            self.recorder.empty_poll(counts, self.doing, timing);
            return self.rest_behind(counts, timing);
        }
        self.recorder.done(counts, self.doing, timing, effect);
        if let Some(task) = self.actor.task() {
            self.recorder.drawn(counts, task);
        }
        if effect.commits > 0 {
            let latency_ns = commit_began_ns.map(|at| timing.ended_ns.saturating_sub(at));
            self.recorder.commit(counts, effect.commits, latency_ns);
        }
        self.rest_behind(counts, timing);
    }

    /// Begins the think time after an operation, if there is one.
    #[inline]
    fn rest_behind(&mut self, counts: &mut ThreadCounts, timing: Timing) {
        if let Some(length_ns) = self.think.draw().or_else(|| self.actor.think_ns()) {
            let until_ns = self.think.until_ns(length_ns, timing.began_ns, timing.ended_ns);
            self.recorder.think(counts, timing.ended_ns, until_ns);
        }
    }

    /// Reports once that the session has done the operations that the plan asks of each.
    #[inline]
    pub(crate) fn report_reached_ops(&mut self, counts: &mut ThreadCounts) {
        if self.ops_wanted.is_some_and(|wanted| self.recorder.window_ops >= wanted) {
            if self.loads {
                return self.next_part(counts);
            }
            self.ops_wanted = None;
            self.shared.note_reached_ops();
        }
    }

    /// Notes the mark of a transaction in progress when the window begins: its steps before the begin.
    #[inline]
    pub(crate) fn note_overhead(&mut self, session: &dyn Session) {
        if !self.recorder.is_counting() {
            self.overhead_before = session.overhead_commits();
        }
    }

    /// Sleeps for the rest of a think time, or until the phase changes; false if there is none.
    pub(super) fn is_thinking(&mut self, counts: &mut ThreadCounts) -> bool {
        let Some(until_ns) = self.recorder.thinks_until() else { return false };
        if self.clock.now_ns() < until_ns {
            self.clock.park_until(until_ns);
        }
        self.recorder.continue_thinking(counts, self.clock.now_ns())
    }

    /// Pauses after failures, or until the phase changes; false if that is not needed.
    #[inline]
    pub(super) fn is_resting(&mut self) -> bool {
        let Some(until_ns) = self.rest.until(|| self.clock.now_ns()) else { return false };
        self.clock.park_until(until_ns);
        true
    }
}
