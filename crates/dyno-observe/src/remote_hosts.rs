//! Reads another machine's counters for a target, at the times of the target's own counters.
//!
//! A thread of its own queries the machine. So the database's counters are read on time even if the machine
//! does not answer. A late answer is dropped, and its figures are absent.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dyno_engine::Clock;
use dyno_host::remote::{
    self, ClockTrack, HostAccess, HostDescription, HostPlace, HostReadTime, HostSource, SourceError,
    SourceErrorKind, TimedHostSnapshot,
};
use parking_lot::{Mutex, MutexGuard};

/// Time limit for connecting and for the machine's description.
const REACH: Duration = Duration::from_secs(30);
/// Time limit of one clock reading; and the number of readings before the run.
const CLOCK: Duration = Duration::from_secs(5);
const CLOCKS: usize = 5;
/// Added to an answer's time limit before the wait for it ends.
const GRACE: Duration = Duration::from_millis(50);
/// Overdue answers after which the machine is no longer queried.
const OWED_MAX: u32 = 60;

/// A machine that was reached.
pub struct RemoteHost {
    /// The URL that it was reached by.
    pub url: String,
    /// The description of the machine.
    pub described: HostDescription,
    /// Whether it is the driver host.
    pub is_driver: bool,
    /// How long a reading of its counters takes, s.
    pub answers_in_s: f64,
    source: Mutex<Option<Box<dyn HostSource>>>,
    status: Mutex<RemoteHostStatus>,
    /// The time of day when the run's clock was 0, ns since 1970.
    epoch_ns: u64,
}

/// The state of its answers.
#[derive(Debug, Clone, Default)]
pub struct RemoteHostStatus {
    pub clock: ClockTrack,
    /// Number of readings requested, and of those not answered in time.
    pub readings: (u64, u64),
    /// Why it is no longer queried.
    pub lost: Option<String>,
}

/// Counters of a machine, and the time of their reading.
#[derive(Debug, Clone, Default)]
pub struct RemoteHostReading {
    pub reading: TimedHostSnapshot,
    pub moment: HostReadTime,
}

impl RemoteHost {
    /// Connects to the machine of `way`, with these places on it; takes a fraction of a second.
    ///
    /// # Errors
    /// The machine cannot be reached, or its answer cannot be used; the error has a hint.
    pub fn reach(
        way: &HostAccess,
        places: &[HostPlace],
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, SourceError> {
        let ours = Arc::clone(clock);
        let mut source = remote::open(way, &(Arc::new(move || ours.now_ns()) as remote::Now))?;
        let described = source.describe(places, REACH)?;
        let mut status = RemoteHostStatus::default();
        for _ in 0..CLOCKS {
            status.clock.note(&source.clock(CLOCK)?);
        }
        // Counters that cannot be read now cannot be read later either.
        let first = source.read(CLOCK)?;
        let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        Ok(Self {
            url: way.url.to_string(),
            is_driver: remote::is_this(&described),
            answers_in_s: first.answered_ns.saturating_sub(first.asked_ns) as f64 / 1e9,
            described,
            source: Mutex::new(Some(source)),
            status: Mutex::new(status),
            epoch_ns: wall_ns.saturating_sub(clock.now_ns()),
        })
    }

    pub fn status(&self) -> MutexGuard<'_, RemoteHostStatus> {
        self.status.lock()
    }

    /// Its clock minus this host's time of day, and the bound of that difference, s.
    pub fn ahead_s(&self) -> Option<(f64, f64)> {
        self.status().clock.offset_s(self.epoch_ns)
    }
}

/// The thread that queries it, as the thread of the database's counters sees it.
pub struct RemoteHostThread {
    host: Arc<RemoteHost>,
    ask: Sender<Duration>,
    answers: Receiver<Result<TimedHostSnapshot, SourceError>>,
    /// Consecutive answers that did not arrive in time.
    pending_answers: u32,
    pending_patience: Option<Duration>,
}

impl RemoteHostThread {
    /// Starts the thread. Only one thread reads a machine.
    pub fn start(host: &Arc<RemoteHost>) -> std::io::Result<Self> {
        let source = host.source.lock().take();
        let (ask, requests) = channel::<Duration>();
        let (answer, answers) = channel();
        std::thread::Builder::new().name("dyno-far".into()).spawn(move || {
            let Some(mut source) = source else { return };
            while let Ok(patience) = requests.recv() {
                if answer.send(source.read(patience)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { host: Arc::clone(host), ask, answers, pending_answers: 0, pending_patience: None })
    }

    /// Requests its counters within `patience`; does nothing while an earlier answer is overdue.
    pub fn ask(&mut self, patience: Duration) {
        self.pending_patience = None;
        if self.host.status().lost.is_some() {
            return;
        }
        self.host.status().readings.0 += 1;
        if self.pending_answers > 0 {
            match self.answers.try_recv() {
                // This answer belongs to an earlier request.
                Ok(Err(error)) if error.is_final() => return self.lose(&error),
                Ok(_) => self.pending_answers = 0,
                Err(TryRecvError::Empty) if self.pending_answers < OWED_MAX => self.pending_answers += 1,
                Err(_) => {
                    let words = format!("{}: it stopped answering", self.host.url);
                    return self.lose(&SourceError {
                        kind: SourceErrorKind::Lost,
                        message: words,
                        hint: String::new(),
                    });
                }
            }
        }
        if self.pending_answers == 0 && self.ask.send(patience).is_ok() {
            self.pending_patience = Some(patience);
        }
    }

    /// Its counters, or why they are missing.
    pub fn answer(&mut self) -> Result<RemoteHostReading, String> {
        let outcome = match self.pending_patience.take() {
            Some(patience) => self.answers.recv_timeout(patience + GRACE),
            None => Err(RecvTimeoutError::Timeout),
        };
        match outcome {
            Ok(Ok(reading)) => {
                let mut status = self.host.status();
                status.clock.note(&reading);
                let moment = status.clock.moment(&reading);
                Ok(RemoteHostReading { reading, moment })
            }
            Ok(Err(error)) if !error.is_final() => {
                self.host.status().readings.1 += 1;
                Err(error.to_string())
            }
            Ok(Err(error)) => {
                self.lose(&error);
                Err(error.to_string())
            }
            Err(_) => {
                let mut host_status = self.host.status();
                host_status.readings.1 += 1;
                if let Some(lost) = &host_status.lost {
                    return Err(lost.clone());
                }
                self.pending_answers = self.pending_answers.max(1);
                Err(format!("{}: its counters did not arrive in time", self.host.url))
            }
        }
    }

    fn lose(&mut self, error: &SourceError) {
        self.host.status().lost = Some(error.to_string());
    }
}
