//! The thread that asks the server: counters when it is told to, samples of sessions in between.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dyno_engine::{Clock, Counting, Observer, Onlooker, Sampler, TargetError};
use dyno_host::HostObserver;
use dyno_record::now_rfc3339;

use super::Present;
use crate::far::FarThread;
use crate::observe::{OWN_COMMITS, Taken, panicked};
use crate::panics::caught;
use crate::samples::Samples;

/// A reading, and the samples since the one before.
pub(super) struct Looked {
    pub(super) taken: Taken,
    pub(super) samples: Samples,
}

/// The thread, seen from the coordinator. It ends when this is dropped.
pub(super) struct Looker {
    ask: Sender<()>,
    answers: Receiver<Result<Looked, TargetError>>,
    /// Why sessions are not sampled, if they are not.
    pub(super) no_samples: Option<String>,
    commits: Arc<AtomicU64>,
    looks: Arc<AtomicU64>,
}

/// The machine of the database, where it is another one: asked by whoever looks at present.
pub(super) type Elsewhere = Arc<Mutex<FarThread>>;

/// How long it may take for the first reading of a connection, and what part of an interval for others.
const FAR_FIRST: Duration = Duration::from_secs(5);
const FAR_SHARE: f64 = 0.25;

impl Looker {
    pub(super) fn start(
        onlooker: Onlooker,
        far: Option<&Elsewhere>,
        present: &Present,
    ) -> std::io::Result<Self> {
        let Onlooker { observer, sampler } = onlooker;
        let (sampler, no_samples) = match sampler {
            _ if present.samples_per_s <= 0.0 => {
                (None, Some("they are turned off (observe.waits)".to_owned()))
            }
            Err(error) => (None, Some(in_words(&error))),
            // What this user may not see would look like sessions at rest.
            Ok(sampler) => match sampler.sees_others() {
                Ok(()) => (Some(sampler), None),
                Err(why) => (None, Some(why)),
            },
        };
        let (ask, asked) = channel();
        let (answer, answers) = channel();
        let (commits, looks) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let places = present.host_paths.clone();
        let mut eye = Eye {
            observer,
            sampler,
            far: far.map(|far| (Arc::clone(far), FAR_FIRST)),
            far_patience: Duration::from_secs_f64(present.interval_s * FAR_SHARE),
            clock: Arc::clone(&present.clock),
            gap_ns: (1e9 / present.samples_per_s.max(1e-3)) as u64,
            commits: Arc::clone(&commits),
            looks: Arc::clone(&looks),
        };
        std::thread::Builder::new().name("dyno-looker".into()).spawn(move || {
            let places: Vec<_> = places.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
            let mut host = HostObserver::new(&places);
            eye.look(&asked, &mut host, &|outcome| answer.send(outcome).is_ok());
        })?;
        Ok(Self { ask, answers, no_samples, commits, looks })
    }

    /// Asks for a reading.
    pub(super) fn ask(&self) {
        // A thread that is gone shows in the answer.
        let _ = self.ask.send(());
    }

    /// The answer, if it comes within `patience`; an error ends the thread.
    pub(super) fn answer(&self, patience: Duration) -> Option<Result<Looked, String>> {
        match self.answers.recv_timeout(patience) {
            Ok(Ok(looked)) => Some(Ok(looked)),
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err("the thread that looks has ended".into())),
        }
    }

    /// Transactions that looking has made in the target, and how often it has looked.
    pub(super) fn cost(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.looks.load(Ordering::Relaxed))
    }
}

fn in_words(error: &TargetError) -> String {
    match error.hint.is_empty() {
        true => error.to_string(),
        false => format!("{error}; {}", error.hint),
    }
}

/// The thread's side.
struct Eye {
    observer: Box<dyn Observer>,
    sampler: Option<Box<dyn Sampler>>,
    /// The machine elsewhere, and how long its next answer may take.
    far: Option<(Elsewhere, Duration)>,
    far_patience: Duration,
    clock: Arc<dyn Clock>,
    gap_ns: u64,
    commits: Arc<AtomicU64>,
    looks: Arc<AtomicU64>,
}

impl Eye {
    /// Until nobody asks any more, or the server refuses.
    fn look(
        &mut self,
        asked: &Receiver<()>,
        host: &mut HostObserver,
        answer: &dyn Fn(Result<Looked, TargetError>) -> bool,
    ) {
        let mut samples = Samples::default();
        let (mut seen, mut others) = (Vec::new(), Vec::new());
        let mut next_ns = self.clock.now_ns();
        loop {
            let left_ns = match self.sampler {
                Some(_) => next_ns.saturating_sub(self.clock.now_ns()),
                None => u64::MAX,
            };
            let outcome = match asked.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(()) => {
                    let read = caught(|| self.read(host)).unwrap_or_else(|why| Err(panicked(why)));
                    read.map(|taken| Some(Looked { taken, samples: std::mem::take(&mut samples) }))
                }
                Err(RecvTimeoutError::Timeout) => {
                    // A sample that comes late is taken once, not made up for.
                    next_ns = self.clock.now_ns() + self.gap_ns;
                    let Some(sampler) = &mut self.sampler else { continue };
                    let sampled = caught(|| sampler.sample(&mut seen, &mut others));
                    sampled.unwrap_or_else(|why| Err(panicked(why))).map(|()| {
                        samples.take(&mut seen, &mut others);
                        None
                    })
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.looks.fetch_add(1, Ordering::Relaxed);
            self.commits.store(self.own_commits(), Ordering::Relaxed);
            let goes_on = match outcome {
                Ok(None) => true,
                Ok(Some(looked)) => answer(Ok(looked)),
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

    fn own_commits(&self) -> u64 {
        self.observer.own_commits() + self.sampler.as_ref().map_or(0, |sampler| sampler.own_commits())
    }

    /// All counters at one moment.
    fn read(&mut self, host: &mut HostObserver) -> Result<Taken, TargetError> {
        let (clock, mut began_ns, mut then) = (&self.clock, self.clock.now_ns(), None);
        let of_sampler = self.sampler.as_ref().map_or(0, |sampler| sampler.own_commits());
        let (far, mut is_far_asked) = (&self.far, false);
        let ask_far = || far.iter().for_each(|(far, patience)| locked(far).ask(*patience));
        let mut database = self.observer.read(&mut |counting| match counting {
            Counting::Asked => began_ns = clock.now_ns(),
            Counting::Answered => {
                // At the same moment; it has until all else is read to answer, and then some.
                ask_far();
                is_far_asked = true;
                then = Some((clock.now_ns(), now_rfc3339(), host.snapshot()));
            }
        })?;
        if !is_far_asked {
            ask_far();
        }
        let own = self.observer.own_commits() + of_sampler;
        database.native.insert(OWN_COMMITS.to_owned(), own as f64);
        let (ended_ns, at, host) = then.unwrap_or_else(|| (clock.now_ns(), now_rfc3339(), host.snapshot()));
        let far = self.far.as_ref().map(|(far, _)| locked(far).answer());
        if let Some((_, patience)) = &mut self.far {
            *patience = self.far_patience;
        }
        Ok(Taken { database, host, far, began_ns, ended_ns, at, overhead: 0 })
    }
}

fn locked(far: &Elsewhere) -> MutexGuard<'_, FarThread> {
    // What it knows stays true whoever panicked.
    far.lock().unwrap_or_else(PoisonError::into_inner)
}
