//! Observes a target on two threads: one reads the counters of database and host, one samples waits.
//!
//! Both communicate with a server that may hang or die. The coordinator therefore never calls them directly:
//! it sends a request, waits for a limited time, and continues without an answer if necessary.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use dyno_engine::panics::{caught, panicked};
use dyno_engine::{Clock, Counting, Observer, Sampler, TargetError};
use dyno_host::HostObserver;
use dyno_observe::{
    OWN_COMMITS, RemoteHost, RemoteHostThread, SessionSamples, StatementObservation, TableObservation,
    TargetSnapshot, WaitCounts,
};
use dyno_record::{Counter, Snapshot, Waits, now_rfc3339};
use parking_lot::Mutex;

use crate::snapshot_status::SnapshotStatus;

/// What observers themselves added to each counter; each observer starts at 0.
#[derive(Debug, Default)]
struct ObserverParts {
    /// The sum of the observers that were lost.
    before: BTreeMap<Counter, u64>,
    /// The sum of all observers, as last reported.
    so_far: BTreeMap<Counter, u64>,
}

impl ObserverParts {
    /// Keeps the count of an observer that was lost.
    fn keep(&mut self) {
        self.before.clone_from(&self.so_far);
    }

    /// Adds the counts of lost observers to a snapshot.
    fn fill(&mut self, snapshot: &mut Snapshot) {
        for (counter, caused) in &mut snapshot.observer {
            *caused += self.before.get(counter).copied().unwrap_or(0);
        }
        self.so_far.clone_from(&snapshot.observer);
    }
}

/// The parameters of a request for counters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SnapshotRequest {
    /// The window boundary whose snapshot it is; absent inside the window.
    pub(crate) edge: Option<usize>,
    /// How long another machine may take to answer; absent to leave it out.
    pub(crate) remote_patience: Option<Duration>,
    /// The number of the request, which its answer repeats.
    pub(crate) number: u64,
}

/// Opens an observer again after its connection was lost.
pub(crate) type Reopen = Box<dyn FnMut() -> Result<Box<dyn Observer>, TargetError> + Send>;

/// Opens a sampler again after its connection was lost.
pub(crate) type ReopenSampler = Box<dyn FnMut() -> Result<Box<dyn Sampler>, TargetError> + Send>;

/// A sampler's pause between two attempts to reconnect.
const REOPEN_PAUSE_NS: u64 = 250_000_000;

/// The thread that reads counters, as the coordinator sees it.
pub(crate) struct ObserverThread {
    ask: Sender<SnapshotRequest>,
    answers: Receiver<(u64, Result<TargetSnapshot, TargetError>)>,
    snapshot_status: Arc<SnapshotStatus>,
}

impl ObserverThread {
    /// Starts the thread. `sampler_commits` counts the sampler's transactions on the target. After a failure,
    /// `reopen` opens a new observer, if present.
    pub(crate) fn start(
        mut observer: Box<dyn Observer>,
        (host_paths, far): (Vec<(String, PathBuf)>, Option<&Arc<RemoteHost>>),
        clock: Arc<dyn Clock>,
        sampler_commits: Arc<AtomicU64>,
        mut reopen: Option<Reopen>,
    ) -> std::io::Result<Self> {
        let mut remote = far.map(RemoteHostThread::start).transpose()?;
        let (ask, asked) = channel::<SnapshotRequest>();
        let snapshot_status = Arc::new(SnapshotStatus::default());
        let noted = Arc::clone(&snapshot_status);
        let (answer, answers) = channel();
        std::thread::Builder::new().name("dyno-observer".into()).spawn(move || {
            let paths: Vec<_> =
                host_paths.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
            let mut host = HostObserver::new(&paths);
            // Transactions of lost observers, whether the last observer is lost, and the request that it left
            // unanswered.
            let (mut commits_before, mut is_lost, mut left) = (0, false, None);
            let mut parts = ObserverParts::default();
            let mut statements = StatementObservation::default();
            let mut tables = TableObservation::default();
            while let Some(mut latest) = left.take().or_else(|| asked.recv().ok()) {
                // Nobody waits for the answers to earlier requests any more.
                while let Ok(later) = asked.try_recv() {
                    latest = later;
                }
                let SnapshotRequest { edge, remote_patience: patience, number } = latest;
                let is_new = is_lost && reopen.is_some();
                if let (true, Some(reopen)) = (is_lost, &mut reopen) {
                    match caught(reopen).unwrap_or_else(|reason| Err(panicked(reason))) {
                        Ok(opened) => {
                            commits_before += observer.own_commits();
                            parts.keep();
                            observer = opened;
                        }
                        Err(error) => {
                            edge.into_iter().for_each(|edge| noted.note_answered(edge, clock.now_ns()));
                            if answer.send((number, Err(error))).is_err() {
                                return;
                            }
                            continue;
                        }
                    }
                }
                let mut elsewhere = remote.as_mut().zip(patience);
                let mut is_far_asked = false;
                let answered = || edge.into_iter().for_each(|edge| noted.note_answered(edge, clock.now_ns()));
                // Read before the begin and after the end, so that no statement of the window is missing, and reading
                // adds nothing to the window.
                if edge == Some(0) {
                    tables.begin(observer.as_mut(), clock.now_ns());
                    statements.begin(observer.as_mut(), clock.now_ns());
                }
                // Read before the database's counters: a noted transaction has been counted by then. A sample
                // in progress can then only be an extra transaction of the database, and never seem to be
                // missing.
                let of_sampler = sampler_commits.load(Ordering::Acquire);
                let mut began_ns = clock.now_ns();
                let read = || {
                    let mut then = None;
                    let mut database = observer.read(&mut |counting| match counting {
                        Counting::Asked => {
                            began_ns = clock.now_ns();
                            edge.into_iter().for_each(|edge| noted.note_requested(edge));
                        }
                        Counting::Answered => {
                            answered();
                            // Requested at the same time; the answer may take as long as the rest of the
                            // reading, plus a short grace time.
                            if let Some((far, patience)) = &mut elsewhere {
                                far.ask(*patience);
                                is_far_asked = true;
                            }
                            then = Some((clock.now_ns(), now_rfc3339(), host.snapshot()));
                        }
                    })?;
                    let dyno_commits = commits_before + observer.own_commits() + of_sampler;
                    database.native.insert(OWN_COMMITS.to_owned(), dyno_commits as f64);
                    parts.fill(&mut database);
                    // Counters that are not compared with sessions have the time at which everything has
                    // arrived.
                    let (ended_ns, at, host) =
                        then.unwrap_or_else(|| (clock.now_ns(), now_rfc3339(), host.snapshot()));
                    let remote_host = elsewhere.as_mut().map(|(far, patience)| {
                        if !is_far_asked {
                            far.ask(*patience);
                        }
                        far.answer()
                    });
                    Ok(TargetSnapshot {
                        database,
                        host,
                        remote: remote_host,
                        began_ns,
                        ended_ns,
                        at,
                        overhead: 0,
                        statements: None,
                        tables: None,
                    })
                };
                let mut outcome = caught(read).unwrap_or_else(|reason| Err(panicked(reason)));
                is_lost = outcome.is_err();
                // A lost connection shows at the next request, which is repeated on a new connection.
                if is_lost && reopen.is_some() && !is_new {
                    left = Some(latest);
                    continue;
                }
                // Whatever the outcome, reading has ended.
                answered();
                if let (Ok(taken), Some(1..)) = (&mut outcome, edge) {
                    statements.add(observer.as_mut(), clock.now_ns());
                    taken.statements = Some(statements.result(observer.as_mut()));
                    taken.tables = tables.end(observer.as_mut(), clock.now_ns());
                }
                // A failed observer is not used again.
                if answer.send((number, outcome)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { ask, answers, snapshot_status })
    }

    /// Requests a snapshot; [`ObserverThread::answer`] returns it.
    pub(crate) fn request(&self, snapshot_request: SnapshotRequest) {
        // If the thread is gone, the answer shows that.
        let _ = self.ask.send(snapshot_request);
    }

    /// The state of the boundary snapshots.
    pub(crate) fn snapshot_status(&self) -> &Arc<SnapshotStatus> {
        &self.snapshot_status
    }

    /// The answer to the request with this number, if it arrives within `patience`.
    pub(crate) fn answer(&self, number: u64, patience: Duration) -> SnapshotReply {
        match self.answers.recv_timeout(patience) {
            // The answer belongs to an earlier request.
            Ok((answered, _)) if answered != number => SnapshotReply::NotYet,
            Ok((_, Ok(taken))) => SnapshotReply::Taken(Box::new(taken)),
            Ok((_, Err(error))) => SnapshotReply::Failed(error.to_string()),
            Err(RecvTimeoutError::Timeout) => SnapshotReply::NotYet,
            Err(RecvTimeoutError::Disconnected) => {
                SnapshotReply::Failed("the observer's thread has ended".into())
            }
        }
    }
}

/// The outcome of a request for a snapshot.
pub(crate) enum SnapshotReply {
    Taken(Box<TargetSnapshot>),
    /// No answer has arrived yet.
    NotYet,
    /// The reading failed; a description of the error.
    Failed(String),
}

/// The thread that samples waits, as the coordinator sees it.
pub(crate) struct SamplerThread {
    switches: Arc<Switches>,
    samples: Arc<Mutex<SessionSamples>>,
    finished: Receiver<()>,
    asked_per_s: f64,
    thread: std::thread::Thread,
}

/// The flags through which the coordinator controls the sampler's thread.
#[derive(Debug, Default)]
struct Switches {
    on: AtomicBool,
    stop: AtomicBool,
    sampling: AtomicBool,
}

impl SamplerThread {
    /// Starts the thread; it samples `per_s` times per second while it is switched on.
    pub(crate) fn start(
        sampler: Box<dyn Sampler>,
        per_s: f64,
        clock: Arc<dyn Clock>,
        commits: Arc<AtomicU64>,
        reopen: Option<ReopenSampler>,
    ) -> std::io::Result<Self> {
        let switches = Arc::new(Switches::default());
        let (send, done) = channel();
        let samples = Arc::new(Mutex::new(SessionSamples::default()));
        let (its_switches, its_samples) = (Arc::clone(&switches), Arc::clone(&samples));
        let handle = std::thread::Builder::new().name("dyno-sampler".into()).spawn(move || {
            sample_loop((sampler, reopen), per_s, clock.as_ref(), &commits, &its_switches, &its_samples);
            // The coordinator may have stopped waiting.
            let _ = send.send(());
        })?;
        Ok(Self { switches, samples, finished: done, asked_per_s: per_s, thread: handle.thread().clone() })
    }

    /// Switches sampling on.
    pub(crate) fn resume(&self) {
        self.switches.on.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }

    /// Switches sampling off and waits for a sample in progress, at most for `patience`, so that a snapshot
    /// includes its transactions.
    pub(crate) fn pause(&self, patience: Duration) {
        self.switches.on.store(false, Ordering::SeqCst);
        let until = Instant::now() + patience;
        while self.switches.sampling.load(Ordering::SeqCst) && Instant::now() < until {
            std::thread::park_timeout(Duration::from_micros(100));
        }
    }

    /// The samples taken so far.
    pub(crate) fn waits_so_far(&self) -> Waits {
        self.samples.lock().clone().into_waits(self.asked_per_s)
    }

    /// The samples taken so far, as counts per wait.
    pub(crate) fn wait_counts(&self) -> WaitCounts {
        self.samples.lock().counted()
    }

    /// Ends the thread and returns what it sampled.
    pub(crate) fn finish(self, patience: Duration) -> Waits {
        self.switches.stop.store(true, Ordering::SeqCst);
        self.thread.unpark();
        match self.finished.recv_timeout(patience) {
            Ok(()) => self.waits_so_far(),
            Err(_) => {
                Waits::Absent { absent: "the wait sampler did not answer at the end of the run".into() }
            }
        }
    }
}

fn sample_loop(
    (mut sampler, mut reopen): (Box<dyn Sampler>, Option<ReopenSampler>),
    per_s: f64,
    clock: &dyn Clock,
    commits: &AtomicU64,
    switches: &Switches,
    samples: &Mutex<SessionSamples>,
) {
    let gap_ns = (1e9 / per_s) as u64;
    samples.lock().blind = sampler.can_see_others().err();
    let (mut seen, mut others) = (Vec::new(), Vec::new());
    let mut commits_before = 0;
    let mut next_ns = clock.now_ns();
    commits.store(sampler.own_commits(), Ordering::Release);
    while !switches.stop.load(Ordering::SeqCst) {
        let now_ns = clock.now_ns();
        if now_ns < next_ns {
            clock.park_until(next_ns);
            continue;
        }
        // A late sample is taken once and not made up for: samples represent moments, not work.
        next_ns = now_ns + gap_ns;
        // Set before checking the switch: after switching it off, the coordinator can trust that no sample is
        // in progress.
        switches.sampling.store(true, Ordering::SeqCst);
        let outcome = switches.on.load(Ordering::SeqCst).then(|| {
            seen.clear();
            others.clear();
            let outcome = caught(|| sampler.sample(&mut seen, &mut others));
            let outcome = outcome.unwrap_or_else(|reason| Err(panicked(reason)));
            commits.store(commits_before + sampler.own_commits(), Ordering::Release);
            outcome
        });
        switches.sampling.store(false, Ordering::SeqCst);
        let Some(outcome) = outcome else { continue };
        if let (Err(_), Some(reopen)) = (&outcome, &mut reopen) {
            if let Ok(Ok(opened)) = caught(reopen) {
                commits_before += sampler.own_commits();
                sampler = opened;
            }
            next_ns = clock.now_ns() + REOPEN_PAUSE_NS.max(gap_ns);
            continue;
        }
        if let Err(error) = outcome {
            samples.lock().error = Some(error.to_string());
            break;
        }
        samples.lock().add_sample(&mut seen, &mut others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observer_reads_continue_after_lost_observer() {
        let mut parts = ObserverParts::default();
        let read_blocks = |parts: &mut ObserverParts, blocks| {
            let mut snapshot = Snapshot::default();
            snapshot.observer.insert(Counter::LogicalReads, blocks);
            parts.fill(&mut snapshot);
            snapshot.observer[&Counter::LogicalReads]
        };
        assert_eq!(read_blocks(&mut parts, 0), 0);
        assert_eq!(read_blocks(&mut parts, 150), 150);
        parts.keep();
        assert_eq!(read_blocks(&mut parts, 0), 150);
        assert_eq!(read_blocks(&mut parts, 20), 170);
    }
}
