//! A server with the event classes `User I/O`, `Commit`, `Concurrency`, `Application`.

use dyno_record::Counter;

use super::super::scripted::timed;
use super::*;

const SYNC: &[(&str, &str, f64)] = &[("Commit", "log file sync", 2.8), ("CPU", "CPU", 0.6)];
const READS: &[(&str, &str, f64)] = &[("User I/O", "db file sequential read", 3.4), ("CPU", "CPU", 0.3)];

// One line for each situation, as far as it fits.
#[rustfmt::skip]
pub(super) const ROWS: &[SituationRow] = &[
    ("CPU alone", [12.0, 62.0, 2.0], &[("CPU", "CPU", 3.9)], |_| {}, (Cpu, Sure), ""),
    ("CPU shared with neighbours", [4.0, 20.0, 52.0], &[("CPU", "CPU", 3.9)], |_| {}, (Cpu, Likely), "shared with"),
    ("log file sync", IDLE, SYNC, |_| {}, (Commits, Sure), "log file sync"),
    ("log file sync beside neighbours", BUSY, SYNC, |_| {}, (Commits, Likely), ""),
    ("checkpoint that is behind", IDLE, &[("Configuration", "log file switch (checkpoint incomplete)", 2.6), ("CPU", "CPU", 0.8)],
        |_| {}, (Commits, Sure), "checkpoint incomplete"),
    ("single-block reads", IDLE, READS, |record| timed(record, Counter::PhysicalReadTime, 34.0), (Device, Sure), "85.0 %"),
    ("single-block reads beside neighbours", BUSY, READS, |record| timed(record, Counter::PhysicalReadTime, 34.0), (Device, Sure), ""),
    ("row locks", IDLE, &[("Application", "enq: TX - row lock contention", 3.0)], |_| {}, (Locks, Sure), "row locks"),
    ("user locks", IDLE, &[("Application", "enq: UL - contention", 3.0)], |_| {}, (Locks, Sure), "locks (enq: UL"),
    ("hot block", IDLE, &[("Concurrency", "buffer busy waits", 2.9), ("CPU", "CPU", 0.8)], |_| {}, (Latches, Sure), "buffer busy"),
    ("hot block beside neighbours", BUSY, &[("Concurrency", "buffer busy waits", 2.9)], |_| {}, (Latches, Likely), ""),
    ("resource manager", IDLE, &[("Scheduler", "resmgr:cpu quantum", 3.0)], |_| {}, (OtherWaits, Likely), "waits (Scheduler:resmgr:cpu quantum)"),
    ("blocks of another instance", IDLE, &[("Cluster", "gc buffer busy acquire", 2.2), ("CPU", "CPU", 0.9)], |_| {}, (OtherWaits, Likely), "Cluster:gc"),
    ("slow network", [2.0, 4.0, 0.0], &[("Network", "SQL*Net message from client", 3.0), ("CPU", "CPU", 0.4)],
        |record| record.targets[0].identity.same_host = false, (RoundTrips, Sure), ""),
];

#[test]
fn limits_of_timed_events_are_due() {
    assert_limits(server, ROWS);
}
