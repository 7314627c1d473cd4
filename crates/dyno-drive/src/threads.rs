//! The sessions' threads, seen from the coordinator: started together, woken together, and never waited for without end.

mod crew;
mod start;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use dyno_engine::{Clock, Interrupter};
use dyno_plan::{Length, Side};
use dyno_workload::{Pace, Think};

use crate::affinity::Affinity;
use crate::counts::Counts;
use crate::descriptors;
use crate::interval::Interval;
use crate::job::Job;
use crate::looks::Looks;
use crate::phased;
use crate::prepared::Prepared;
use crate::recorder::Recorder;
use crate::rest::Rest;
use crate::results::Results;
use crate::session::SessionResult;
use crate::shared::{Phase, Shared};
use crate::thread::NO_THREAD;
use crate::thread_result::ThreadResult;
use crate::worker::{Message, NO_OPERATION, Worker};

/// How long a session that was broken off may take to notice.
const BROKEN_OFF_S_MAX: f64 = 5.0;
/// How long a thread may take to hand in what it has counted, where it still has sessions that do not answer.
const CALLED_IN_S_MAX: f64 = 0.5;

/// The threads of a run, and the sessions that they lead.
pub(crate) struct Threads {
    pub(crate) shared: Arc<Shared>,
    /// The numbers of the sessions.
    numbers: Vec<u32>,
    /// Those of the first workload, whose operations say when a window of so many operations is over.
    leading: u32,
    /// How many threads there are.
    count: u32,
    clock: Arc<dyn Clock>,
    /// Whether sessions load tables.
    loads: bool,
    /// Which thread of those that lead several sessions leads which.
    affinity: Arc<Affinity>,
    messages: Receiver<Message>,
    interrupters: BTreeMap<u32, Arc<dyn Interrupter>>,
    ended: BTreeMap<u32, Box<SessionResult>>,
    /// Threads that hand in what they have counted, those that have, and what that is.
    counting: u32,
    counted: u32,
    counts: Vec<ThreadResult>,
}

/// Where the intervals of threads come from, and where used ones go back to, by thread.
pub(crate) struct Feed {
    pub(crate) filled: Receiver<Box<Interval>>,
    pub(crate) empties: Vec<Sender<Box<Interval>>>,
}

impl Threads {
    /// The numbers of the sessions.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Starts the threads of the sessions that have these `numbers`; they connect, prepare and wait at the gate. `looks` at the
    /// targets, in their order. Where the machine gives too few threads the run has failed, with those sessions that are there.
    pub(crate) fn start(job: &Job<'_>, looks: &[Arc<Looks>], numbers: Vec<u32>) -> (Self, Feed) {
        let plan = job.plan;
        let sessions = numbers.len() as u32;
        let sides: Vec<Side<'_>> = plan.sides().collect();
        let target_of = plan.target.assign(plan.sessions());
        // Those of other hosts are never waited for.
        let mut publishes = vec![false; target_of.len()];
        for &number in &numbers {
            let at = target_of[number as usize];
            publishes[number as usize] = job.targets[at].identity.counting.at_edges;
        }
        let shared = Arc::new(Shared::new(job.targets.len(), &publishes));
        let (tell, messages) = channel();
        let (full, filled) = channel();
        let interval_ns = plan.observe.interval.0.as_nanos() as u64;
        let own_targets = numbers.iter().map(|&number| target_of[number as usize]);
        let alone = start::alone(job, own_targets);
        let shared_threads = start::shared_threads(job, sessions - alone);
        let affinity = Arc::new(Affinity::of(shared_threads, plan.run.placement));
        let mut threads = Self {
            shared: Arc::clone(&shared),
            leading: numbers.iter().filter(|number| **number < sides[0].sessions).count() as u32,
            numbers,
            count: alone + shared_threads as u32,
            clock: Arc::clone(&job.clock),
            loads: job.loads(),
            affinity: Arc::clone(&affinity),
            messages,
            interrupters: BTreeMap::new(),
            ended: BTreeMap::new(),
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
            Counts::new(size, ends_ns.clone(), interval_ns, full.clone(), emptied)
        };
        let prepared = Prepared::of(job, &target_of).unwrap_or_else(|reason| {
            shared.fail(reason);
            threads.numbers.clear();
            Prepared::default()
        });
        let workers = threads.numbers.iter().map(|&number| {
            let at = target_of[number as usize];
            let aim = &job.targets[at];
            let (place, within) = plan.side_of(number);
            let side = sides[place];
            let mut recorder = Recorder::new(at, Arc::clone(&classes), side.is_open(), side.phased);
            if job.reconnects() {
                recorder.log_answers(number);
            }
            let (setup, actor) = prepared.session(job, at, number);
            Worker {
                target: Arc::clone(&aim.target),
                book: aim.book.clone(),
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
                think: Think::new(&plan.workload, number),
                doing: NO_OPERATION,
                publishes: aim.identity.counting.at_edges,
                // As a whole number it cannot overflow: what never ends is the largest.
                held_back_ns: aim.identity.counting.held_back_s.map_or(u64::MAX, |s| (s * 1e9) as u64),
                visibility_asked_ns: 0,
                overhead_told: 0,
                overhead_before: 0,
                loads: job.loads(),
                ops_wanted: match plan.run.length() {
                    // After each part it is looked whether there is another one.
                    _ if job.loads() => Some(0),
                    // Those of a workload beside the first have another pace.
                    Length::Ops(ops) if place == 0 => Some(ops),
                    _ => None,
                },
                reconnects: job.reconnects(),
                rest: Rest::default(),
                recorder: Box::new(recorder),
                shared: Arc::clone(&shared),
                looks: Arc::clone(&looks[at]),
                clock: Arc::clone(&job.clock),
                messages: tell.clone(),
            }
        });
        let workers: Vec<Worker> = workers.collect();
        let (multiplexed, alone): (Vec<_>, Vec<_>) =
            workers.into_iter().partition(|worker| start::leads_several(job, worker.target.as_ref()));
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
        (threads, Feed { filled, empties })
    }

    /// Takes in what sessions report, for up to `patience` or until one has reported.
    fn hear(&mut self, patience: Duration) {
        match self.messages.recv_timeout(patience) {
            Ok(message) => self.note(message),
            Err(RecvTimeoutError::Timeout) => return,
            // All threads have ended; without this pause a waiting loop would spin.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(patience),
        }
        while let Ok(message) = self.messages.try_recv() {
            self.note(message);
        }
    }

    fn note(&mut self, message: Message) {
        match message {
            Message::Connected(number, interrupter) => {
                self.interrupters.insert(number, interrupter);
            }
            Message::Ended(number, result) => {
                self.ended.insert(number, result);
            }
            Message::Counted(results) => {
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
        self.shared.enter(Phase::Stop);
        self.shared.close_gate();
        self.shared.wake();
        self.wait_ended(now_s() + drain.as_secs_f64(), now_s, impatient);
        let hanging: Vec<u32> =
            self.numbers.iter().copied().filter(|n| !self.ended.contains_key(n)).collect();
        if !hanging.is_empty() && !impatient() {
            hang(&hanging);
        }
        for number in &hanging {
            if let Some(interrupter) = self.interrupters.get(number) {
                interrupter.interrupt();
            }
        }
        self.shared.wake();
        // One that still connects has no handle yet: its own time-out ends it, and nobody needs to wait for that.
        if hanging.iter().any(|number| self.interrupters.contains_key(number)) {
            self.wait_ended(now_s() + BROKEN_OFF_S_MAX, now_s, &|| false);
        }
        if self.counted < self.counting && self.shared.opens_ns().is_some() {
            self.shared.call_in();
            self.shared.wake();
            self.wait_ended(now_s() + CALLED_IN_S_MAX, now_s, &|| false);
        }
        hanging
    }

    fn wait_ended(&mut self, until_s: f64, now_s: &dyn Fn() -> f64, impatient: &dyn Fn() -> bool) {
        let is_waiting = |threads: &Self| match threads.shared.is_called_in() {
            true => threads.counted < threads.counting,
            false => threads.ended.len() < threads.numbers.len() || threads.counted < threads.counting,
        };
        while is_waiting(self) && now_s() < until_s && !impatient() {
            self.hear(Duration::from_millis(20));
        }
    }

    fn into_handed(self) -> Results {
        let sessions = self.ended.into_values().map(|result| *result).collect();
        Results { sessions, threads: self.counts }
    }
}
