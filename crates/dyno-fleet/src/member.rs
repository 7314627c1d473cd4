//! The agents that a controller has reserved: their clocks, and when each last answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::clock::{ClockMap, Exchange};
use crate::messages::AgentHello;

/// A reserved agent.
#[derive(Debug)]
pub(crate) struct FleetMember {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) cpus: u32,
    pub(crate) place: Option<u32>,
    /// The subject on which the agent receives requests.
    pub(crate) subject: String,
    watched: Mutex<MemberState>,
}

#[derive(Debug)]
struct MemberState {
    /// Checksum of the workload folders that the agent has; absent if it has none.
    folders_sum: Option<String>,
    map: ClockMap,
    last_heard: Instant,
}

impl FleetMember {
    pub(crate) fn new(hello: AgentHello, subject: String) -> Arc<Self> {
        let watched = Mutex::new(MemberState {
            folders_sum: None,
            map: ClockMap::default(),
            last_heard: Instant::now(),
        });
        let AgentHello { id, name, cpus, place, .. } = hello;
        Arc::new(Self { id, name, cpus, place, subject, watched })
    }

    /// Notes that the agent sent a message.
    pub(crate) fn note_contact(&self) {
        self.watched.lock().last_heard = Instant::now();
    }

    /// Notes an exchange that measured the agent's clock.
    pub(crate) fn note(&self, exchange: Exchange) {
        let mut watched = self.watched.lock();
        watched.map.note(exchange);
        watched.last_heard = Instant::now();
    }

    /// Time since the agent's last message.
    pub(crate) fn silent_for(&self) -> Duration {
        self.watched.lock().last_heard.elapsed()
    }

    /// Whether the agent has the folders with this checksum.
    pub(crate) fn has_folders(&self, folders_sum: &str) -> bool {
        self.watched.lock().folders_sum.as_deref() == Some(folders_sum)
    }

    /// Notes that the agent has these folders, which replace earlier ones.
    pub(crate) fn note_folders(&self, folders_sum: &str) {
        self.watched.lock().folders_sum = Some(folders_sum.to_owned());
    }

    pub(crate) fn clock(&self) -> ClockMap {
        self.watched.lock().map.clone()
    }

    /// Returns what the agent's clock shows when the controller's clock shows `own_ns`.
    pub(crate) fn to_remote_ns(&self, own_ns: u64) -> Result<u64, String> {
        self.watched.lock().map.to_remote_ns(own_ns)
    }

    /// Greatest error of a moment converted to the agent's clock, ns.
    pub(crate) fn bound_ns(&self, own_ns: u64) -> Result<f64, String> {
        Ok(self.watched.lock().map.ahead(own_ns)?.bound_ns)
    }

    /// Returns what the controller's clock shows when the agent's clock shows `there_ns`.
    pub(crate) fn to_own_ns(&self, there_ns: u64) -> Option<u64> {
        Some(self.watched.lock().map.mapping(there_ns, there_ns).ok()?.own_ns(there_ns))
    }

    /// Shortest travel time of a question and its answer together, ns.
    pub(crate) fn round_trip_ns(&self) -> u64 {
        self.watched.lock().map.round_trip_ns()
    }
}
