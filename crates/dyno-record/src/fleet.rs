//! The driver hosts of a distributed run: their shares, the precision of their clocks, and their bottlenecks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::Host;

/// The driver hosts of a distributed run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// The group name under which agents and controller found each other.
    pub group: String,
    /// The driver hosts in the order of rank.
    pub hosts: Vec<FleetHost>,
}

/// One driver host of a distributed run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetHost {
    /// Its index among the driver hosts, from 0.
    pub rank: u32,
    /// The name of its agent.
    pub name: String,
    /// The host and its hardware.
    pub host: Host,
    /// Its share of the sessions, relative to the weights of the others.
    pub weight: u32,
    /// Number of sessions on this host.
    pub sessions: u32,
    /// Number of threads that ran these sessions.
    pub threads: u32,
    /// Operations of its sessions in the window.
    pub ops: u64,
    /// The precision of its clock relative to the controller's.
    pub clock: ClockFit,
    /// The earliest and the latest first operation of its sessions after the common start, in µs on the controller's clock;
    /// absent if none started.
    pub started_us: Option<(f64, f64)>,
    /// The longest delay after a scheduled moment until its sessions learned of it, in µs; 0 if all learned in time.
    pub late_us: f64,
    /// CPU use over the window, in percent of all CPUs of the host.
    pub cpu_busy_pct: Option<f64>,
    /// CPU time of Dyno over the window, in seconds per second.
    pub client_cpus: Option<f64>,
    /// The largest number of bytes in the send queues of its connections at any moment of the window.
    pub send_queue_bytes_max: Option<u64>,
    /// Share of the periods of its CPU quota in which the quota throttled its agent, in percent; absent without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_pct: Option<f64>,
    /// The longest interval of the window in which its agent did not run, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_us_max: Option<f64>,
    /// Total time in the window in which no thread of its agent ran, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_s: Option<f64>,
    /// The part of `stall_s` in which the agent was suspended and not waiting for a CPU, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_s: Option<f64>,
    /// Which limit of this host slowed the load, in words; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_bound: Option<String>,
    /// Why it returned no results, in words; absent if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// The offset between two clocks, estimated from many message exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockFit {
    /// Number of message exchanges used.
    pub exchanges: u32,
    /// The shortest round trip, in µs.
    pub round_trip_us: f64,
    /// The largest possible error of a converted time, in µs.
    pub bound_us: f64,
    /// How far this clock was ahead of the other at the common start, in µs. Both are monotonic and count from the start of their
    /// programs; wall clocks are not used. Absent if it was not reported.
    /// what wall clocks show plays no part. Absent where it was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead_us: Option<f64>,
    /// The change of the offset until the end of the window, in µs: one clock ran faster. Its error is also `bound_us`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drifted_us: Option<f64>,
}

impl Fleet {
    /// Whether a host returned results although its clock was never compared with the controller's, as after a lost controller.
    pub fn has_unknown_clocks(&self) -> bool {
        self.hosts.iter().any(|host| host.lost.is_none() && host.clock.exchanges == 0)
    }

    /// The hosts that returned no results.
    pub fn lost(&self) -> impl Iterator<Item = &FleetHost> {
        self.hosts.iter().filter(|host| host.lost.is_some())
    }

    /// Number of sessions over all hosts.
    pub fn sessions(&self) -> u32 {
        self.hosts.iter().map(|host| host.sessions).sum()
    }

    /// The largest possible error of any host's time on the controller's clock, in µs.
    pub fn bound_us(&self) -> f64 {
        self.hosts.iter().map(|host| host.clock.bound_us).fold(0.0, f64::max)
    }

    /// The missing part in words: `short of 1 of 8 hosts (db3: no heartbeat), 12 of 96 sessions`; `None` if nothing is missing.
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
    fn clock_fit_without_offset_is_read() {
        let text = r#"{ "exchanges": 24, "round_trip_us": 200.0, "bound_us": 120.0 }"#;
        let fit: ClockFit = serde_json::from_str(text).unwrap();
        assert_eq!((fit.exchanges, fit.ahead_us, fit.drifted_us), (24, None, None));
        assert!(!serde_json::to_string(&fit).unwrap().contains("ahead_us"), "what is not known is absent");
    }
}
