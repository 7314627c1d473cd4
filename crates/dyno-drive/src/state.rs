//! One session among several on a thread: what it is doing, and what it does next.

mod called;
mod failed;
mod rests;

use std::os::fd::BorrowedFd;

use dyno_engine::{Done, Duplex, OpError, Request, Session};
use dyno_workload::{Actor, Pace, Turn};

use crate::counts::{Counts, Timing};
use crate::shared::Phase;
use crate::worker::Worker;
use crate::worker::edges::edge_between;

/// A session, the worker that measures it, and where both are.
#[repr(C)]
pub(crate) struct SessionState {
    pub(crate) session: Box<dyn Session>,
    /// The phase whose edges lie behind it.
    phase: Phase,
    doing: Doing,
    opens_ns: u64,
    pub(crate) worker: Worker,
    /// Where its server process last ran, if it is on this machine.
    pub(crate) processor: Option<usize>,
}

/// What a session is doing.
#[derive(Debug)]
enum Doing {
    Nothing,
    Operation {
        due_ns: u64,
        began_ns: u64,
        /// When the request under way was sent, and whether it commits.
        asked_ns: u64,
        commits: bool,
        commit_began_ns: Option<u64>,
        /// Until when it asks for nothing.
        rests_until_ns: Option<u64>,
    },
    /// It rolls back what an operation had begun that failed; one that begins anew was due and began then.
    RollingBack(Option<(u64, u64)>),
    Edge {
        edge: usize,
        to: Phase,
    },
    /// It makes what it has done visible, in this phase.
    Showing(Phase),
    /// It was asked for an answer before the gate, and has not answered yet.
    Called,
    /// Its connection was lost while it did nothing.
    Lost(Box<OpError>),
}

/// What a session does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// A request is under way.
    Waits,
    /// Nothing, until this moment.
    Sleeps(u64),
    /// The run is over for it.
    Leaves,
    /// A request could not be sent.
    Failed(Box<OpError>),
}

fn duplex(session: &mut dyn Session) -> &mut dyn Duplex {
    session.duplex().expect("the target says that its sessions come in two halves")
}

impl SessionState {
    pub(crate) fn new(worker: Worker, session: Box<dyn Session>) -> Self {
        let processor = session.server_processor();
        Self { worker, session, phase: Phase::Warmup, doing: Doing::Nothing, opens_ns: 0, processor }
    }

    pub(crate) fn socket(&mut self) -> BorrowedFd<'_> {
        duplex(self.session.as_mut()).socket()
    }

    /// The gate will have opened then.
    pub(crate) fn opens(&mut self, opens_ns: u64) {
        self.opens_ns = opens_ns;
    }

    /// Passes the gate.
    pub(crate) fn start(&mut self) {
        self.worker.recorder.moments.start_ns = Some(self.worker.clock.now_ns());
        self.worker.shared.note_started();
    }

    /// Whether it is ready when the gate opens; one that has not answered yet starts when it has.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.doing, Doing::Called)
    }

    /// Looks at what an operation of it needs.
    #[inline]
    pub(crate) fn glance(&self) -> u64 {
        let Worker { recorder, actor, think, pace, rest, .. } = &self.worker;
        let effect = actor.effect();
        u64::from(self.at_edge())
            + self.session.overhead_commits().cast_unsigned()
            + self.session.queued().len() as u64
            + recorder.glance()
            + effect.commits
            + u64::from(think.is_on())
            + u64::from(pace.is_open())
            + u64::from(rest.rests())
    }

    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.doing, Doing::Nothing | Doing::Lost(_))
    }

    /// Whether it asks for Dyno's own sake.
    pub(crate) fn at_edge(&self) -> bool {
        matches!(self.doing, Doing::Edge { .. } | Doing::Showing(_))
    }

    /// Whether it has to ask for Dyno's own sake before it goes on in `phase`.
    #[inline]
    pub(crate) fn owes_edge(&self, phase: Phase) -> bool {
        match phase == self.phase {
            true => self.worker.owes_visibility(phase),
            false => edge_between(self.phase, phase).is_some(),
        }
    }

    /// Notices that the window has begun, without crossing its edge yet.
    pub(crate) fn notice(&mut self, counts: &mut Counts, phase: Phase) {
        if self.phase == Phase::Warmup && phase > Phase::Warmup && phase < Phase::Stop {
            self.worker.begin(counts, self.session.as_ref(), phase > Phase::Opening);
        }
    }

    /// Goes on after a request has ended: by `phase`, and by its pace.
    #[inline]
    pub(crate) fn go_on(&mut self, counts: &mut Counts, phase: Phase) -> Next {
        if phase != self.phase {
            if self.worker.owes_truth(self.phase, self.session.as_ref()) {
                return self.show(Doing::Showing(self.phase));
            }
            self.worker.leave_phase(counts, self.phase, phase, self.session.as_ref());
            if let Some(edge) = edge_between(self.phase, phase) {
                return self.show(Doing::Edge { edge, to: phase });
            }
            self.phase = phase;
        } else if phase != Phase::Window || self.worker.owes_visibility(phase) {
            if phase == Phase::Opening {
                self.worker.begin(counts, self.session.as_ref(), false);
            }
            if self.worker.owes_visibility(phase) {
                if self.worker.has_to_ask(self.session.as_ref()) {
                    return self.show(Doing::Showing(phase));
                }
                self.worker.shown(phase, self.session.as_ref());
            }
        }
        if phase == Phase::Stop { Next::Leaves } else { self.next_op(counts) }
    }

    /// The next operation, if it is due; edges are left for later.
    #[inline]
    pub(crate) fn next_op(&mut self, counts: &mut Counts) -> Next {
        let clock = &self.worker.clock;
        if let Some(until_ns) = self.worker.rest.until(|| clock.now_ns()) {
            return Next::Sleeps(until_ns);
        }
        // Before an arrival is taken, which is not to be lost for it.
        if let Some(until_ns) = self.worker.recorder.thinks_until()
            && self.worker.recorder.think_on(counts, self.worker.clock.now_ns())
        {
            return Next::Sleeps(until_ns);
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
                    return Next::Sleeps(due_ns);
                }
                schedule.advance();
                self.worker.recorder.begins(counts, self.opens_ns, after_ns, now_ns);
                Some(due_ns)
            }
        };
        self.worker.note_overhead(self.session.as_ref());
        let Worker { actor, clock, doing, .. } = &mut self.worker;
        *doing = actor.draw();
        let began_ns = clock.now_ns();
        let due_ns = due_ns.unwrap_or(began_ns);
        self.begin(counts, due_ns, began_ns)
    }

    /// Begins the operation that was drawn, or begins it anew.
    #[inline]
    fn begin(&mut self, counts: &mut Counts, due_ns: u64, began_ns: u64) -> Next {
        let operation = Doing::Operation {
            due_ns,
            began_ns,
            asked_ns: began_ns,
            commits: false,
            commit_began_ns: None,
            rests_until_ns: None,
        };
        let mut turn = Turn::Over;
        // The first request of an operation commits nothing.
        let next = self.send(operation, |actor, session| {
            turn = actor.step(None, |request| session.send(request))?;
            Ok(())
        });
        match (next, turn) {
            (Next::Waits, Turn::Over) => self.ended_unasked(counts, due_ns, began_ns),
            (Next::Waits, Turn::Rests(ns)) => self.pause(ns),
            (next, _) => next,
        }
    }

    /// Asks for what it has done to be visible.
    fn show(&mut self, doing: Doing) -> Next {
        self.worker.visibility_asked_ns = self.worker.clock.now_ns();
        self.send(doing, |_, session| session.send(Request::Edge))
    }

    #[inline]
    fn send(
        &mut self,
        doing: Doing,
        send: impl FnOnce(&mut Actor, &mut dyn Duplex) -> Result<(), Box<OpError>>,
    ) -> Next {
        if let Doing::Lost(error) = std::mem::replace(&mut self.doing, doing) {
            return Next::Failed(error);
        }
        match send(&mut self.worker.actor, duplex(self.session.as_mut())) {
            Ok(()) => Next::Waits,
            Err(error) => Next::Failed(error),
        }
    }

    /// Its socket has something: whether the request under way has ended with it.
    #[inline]
    pub(crate) fn heard(&mut self, counts: &mut Counts) -> Result<bool, Box<OpError>> {
        match duplex(self.session.as_mut()).receive() {
            Ok(None) => Ok(false),
            Ok(Some(done)) => match self.doing {
                Doing::Operation { .. } => self.step(counts, Some(done)),
                Doing::RollingBack(Some((due_ns, began_ns))) => {
                    self.worker.actor.again();
                    match self.begin(counts, due_ns, began_ns) {
                        Next::Failed(error) => Err(error),
                        Next::Waits => Ok(false),
                        Next::Sleeps(_) | Next::Leaves => Ok(self.rests_until_ns().is_none()),
                    }
                }
                _ => {
                    self.ended();
                    Ok(true)
                }
            },
            Err(error) => Err(error),
        }
    }

    /// A request of the operation has ended, or a rest: sends the next one. Whether there was none, and the operation has ended.
    #[inline]
    fn step(&mut self, counts: &mut Counts, done: Option<Done>) -> Result<bool, Box<OpError>> {
        let Self { doing, worker, session, .. } = self;
        let Doing::Operation { due_ns, began_ns, asked_ns, commits, commit_began_ns, .. } = doing else {
            return Ok(true);
        };
        let ended_ns = worker.clock.now_ns();
        if let Some(done) = done {
            let explicit = commits.then_some(*asked_ns);
            *commit_began_ns = explicit.or(done.commit_began_ns).or(*commit_began_ns);
            worker.actor.queued(session.queued());
            worker.actor.read(|column| session.answered(column))?;
        }
        let mut kept = false;
        let turn = worker.actor.step(done, |request| {
            // What was sent with others has no time of its own.
            (*asked_ns, *commits) = (ended_ns, matches!(request, Request::Commit) && !kept);
            kept |= matches!(request, Request::Queue(_));
            duplex(session.as_mut()).send(request)
        })?;
        match turn {
            Turn::Asked(()) => return Ok(false),
            Turn::Rests(ns) => {
                self.pause(ns);
                return Ok(false);
            }
            Turn::Over => {}
        }
        let timing = Timing { due_ns: *due_ns, began_ns: *began_ns, ended_ns };
        let commit_began_ns = *commit_began_ns;
        *doing = Doing::Nothing;
        worker.count(counts, timing, commit_began_ns);
        worker.look_at_ops(counts);
        Ok(true)
    }

    #[inline]
    fn ended(&mut self) {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Edge { edge, to } => self.crossed(edge, to),
            Doing::Showing(phase) => self.worker.shown(phase, self.session.as_ref()),
            Doing::Called => self.start(),
            // An answer that nobody waits for: the next request will notice what is wrong.
            Doing::Nothing | Doing::Lost(_) | Doing::Operation { .. } | Doing::RollingBack(_) => {}
        }
    }

    fn crossed(&mut self, edge: usize, to: Phase) {
        self.worker.after_edge(edge, self.session.as_ref());
        self.phase = to;
    }
}
