//! Another machine whose counters belong to a target: reached before the run, read at the moments of the target's own counters.
//!
//! It is asked by a thread of its own. Whatever it does, the database's counters are read when they are due, and an answer that
//! comes late is dropped: what it does not tell in time is absent.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dyno_engine::Clock;
use dyno_host::far::{
    self, ClockTrack, Described, Moment, Place, Reading, Source, SourceError, SourceErrorKind, Way,
};

/// How long it may take to let us in and to say what it is.
const REACH: Duration = Duration::from_secs(30);
/// How long one look at its clock may take, and how many there are before the run.
const CLOCK: Duration = Duration::from_secs(5);
const CLOCKS: usize = 5;
/// What is added to the time of an answer before nobody waits for it any more.
const GRACE: Duration = Duration::from_millis(50);
/// How long an answer may be owed before nobody asks any more.
const OWED_MAX: u32 = 60;

/// A machine that has been reached.
pub struct FarHost {
    /// How it is reached.
    pub url: String,
    /// What it is.
    pub described: Described,
    /// Whether it is the machine that drives.
    pub is_driver: bool,
    /// How long a look at its counters takes, s.
    pub answers_in_s: f64,
    source: Mutex<Option<Box<dyn Source>>>,
    kept: Mutex<Kept>,
    /// The time of day when the clock of the run said 0, ns since 1970.
    epoch_ns: u64,
}

/// What is noted of its answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) clock: ClockTrack,
    /// How often it was asked, and how often it did not answer in time.
    pub(crate) readings: (u64, u64),
    /// Why it is asked no more.
    pub(crate) lost: Option<String>,
}

/// Counters of a machine, and when they were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct FarTaken {
    pub(crate) reading: Reading,
    pub(crate) moment: Moment,
}

impl FarHost {
    /// Reaches the machine at the end of `way`, with these places on it; takes a fraction of a second.
    ///
    /// # Errors
    /// It cannot be reached, or says nothing that can be used; the hint is the way out.
    pub fn reach(way: &Way, places: &[Place], clock: &Arc<dyn Clock>) -> Result<Self, SourceError> {
        let ours = Arc::clone(clock);
        let mut source = far::open(way, &(Arc::new(move || ours.now_ns()) as far::Now))?;
        let described = source.describe(places, REACH)?;
        let mut kept = Kept::default();
        for _ in 0..CLOCKS {
            kept.clock.note(&source.clock(CLOCK)?);
        }
        // What cannot be read now cannot be read later either.
        let first = source.read(CLOCK)?;
        let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        Ok(Self {
            url: way.url.to_string(),
            is_driver: far::is_this(&described),
            answers_in_s: first.answered_ns.saturating_sub(first.asked_ns) as f64 / 1e9,
            described,
            source: Mutex::new(Some(source)),
            kept: Mutex::new(kept),
            epoch_ns: wall_ns.saturating_sub(clock.now_ns()),
        })
    }

    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        // Counts, which stay usable whoever panicked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its clock less the clock of day here, and how far that may be wrong, s.
    pub fn ahead_s(&self) -> Option<(f64, f64)> {
        self.kept().clock.offset_s(self.epoch_ns)
    }
}

/// The thread that asks it, seen from the one that reads the database's counters.
pub(crate) struct FarThread {
    host: Arc<FarHost>,
    ask: Sender<Duration>,
    answers: Receiver<Result<Reading, SourceError>>,
    /// How often an answer was awaited in vain since the last one.
    owed: u32,
    asked: Option<Duration>,
}

impl FarThread {
    /// Starts it. A machine is read by one thread only.
    pub(crate) fn start(host: &Arc<FarHost>) -> std::io::Result<Self> {
        let source = host.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (ask, asked) = channel::<Duration>();
        let (answer, answers) = channel();
        std::thread::Builder::new().name("dyno-far".into()).spawn(move || {
            let Some(mut source) = source else { return };
            while let Ok(patience) = asked.recv() {
                if answer.send(source.read(patience)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { host: Arc::clone(host), ask, answers, owed: 0, asked: None })
    }

    /// Asks for its counters, to be there within `patience`. One that still owes an answer is not asked.
    pub(crate) fn ask(&mut self, patience: Duration) {
        self.asked = None;
        if self.host.kept().lost.is_some() {
            return;
        }
        self.host.kept().readings.0 += 1;
        if self.owed > 0 {
            match self.answers.try_recv() {
                // Of another moment than this one.
                Ok(Err(error)) if error.is_final() => return self.lose(&error),
                Ok(_) => self.owed = 0,
                Err(TryRecvError::Empty) if self.owed < OWED_MAX => self.owed += 1,
                Err(_) => {
                    let words = format!("{}: nothing more was heard of it", self.host.url);
                    return self.lose(&SourceError {
                        kind: SourceErrorKind::Lost,
                        message: words,
                        hint: String::new(),
                    });
                }
            }
        }
        if self.owed == 0 && self.ask.send(patience).is_ok() {
            self.asked = Some(patience);
        }
    }

    /// Its counters, or why they are not there.
    pub(crate) fn answer(&mut self) -> Result<FarTaken, String> {
        let outcome = match self.asked.take() {
            Some(patience) => self.answers.recv_timeout(patience + GRACE),
            None => Err(RecvTimeoutError::Timeout),
        };
        match outcome {
            Ok(Ok(reading)) => {
                let mut kept = self.host.kept();
                kept.clock.note(&reading);
                let moment = kept.clock.moment(&reading);
                Ok(FarTaken { reading, moment })
            }
            Ok(Err(error)) if !error.is_final() => {
                self.host.kept().readings.1 += 1;
                Err(error.to_string())
            }
            Ok(Err(error)) => {
                self.lose(&error);
                Err(error.to_string())
            }
            Err(_) => {
                let mut kept = self.host.kept();
                kept.readings.1 += 1;
                if let Some(lost) = &kept.lost {
                    return Err(lost.clone());
                }
                self.owed = self.owed.max(1);
                Err(format!("{}: its counters were not there in time", self.host.url))
            }
        }
    }

    fn lose(&mut self, error: &SourceError) {
        self.host.kept().lost = Some(error.to_string());
    }
}
