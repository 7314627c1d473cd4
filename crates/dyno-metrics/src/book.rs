//! Sums of what was heard.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_campaign::Event;
use dyno_drive::{Complete, Latencies, Live, SoFar};
use dyno_record::{CheckStatus, RunRecord};

use crate::watched::Watched;

/// The book, for the one who writes in it and those who read it. Cheap to clone: all of them are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Book>>);

impl Shared {
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// The run under way, or the last one: its name and its targets.
    pub(crate) run: Option<(String, String)>,
    /// What runs are made for, and the name that they share.
    pub(crate) campaign: Option<(String, &'static str)>,
    pub(crate) phase: Phase,
    pub(crate) sessions: Option<u32>,
    pub(crate) live: Option<Live>,
    pub(crate) complete: Option<Box<Complete>>,
    /// The database that is only looked at.
    pub(crate) watched: Option<Watched>,
    /// All runs that are over.
    past: Sums,
    /// The run under way, up to its last complete interval.
    now: Sums,
    /// Runs that were stored, by what they came to.
    pub(crate) runs: BTreeMap<&'static str, u64>,
    /// Checks of the last run's audit, by what they came to.
    pub(crate) checks: BTreeMap<&'static str, u64>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Idle,
    Loading,
    Connecting,
    Warmup,
    Window,
    Draining,
    Watching,
}

impl Phase {
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Idle, "idle"),
        (Self::Loading, "loading"),
        (Self::Connecting, "connecting"),
        (Self::Warmup, "warmup"),
        (Self::Window, "window"),
        (Self::Draining, "draining"),
        (Self::Watching, "watching"),
    ];
}

/// Sums of windows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    pub(crate) errors: u64,
    pub(crate) classes: BTreeMap<String, u64>,
    pub(crate) latency: Latencies,
    pub(crate) loaded: (u64, u64),
}

impl Sums {
    fn of(so_far: &SoFar) -> Self {
        let (errors, latency) = (so_far.errors, so_far.latency.clone());
        Self { errors, classes: so_far.classes.iter().cloned().collect(), latency, loaded: (0, 0) }
    }

    fn add(&mut self, other: &Self) {
        self.errors += other.errors;
        for (class, ops) in &other.classes {
            *self.classes.entry(class.clone()).or_default() += ops;
        }
        self.latency.add(&other.latency);
        self.loaded = (self.loaded.0 + other.loaded.0, self.loaded.1 + other.loaded.1);
    }
}

impl Book {
    /// Everything so far.
    pub(crate) fn sums(&self) -> Sums {
        let mut all = self.past.clone();
        all.add(&self.now);
        all
    }

    /// Something has happened.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::Begun(begun) => {
                self.campaign = Some((begun.id.clone(), begun.kind.name()));
            }
            Event::RunBegun { id, targets, .. } => {
                self.run = Some((id.clone(), targets.clone()));
                self.close();
                (self.phase, self.live, self.complete) = (Phase::Connecting, None, None);
            }
            Event::Load(dyno_campaign::LoadEvent::Phase(..)) => self.phase = Phase::Loading,
            Event::Load(dyno_campaign::LoadEvent::Advance(rows, bytes)) => {
                self.past.loaded = (self.past.loaded.0 + rows, self.past.loaded.1 + bytes);
            }
            Event::Load(dyno_campaign::LoadEvent::Over) => self.phase = Phase::Idle,
            Event::Phase(event) => self.phase(event),
            Event::Seen(seen) => {
                self.phase = Phase::Watching;
                self.watched.get_or_insert_default().hear(seen);
            }
            Event::RunOver => self.phase = Phase::Idle,
            Event::Stored(record) => self.stored(record),
            _ => {}
        }
    }

    fn phase(&mut self, event: &dyno_drive::Event) {
        match event {
            dyno_drive::Event::Connecting { of, .. } => {
                (self.phase, self.sessions) = (Phase::Connecting, Some(*of));
            }
            dyno_drive::Event::Warmup { .. } => self.phase = Phase::Warmup,
            dyno_drive::Event::Window { .. } => self.phase = Phase::Window,
            dyno_drive::Event::Draining => self.phase = Phase::Draining,
            dyno_drive::Event::Interval(live) => self.live = Some(*live),
            dyno_drive::Event::Complete(complete) => {
                self.now = Sums::of(&complete.so_far);
                self.complete = Some(complete.clone());
            }
            dyno_drive::Event::Whole(so_far) => {
                self.now = Sums::of(so_far);
                self.close();
            }
            dyno_drive::Event::Awaiting { .. } | dyno_drive::Event::Closing { .. } => {}
            dyno_drive::Event::Final(_) | dyno_drive::Event::Late(_) => {}
        }
    }

    /// Counters never fall: what a run came to stays when the next begins.
    fn close(&mut self) {
        let now = std::mem::take(&mut self.now);
        self.past.add(&now);
    }

    fn stored(&mut self, record: &RunRecord) {
        *self.runs.entry(record.status.name()).or_default() += 1;
        self.checks = [CheckStatus::Pass, CheckStatus::Skipped, CheckStatus::Warn, CheckStatus::Fail]
            .into_iter()
            .map(|status| {
                let is = record.audit.iter().filter(|check| check.status == status);
                (check_name(status), is.count() as u64)
            })
            .collect();
    }
}

fn check_name(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Skipped => "skipped",
        CheckStatus::Warn => "warn",
        CheckStatus::Fail => "fail",
    }
}
