//! The driver hosts of a run that several drove together: who had which share, how well their clocks were known, and what they
//! were short of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::Host;

/// The driver hosts of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// The name under which they met.
    pub group: String,
    /// By rank.
    pub hosts: Vec<FleetHost>,
}

/// One driver host of several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetHost {
    /// Its place among them, from 0.
    pub rank: u32,
    /// The name of its agent.
    pub name: String,
    /// The machine.
    pub host: Host,
    /// Its share of the sessions, beside those of the others.
    pub weight: u32,
    /// Sessions that it led.
    pub sessions: u32,
    /// Threads that led them.
    pub threads: u32,
    /// Operations of its sessions in the window.
    pub ops: u64,
    /// How well its clock was known.
    pub clock: ClockFit,
    /// The first and the last of its sessions' first operations after the common start, µs, on the leader's clock; absent where
    /// none started.
    pub started_us: Option<(f64, f64)>,
    /// The longest time after a moment at which its sessions heard of it, µs; 0 where all was heard in time.
    pub late_us: f64,
    /// Processors busy over the window, percent of all of the machine.
    pub cpu_busy_pct: Option<f64>,
    /// Processor time of this program over the window, seconds per second.
    pub client_cpus: Option<f64>,
    /// The most bytes that waited in the send queues of its connections at a moment of the window.
    pub send_queue_bytes_max: Option<u64>,
    /// Share of the periods of its CPU quota in which that held its agent back, %; absent where no quota limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_pct: Option<f64>,
    /// Longest interval of the window in which its agent did not notice time pass, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_us_max: Option<f64>,
    /// Sum of the intervals of the window in which nothing of its agent ran, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_s: Option<f64>,
    /// As much of that as it was suspended, and did not wait for a processor, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_s: Option<f64>,
    /// What of its own held it back, in words; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_bound: Option<String>,
    /// Why it handed in nothing, in words; absent where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// How well one clock is known on another: what many exchanges of messages leave possible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockFit {
    /// Exchanges that were made.
    pub exchanges: u32,
    /// The shortest there and back, µs.
    pub round_trip_us: f64,
    /// The most by which a mapped moment may be wrong, µs.
    pub bound_us: f64,
    /// By how much this clock was ahead of the other at the common start, µs. Both are monotonic and count from the start of their programs;
    /// what wall clocks show plays no part. Absent where it was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_us: Option<f64>,
    /// By how much more at the end of the window, µs: what one of them ran faster, known no better than the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drifted_us: Option<f64>,
}

impl Fleet {
    /// Whether there is one that handed in and whose clock was never held against the leader's, as where that was lost.
    pub fn has_unknown_clocks(&self) -> bool {
        self.hosts.iter().any(|host| host.lost.is_none() && host.clock.exchanges == 0)
    }

    /// Those that handed in nothing.
    pub fn lost(&self) -> impl Iterator<Item = &FleetHost> {
        self.hosts.iter().filter(|host| host.lost.is_some())
    }

    /// Sessions of all of them.
    pub fn sessions(&self) -> u32 {
        self.hosts.iter().map(|host| host.sessions).sum()
    }

    /// The most by which a moment of any of them may be wrong on the leader's clock, µs.
    pub fn bound_us(&self) -> f64 {
        self.hosts.iter().map(|host| host.clock.bound_us).fold(0.0, f64::max)
    }

    /// What it lacks in words: `short of 1 of 8 hosts (db3: no heartbeat), 12 of 96 sessions`; nothing where it lacks nobody.
    pub fn short_of(&self) -> Option<String> {
        let lost: Vec<&FleetHost> = self.lost().collect();
        let first = lost.first()?;
        let sessions: u32 = lost.iter().map(|host| host.sessions).sum();
        let why = first.lost.as_deref().unwrap_or_default();
        let names: Vec<&str> = lost.iter().map(|host| host.name.as_str()).collect();
        Some(format!(
            "short of {} of {} hosts ({}: {why}), {sessions} of {} sessions",
            lost.len(),
            self.hosts.len(),
            names.join(", "),
            self.sessions()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_tells_no_offset_of_a_clock_is_read() {
        let text = r#"{ "exchanges": 24, "round_trip_us": 200.0, "bound_us": 120.0 }"#;
        let fit: ClockFit = serde_json::from_str(text).unwrap();
        assert_eq!((fit.exchanges, fit.ahead_us, fit.drifted_us), (24, None, None));
        assert!(!serde_json::to_string(&fit).unwrap().contains("ahead_us"), "what is not known is absent");
    }
}
