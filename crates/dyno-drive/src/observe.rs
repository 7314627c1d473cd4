//! The observing side: one thread that reads counters of database and host, one that samples waits.
//!
//! Both talk to a server that may hang or die, so the coordinator never calls them itself: it asks, waits for a bounded
//! time, and goes on without an answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dyno_engine::{Clock, Counting, Observer, Sampler, TargetError, TargetErrorKind};
use dyno_host::{HostObserver, HostSnapshot};
use dyno_record::{Counter, Snapshot, Waits, now_rfc3339};

use crate::far::{FarHost, FarTaken, FarThread};
use crate::looks::Looks;
use crate::panics::caught;
use crate::samples::{Counted, Samples};

/// Transactions of observer and sampler, beside the native counters.
pub const OWN_COMMITS: &str = "dyno.own_commits";

/// Those of them that the database counts for sessions beside their operations.
pub(crate) const SESSION_COMMITS: &str = "dyno.session_commits";

/// Adds to `native` counters what sessions did beside their operations.
pub(crate) fn add_overhead(native: &mut BTreeMap<String, f64>, overhead: i64) {
    for name in [OWN_COMMITS, SESSION_COMMITS] {
        *native.entry(name.to_owned()).or_default() += overhead as f64;
    }
}

/// What observers have caused of each counter: each begins at 0 when it is opened.
#[derive(Debug, Default)]
struct ObserverParts {
    /// That of the observers that were lost.
    before: BTreeMap<Counter, u64>,
    /// That of all of them, as last told.
    so_far: BTreeMap<Counter, u64>,
}

impl ObserverParts {
    /// The observer was lost: what it told stays counted.
    fn keep(&mut self) {
        self.before.clone_from(&self.so_far);
    }

    /// Adds what lost observers caused.
    fn fill(&mut self, snapshot: &mut Snapshot) {
        for (counter, caused) in &mut snapshot.observer {
            *caused += self.before.get(counter).copied().unwrap_or(0);
        }
        self.so_far.clone_from(&snapshot.observer);
    }
}

/// Counters of database and host, read at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) database: Snapshot,
    pub(crate) host: HostSnapshot,
    /// Counters of the database's host, where that is looked at and is not this one, or why they are not there.
    pub(crate) far: Option<Result<FarTaken, String>>,
    /// When those counters were asked for that are held against what sessions did, and when they were there.
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
    /// The time of day then, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Transactions of sessions, so far, that were no operations; filled in by the coordinator for intervals.
    pub(crate) overhead: i64,
}

impl Taken {
    /// The snapshot's own timestamp: the middle of the time that reading its counters took.
    pub(crate) fn at_ns(&self) -> u64 {
        self.began_ns + (self.ended_ns - self.began_ns) / 2
    }
}

/// What counters are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// The edge of the window whose snapshot it is, if it is one's.
    pub(crate) edge: Option<usize>,
    /// How long a machine elsewhere may take; it is left out where nothing is said.
    pub(crate) far: Option<Duration>,
    /// The number of the question, which its answer repeats.
    pub(crate) number: u64,
}

/// Opens an observer again whose connection was lost.
pub(crate) type Reopen = Box<dyn FnMut() -> Result<Box<dyn Observer>, TargetError> + Send>;

/// Opens a sampler again whose connection was lost.
pub(crate) type ReopenSampler = Box<dyn FnMut() -> Result<Box<dyn Sampler>, TargetError> + Send>;

/// Pause of a sampler between two attempts to connect again.
const REOPEN_PAUSE_NS: u64 = 250_000_000;

/// The thread that reads counters, seen from the coordinator.
pub(crate) struct ObserverThread {
    ask: Sender<Asked>,
    answers: Receiver<(u64, Result<Taken, TargetError>)>,
    looks: Arc<Looks>,
}

impl ObserverThread {
    /// Starts it. `sampler_commits` is what the sampler adds to the target's transactions. After a failure the observer is opened
    /// again where `reopen` says how.
    pub(crate) fn start(
        mut observer: Box<dyn Observer>,
        (host_paths, far): (Vec<(String, PathBuf)>, Option<&Arc<FarHost>>),
        clock: Arc<dyn Clock>,
        sampler_commits: Arc<AtomicU64>,
        mut reopen: Option<Reopen>,
    ) -> std::io::Result<Self> {
        let mut far = far.map(FarThread::start).transpose()?;
        let (ask, asked) = channel::<Asked>();
        let looks = Arc::new(Looks::default());
        let noted = Arc::clone(&looks);
        let (answer, answers) = channel();
        std::thread::Builder::new().name("dyno-observer".into()).spawn(move || {
            let paths: Vec<_> =
                host_paths.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
            let mut host = HostObserver::new(&paths);
            // Transactions of observers that were lost, whether the last one is, and the question that it has left.
            let (mut commits_before, mut is_lost, mut left) = (0, false, None);
            let mut parts = ObserverParts::default();
            while let Some(mut latest) = left.take().or_else(|| asked.recv().ok()) {
                // Nobody waits any more for answers to earlier questions.
                while let Ok(later) = asked.try_recv() {
                    latest = later;
                }
                let Asked { edge, far: patience, number } = latest;
                let is_new = is_lost && reopen.is_some();
                if let (true, Some(reopen)) = (is_lost, &mut reopen) {
                    match caught(reopen).unwrap_or_else(|reason| Err(panicked(reason))) {
                        Ok(opened) => {
                            commits_before += observer.own_commits();
                            parts.keep();
                            observer = opened;
                        }
                        Err(error) => {
                            edge.into_iter().for_each(|edge| noted.answered(edge, clock.now_ns()));
                            if answer.send((number, Err(error))).is_err() {
                                return;
                            }
                            continue;
                        }
                    }
                }
                let mut elsewhere = far.as_mut().zip(patience);
                let mut is_far_asked = false;
                let answered = || edge.into_iter().for_each(|edge| noted.answered(edge, clock.now_ns()));
                // Before the database is asked: what is noted has been booked by then, so a sample that is still under way can
                // only be one of the database's that is not noted, and never one that the database seems to miss.
                let of_sampler = sampler_commits.load(Ordering::Acquire);
                let mut began_ns = clock.now_ns();
                let read = || {
                    let mut then = None;
                    let mut database = observer.read(&mut |counting| match counting {
                        Counting::Asked => {
                            began_ns = clock.now_ns();
                            edge.into_iter().for_each(|edge| noted.asked(edge));
                        }
                        Counting::Answered => {
                            answered();
                            // At the same moment; it has until all else is read to answer, and then some.
                            if let Some((far, patience)) = &mut elsewhere {
                                far.ask(*patience);
                                is_far_asked = true;
                            }
                            then = Some((clock.now_ns(), now_rfc3339(), host.snapshot()));
                        }
                    })?;
                    let own = commits_before + observer.own_commits() + of_sampler;
                    database.native.insert(OWN_COMMITS.to_owned(), own as f64);
                    parts.fill(&mut database);
                    // What tells nothing of sessions is of the moment at which all of it is there.
                    let (ended_ns, at, host) =
                        then.unwrap_or_else(|| (clock.now_ns(), now_rfc3339(), host.snapshot()));
                    let far = elsewhere.as_mut().map(|(far, patience)| {
                        if !is_far_asked {
                            far.ask(*patience);
                        }
                        far.answer()
                    });
                    Ok(Taken { database, host, far, began_ns, ended_ns, at, overhead: 0 })
                };
                let outcome = caught(read).unwrap_or_else(|reason| Err(panicked(reason)));
                is_lost = outcome.is_err();
                // That a connection was lost shows at the next question: it is asked again on a new one.
                if is_lost && reopen.is_some() && !is_new {
                    left = Some(latest);
                    continue;
                }
                // Whatever came of it, nobody reads any more.
                answered();
                // A failed observer is asked no more.
                if answer.send((number, outcome)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { ask, answers, looks })
    }

    /// Asks for a snapshot; [`ObserverThread::answer`] gets it.
    pub(crate) fn request(&self, asked: Asked) {
        // A thread that is gone shows in the answer.
        let _ = self.ask.send(asked);
    }

    /// What became of the snapshots of the window's edges.
    pub(crate) fn looks(&self) -> &Arc<Looks> {
        &self.looks
    }

    /// The answer to the question with this number, if it comes within `patience`.
    pub(crate) fn answer(&self, number: u64, patience: Duration) -> Answer {
        match self.answers.recv_timeout(patience) {
            // It is too late for the question that it answers.
            Ok((answered, _)) if answered != number => Answer::NotYet,
            Ok((_, Ok(taken))) => Answer::Taken(Box::new(taken)),
            Ok((_, Err(error))) => Answer::Failed(error.to_string()),
            Err(RecvTimeoutError::Timeout) => Answer::NotYet,
            Err(RecvTimeoutError::Disconnected) => Answer::Failed("the observer's thread has ended".into()),
        }
    }
}

/// A panic as an error.
pub(crate) fn panicked(reason: String) -> TargetError {
    TargetError::new(TargetErrorKind::Database, reason)
}

/// What came of asking for a snapshot.
pub(crate) enum Answer {
    /// A snapshot.
    Taken(Box<Taken>),
    /// Nothing so far.
    NotYet,
    /// An error in words.
    Failed(String),
}

/// The thread that samples waits, seen from the coordinator.
pub(crate) struct SamplerThread {
    switches: Arc<Switches>,
    seen: Arc<Mutex<Samples>>,
    done: Receiver<()>,
    asked_per_s: f64,
    thread: std::thread::Thread,
}

/// How the coordinator tells the sampler's thread what to do, and sees whether it has obeyed.
#[derive(Debug, Default)]
struct Switches {
    on: AtomicBool,
    stop: AtomicBool,
    sampling: AtomicBool,
}

impl SamplerThread {
    /// Starts it; it samples `per_s` times a second while it is switched on.
    pub(crate) fn start(
        sampler: Box<dyn Sampler>,
        per_s: f64,
        clock: Arc<dyn Clock>,
        commits: Arc<AtomicU64>,
        reopen: Option<ReopenSampler>,
    ) -> std::io::Result<Self> {
        let switches = Arc::new(Switches::default());
        let (send, done) = channel();
        let seen = Arc::new(Mutex::new(Samples::default()));
        let (its_switches, its_seen) = (Arc::clone(&switches), Arc::clone(&seen));
        let handle = std::thread::Builder::new().name("dyno-sampler".into()).spawn(move || {
            sample_loop((sampler, reopen), per_s, clock.as_ref(), &commits, &its_switches, &its_seen);
            // The coordinator may have stopped waiting.
            let _ = send.send(());
        })?;
        Ok(Self { switches, seen, done, asked_per_s: per_s, thread: handle.thread().clone() })
    }

    /// Lets it sample.
    pub(crate) fn resume(&self) {
        self.switches.on.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }

    /// Keeps it from sampling, and waits for a sample under way, so that a snapshot finds its transactions booked; not
    /// longer than `patience`.
    pub(crate) fn pause(&self, patience: Duration) {
        self.switches.on.store(false, Ordering::SeqCst);
        let until = Instant::now() + patience;
        while self.switches.sampling.load(Ordering::SeqCst) && Instant::now() < until {
            std::thread::park_timeout(Duration::from_micros(100));
        }
    }

    /// What it has seen so far.
    pub(crate) fn so_far(&self) -> Waits {
        locked(&self.seen).clone().into_waits(self.asked_per_s)
    }

    /// The same, wait by wait.
    pub(crate) fn counted(&self) -> Counted {
        locked(&self.seen).counted()
    }

    /// Ends it and says what it saw.
    pub(crate) fn finish(self, patience: Duration) -> Waits {
        self.switches.stop.store(true, Ordering::SeqCst);
        self.thread.unpark();
        match self.done.recv_timeout(patience) {
            Ok(()) => self.so_far(),
            Err(_) => {
                Waits::Absent { absent: "the sampler of waits did not answer at the end of the run".into() }
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
    samples: &Mutex<Samples>,
) {
    let gap_ns = (1e9 / per_s) as u64;
    locked(samples).blind = sampler.sees_others().err();
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
        // A sample that comes late is taken once, not made up for: samples are of moments, not of work.
        next_ns = now_ns + gap_ns;
        // Said before looking at the switch: whoever switches off and then sees no sample under way is right.
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
            locked(samples).error = Some(error.to_string());
            break;
        }
        locked(samples).take(&mut seen, &mut others);
    }
}

fn locked(samples: &Mutex<Samples>) -> MutexGuard<'_, Samples> {
    // Counts, which stay usable whoever panicked.
    samples.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observer_parts_go_on_where_a_lost_observer_stopped() {
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
