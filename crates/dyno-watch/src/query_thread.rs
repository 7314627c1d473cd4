//! The thread that queries the server: it reads counters on request, and samples sessions in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use dyno_engine::lock_waits::LockWaits;
use dyno_engine::panics::{caught, panicked};
use dyno_engine::{Clock, Counting, Observer, PassiveObserver, Sampler, TargetError};
use dyno_host::HostObserver;
use dyno_observe::{
    OWN_COMMITS, RemoteHostThread, SessionSamples, StatementObservation, TableObservation, TargetSnapshot,
};
use dyno_record::{TableActivity, TopStatements, now_rfc3339};
use parking_lot::Mutex;

use crate::job::ObservationJob;

/// A reading, and the samples since the previous one.
pub(crate) struct ObservationReading {
    pub(crate) taken: TargetSnapshot,
    pub(crate) samples: SessionSamples,
    /// Who waits for whose locks; or why that is not known. Absent without a sampler.
    pub(crate) lock_waits: Option<Result<LockWaits, String>>,
}

/// What the coordinator requests.
enum ObservationRequest {
    /// A reading of the counters.
    Counters,
    /// The statements and tables so far, which this channel receives.
    Activity(Sender<(TopStatements, Option<TableActivity>)>),
}

/// The statements and tables so far, which survive a lost connection.
#[derive(Debug, Default)]
pub(crate) struct ObservedActivity {
    statements: StatementObservation,
    tables: TableObservation,
    /// When the counts of statements were last read.
    last_ns: Option<u64>,
}

/// [`ObservedActivity`], which the current reading thread adds to.
pub(crate) type SharedActivity = Arc<Mutex<ObservedActivity>>;

/// The time between two readings of the counts of statements.
const STATEMENTS_NS: u64 = 60_000_000_000;

/// The thread, as the coordinator sees it. It ends when this is dropped.
pub(crate) struct ObservationThread {
    ask: Sender<ObservationRequest>,
    answers: Receiver<Result<ObservationReading, TargetError>>,
    /// Why sessions are not sampled; absent if they are.
    pub(crate) no_samples: Option<String>,
    commits: Arc<AtomicU64>,
    reading_count: Arc<AtomicU64>,
}

/// The database's machine if it is another one; the current reading thread queries it.
pub(crate) type SharedRemoteHost = Arc<Mutex<RemoteHostThread>>;

/// Time limit of a connection's first reading, and the share of an interval for later ones.
const FAR_FIRST: Duration = Duration::from_secs(5);
const FAR_SHARE: f64 = 0.25;

impl ObservationThread {
    pub(crate) fn start(
        onlooker: PassiveObserver,
        (remote, activity): (Option<&SharedRemoteHost>, &SharedActivity),
        present: &ObservationJob,
    ) -> std::io::Result<Self> {
        let PassiveObserver { observer, sampler } = onlooker;
        let (sampler, no_samples) = match sampler {
            _ if present.samples_per_s <= 0.0 => {
                (None, Some("they are turned off (observe.waits)".to_owned()))
            }
            Err(error) => (None, Some(in_words(&error))),
            // Sessions that this user may not see would look idle.
            Ok(sampler) => match sampler.can_see_others() {
                Ok(()) => (Some(sampler), None),
                Err(why) => (None, Some(why)),
            },
        };
        let (ask, asked) = channel();
        let (answer, answers) = channel();
        let (commits, looks) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let places = present.host_paths.clone();
        let mut eye = ObservationReader {
            observer,
            sampler,
            remote: remote.map(|far| (Arc::clone(far), FAR_FIRST)),
            far_patience: Duration::from_secs_f64(present.interval_s * FAR_SHARE),
            clock: Arc::clone(&present.clock),
            gap_ns: (1e9 / present.samples_per_s.max(1e-3)) as u64,
            commits: Arc::clone(&commits),
            reading_count: Arc::clone(&looks),
            activity: Arc::clone(activity),
            no_lock_waits: None,
        };
        std::thread::Builder::new().name("dyno-looker".into()).spawn(move || {
            let places: Vec<_> = places.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
            let mut host = HostObserver::new(&places);
            eye.look(&asked, &mut host, &|outcome| answer.send(outcome).is_ok());
        })?;
        Ok(Self { ask, answers, no_samples, commits, reading_count: looks })
    }

    /// Requests a reading of the counters.
    pub(crate) fn ask(&self) {
        // If the thread is gone, the answer shows that.
        let _ = self.ask.send(ObservationRequest::Counters);
    }

    /// The statements and tables so far, if they arrive within `patience`.
    pub(crate) fn activity(&self, patience: Duration) -> Option<(TopStatements, Option<TableActivity>)> {
        let (answer, answers) = channel();
        self.ask.send(ObservationRequest::Activity(answer)).ok()?;
        answers.recv_timeout(patience).ok()
    }

    /// The answer, if it arrives within `patience`; an error ends the thread.
    pub(crate) fn answer(&self, patience: Duration) -> Option<Result<ObservationReading, String>> {
        match self.answers.recv_timeout(patience) {
            Ok(Ok(looked)) => Some(Ok(looked)),
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err("the observer's thread has ended".into())),
        }
    }

    /// Transactions that observing added to the target, and the number of readings.
    pub(crate) fn cost(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.reading_count.load(Ordering::Relaxed))
    }
}

fn in_words(error: &TargetError) -> String {
    match error.hint.is_empty() {
        true => error.to_string(),
        false => format!("{error}; {}", error.hint),
    }
}

/// The state inside the thread.
struct ObservationReader {
    observer: Box<dyn Observer>,
    sampler: Option<Box<dyn Sampler>>,
    /// The other machine, and the time limit of its next answer.
    remote: Option<(SharedRemoteHost, Duration)>,
    far_patience: Duration,
    clock: Arc<dyn Clock>,
    gap_ns: u64,
    commits: Arc<AtomicU64>,
    reading_count: Arc<AtomicU64>,
    activity: SharedActivity,
    /// Why lock waits are no longer read.
    no_lock_waits: Option<String>,
}

impl ObservationReader {
    /// Runs until the coordinator is gone, or the server refuses.
    fn look(
        &mut self,
        asked: &Receiver<ObservationRequest>,
        host: &mut HostObserver,
        answer: &dyn Fn(Result<ObservationReading, TargetError>) -> bool,
    ) {
        let mut samples = SessionSamples::default();
        let (mut seen, mut others) = (Vec::new(), Vec::new());
        let mut next_ns = self.clock.now_ns();
        loop {
            let left_ns = match self.sampler {
                Some(_) => next_ns.saturating_sub(self.clock.now_ns()),
                None => u64::MAX,
            };
            let outcome = match asked.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(ObservationRequest::Activity(answer)) => {
                    self.read_activity(0);
                    let activity = &mut *self.activity.lock();
                    let statements = activity.statements.result(self.observer.as_mut());
                    let tables = activity.tables.end(self.observer.as_mut(), self.clock.now_ns());
                    // The coordinator may have stopped waiting.
                    let _ = answer.send((statements, tables));
                    Ok(None)
                }
                Ok(ObservationRequest::Counters) => {
                    let read = caught(|| self.read(host)).unwrap_or_else(|why| Err(panicked(why)));
                    read.map(|taken| {
                        let samples = std::mem::take(&mut samples);
                        Some(ObservationReading { taken, samples, lock_waits: self.read_lock_waits() })
                    })
                }
                Err(RecvTimeoutError::Timeout) => {
                    // A late sample is taken once and not made up for.
                    next_ns = self.clock.now_ns() + self.gap_ns;
                    let Some(sampler) = &mut self.sampler else { continue };
                    let sampled = caught(|| sampler.sample(&mut seen, &mut others));
                    sampled.unwrap_or_else(|why| Err(panicked(why))).map(|()| {
                        samples.add_sample(&mut seen, &mut others);
                        None
                    })
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.reading_count.fetch_add(1, Ordering::Relaxed);
            self.commits.store(self.own_commits(), Ordering::Relaxed);
            let goes_on = match outcome {
                Ok(None) => true,
                Ok(Some(looked)) => {
                    let goes_on = answer(Ok(looked));
                    self.read_activity(STATEMENTS_NS);
                    goes_on
                }
                Err(error) => {
                    answer(Err(error));
                    false
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Reads lock waits, until the server refuses once.
    fn read_lock_waits(&mut self) -> Option<Result<LockWaits, String>> {
        if let Some(why) = &self.no_lock_waits {
            return Some(Err(why.clone()));
        }
        let sampler = self.sampler.as_mut()?;
        let read = caught(|| sampler.lock_waits()).unwrap_or_else(|why| Err(panicked(why)));
        let read = read.map_err(|error| in_words(&error));
        self.no_lock_waits = read.as_ref().err().cloned();
        Some(read)
    }

    /// Reads the counts of statements, unless they were read less than `pause_ns` ago; those of tables the first time.
    fn read_activity(&mut self, pause_ns: u64) {
        let activity = &mut *self.activity.lock();
        let (observer, now_ns) = (self.observer.as_mut(), self.clock.now_ns());
        match activity.last_ns {
            None => {
                activity.tables.begin(observer, now_ns);
                activity.statements.begin(observer, now_ns);
            }
            Some(last_ns) if now_ns.saturating_sub(last_ns) >= pause_ns => {
                activity.statements.add(observer, now_ns);
            }
            Some(_) => return,
        }
        activity.last_ns = Some(now_ns);
    }

    fn own_commits(&self) -> u64 {
        self.observer.own_commits() + self.sampler.as_ref().map_or(0, |sampler| sampler.own_commits())
    }

    /// Reads all counters at one moment.
    fn read(&mut self, host: &mut HostObserver) -> Result<TargetSnapshot, TargetError> {
        let (clock, mut began_ns, mut then) = (&self.clock, self.clock.now_ns(), None);
        let of_sampler = self.sampler.as_ref().map_or(0, |sampler| sampler.own_commits());
        let (remote, mut is_far_asked) = (&self.remote, false);
        let ask_far = || remote.iter().for_each(|(far, patience)| far.lock().ask(*patience));
        let mut database = self.observer.read(&mut |counting| match counting {
            Counting::Asked => began_ns = clock.now_ns(),
            Counting::Answered => {
                // Requested at the same time; the answer may take as long as the rest of the reading, plus a
                // short grace time.
                ask_far();
                is_far_asked = true;
                then = Some((clock.now_ns(), now_rfc3339(), host.snapshot()));
            }
        })?;
        if !is_far_asked {
            ask_far();
        }
        let dyno_commits = self.observer.own_commits() + of_sampler;
        database.native.insert(OWN_COMMITS.to_owned(), dyno_commits as f64);
        let (ended_ns, at, host) = then.unwrap_or_else(|| (clock.now_ns(), now_rfc3339(), host.snapshot()));
        let remote_host = self.remote.as_ref().map(|(far, _)| far.lock().answer());
        if let Some((_, patience)) = &mut self.remote {
            *patience = self.far_patience;
        }
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
    }
}
