//! The agents that a leader has reserved: their clocks, and when they were last heard of.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::{ClockMap, Exchange};
use crate::messages::Hello;

/// One agent that is reserved.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) cpus: u32,
    pub(crate) place: Option<u32>,
    /// Where it hears.
    pub(crate) subject: String,
    watched: Mutex<Watched>,
}

#[derive(Debug)]
struct Watched {
    /// The checksum of the folders of workloads that it has.
    folders_sum: Option<String>,
    map: ClockMap,
    heard: Instant,
}

impl Member {
    pub(crate) fn new(hello: Hello, subject: String) -> Arc<Self> {
        let watched =
            Mutex::new(Watched { folders_sum: None, map: ClockMap::default(), heard: Instant::now() });
        let Hello { id, name, cpus, place, .. } = hello;
        Arc::new(Self { id, name, cpus, place, subject, watched })
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        // Plain values, which stay usable whoever panicked.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It was heard of.
    pub(crate) fn heard(&self) {
        self.watched().heard = Instant::now();
    }

    /// It said what its clock shows.
    pub(crate) fn note(&self, exchange: Exchange) {
        let mut watched = self.watched();
        watched.map.note(exchange);
        watched.heard = Instant::now();
    }

    /// Since when nothing was heard of it.
    pub(crate) fn silent_for(&self) -> Duration {
        self.watched().heard.elapsed()
    }

    /// Whether it has the folders with this checksum.
    pub(crate) fn has(&self, folders_sum: &str) -> bool {
        self.watched().folders_sum.as_deref() == Some(folders_sum)
    }

    /// It has them now, and none before them any more.
    pub(crate) fn got(&self, folders_sum: &str) {
        self.watched().folders_sum = Some(folders_sum.to_owned());
    }

    /// Its clock.
    pub(crate) fn clock(&self) -> ClockMap {
        self.watched().map.clone()
    }

    /// What its clock shows at `own_ns` on the leader's.
    pub(crate) fn there(&self, own_ns: u64) -> Result<u64, String> {
        self.watched().map.there(own_ns)
    }

    /// By how much a moment of its clock may be wrong, ns.
    pub(crate) fn bound_ns(&self, own_ns: u64) -> Result<f64, String> {
        Ok(self.watched().map.ahead(own_ns)?.bound_ns)
    }

    /// What the leader's clock shows at `there_ns` on its own.
    pub(crate) fn own_ns(&self, there_ns: u64) -> Option<u64> {
        Some(self.watched().map.mapping(there_ns, there_ns).ok()?.own_ns(there_ns))
    }

    /// The shortest way there and back.
    pub(crate) fn round_trip_ns(&self) -> u64 {
        self.watched().map.round_trip_ns()
    }
}
