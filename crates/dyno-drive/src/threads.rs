//! Manages the sessions' threads for the coordinator: starts and wakes them together, and waits for them only
//! for a limited time.

mod start;
mod worker_pool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use dyno_engine::{Clock, Interrupter};
use dyno_plan::{Length, WorkloadShare};
use dyno_workload::{Pace, SessionThinkTime};

use crate::affinity::Affinity;
use crate::backoff::RetryBackoff;
use crate::counts::ThreadCounts;
use crate::descriptors;
use crate::interval::IntervalCounts;
use crate::job::DriveJob;
use crate::phased;
use crate::prepared::PreparedSessions;
use crate::recorder::Recorder;
use crate::results::Results;
use crate::session::SessionResult;
use crate::shared::{DrivePhase, SharedRunState};
use crate::snapshot_status::SnapshotStatus;
use crate::thread::NO_THREAD;
use crate::thread_result::ThreadResult;
use crate::worker::{NO_OPERATION, SessionWorker, WorkerMessage};

/// How long an interrupted session may take to react.
const BROKEN_OFF_S_MAX: f64 = 5.0;
/// How long a thread may take to send its counts while some of its sessions do not answer.
const EARLY_RESULTS_S_MAX: f64 = 0.5;

/// The session threads of a run, and their sessions.
pub(crate) struct Threads {
    pub(crate) shared: Arc<SharedRunState>,
    /// The numbers of the sessions.
    numbers: Vec<u32>,
    /// Sessions of the first workload; their operations decide when a window measured in operations ends.
    leading_sessions: u32,
    count: u32,
    clock: Arc<dyn Clock>,
    /// Whether sessions load tables in bulk.
    loads: bool,
    /// The assignment of sessions to threads that run several.
    affinity: Arc<Affinity>,
    messages: Receiver<WorkerMessage>,
    interrupters: BTreeMap<u32, Arc<dyn Interrupter>>,
    results: BTreeMap<u32, Box<SessionResult>>,
    /// Number of threads that send counts, number of those that have done so, and these counts.
    counting: u32,
    counted: u32,
    counts: Vec<ThreadResult>,
}

/// The receiver of the threads' intervals, and the channels that return used ones, by thread.
pub(crate) struct IntervalChannels {
    pub(crate) filled: Receiver<Box<IntervalCounts>>,
    pub(crate) recycled: Vec<Sender<Box<IntervalCounts>>>,
}

impl Threads {
    /// The numbers of the sessions.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Starts the threads of the sessions with these `numbers`; they connect, prepare and wait at the gate.
    /// `snapshot_statuses` belong to the targets, in order. If the machine cannot start enough threads, the
    /// run fails with the sessions that exist.
    pub(crate) fn start(
        job: &DriveJob<'_>,
        snapshot_statuses: &[Arc<SnapshotStatus>],
        numbers: Vec<u32>,
    ) -> (Self, IntervalChannels) {
        let plan = job.plan;
        let sessions = numbers.len() as u32;
        let sides: Vec<WorkloadShare<'_>> = plan.workload_shares().collect();
        let target_of = plan.target.assign(plan.sessions());
        // Sessions of other hosts are never waited for.
        let mut publishes = vec![false; target_of.len()];
        for &number in &numbers {
            let at = target_of[number as usize];
            publishes[number as usize] = job.targets[at].identity.counting.at_edges;
        }
        let shared = Arc::new(SharedRunState::new(job.targets.len(), &publishes));
        let (tell, messages) = channel();
        let (full, filled) = channel();
        let interval_ns = plan.observe.interval.0.as_nanos() as u64;
        let own_targets = numbers.iter().map(|&number| target_of[number as usize]);
        let alone = start::alone(job, own_targets);
        let shared_threads = start::shared_threads(job, sessions - alone);
        let affinity = Arc::new(Affinity::of(shared_threads, plan.run.placement));
        let mut threads = Self {
            shared: Arc::clone(&shared),
            leading_sessions: numbers.iter().filter(|number| **number < sides[0].sessions).count() as u32,
            numbers,
            count: alone + shared_threads as u32,
            clock: Arc::clone(&job.clock),
            loads: job.loads_data(),
            affinity: Arc::clone(&affinity),
            messages,
            interrupters: BTreeMap::new(),
            results: BTreeMap::new(),
            counting: 0,
            counted: 0,
            counts: Vec::new(),
        };
        let classes = Arc::new(job.classes());
        let curve = plan.workload.curve(plan.run.warmup.0.as_secs_f64()).map(Arc::new);
        let ends_ns = phased::ends_ns(plan);
        let mut empties = Vec::new();
        let size = (job.targets.len(), classes.count());
        let mut counts = || {
            let (empty, emptied) = channel();
            empties.push(empty);
            ThreadCounts::new(size, ends_ns.clone(), interval_ns, full.clone(), emptied)
        };
        let prepared = PreparedSessions::of(job, &target_of).unwrap_or_else(|reason| {
            shared.fail(reason);
            threads.numbers.clear();
            PreparedSessions::default()
        });
        let workers = threads.numbers.iter().map(|&number| {
            let at = target_of[number as usize];
            let context = &job.targets[at];
            let (place, within) = plan.share_of(number);
            let side = sides[place];
            let mut recorder = Recorder::new(at, Arc::clone(&classes), side.is_open(), side.phased);
            if job.reconnects() {
                recorder.log_answers(number);
            }
            let (setup, actor) = prepared.session(job, at, number);
            SessionWorker {
                target: Arc::clone(&context.target),
                ack_ledger: context.ack_ledger.clone(),
                label: job.label(at),
                setup,
                sessions,
                actor,
                pace: Pace::after(
                    &plan.workload,
                    side.rate,
                    curve.as_ref().filter(|_| side.phased),
                    number,
                    (within, side.sessions),
                ),
                think: SessionThinkTime::new(&plan.workload, number),
                doing: NO_OPERATION,
                publishes: context.identity.counting.at_edges,
                // As an integer that cannot overflow: the maximum stands for no end.
                held_back_ns: context.identity.counting.held_back_s.map_or(u64::MAX, |s| (s * 1e9) as u64),
                visibility_asked_ns: 0,
                reported_overhead: 0,
                overhead_before: 0,
                loads: job.loads_data(),
                ops_wanted: match plan.run.length() {
                    // A session checks after each batch whether there is another one.
                    _ if job.loads_data() => Some(0),
                    // Sessions of a background workload have another pace.
                    Length::Ops(ops) if place == 0 => Some(ops),
                    _ => None,
                },
                reconnects: job.reconnects(),
                rest: RetryBackoff::default(),
                recorder: Box::new(recorder),
                shared: Arc::clone(&shared),
                snapshot_status: Arc::clone(&snapshot_statuses[at]),
                clock: Arc::clone(&job.clock),
                messages: tell.clone(),
            }
        });
        let workers: Vec<SessionWorker> = workers.collect();
        let (multiplexed, alone): (Vec<_>, Vec<_>) =
            workers.into_iter().partition(|worker| start::can_share_thread(job, worker.target.as_ref()));
        let mut started = start::Started::default();
        let all = start::start_shared(multiplexed, &mut counts, &affinity, &shared, &mut started)
            .and_then(|()| start::start_own(alone, &mut counts, &shared, &mut started));
        threads.counting = started.threads;
        if let Err(error) = all {
            let hint = descriptors::too_few(&error).unwrap_or_else(|| NO_THREAD.to_owned());
            shared.fail(format!(
                "no thread could be started for session {} of {sessions}: {error} (hint: {hint})",
                started.sessions + 1
            ));
            threads.numbers.truncate(started.sessions as usize);
        }
        (threads, IntervalChannels { filled, recycled: empties })
    }

    /// Receives the sessions' reports, for up to `patience` or until one has arrived.
    fn receive(&mut self, patience: Duration) {
        match self.messages.recv_timeout(patience) {
            Ok(message) => self.handle_message(message),
            Err(RecvTimeoutError::Timeout) => return,
            // All threads have ended; without this pause, a waiting loop would spin.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(patience),
        }
        while let Ok(message) = self.messages.try_recv() {
            self.handle_message(message);
        }
    }

    fn handle_message(&mut self, message: WorkerMessage) {
        match message {
            WorkerMessage::Connected(number, interrupter) => {
                self.interrupters.insert(number, interrupter);
            }
            WorkerMessage::Ended(number, result) => {
                self.results.insert(number, result);
            }
            WorkerMessage::Counted(results) => {
                self.counted += 1;
                self.counts.extend(results);
            }
        }
    }

    fn end(
        &mut self,
        drain: Duration,
        now_s: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        hang: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32> {
        self.shared.enter(DrivePhase::Stop);
        self.shared.close_gate();
        self.shared.wake();
        self.wait_ended(now_s() + drain.as_secs_f64(), now_s, impatient);
        let hanging: Vec<u32> =
            self.numbers.iter().copied().filter(|n| !self.results.contains_key(n)).collect();
        if !hanging.is_empty() && !impatient() {
            hang(&hanging);
        }
        self.shared.note_broken_off();
        for number in &hanging {
            if let Some(interrupter) = self.interrupters.get(number) {
                interrupter.interrupt();
            }
        }
        self.shared.wake();
        // A session that still connects has no handle yet: its own timeout ends it, so the run does not wait
        // for it.
        if hanging.iter().any(|number| self.interrupters.contains_key(number)) {
            self.wait_ended(now_s() + BROKEN_OFF_S_MAX, now_s, &|| false);
        }
        if self.counted < self.counting && self.shared.opens_ns().is_some() {
            self.shared.request_early_results();
            self.shared.wake();
            self.wait_ended(now_s() + EARLY_RESULTS_S_MAX, now_s, &|| false);
        }
        hanging
    }

    fn wait_ended(&mut self, until_s: f64, now_s: &dyn Fn() -> f64, impatient: &dyn Fn() -> bool) {
        let is_waiting = |threads: &Self| match threads.shared.early_results_requested() {
            true => threads.counted < threads.counting,
            false => threads.results.len() < threads.numbers.len() || threads.counted < threads.counting,
        };
        while is_waiting(self) && now_s() < until_s && !impatient() {
            self.receive(Duration::from_millis(20));
        }
    }

    fn collect_results(self) -> Results {
        let sessions = self.results.into_values().map(|result| *result).collect();
        Results { sessions, threads: self.counts }
    }
}
