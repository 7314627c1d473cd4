//! One operation after the other: drawn, done step by step, and counted.

use dyno_engine::{Request, Session};
use dyno_plan::Connect;
use dyno_workload::Turn;

use super::{Ended, Worker};
use crate::counts::{Counts, Timing};
use crate::shared::Phase;

impl Worker {
    /// Does the next operation, on a connection of its own where that is asked for.
    #[inline]
    pub(super) fn one_op(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        due_ns: Option<u64>,
    ) -> Result<(), Ended> {
        self.note_overhead(session);
        self.doing = self.actor.draw();
        let began_ns = self.clock.now_ns();
        match self.setup.connect {
            Connect::Session => self.steps(counts, session, due_ns, began_ns),
            Connect::Transaction => self.connected(counts, session, due_ns, began_ns),
        }
    }

    /// The steps of an operation that has begun.
    #[inline]
    pub(super) fn steps(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        due_ns: Option<u64>,
        began_ns: u64,
    ) -> Result<(), Ended> {
        let mut timing = Timing { due_ns: due_ns.unwrap_or(began_ns), began_ns, ended_ns: began_ns };
        let (mut last, mut commit_began_ns) = (None, None);
        loop {
            let (mut commits, mut kept) = (false, false);
            let asked = self.actor.step(last, |request| {
                // What was sent with others has no time of its own.
                commits = matches!(request, Request::Commit) && !kept;
                kept |= matches!(request, Request::Queue(_));
                session.ask(request)
            });
            let told = match asked {
                Ok(Turn::Asked(done)) => {
                    self.actor.queued(session.queued());
                    self.actor.read(|column| session.answered(column)).map(|()| Turn::Asked(done))
                }
                other => other,
            };
            match told {
                Ok(Turn::Asked(done)) => {
                    let explicit = commits.then_some(timing.ended_ns);
                    timing.ended_ns = self.clock.now_ns();
                    commit_began_ns = explicit.or(done.commit_began_ns).or(commit_began_ns);
                    last = Some(done);
                }
                Ok(Turn::Over) => break,
                Ok(Turn::Rests(ns)) => {
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

    /// Rests within an operation, until the run is over at the latest; when that was.
    #[cold]
    pub(super) fn pause(&self, ns: u64) -> u64 {
        let until_ns = self.clock.now_ns().saturating_add(ns);
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns || self.shared.phase() == Phase::Stop {
                return now_ns;
            }
            self.clock.park_until(until_ns);
        }
    }

    /// Counts an operation that ended well.
    #[inline]
    pub(crate) fn count(&mut self, counts: &mut Counts, timing: Timing, commit_began_ns: Option<u64>) {
        self.rest.ended_well();
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

    /// Begins the rest behind an operation, if there is one.
    #[inline]
    fn rest_behind(&mut self, counts: &mut Counts, timing: Timing) {
        if let Some(length_ns) = self.think.draw().or_else(|| self.actor.think_ns()) {
            let until_ns = self.think.until_ns(length_ns, timing.began_ns, timing.ended_ns);
            self.recorder.think(counts, timing.ended_ns, until_ns);
        }
    }

    /// Tells once when the operations that the plan asks of each session are done.
    #[inline]
    pub(crate) fn look_at_ops(&mut self, counts: &mut Counts) {
        if self.ops_wanted.is_some_and(|wanted| self.recorder.window_ops >= wanted) {
            if self.loads {
                return self.next_part(counts);
            }
            self.ops_wanted = None;
            self.shared.note_reached_ops();
        }
    }

    /// Notes what a snapshot holds of a transaction's steps that is under way when the window begins: those before it.
    #[inline]
    pub(crate) fn note_overhead(&mut self, session: &dyn Session) {
        if !self.recorder.is_counting() {
            self.overhead_before = session.overhead_commits();
        }
    }

    /// Sleeps what is left of a think time, or until the phase changes; false if there is none.
    pub(super) fn is_thinking(&mut self, counts: &mut Counts) -> bool {
        let Some(until_ns) = self.recorder.thinks_until() else { return false };
        if self.clock.now_ns() < until_ns {
            self.clock.park_until(until_ns);
        }
        self.recorder.think_on(counts, self.clock.now_ns())
    }

    /// Rests after failures, or until the phase changes; false if there is no need.
    #[inline]
    pub(super) fn is_resting(&mut self) -> bool {
        let Some(until_ns) = self.rest.until(|| self.clock.now_ns()) else { return false };
        self.clock.park_until(until_ns);
        true
    }
}
