//! One session's thread: connect, gate, and the loop that is the hot path.

mod connect;
pub(crate) mod edges;
mod recovery;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use dyno_engine::{Clock, Interrupter, Request, Session, SessionSetup, Target, TargetError, TargetErrorKind};
use dyno_plan::Connect;
use dyno_record::Touch;
use dyno_workload::{Actor, ClassId, Pace, Think, Turn};

use crate::descriptors;
use crate::looks::Looks;
use crate::panics::{as_error, caught};
use crate::recorder::{Recorder, Timing};
use crate::rest::Rest;
use crate::session::SessionResult;
use crate::shared::{Phase, Shared};
use crate::slices::SliceLoop;
use crate::witness::Book;

/// How long a session lets others go first after its own first operation, so that all start together even where there
/// are more sessions than processors.
const START_YIELD_NS_MAX: u64 = 5_000_000;

/// What is booked where something fails that is no operation.
pub(crate) const NO_OPERATION: ClassId = ClassId::operation(0);

/// What a session's thread tells its coordinator.
pub(crate) enum Message {
    /// It is connected and prepared; by this handle it can be broken off.
    Connected(u32, Arc<dyn Interrupter>),
    /// It has ended, with all that it measured.
    Ended(u32, Box<SessionResult>),
}

/// Everything one session's thread needs.
pub(crate) struct Worker {
    pub(crate) target: Arc<dyn Target>,
    /// Where it is noted what the session is told, if that is to be proved.
    pub(crate) book: Option<Arc<Book>>,
    /// The target, before what goes wrong on it; empty where there is only one.
    pub(crate) label: String,
    pub(crate) setup: SessionSetup,
    pub(crate) sessions: u32,
    /// What it does.
    pub(crate) actor: Actor,
    pub(crate) pace: Pace,
    pub(crate) think: Think,
    /// The class of what it does, or did last.
    pub(crate) doing: ClassId,
    /// Whether the database shows what this session has done only when it is asked to ([`Session::edge`]), or seldom.
    pub(crate) publishes: bool,
    /// How long it then shows nothing by itself.
    pub(crate) held_back_ns: u64,
    /// Transactions that were no operations, as last told to the coordinator.
    pub(crate) overhead_told: i64,
    /// The same before the operation that it does, or did last, as long as nothing counts.
    pub(crate) overhead_before: i64,
    pub(crate) ops_wanted: Option<u64>,
    pub(crate) rest: Rest,
    pub(crate) recorder: Box<Recorder>,
    pub(crate) shared: Arc<Shared>,
    /// The observer's looks at this session's target.
    pub(crate) looks: Arc<Looks>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) messages: Sender<Message>,
}

/// Why a session's loop ended before the run did.
pub(crate) enum Ended {
    /// The run is over.
    Stop,
    /// The session cannot go on.
    Failed(String),
}

impl Worker {
    /// The thread's body.
    pub(crate) fn run(mut self) {
        let Some(mut session) = self.connect() else { return self.hand_in() };
        if let Some(opens_ns) = self.shared.wait_gate() {
            match caught(|| self.work(session.as_mut(), opens_ns)) {
                Ok(ended) => self.note_end(ended),
                Err(reason) => {
                    self.panicked(self.doing, &reason);
                    return self.abandon(session);
                }
            }
        }
        self.finish(session);
    }

    /// The session has panicked, and does no more.
    #[cold]
    pub(crate) fn panicked(&mut self, doing: ClassId, reason: &str) {
        self.recorder.failed(doing, &as_error(reason), self.clock.now_ns());
        self.note_end(Err(Ended::Failed(reason.to_owned())));
    }

    /// Hands in what was measured, and lets go of a session that has panicked: it is asked nothing more.
    #[cold]
    pub(crate) fn abandon(self, session: Box<dyn Session>) {
        self.hand_in();
        // Whatever this does, nobody waits for it.
        let _ = caught(|| drop(session));
    }

    /// The session does no more operations.
    pub(crate) fn note_end(&mut self, ended: Result<(), Ended>) {
        if let Err(Ended::Failed(reason)) = ended {
            self.shared.fail(format!("{}session {}: {reason}", self.label, self.setup.number));
        }
        self.recorder.break_off();
    }

    /// Hands in what was measured.
    pub(crate) fn hand_in(mut self) {
        if let (Pace::Open(schedule), Some(opens_ns)) = (&mut self.pace, self.shared.opens_ns()) {
            self.recorder.leave_undone(opens_ns, schedule);
        }
        // The coordinator has gone only when it no longer waits for anybody.
        let _ = self.messages.send(Message::Ended(self.setup.number, Box::new(self.recorder.into_result())));
    }

    /// Opens the session, when it is its turn; `None` if that failed or the run has ended.
    pub(crate) fn connect(&mut self) -> Option<Box<dyn Session>> {
        let session = match self.shared.begin_connect() {
            true => Some(caught(|| self.open())),
            false => None,
        };
        match session {
            Some(Ok(Ok(session))) => {
                self.announce(session.as_ref());
                self.shared.end_connect(true);
                Some(session)
            }
            Some(Err(reason)) => {
                self.shared
                    .fail(format!("{}session {} cannot start: {reason}", self.label, self.setup.number));
                self.shared.end_connect(false);
                None
            }
            Some(Ok(Err(error))) => {
                let hint = way_out(&error);
                self.shared
                    .fail(format!("{}session {} cannot start: {error}{hint}", self.label, self.setup.number));
                self.shared.end_connect(false);
                None
            }
            None => {
                self.shared.end_connect(false);
                None
            }
        }
    }

    fn open(&self) -> Result<Box<dyn Session>, TargetError> {
        let mut session = self.target.session(&self.setup)?;
        if self.setup.connect == Connect::Transaction {
            // All that is wrong with the statements has been told; each transaction opens its own.
            session.disconnect();
        }
        match &self.book {
            Some(book) => book.witnessed(session, self.target.as_ref(), &self.setup),
            None => Ok(session),
        }
    }

    fn announce(&self, session: &dyn Session) {
        let _ = self.messages.send(Message::Connected(self.setup.number, session.interrupter()));
    }

    fn work(&mut self, session: &mut dyn Session, opens_ns: u64) -> Result<(), Ended> {
        self.wake_sharply();
        while self.clock.now_ns() < opens_ns {
            self.clock.park_until(opens_ns);
        }
        self.recorder.moments.start_ns = Some(self.clock.now_ns());
        let mut slices = self.setup.slices.then(SliceLoop::new);
        let mut phase = Phase::Warmup;
        let mut together = false;
        if self.pace.is_open() {
            together = true;
            self.start_together(opens_ns);
        }
        loop {
            let now = self.shared.phase();
            if now != phase {
                self.cross(session, phase, now)?;
                phase = now;
                if phase == Phase::Stop {
                    return Ok(());
                }
            } else if phase != Phase::Window || self.owes_visibility(phase) {
                self.see_to(session, phase)?;
            }
            if self.is_resting() {
                continue;
            }
            // Before an arrival is taken, which is not to be lost for it.
            if self.is_thinking() {
                continue;
            }
            let due_ns = match &mut self.pace {
                Pace::Closed => None,
                Pace::Open(schedule) => {
                    let (after_ns, now_ns) = (schedule.due_ns(), self.clock.now_ns());
                    let due_ns = opens_ns + after_ns;
                    if now_ns < due_ns {
                        self.clock.park_until(due_ns);
                        continue;
                    }
                    schedule.advance();
                    self.recorder.begins(opens_ns, after_ns, now_ns);
                    Some(due_ns)
                }
            };
            match &mut slices {
                None => self.one_op(session, due_ns)?,
                Some(slices) => {
                    self.doing = ClassId::SLICE;
                    let Self { actor, think, recorder, clock, .. } = self;
                    let blocks =
                        actor.blocks().expect("only the classic method has loops inside the database");
                    match slices.one(session, blocks, think, recorder, clock.as_ref()) {
                        Ok(_) => self.rest.ended_well(),
                        Err(failed) => self.recover(session, ClassId::SLICE, &failed)?,
                    }
                }
            }
            if !together {
                together = true;
                self.start_together(opens_ns);
            }
            self.look_at_ops();
        }
    }

    /// Tells once when the operations that the plan asks of each session are done.
    #[inline]
    pub(crate) fn look_at_ops(&mut self) {
        if self.ops_wanted.is_some_and(|wanted| self.recorder.window_ops >= wanted) {
            self.ops_wanted = None;
            self.shared.note_reached_ops();
        }
    }

    /// Does the next operation, on a connection of its own where that is asked for.
    #[inline]
    fn one_op(&mut self, session: &mut dyn Session, due_ns: Option<u64>) -> Result<(), Ended> {
        self.note_overhead(session);
        self.doing = self.actor.draw();
        let began_ns = self.clock.now_ns();
        match self.setup.connect {
            Connect::Session => self.steps(session, due_ns, began_ns),
            Connect::Transaction => self.connected(session, due_ns, began_ns),
        }
    }

    /// The steps of an operation that has begun.
    #[inline]
    fn steps(&mut self, session: &mut dyn Session, due_ns: Option<u64>, began_ns: u64) -> Result<(), Ended> {
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
                Err(error) if self.give_up(session, &error)? => (last, commit_began_ns) = (None, None),
                Err(_) => return Ok(()),
            }
        }
        self.count(timing, commit_began_ns);
        Ok(())
    }

    /// Rests within an operation, until the run is over at the latest; when that was.
    #[cold]
    fn pause(&self, ns: u64) -> u64 {
        let until_ns = self.clock.now_ns().saturating_add(ns);
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns || self.shared.phase() == Phase::Stop {
                return now_ns;
            }
            self.clock.park_until(until_ns);
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
    fn is_thinking(&mut self) -> bool {
        let Some(until_ns) = self.recorder.thinks_until() else { return false };
        if self.clock.now_ns() < until_ns {
            self.clock.park_until(until_ns);
        }
        self.recorder.think_on(self.clock.now_ns())
    }

    /// Rests after failures, or until the phase changes; false if there is no need.
    #[inline]
    fn is_resting(&mut self) -> bool {
        let Some(until_ns) = self.rest.until(|| self.clock.now_ns()) else { return false };
        self.clock.park_until(until_ns);
        true
    }

    /// Lets the calling thread wake at the moment it asks for.
    pub(crate) fn wake_sharply(&self) {
        if self.think.is_on() || self.actor.thinks() || self.pace.is_open() {
            crate::thread::wake_sharply();
        }
    }

    /// Counts an operation that ended well.
    #[inline]
    pub(crate) fn count(&mut self, timing: Timing, commit_began_ns: Option<u64>) {
        self.rest.ended_well();
        let effect = self.actor.effect();
        self.recorder.done(self.doing, timing, effect);
        if let Some(task) = self.actor.task() {
            self.recorder.drawn(task);
        }
        if effect.commits > 0 {
            let latency_ns = commit_began_ns.map(|at| timing.ended_ns.saturating_sub(at));
            self.recorder.commit(effect.commits, latency_ns);
        }
        if let Some(length_ns) = self.think.draw().or_else(|| self.actor.think_ns()) {
            let until_ns = self.think.until_ns(length_ns, timing.began_ns, timing.ended_ns);
            self.recorder.think(timing.ended_ns, until_ns);
        }
    }

    /// Lets the other sessions have their first operation before this one has its second.
    fn start_together(&self, opens_ns: u64) {
        self.shared.note_started();
        let until_ns = opens_ns + START_YIELD_NS_MAX;
        while self.shared.started() < self.sessions && self.clock.now_ns() < until_ns {
            std::thread::yield_now();
        }
    }

    /// Reads back the last update, ends the connection in order, and reports.
    pub(crate) fn finish(mut self, mut session: Box<dyn Session>) {
        if let Err(reason) = caught(|| self.look_back(session.as_mut())) {
            self.panicked(NO_OPERATION, &reason);
            return self.abandon(session);
        }
        if let Err(reason) = caught(|| session.close()) {
            self.panicked(self.doing, &reason);
        }
        self.hand_in();
    }

    /// Reads back the last update, and notes what the session has done beside operations.
    fn look_back(&mut self, session: &mut dyn Session) {
        if self.recorder.life.rows[Touch::Updated as usize] > 0
            && self.shared.failure().is_none()
            && let Some(blocks) = self.actor.blocks()
        {
            match blocks.operator.verify_last_update(session) {
                Ok(Some((rows, new))) => self.recorder.life.verified = (rows, new),
                Ok(None) => {}
                Err(error) => self.recorder.failed(NO_OPERATION, &error, self.clock.now_ns()),
            }
        }
        if !self.publishes && self.actor.blocks().is_none() && self.setup.connect == Connect::Session {
            // What the server has counted for the last operations, which nobody knows of a procedure; a lost one tells nothing.
            let _ = session.edge();
        }
        self.recorder.life.overhead_commits = session.overhead_commits();
    }
}

/// What a session that cannot start says behind its error.
fn way_out(error: &TargetError) -> String {
    // A file that cannot be opened, and an address that cannot be reached, do not always say that it is for lack of descriptors.
    let used_up = || if error.kind == TargetErrorKind::Unreachable { descriptors::used_up() } else { None };
    let hint = descriptors::too_few(error).or_else(used_up).unwrap_or_else(|| error.hint.clone());
    if hint.is_empty() { hint } else { format!(" (hint: {hint})") }
}
