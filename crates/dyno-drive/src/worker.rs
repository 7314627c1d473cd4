//! One session's thread: connect, gate, and the loop that is the hot path.

mod connect;
pub(crate) mod edges;
mod load;
mod open;
mod operations;
mod recovery;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use dyno_engine::{Clock, ErrorClass, Interrupter, Session, SessionSetup, Target};
use dyno_plan::Connect;
use dyno_record::Touch;
use dyno_workload::{Actor, ClassId, Pace, Think};

use crate::counts::Counts;
use crate::looks::Looks;
use crate::panics::{as_error, caught};
use crate::recorder::Recorder;
use crate::rest::Rest;
use crate::session::SessionResult;
use crate::shared::{Phase, Shared};
use crate::slices::{Recorded, SliceLoop};
use crate::thread_result::ThreadResult;
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
    /// It has ended, with what it measured by itself.
    Ended(u32, Box<SessionResult>),
    /// A thread counts no more, and this is what its sessions did on each target.
    Counted(Vec<ThreadResult>),
}

/// Everything one session needs; in this order, so that what an operation touches is in few lines of the processor's cache.
#[repr(C)]
pub(crate) struct Worker {
    pub(crate) recorder: Box<Recorder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) ops_wanted: Option<u64>,
    /// The class of what it does, or did last.
    pub(crate) doing: ClassId,
    /// Whether the database shows what this session has done only when it is asked to (`Request::Edge`), or seldom.
    pub(crate) publishes: bool,
    pub(crate) rest: Rest,
    /// What it does.
    pub(crate) actor: Actor,
    pub(crate) think: Think,
    pub(crate) pace: Pace,
    /// How long the database then shows nothing by itself.
    pub(crate) held_back_ns: u64,
    /// When it last asked for its work to be visible.
    pub(crate) visibility_asked_ns: u64,
    /// Transactions that were no operations, as last told to the coordinator.
    pub(crate) overhead_told: i64,
    /// The same before the operation that it does, or did last, as long as nothing counts.
    pub(crate) overhead_before: i64,
    /// The observer's looks at this session's target.
    pub(crate) looks: Arc<Looks>,
    pub(crate) messages: Sender<Message>,
    pub(crate) target: Arc<dyn Target>,
    /// Where it is noted what the session is told, if that is to be proved.
    pub(crate) book: Option<Arc<Book>>,
    /// The target, before what goes wrong on it; empty where there is only one.
    pub(crate) label: String,
    pub(crate) setup: SessionSetup,
    pub(crate) sessions: u32,
    /// Whether it loads parts of a table, and ends when all are taken.
    pub(crate) loads: bool,
    /// Whether it tries to connect again until the run ends.
    pub(crate) reconnects: bool,
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
    pub(crate) fn run(mut self, mut counts: Counts) {
        let messages = self.messages.clone();
        let counts = &mut counts;
        match self.connect() {
            None => self.hand_in(),
            Some(session) => self.lead(counts, session),
        }
        let _ = messages.send(Message::Counted(counts.take()));
    }

    fn lead(mut self, counts: &mut Counts, mut session: Box<dyn Session>) {
        if let Some(opens_ns) = self.shared.wait_gate() {
            match caught(|| self.work(counts, session.as_mut(), opens_ns)) {
                Ok(ended) => self.note_end(counts, ended),
                Err(reason) => {
                    self.panicked(counts, self.doing, &reason);
                    return self.abandon(session);
                }
            }
        }
        self.finish(session);
    }

    /// The session has panicked, and does no more.
    #[cold]
    pub(crate) fn panicked(&mut self, counts: &mut Counts, doing: ClassId, reason: &str) {
        self.recorder.failed(counts, doing, &as_error(reason), self.clock.now_ns());
        self.note_end(counts, Err(Ended::Failed(reason.to_owned())));
    }

    /// Hands in what was measured, and lets go of a session that has panicked: it is asked nothing more.
    #[cold]
    pub(crate) fn abandon(self, session: Box<dyn Session>) {
        self.hand_in();
        // Whatever this does, nobody waits for it.
        let _ = caught(|| drop(session));
    }

    /// The session does no more operations.
    pub(crate) fn note_end(&mut self, counts: &mut Counts, ended: Result<(), Ended>) {
        if let Err(Ended::Failed(reason)) = ended {
            self.fail(&reason);
        }
        self.recorder.stop_answers(self.clock.now_ns());
        self.recorder.break_off(counts);
        if let (Pace::Open(schedule), Some(opens_ns)) = (&mut self.pace, self.shared.opens_ns()) {
            self.recorder.leave_undone(counts, opens_ns, schedule);
        }
    }

    fn fail(&self, reason: &str) {
        self.shared.fail(format!("{}session {}: {reason}", self.label, self.setup.number));
    }

    /// Hands in what was measured.
    pub(crate) fn hand_in(self) {
        // The coordinator has gone only when it no longer waits for anybody.
        let _ = self.messages.send(Message::Ended(self.setup.number, Box::new(self.recorder.into_result())));
    }

    fn work(&mut self, counts: &mut Counts, session: &mut dyn Session, opens_ns: u64) -> Result<(), Ended> {
        self.wake_sharply();
        while self.clock.now_ns() < opens_ns {
            self.clock.park_until(opens_ns);
        }
        self.recorder.moments.start_ns = Some(self.clock.now_ns());
        let mut slices = self.setup.slices.then(SliceLoop::new);
        let mut phase = Phase::Warmup;
        let mut together = false;
        if self.loads {
            self.wait_for_work(counts);
        }
        if self.pace.is_open() {
            together = true;
            self.start_together(opens_ns);
        }
        loop {
            let now = self.shared.phase();
            if now != phase {
                self.cross(counts, session, phase, now)?;
                phase = now;
                if phase == Phase::Stop {
                    return Ok(());
                }
                if self.loads && phase == Phase::Window {
                    self.begin_load(counts);
                }
            } else if phase != Phase::Window || self.owes_visibility(phase) {
                self.see_to(counts, session, phase)?;
            }
            if self.is_resting() {
                continue;
            }
            // Before an arrival is taken, which is not to be lost for it.
            if self.is_thinking(counts) {
                continue;
            }
            let due_ns = match &mut self.pace {
                Pace::Closed => {
                    self.recorder.begins_at_once(counts, opens_ns, || self.clock.now_ns());
                    None
                }
                Pace::Open(schedule) => {
                    let (after_ns, now_ns) = (schedule.due_ns(), self.clock.now_ns());
                    let due_ns = opens_ns + after_ns;
                    if now_ns < due_ns {
                        self.clock.park_until(due_ns);
                        continue;
                    }
                    schedule.advance();
                    self.recorder.begins(counts, opens_ns, after_ns, now_ns);
                    Some(due_ns)
                }
            };
            match &mut slices {
                None => self.one_op(counts, session, due_ns)?,
                Some(slices) => {
                    self.doing = ClassId::SLICE;
                    let Self { actor, think, recorder, clock, .. } = self;
                    let blocks =
                        actor.blocks().expect("only the classic method has loops inside the database");
                    let recorded = Recorded { recorder, counts };
                    match slices.one(session, blocks, think, recorded, clock.as_ref()) {
                        Ok(_) => self.rest.ended_well(),
                        Err(failed) => {
                            if failed.class == ErrorClass::Connection {
                                // What a slice has committed is told at its end only.
                                self.recorder.in_doubt(counts, ClassId::SLICE, &failed);
                            }
                            self.recover(counts, session, ClassId::SLICE, &failed)?;
                        }
                    }
                }
            }
            if !together {
                together = true;
                self.start_together(opens_ns);
            }
            self.look_at_ops(counts);
        }
    }

    /// Lets the calling thread wake at the moment it asks for.
    pub(crate) fn wake_sharply(&self) {
        if self.think.is_on() || self.actor.thinks() || self.pace.is_open() {
            crate::thread::wake_sharply();
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
            self.recorder.note_failure(&as_error(&reason));
            self.fail(&reason);
            return self.abandon(session);
        }
        if let Err(reason) = caught(|| session.close()) {
            self.recorder.note_failure(&as_error(&reason));
            self.fail(&reason);
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
                Err(error) => self.recorder.note_failure(&error),
            }
        }
        if !self.publishes && self.actor.blocks().is_none() && self.setup.connect == Connect::Session {
            // What the server has counted for the last operations, which nobody knows of a procedure; a lost one tells nothing.
            let _ = session.edge();
        }
        self.recorder.life.overhead_commits = session.overhead_commits();
    }
}
