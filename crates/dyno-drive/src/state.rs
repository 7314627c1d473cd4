//! The state of one session among several on a thread: what it is doing, and what it does next.

mod failed;
mod pauses;
mod placement_call;

use std::os::fd::BorrowedFd;

use dyno_engine::{Duplex, OpError, RequestCompletion, Session, SessionRequest};
use dyno_workload::{Pace, SessionActor, SessionTurn};

use crate::counts::{ThreadCounts, Timing};
use crate::shared::DrivePhase;
use crate::worker::SessionWorker;
use crate::worker::edges::edge_between;

/// A session, the worker that measures it, and the state of both.
#[repr(C)]
pub(crate) struct SessionState {
    pub(crate) session: Box<dyn Session>,
    /// The phase whose boundaries the session has already crossed.
    phase: DrivePhase,
    doing: SessionActivity,
    opens_ns: u64,
    pub(crate) worker: SessionWorker,
    /// Where its server process last ran, if it runs on this machine.
    pub(crate) processor: Option<usize>,
}

/// What a session is doing.
#[derive(Debug)]
enum SessionActivity {
    Nothing,
    Operation {
        due_ns: u64,
        began_ns: u64,
        /// When the request in progress was sent, and whether it commits.
        asked_ns: u64,
        commits: bool,
        commit_began_ns: Option<u64>,
        /// Until when it pauses; absent if it does not.
        rests_until_ns: Option<u64>,
    },
    /// Rolls back a failed operation; a retried one keeps the times at which it was due and began.
    RollingBack(Option<(u64, u64)>),
    Edge {
        edge: usize,
        to: DrivePhase,
    },
    /// Publishes its work, in this phase.
    Showing(DrivePhase),
    /// A request was sent before the gate, and its answer is pending.
    Called,
    /// Its connection was lost while it was idle.
    Lost(Box<OpError>),
}

/// What a session does next.
#[derive(Debug)]
pub(crate) enum SessionAction {
    /// A request is in progress.
    Waits,
    /// It is idle until this time, ns.
    Sleeps(u64),
    /// The run is over for this session.
    Leaves,
    /// A request could not be sent.
    Failed(Box<OpError>),
}

fn duplex(session: &mut dyn Session) -> &mut dyn Duplex {
    session.duplex().expect("the target says that its sessions come in two halves")
}

impl SessionState {
    pub(crate) fn new(worker: SessionWorker, session: Box<dyn Session>) -> Self {
        let processor = session.server_processor();
        Self {
            worker,
            session,
            phase: DrivePhase::Warmup,
            doing: SessionActivity::Nothing,
            opens_ns: 0,
            processor,
        }
    }

    pub(crate) fn socket(&mut self) -> BorrowedFd<'_> {
        duplex(self.session.as_mut()).socket()
    }

    /// Notes that the gate opens at `opens_ns`.
    pub(crate) fn opens(&mut self, opens_ns: u64) {
        self.opens_ns = opens_ns;
    }

    /// Starts the session at the gate.
    pub(crate) fn start(&mut self) {
        self.worker.recorder.moments.start_ns = Some(self.worker.clock.now_ns());
        self.worker.shared.note_started();
    }

    /// Whether it is ready when the gate opens; one with a pending answer starts after that.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.doing, SessionActivity::Called)
    }

    /// Prefetches the data that its next operation needs.
    #[inline]
    pub(crate) fn prefetch(&self) -> u64 {
        let SessionWorker { recorder, actor, think, pace, rest, .. } = &self.worker;
        let effect = actor.effect();
        u64::from(self.is_at_boundary())
            + self.session.overhead_commits().cast_unsigned()
            + self.session.queued().len() as u64
            + recorder.prefetch()
            + effect.commits
            + u64::from(think.is_on())
            + u64::from(pace.is_open())
            + u64::from(rest.is_backing_off())
    }

    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.doing, SessionActivity::Nothing | SessionActivity::Lost(_))
    }

    /// Whether an overhead request of Dyno is in progress.
    pub(crate) fn is_at_boundary(&self) -> bool {
        matches!(self.doing, SessionActivity::Edge { .. } | SessionActivity::Showing(_))
    }

    /// Whether it has to send an overhead request before it continues in `phase`.
    #[inline]
    pub(crate) fn needs_boundary(&self, phase: DrivePhase) -> bool {
        match phase == self.phase {
            true => self.worker.needs_visibility(phase),
            false => edge_between(self.phase, phase).is_some(),
        }
    }

    /// Begins to count in the window, without crossing its boundary yet.
    pub(crate) fn note_window_begin(&mut self, counts: &mut ThreadCounts, phase: DrivePhase) {
        if self.phase == DrivePhase::Warmup && phase > DrivePhase::Warmup && phase < DrivePhase::Stop {
            self.worker.begin(counts, self.session.as_ref(), phase > DrivePhase::Opening);
        }
    }

    /// Continues after a request has ended, depending on `phase` and pace.
    #[inline]
    pub(crate) fn next_action(&mut self, counts: &mut ThreadCounts, phase: DrivePhase) -> SessionAction {
        if phase != self.phase {
            if self.worker.needs_overhead_sync(self.phase, self.session.as_ref()) {
                return self.request_visibility(SessionActivity::Showing(self.phase));
            }
            self.worker.leave_phase(counts, self.phase, phase, self.session.as_ref());
            if let Some(edge) = edge_between(self.phase, phase) {
                return self.request_visibility(SessionActivity::Edge { edge, to: phase });
            }
            self.phase = phase;
        } else if phase != DrivePhase::Window || self.worker.needs_visibility(phase) {
            if phase == DrivePhase::Opening {
                self.worker.begin(counts, self.session.as_ref(), false);
            }
            if self.worker.needs_visibility(phase) {
                if self.worker.needs_request(self.session.as_ref()) {
                    return self.request_visibility(SessionActivity::Showing(phase));
                }
                self.worker.note_work_visible(phase, self.session.as_ref());
            }
        }
        if phase == DrivePhase::Stop { SessionAction::Leaves } else { self.next_op(counts) }
    }

    /// Starts the next operation if it is due; boundaries are left for later.
    #[inline]
    pub(crate) fn next_op(&mut self, counts: &mut ThreadCounts) -> SessionAction {
        let clock = &self.worker.clock;
        if let Some(until_ns) = self.worker.rest.until(|| clock.now_ns()) {
            return SessionAction::Sleeps(until_ns);
        }
        // Checked before an arrival is taken from the schedule; it would be lost otherwise.
        if let Some(until_ns) = self.worker.recorder.thinks_until()
            && self.worker.recorder.continue_thinking(counts, self.worker.clock.now_ns())
        {
            return SessionAction::Sleeps(until_ns);
        }
        let due_ns = match &mut self.worker.pace {
            Pace::Closed => {
                self.worker.recorder.begins_at_once(counts, self.opens_ns, || self.worker.clock.now_ns());
                None
            }
            Pace::Open(schedule) => {
                let (after_ns, now_ns) = (schedule.due_ns(), self.worker.clock.now_ns());
                let due_ns = self.opens_ns + after_ns;
                if now_ns < due_ns {
                    return SessionAction::Sleeps(due_ns);
                }
                schedule.advance();
                self.worker.recorder.begins(counts, self.opens_ns, after_ns, now_ns);
                Some(due_ns)
            }
        };
        self.worker.note_overhead(self.session.as_ref());
        let SessionWorker { actor, clock, doing, .. } = &mut self.worker;
        *doing = actor.draw();
        let began_ns = clock.now_ns();
        let due_ns = due_ns.unwrap_or(began_ns);
        self.begin(counts, due_ns, began_ns)
    }

    /// Begins the operation that was drawn, or retries it.
    #[inline]
    fn begin(&mut self, counts: &mut ThreadCounts, due_ns: u64, began_ns: u64) -> SessionAction {
        let operation = SessionActivity::Operation {
            due_ns,
            began_ns,
            asked_ns: began_ns,
            commits: false,
            commit_began_ns: None,
            rests_until_ns: None,
        };
        let mut turn = SessionTurn::Over;
        // The first request of an operation never commits.
        let next = self.send(operation, |actor, session| {
            turn = actor.step(None, |request| session.send(request))?;
            Ok(())
        });
        match (next, turn) {
            (SessionAction::Waits, SessionTurn::Over) => self.end_empty_transaction(counts, due_ns, began_ns),
            (SessionAction::Waits, SessionTurn::Rests(ns)) => self.pause(ns),
            (next, _) => next,
        }
    }

    /// Publishes its work with a request.
    fn request_visibility(&mut self, doing: SessionActivity) -> SessionAction {
        self.worker.visibility_asked_ns = self.worker.clock.now_ns();
        self.send(doing, |_, session| session.send(SessionRequest::Edge))
    }

    #[inline]
    fn send(
        &mut self,
        doing: SessionActivity,
        send: impl FnOnce(&mut SessionActor, &mut dyn Duplex) -> Result<(), Box<OpError>>,
    ) -> SessionAction {
        if let SessionActivity::Lost(error) = std::mem::replace(&mut self.doing, doing) {
            return SessionAction::Failed(error);
        }
        match send(&mut self.worker.actor, duplex(self.session.as_mut())) {
            Ok(()) => SessionAction::Waits,
            Err(error) => SessionAction::Failed(error),
        }
    }

    /// Handles a readable socket: returns whether the request in progress has ended.
    #[inline]
    pub(crate) fn receive_reply(&mut self, counts: &mut ThreadCounts) -> Result<bool, Box<OpError>> {
        match duplex(self.session.as_mut()).receive() {
            Ok(None) => Ok(false),
            Ok(Some(done)) => match self.doing {
                SessionActivity::Operation { .. } => self.step(counts, Some(done)),
                SessionActivity::RollingBack(Some((due_ns, began_ns))) => {
                    self.worker.actor.retry();
                    match self.begin(counts, due_ns, began_ns) {
                        SessionAction::Failed(error) => Err(error),
                        SessionAction::Waits => Ok(false),
                        SessionAction::Sleeps(_) | SessionAction::Leaves => {
                            Ok(self.rests_until_ns().is_none())
                        }
                    }
                }
                _ => {
                    self.finish_request();
                    Ok(true)
                }
            },
            Err(error) => Err(error),
        }
    }

    /// Sends the next request after one, or a pause, has ended. Returns whether there was none and the
    /// operation has ended.
    #[inline]
    fn step(
        &mut self,
        counts: &mut ThreadCounts,
        completion: Option<RequestCompletion>,
    ) -> Result<bool, Box<OpError>> {
        let Self { doing, worker, session, .. } = self;
        let SessionActivity::Operation { due_ns, began_ns, asked_ns, commits, commit_began_ns, .. } = doing
        else {
            return Ok(true);
        };
        let ended_ns = worker.clock.now_ns();
        if let Some(request_done) = completion {
            let explicit = commits.then_some(*asked_ns);
            *commit_began_ns = explicit.or(request_done.commit_began_ns).or(*commit_began_ns);
            worker.actor.queued(session.queued());
            worker.actor.read(|column| session.answered(column))?;
        }
        let mut is_queued = false;
        let turn = worker.actor.step(completion, |request| {
            // Pipelined requests have no individual times.
            (*asked_ns, *commits) = (ended_ns, matches!(request, SessionRequest::Commit) && !is_queued);
            is_queued |= matches!(request, SessionRequest::Queue(_));
            duplex(session.as_mut()).send(request)
        })?;
        match turn {
            SessionTurn::Asked(()) => return Ok(false),
            SessionTurn::Rests(ns) => {
                self.pause(ns);
                return Ok(false);
            }
            SessionTurn::Over => {}
        }
        let timing = Timing { due_ns: *due_ns, began_ns: *began_ns, ended_ns };
        let commit_began_ns = *commit_began_ns;
        *doing = SessionActivity::Nothing;
        worker.count(counts, timing, commit_began_ns);
        worker.report_reached_ops(counts);
        Ok(true)
    }

    #[inline]
    fn finish_request(&mut self) {
        match std::mem::replace(&mut self.doing, SessionActivity::Nothing) {
            SessionActivity::Edge { edge, to } => self.note_crossed(edge, to),
            SessionActivity::Showing(phase) => self.worker.note_work_visible(phase, self.session.as_ref()),
            SessionActivity::Called => self.start(),
            // An unexpected answer: the next request will report the problem.
            SessionActivity::Nothing
            | SessionActivity::Lost(_)
            | SessionActivity::Operation { .. }
            | SessionActivity::RollingBack(_) => {}
        }
    }

    fn note_crossed(&mut self, edge: usize, to: DrivePhase) {
        self.worker.after_edge(edge, self.session.as_ref());
        self.phase = to;
    }
}
