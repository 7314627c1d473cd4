//! One session's thread: connect, gate, and the loop that is the hot path.

mod connect;
pub(crate) mod edges;
mod load;
mod open;
mod operations;
mod recovery;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use dyno_engine::panics::{as_error, caught};
use dyno_engine::{Clock, ErrorClass, Interrupter, Session, SessionSetup, Target};
use dyno_plan::Connect;
use dyno_record::RowEffect;
use dyno_workload::{ClassId, Pace, SessionActor, SessionThinkTime};

use crate::ack_recorder::AckLedger;
use crate::backoff::RetryBackoff;
use crate::counts::ThreadCounts;
use crate::recorder::Recorder;
use crate::served_by::ServedBy;
use crate::session::SessionResult;
use crate::shared::{DrivePhase, SharedRunState};
use crate::slices::{RecordingContext, SliceLoop};
use crate::snapshot_status::SnapshotStatus;
use crate::thread_result::ThreadResult;

/// How long a session lets others go first after its own first operation. All sessions then start together,
/// even with more sessions than processors.
const START_YIELD_NS_MAX: u64 = 5_000_000;

/// The class under which failures outside of operations are counted.
pub(crate) const NO_OPERATION: ClassId = ClassId::operation(0);

/// A message from a session's thread to its coordinator.
pub(crate) enum WorkerMessage {
    /// The session is connected and prepared; the handle interrupts it.
    Connected(u32, Arc<dyn Interrupter>),
    /// The session has ended, with its own measurements.
    Ended(u32, Box<SessionResult>),
    /// A thread no longer counts; these are its sessions' results on each target.
    Counted(Vec<ThreadResult>),
}

/// The state of one session. The order of fields keeps the data of an operation in few lines of the
/// processor's cache.
#[repr(C)]
pub(crate) struct SessionWorker {
    pub(crate) recorder: Box<Recorder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: Arc<SharedRunState>,
    pub(crate) ops_wanted: Option<u64>,
    /// The class of the current or last operation.
    pub(crate) doing: ClassId,
    /// Whether the database shows this session's work only on request (`SessionRequest::Edge`), or rarely.
    pub(crate) publishes: bool,
    pub(crate) rest: RetryBackoff,
    /// The source of its operations.
    pub(crate) actor: SessionActor,
    pub(crate) think: SessionThinkTime,
    pub(crate) pace: Pace,
    /// How long the database shows nothing on its own after a request, ns.
    pub(crate) held_back_ns: u64,
    /// When it last requested that its work be visible.
    pub(crate) visibility_asked_ns: u64,
    /// Overhead transactions that were reported to the coordinator.
    pub(crate) reported_overhead: i64,
    /// Overhead transactions before the current or last operation; kept while nothing counts.
    pub(crate) overhead_before: i64,
    /// The snapshots of this session's target.
    pub(crate) snapshot_status: Arc<SnapshotStatus>,
    pub(crate) messages: Sender<WorkerMessage>,
    pub(crate) target: Arc<dyn Target>,
    /// Records what the database acknowledges to the session; only in durability proofs.
    pub(crate) ack_ledger: Option<Arc<AckLedger>>,
    /// The target's name as a prefix of errors; empty if there is only one target.
    pub(crate) label: String,
    pub(crate) setup: SessionSetup,
    pub(crate) sessions: u32,
    /// Whether it loads batches of a table, and ends when all are taken.
    pub(crate) loads: bool,
    /// Whether it tries to reconnect until the run ends.
    pub(crate) reconnects: bool,
}

/// Why a session's loop ended before the run did.
pub(crate) enum WorkerExit {
    Stop,
    /// The session cannot continue, for this reason.
    Failed(String),
}

impl SessionWorker {
    /// Runs the session on its thread, from connecting to the end.
    pub(crate) fn run(mut self, mut counts: ThreadCounts) {
        let messages = self.messages.clone();
        let counts = &mut counts;
        let served_by = match self.connect() {
            None => self.submit_results(),
            Some(session) => self.lead(counts, session),
        };
        let mut results = counts.take();
        results.iter_mut().for_each(|result| result.served_by.clone_from(&served_by));
        let _ = messages.send(WorkerMessage::Counted(results));
    }

    /// Runs a connected session to its end; returns the instance that served it.
    fn lead(mut self, counts: &mut ThreadCounts, mut session: Box<dyn Session>) -> ServedBy {
        if let Some(opens_ns) = self.shared.wait_gate() {
            match caught(|| self.work(counts, session.as_mut(), opens_ns)) {
                Ok(ended) => self.note_end(counts, ended),
                Err(reason) => {
                    self.panicked(counts, self.doing, &reason);
                    return self.abandon(session);
                }
            }
        }
        self.finish(session)
    }

    /// Handles a panic of the session, which is not used any more.
    #[cold]
    pub(crate) fn panicked(&mut self, counts: &mut ThreadCounts, doing: ClassId, reason: &str) {
        self.recorder.failed(counts, doing, &as_error(reason), self.clock.now_ns());
        self.note_end(counts, Err(WorkerExit::Failed(reason.to_owned())));
    }

    /// Sends the measurements, and drops a session that has panicked without using it again; returns the
    /// instance that served it.
    #[cold]
    pub(crate) fn abandon(self, session: Box<dyn Session>) -> ServedBy {
        let served_by = self.submit_results();
        // A panic of the drop affects nothing else.
        let _ = caught(|| drop(session));
        served_by
    }

    /// Notes that the session does no more operations.
    pub(crate) fn note_end(&mut self, counts: &mut ThreadCounts, outcome: Result<(), WorkerExit>) {
        if let Err(WorkerExit::Failed(reason)) = outcome {
            self.fail(&reason);
        }
        self.recorder.stop_answers(self.clock.now_ns());
        self.recorder.break_off(counts);
        if let (Pace::Open(schedule), Some(opens_ns)) = (&mut self.pace, self.shared.opens_ns()) {
            self.recorder.count_overdue_arrivals(counts, opens_ns, schedule);
        }
    }

    fn fail(&self, reason: &str) {
        self.shared.fail(format!("{}session {}: {reason}", self.label, self.setup.number));
    }

    /// Sends the measurements to the coordinator; returns the instance that served the session.
    pub(crate) fn submit_results(self) -> ServedBy {
        let result = Box::new(self.recorder.into_result());
        let served_by = result.served_by.clone();
        // The coordinator is gone only when it no longer waits.
        let _ = self.messages.send(WorkerMessage::Ended(self.setup.number, result));
        served_by
    }

    fn work(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        opens_ns: u64,
    ) -> Result<(), WorkerExit> {
        self.set_precise_wakeups();
        while self.clock.now_ns() < opens_ns {
            self.clock.park_until(opens_ns);
        }
        self.recorder.moments.start_ns = Some(self.clock.now_ns());
        let mut slices = self.setup.slices.then(SliceLoop::new);
        let mut phase = DrivePhase::Warmup;
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
                if phase == DrivePhase::Stop {
                    return Ok(());
                }
                if self.loads && phase == DrivePhase::Window {
                    self.begin_load(counts);
                }
            } else if phase != DrivePhase::Window || self.needs_visibility(phase) {
                self.sync_between_operations(counts, session, phase)?;
            }
            if self.is_resting() {
                continue;
            }
            // Checked before an arrival is taken from the schedule; it would be lost otherwise.
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
                    let recorded = RecordingContext { recorder, counts };
                    match slices.run_slice(session, blocks, think, recorded, clock.as_ref()) {
                        Ok(_) => self.rest.note_success(),
                        Err(failed) => {
                            if failed.class == ErrorClass::Connection {
                                // The database reports the commits of a slice only at its end.
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
            self.report_reached_ops(counts);
        }
    }

    /// Lets the calling thread wake exactly at its deadlines.
    pub(crate) fn set_precise_wakeups(&self) {
        if self.think.is_on() || self.actor.thinks() || self.pace.is_open() {
            crate::thread::set_precise_wakeups();
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

    /// Reads back the last update, closes the connection, and sends the results; returns the instance that
    /// served the session.
    pub(crate) fn finish(mut self, mut session: Box<dyn Session>) -> ServedBy {
        if let Err(reason) = caught(|| self.read_back(session.as_mut())) {
            self.recorder.note_failure(&as_error(&reason));
            self.fail(&reason);
            return self.abandon(session);
        }
        if let Err(reason) = caught(|| session.close()) {
            self.recorder.note_failure(&as_error(&reason));
            self.fail(&reason);
        }
        self.submit_results()
    }

    /// Reads back the last update, and notes the session's overhead transactions.
    fn read_back(&mut self, session: &mut dyn Session) {
        if self.recorder.life.rows[RowEffect::Updated as usize] > 0
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
            // Gets what the server counted for the last operations, which is unknown after a procedure. A
            // lost connection reports nothing.
            let _ = session.edge();
        }
        self.recorder.life.overhead_commits = session.overhead_commits();
    }
}
