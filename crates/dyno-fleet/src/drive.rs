//! Runs an agent's part of one run on a thread of its own. It follows the controller's steps, reports status,
//! stores the results on disk, and hands them in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use dyno_drive::{DriveJob, SessionGroup, TargetContext, WorkerStatus};
use dyno_engine::{Cancel, Clock};
use dyno_workload::needs;

use crate::agent_event::{AgentEvent, AgentEventSink};
use crate::coding::encode;
use crate::host_watch::HostUsageWatch;
use crate::messages::{AgentOrder, AgentReply, AgentReport, AgentResults, AgentStep, HostUsage};
use crate::opener::{Opened, Opener};
use crate::result_packing;
use crate::run_store::KeptRunStore;
use crate::share::shares;
use crate::subjects::{Subjects, plain};
use crate::upload::Uploader;
use crate::wire::Wire;

/// How often an agent reports its status when nothing changes.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// How long an agent waits for a step before it checks its sessions: at a window boundary, and elsewhere.
const LOOKS: (Duration, Duration) = (Duration::from_micros(500), SessionGroup::PAUSE);
/// How often an agent sends completed intervals.
const HAND_OVER_EVERY: Duration = Duration::from_millis(100);

/// A step, and the subject for the answer.
pub(crate) type AgentStepRequest = (AgentStep, String);

/// Flags shared between the agent's thread and the run's thread.
#[derive(Default)]
pub(crate) struct AgentRunSignals {
    /// Set when the controller is silent, or the agent is to end.
    pub(crate) alone: AtomicBool,
    /// Set when nobody waits for operations in progress.
    pub(crate) hurry: AtomicBool,
    reports: AtomicU64,
}

/// An agent's part of one run.
pub(crate) struct AgentRunPart<'a> {
    pub(crate) wire: Arc<Wire>,
    pub(crate) subjects: Subjects,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) order: AgentOrder,
    /// Whether the agent's list of targets allows this run to change data.
    pub(crate) may_write: bool,
    pub(crate) opener: &'a dyn Opener,
    pub(crate) run_store: KeptRunStore,
    pub(crate) board: Arc<AgentRunSignals>,
    pub(crate) version: String,
    pub(crate) tell: &'a AgentEventSink<'a>,
}

impl AgentRunPart<'_> {
    /// Executes the part, from reaching the targets to handing in the results.
    pub(crate) fn run(self, steps: &Receiver<AgentStepRequest>) {
        let AgentOrder { plan, targets, workloads, folders, .. } = &self.order;
        let opened = match self.opener.open(plan, targets, (workloads, &folders.0)) {
            Ok(opened) => opened,
            Err(why) => return self.report_failure(&why, steps),
        };
        let Opened { targets, custom_workloads: owns } = opened;
        let needs =
            |context: &TargetContext| needs(plan, &owns, context.target.engine(), context.target.dialect());
        if !self.may_write && targets.iter().any(|target_context| needs(target_context).writes()) {
            let why = "the run changes data, but this agent's list of targets does not allow writes there \
                       (writes = true)";
            return self.report_failure(why, steps);
        }
        let job = DriveJob {
            run_id: self.order.run_id.clone(),
            started_at: self.order.started_at.clone(),
            run_stamp: self.order.run_stamp,
            plan,
            targets,
            custom_workloads: owns,
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
            Err(error) => return self.report_failure(&format!("no thread could be started: {error}"), steps),
        };
        let mut part = SessionGroup::start(&job, numbers);
        let mut watch = HostUsageWatch::new();
        let drain = self.run_steps(&mut part, steps, &uploader, &mut watch);
        let alone = drain.is_none();
        let drain = drain.unwrap_or(plan.run.drain.0);
        let hurry = || {
            self.drain_steps(steps);
            self.board.hurry.load(Ordering::Acquire)
        };
        let (broken_off, stuck) = part.stop(&job, drain, &hurry);
        uploader.intervals(part.intervals());
        self.report(&part.status());
        let (threads, closed_ns, stalls) = (part.threads(), part.closed_ns(), part.stalls());
        let mut results = part.into_results();
        results.fold();
        let handed = AgentResults {
            results,
            threads,
            broken_off,
            stuck: stuck.into_iter().map(|stuck| (stuck.words, stuck.full)).collect(),
            alone,
            closed_ns,
            ended_at: Some(dyno_record::now_rfc3339()),
            use_of_host: HostUsage { stalls: Some(stalls), ..watch.into_usage() },
        };
        self.hand_in(&handed, uploader);
    }

    fn hand_in(&self, handed: &AgentResults, uploader: Uploader) {
        let run_id = &self.order.run_id;
        let packed = match result_packing::pack_results(handed) {
            Ok(packed) => packed,
            Err(error) => {
                let why = format!("what was measured cannot be packed: {error}");
                return (self.tell)(&AgentEvent::NotKept(run_id.clone(), why));
            }
        };
        if let Err(error) = self.run_store.write(&self.order, &packed) {
            (self.tell)(&AgentEvent::NotKept(run_id.clone(), error.to_string()));
        }
        let gives_up = || self.board.alone.load(Ordering::Acquire);
        let is_accepted = uploader.results(packed, &gives_up);
        (self.tell)(&match is_accepted {
            true => AgentEvent::HandedIn(run_id.clone()),
            false => AgentEvent::Keeps(run_id.clone()),
        });
    }

    /// Reports to the controller that the part cannot run, until the controller acknowledges it.
    fn report_failure(&self, why: &str, steps: &Receiver<AgentStepRequest>) {
        (self.tell)(&AgentEvent::CannotLead(self.order.run_id.clone(), plain(why)));
        let status = WorkerStatus { failure: Some(plain(why)), ..WorkerStatus::default() };
        while !self.board.alone.load(Ordering::Acquire) && !self.board.hurry.load(Ordering::Acquire) {
            self.report(&status);
            match steps.recv_timeout(TELL_EVERY) {
                Ok((step, reply)) => {
                    self.wire.publish(&reply, encode(&AgentReply::Done { late_ns: 0 }));
                    if matches!(step, AgentStep::Stop { .. }) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // Hands in empty results, because the controller waits for results.
        let nothing = AgentResults {
            results: dyno_drive::Results::default(),
            threads: 0,
            broken_off: Vec::new(),
            stuck: Vec::new(),
            alone: false,
            closed_ns: None,
            ended_at: None,
            use_of_host: HostUsage::default(),
        };
        let uploads = self.subjects.uploads(&self.order.run_id);
        if let (Ok(packed), Ok(uploader)) = (
            result_packing::pack_results(&nothing),
            Uploader::start(Arc::clone(&self.wire), uploads, self.order.rank),
        ) {
            uploader.results(packed, &|| self.board.alone.load(Ordering::Acquire));
        }
    }

    /// Follows the controller's steps up to the stop, and returns the drain time. Absent if the controller is
    /// lost.
    fn run_steps(
        &self,
        part: &mut SessionGroup,
        steps: &Receiver<AgentStepRequest>,
        uploader: &Uploader,
        watch: &mut HostUsageWatch,
    ) -> Option<Duration> {
        let mut last_report = (WorkerStatus::default(), Instant::now() - TELL_EVERY);
        let mut handed_over = Instant::now();
        loop {
            if self.board.alone.load(Ordering::Acquire) {
                return None;
            }
            let left_ns = part.poll();
            watch.observe(self.clock.now_ns(), part.closed_ns());
            let status = part.status();
            if status != last_report.0 || last_report.1.elapsed() >= TELL_EVERY {
                self.report(&status);
                last_report = (status, Instant::now());
            }
            if handed_over.elapsed() >= HAND_OVER_EVERY {
                uploader.intervals(part.intervals());
                handed_over = Instant::now();
            }
            let look = if part.is_at_boundary() { LOOKS.0 } else { LOOKS.1 };
            let pause = left_ns.map_or(look, |left_ns| look.min(Duration::from_nanos(left_ns)));
            match steps.recv_timeout(pause) {
                Ok((step, reply)) => {
                    let (late_ns, stop) = self.apply_step(part, step, watch);
                    self.wire.publish(&reply, encode(&AgentReply::Done { late_ns }));
                    if let Some(drain) = stop {
                        return Some(drain);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Executes a step. Returns by how much it was late, ns, and the drain time if it is the last step.
    fn apply_step(
        &self,
        part: &mut SessionGroup,
        step: AgentStep,
        watch: &mut HostUsageWatch,
    ) -> (u64, Option<Duration>) {
        let late_ns = match step {
            // The sessions are already connecting.
            AgentStep::Connect => 0,
            AgentStep::Gate { opens_ns } => part.open_gate(opens_ns),
            AgentStep::Open { origin_ns, ends_ns } => {
                watch.begins_ns = Some(origin_ns);
                part.open_window(origin_ns, ends_ns)
            }
            AgentStep::Enter => {
                part.enter_window();
                0
            }
            AgentStep::Looking { edge, targets } => {
                let those: Vec<usize> = (0..64).filter(|at| targets & (1 << at) != 0).collect();
                part.announce_snapshot(usize::from(edge.min(1)), &those);
                0
            }
            AgentStep::Looked { edge, target, answered_ns } => {
                part.snapshot_taken(usize::from(edge.min(1)), target as usize, answered_ns);
                0
            }
            AgentStep::Close { at_ns } => part.close_window(at_ns),
            AgentStep::Stop { drain_ms } => return (0, Some(Duration::from_millis(drain_ms))),
            AgentStep::Hurry => {
                self.board.hurry.store(true, Ordering::Release);
                return (0, Some(Duration::ZERO));
            }
        };
        (late_ns, None)
    }

    /// Answers steps while sessions end; only [`AgentStep::Hurry`] has an effect then. An agent that lost its
    /// controller still gives its sessions the plan's drain, so that operations in progress can end.
    fn drain_steps(&self, steps: &Receiver<AgentStepRequest>) {
        while let Ok((step, reply)) = steps.try_recv() {
            if step == AgentStep::Hurry {
                self.board.hurry.store(true, Ordering::Release);
            }
            self.wire.publish(&reply, encode(&AgentReply::Done { late_ns: 0 }));
        }
    }

    /// Reports that all targets are reached until the controller sends the connect step; whether it did.
    fn wait_to_connect(&self, steps: &Receiver<AgentStepRequest>) -> bool {
        while !self.board.alone.load(Ordering::Acquire) && !self.board.hurry.load(Ordering::Acquire) {
            self.send_report(true, &WorkerStatus::default());
            match steps.recv_timeout(TELL_EVERY) {
                Ok((step, reply)) => {
                    self.wire.publish(&reply, encode(&AgentReply::Done { late_ns: 0 }));
                    if step == AgentStep::Connect {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        false
    }

    fn report(&self, status: &WorkerStatus) {
        self.send_report(status.failure.is_none(), status);
    }

    fn send_report(&self, reached: bool, status: &WorkerStatus) {
        let number = self.board.reports.fetch_add(1, Ordering::AcqRel) + 1;
        let report = AgentReport { rank: self.order.rank, number, reached, standing: status.clone() };
        self.wire.publish(&self.subjects.reports(&self.order.run_id), encode(&report));
    }
}
