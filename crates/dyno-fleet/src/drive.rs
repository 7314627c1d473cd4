//! An agent's part of one run, on a thread of its own: steps are taken from the leader, standings are told, and what was measured is
//! kept on disk and handed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use dyno_drive::{Aim, Job, Part, Standing};
use dyno_engine::{Cancel, Clock};
use dyno_workload::needs;

use crate::agent_event::{AgentEvent, Tell};
use crate::coding::written;
use crate::hand_in;
use crate::host_watch::Watch;
use crate::kept::Kept;
use crate::messages::{Answer, HandedIn, Order, Report, Step, UseOfHost};
use crate::opener::{Opened, Opener};
use crate::share::shares;
use crate::subjects::{Subjects, plain};
use crate::upload::Uploader;
use crate::wire::Wire;

/// How often standings are told where nothing changes.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// How often an agent looks up: at an edge of the window, and elsewhere.
const LOOKS: (Duration, Duration) = (Duration::from_micros(500), Part::PAUSE);
/// How often intervals are handed over.
const HAND_OVER_EVERY: Duration = Duration::from_millis(100);

/// A step to take, and where the answer goes.
pub(crate) type Given = (Step, String);

/// What the thread of a run and that of its agent share.
#[derive(Default)]
pub(crate) struct Board {
    /// Nothing is heard of the leader, or the agent is to end.
    pub(crate) alone: AtomicBool,
    /// Nobody waits for what is under way.
    pub(crate) hurry: AtomicBool,
    reports: AtomicU64,
}

/// One part of a run.
pub(crate) struct Drive<'a> {
    pub(crate) wire: Arc<Wire>,
    pub(crate) subjects: Subjects,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) order: Order,
    /// Whether the agent's owner lets runs change data in these targets.
    pub(crate) may_write: bool,
    pub(crate) opener: &'a dyn Opener,
    pub(crate) kept: Kept,
    pub(crate) board: Arc<Board>,
    pub(crate) version: String,
    pub(crate) tell: &'a Tell<'a>,
}

impl Drive<'_> {
    /// Does it, from reaching the targets to what is handed in.
    pub(crate) fn run(self, steps: &Receiver<Given>) {
        let Order { plan, targets, workloads, folders, .. } = &self.order;
        let opened = match self.opener.open(plan, targets, (workloads, &folders.0)) {
            Ok(opened) => opened,
            Err(why) => return self.refuse(&why, steps),
        };
        let Opened { targets, owns } = opened;
        let needs = |aim: &Aim| needs(plan, &owns, aim.target.engine(), aim.target.dialect());
        if !self.may_write && targets.iter().any(|aim| needs(aim).writes()) {
            let why = "the run changes data, and this agent's list of targets does not allow writes there (writes = true)";
            return self.refuse(why, steps);
        }
        let job = Job {
            run_id: self.order.run_id.clone(),
            started_at: self.order.started_at.clone(),
            run_stamp: self.order.run_stamp,
            plan,
            targets,
            owns,
            clock: Arc::clone(&self.clock),
            cancel: Cancel::default(),
            dyno_version: self.version.clone(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        };
        if !self.wait_to_connect(steps) {
            return;
        }
        let numbers = shares(plan, &self.order.weights).swap_remove(self.order.rank as usize);
        let uploads = self.subjects.uploads(&self.order.run_id);
        let uploader = match Uploader::start(Arc::clone(&self.wire), uploads, self.order.rank) {
            Ok(uploader) => uploader,
            Err(error) => return self.refuse(&format!("no thread could be started: {error}"), steps),
        };
        let mut part = Part::start(&job, numbers);
        let mut watch = Watch::new();
        let drain = self.lead(&mut part, steps, &uploader, &mut watch);
        let alone = drain.is_none();
        let drain = drain.unwrap_or(plan.run.drain.0);
        let hurry = || {
            self.obey_hurry(steps);
            self.board.hurry.load(Ordering::Acquire)
        };
        let (broken_off, stuck) = part.stop(&job, drain, &hurry);
        uploader.intervals(part.intervals());
        self.report(&part.standing());
        let (threads, closed_ns, stalls) = (part.threads(), part.closed_ns(), part.stalls());
        let mut results = part.into_results();
        results.fold();
        let handed = HandedIn {
            results,
            threads,
            broken_off,
            stuck: stuck.into_iter().map(|stuck| (stuck.words, stuck.full)).collect(),
            alone,
            closed_ns,
            ended_at: Some(dyno_record::now_rfc3339()),
            use_of_host: UseOfHost { stalls: Some(stalls), ..watch.used() },
        };
        self.hand_in(&handed, uploader);
    }

    fn hand_in(&self, handed: &HandedIn, uploader: Uploader) {
        let run_id = &self.order.run_id;
        let packed = match hand_in::packed(handed) {
            Ok(packed) => packed,
            Err(error) => {
                let why = format!("what was measured cannot be packed: {error}");
                return (self.tell)(&AgentEvent::NotKept(run_id.clone(), why));
            }
        };
        if let Err(error) = self.kept.write(&self.order, &packed) {
            (self.tell)(&AgentEvent::NotKept(run_id.clone(), error.to_string()));
        }
        let gives_up = || self.board.alone.load(Ordering::Acquire);
        let taken = uploader.results(packed, &gives_up);
        (self.tell)(&match taken {
            true => AgentEvent::HandedIn(run_id.clone()),
            false => AgentEvent::Keeps(run_id.clone()),
        });
    }

    /// The part cannot be led: the leader is told, until it has said that it knows.
    fn refuse(&self, why: &str, steps: &Receiver<Given>) {
        (self.tell)(&AgentEvent::CannotLead(self.order.run_id.clone(), plain(why)));
        let standing = Standing { failure: Some(plain(why)), ..Standing::default() };
        while !self.board.alone.load(Ordering::Acquire) && !self.board.hurry.load(Ordering::Acquire) {
            self.report(&standing);
            match steps.recv_timeout(TELL_EVERY) {
                Ok((step, reply)) => {
                    self.wire.publish(&reply, written(&Answer::Done { late_ns: 0 }));
                    if matches!(step, Step::Stop { .. }) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // It hands in that it has nothing.
        let nothing = HandedIn {
            results: dyno_drive::Results::default(),
            threads: 0,
            broken_off: Vec::new(),
            stuck: Vec::new(),
            alone: false,
            closed_ns: None,
            ended_at: None,
            use_of_host: UseOfHost::default(),
        };
        let uploads = self.subjects.uploads(&self.order.run_id);
        if let (Ok(packed), Ok(uploader)) =
            (hand_in::packed(&nothing), Uploader::start(Arc::clone(&self.wire), uploads, self.order.rank))
        {
            uploader.results(packed, &|| self.board.alone.load(Ordering::Acquire));
        }
    }

    /// Takes the leader's steps until it says stop; returns how long operations under way have then. Nothing where it is alone.
    fn lead(
        &self,
        part: &mut Part,
        steps: &Receiver<Given>,
        uploader: &Uploader,
        watch: &mut Watch,
    ) -> Option<Duration> {
        let mut told = (Standing::default(), Instant::now() - TELL_EVERY);
        let mut handed_over = Instant::now();
        loop {
            if self.board.alone.load(Ordering::Acquire) {
                return None;
            }
            let left_ns = part.beat();
            watch.look(self.clock.now_ns(), part.closed_ns());
            let standing = part.standing();
            if standing != told.0 || told.1.elapsed() >= TELL_EVERY {
                self.report(&standing);
                told = (standing, Instant::now());
            }
            if handed_over.elapsed() >= HAND_OVER_EVERY {
                uploader.intervals(part.intervals());
                handed_over = Instant::now();
            }
            let look = if part.is_at_an_edge() { LOOKS.0 } else { LOOKS.1 };
            let pause = left_ns.map_or(look, |left_ns| look.min(Duration::from_nanos(left_ns)));
            match steps.recv_timeout(pause) {
                Ok((step, reply)) => {
                    let (late_ns, stop) = self.take(part, step, watch);
                    self.wire.publish(&reply, written(&Answer::Done { late_ns }));
                    if let Some(drain) = stop {
                        return Some(drain);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Takes a step; returns how much too late, and how long operations under way have where it is the last.
    fn take(&self, part: &mut Part, step: Step, watch: &mut Watch) -> (u64, Option<Duration>) {
        let late_ns = match step {
            // They have, before.
            Step::Connect => 0,
            Step::Gate { opens_ns } => part.open_gate(opens_ns),
            Step::Open { origin_ns, ends_ns } => {
                watch.begins_ns = Some(origin_ns);
                part.open_window(origin_ns, ends_ns)
            }
            Step::Enter => {
                part.enter_window();
                0
            }
            Step::Looking { edge, targets } => {
                let those: Vec<usize> = (0..64).filter(|at| targets & (1 << at) != 0).collect();
                part.looking(usize::from(edge.min(1)), &those);
                0
            }
            Step::Looked { edge, target, answered_ns } => {
                part.looked(usize::from(edge.min(1)), target as usize, answered_ns);
                0
            }
            Step::Close { at_ns } => part.close_window(at_ns),
            Step::Stop { drain_ms } => return (0, Some(Duration::from_millis(drain_ms))),
            Step::Hurry => {
                self.board.hurry.store(true, Ordering::Release);
                return (0, Some(Duration::ZERO));
            }
        };
        (late_ns, None)
    }

    /// Takes steps while sessions end: only the wish not to wait means anything then.
    fn obey_hurry(&self, steps: &Receiver<Given>) {
        while let Ok((step, reply)) = steps.try_recv() {
            if step == Step::Hurry {
                self.board.hurry.store(true, Ordering::Release);
            }
            self.wire.publish(&reply, written(&Answer::Done { late_ns: 0 }));
        }
        if self.board.alone.load(Ordering::Acquire) {
            self.board.hurry.store(true, Ordering::Release);
        }
    }

    /// Tells that all is reached until the leader has sessions connect; whether it does.
    fn wait_to_connect(&self, steps: &Receiver<Given>) -> bool {
        while !self.board.alone.load(Ordering::Acquire) && !self.board.hurry.load(Ordering::Acquire) {
            self.tell(true, &Standing::default());
            match steps.recv_timeout(TELL_EVERY) {
                Ok((step, reply)) => {
                    self.wire.publish(&reply, written(&Answer::Done { late_ns: 0 }));
                    if step == Step::Connect {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        false
    }

    fn report(&self, standing: &Standing) {
        self.tell(standing.failure.is_none(), standing);
    }

    fn tell(&self, reached: bool, standing: &Standing) {
        let number = self.board.reports.fetch_add(1, Ordering::AcqRel) + 1;
        let report = Report { rank: self.order.rank, number, reached, standing: standing.clone() };
        self.wire.publish(&self.subjects.reports(&self.order.run_id), written(&report));
    }
}
