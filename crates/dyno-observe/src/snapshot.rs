//! Counters of a target and its machine, read at one moment.

use std::collections::BTreeMap;

use dyno_host::{HostDelta, HostSnapshot};
use dyno_record::{Snapshot, TableActivity, TopStatements};

use crate::remote_hosts::RemoteHostReading;

/// Transactions of observer and sampler; the name under which they join the native counters.
pub const OWN_COMMITS: &str = "dyno.own_commits";

/// The part of them that the database counts for sessions besides operations.
pub(crate) const SESSION_COMMITS: &str = "dyno.session_commits";

/// Adds the sessions' overhead transactions to the `native` counters.
pub fn add_overhead(native: &mut BTreeMap<String, f64>, overhead: i64) {
    for name in [OWN_COMMITS, SESSION_COMMITS] {
        *native.entry(name.to_owned()).or_default() += overhead as f64;
    }
}

/// Counters of database and host, read at one moment.
#[derive(Debug, Clone)]
pub struct TargetSnapshot {
    pub database: Snapshot,
    pub host: HostSnapshot,
    /// Counters of the database's host, if that is observed and is not this one, or why they are missing.
    pub remote: Option<Result<RemoteHostReading, String>>,
    /// When the counters that are compared with the sessions' own counts were requested, and when they
    /// arrived.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// The time of day of the snapshot, RFC 3339 in UTC.
    pub at: String,
    /// Overhead transactions of the sessions so far; the coordinator sets it for intervals.
    pub overhead: i64,
    /// The statements of the window, in the snapshot of its end.
    pub statements: Option<TopStatements>,
    /// The tables and indexes of the window, in the snapshot of its end.
    pub tables: Option<TableActivity>,
}

impl TargetSnapshot {
    /// The time of the snapshot: the middle of the reading of its counters.
    pub fn at_ns(&self) -> u64 {
        self.began_ns + (self.ended_ns - self.began_ns) / 2
    }

    /// What this machine did from this snapshot to the later `end`. The machine is read when the database has
    /// answered, so a slow answer does not belong to the time between the two readings.
    pub fn host_delta_to(&self, end: &Self) -> HostDelta {
        let seconds = end.ended_ns.saturating_sub(self.ended_ns) as f64 / 1e9;
        HostDelta::between(&self.host, &end.host, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_answer_of_database_changes_no_rate_of_the_machine() {
        let snapshot = |began_ms: u64, ended_ms: u64| TargetSnapshot {
            database: Snapshot::default(),
            host: HostSnapshot::default(),
            remote: None,
            began_ns: began_ms * 1_000_000,
            ended_ns: ended_ms * 1_000_000,
            at: String::new(),
            overhead: 0,
            statements: None,
            tables: None,
        };
        // The first answer took 400 ms: the middles of the readings are 3.2 s apart, the machine's readings 3 s.
        let delta = snapshot(0, 400).host_delta_to(&snapshot(3_400, 3_400));
        assert!((delta.seconds - 3.0).abs() < 1e-9, "{delta:?}");
    }
}
