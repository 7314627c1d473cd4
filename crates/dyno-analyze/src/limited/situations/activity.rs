//! A server that samples its own list of activity, with the classes `IO`, `LWLock`, `Lock`, `IPC`.

use dyno_plan::Rate;
use dyno_record::{Counter, Unit};

use super::super::scripted::{elsewhere, group, host, metric, step, timed};
use super::*;

const WAL: &[(&str, &str, f64)] =
    &[("LWLock", "WALWrite", 2.4), ("IO", "WalSync", 0.38), ("CPU", "CPU", 0.58)];
const ROW: &[(&str, &str, f64)] = &[("Lock", "transactionid", 3.2), ("CPU", "CPU", 0.7)];
const READS: &[(&str, &str, f64)] = &[("IO", "DataFileRead", 3.7), ("CPU", "CPU", 0.2)];
const WORK: &[(&str, &str, f64)] = &[("CPU", "CPU", 3.7)];
const AWAY: &[(&str, &str, f64)] = &[("CPU", "CPU", 0.4)];
const LATCHED: &[(&str, &str, f64)] = &[("LWLock", "BufferMapping", 2.6), ("CPU", "CPU", 1.2)];

// One line for each situation, as far as it fits.
#[rustfmt::skip]
pub(super) const ROWS: &[SituationRow] = &[
    ("CPU alone", [20.0, 56.0, 1.0], WORK, |_| {}, (Cpu, Sure), "limited by the CPU: the 8 processors"),
    ("CPU with a hypervisor", [20.0, 52.0, 1.0], WORK,
        |record| host(record, &[("cpu.busy_pct", 91.0), ("cpu.user_pct", 80.0), ("cpu.system_pct", 11.0), ("cpu.steal_pct", 3.3)]),
        (Cpu, Sure), "the 8 processors are 91.0 % busy (80.0 % user, 11.0 % system), and the hypervisor took 3.3 %: the database"),
    ("CPU beside a small neighbour", [16.0, 50.0, 10.0], WORK, |_| {}, (Cpu, Likely), "used 12.5 %"),
    ("CPU shared with neighbours", [5.0, 15.0, 57.0], WORK, |_| {}, (Cpu, Likely), "shared with other programs"),
    ("platform fills it though it waits", [12.0, 60.0, 1.0], ROW, |_| {}, (Cpu, Sure), "91.2 % busy"),
    ("one processor", [3.0, 6.8, 0.0], WORK,
        |record| { record.hosts[0].cpus_allowed = 1; host(record, &[("server.cpus_allowed", 1.0), ("server.cpus_shared", 1.0)]); }, (Cpu, Sure), "may use 1 of 8 processors"),
    ("too few sessions", [6.0, 28.0, 0.0], WORK, |_| {}, (Sessions, Sure), "more sessions"),
    ("one thread of the client", [9.7, 4.0, 0.0], AWAY, |record| record.gate.threads = 1, (Client, Sure), "one thread"),
    ("one thread, sessions in the database", [9.7, 20.0, 0.0], WORK, |record| record.gate.threads = 1, (Sessions, Sure), ""),
    ("quota of the server", [1.0, 1.98, 0.0], AWAY, |record| group(record, "server", 0.2, 97.0), (CpuQuota, Sure), "of the database"),
    ("quota of the server beside neighbours", [1.0, 1.98, 76.0], WORK, |record| group(record, "server", 0.2, 97.0), (CpuQuota, Sure), ""),
    ("quota of the client", [1.5, 1.0, 0.0], AWAY, |record| group(record, "own", 0.15, 97.0), (Client, Sure), "of this program"),
    ("quota rarely exhausted", [1.0, 1.98, 0.0], ROW, |record| group(record, "server", 0.2, 10.0), (Locks, Sure), ""),
    ("commits", IDLE, WAL, |_| {}, (Commits, Sure), "second: work on a processor 14.5 %"),
    ("commits beside neighbours", BUSY, WAL, |_| {}, (Commits, Likely), "69.5 % of their time in commits (WALWrite)"),
    ("commits by the client's clock", IDLE, AWAY, |record| step(record, "commit", 2_000, 16_000.0), (Commits, Sure), "80.0 %"),
    ("commits beside neighbours, unsampled", BUSY, &[],
        |record| { step(record, "commit", 2_000, 16_000.0); unsampled(record); }, (Commits, Likely), "may wait for a processor"),
    ("commits that wait for a processor", BUSY, WORK, |record| step(record, "commit", 2_000, 16_000.0), (Cpu, Likely), "shared with other programs"),
    ("a log that always syncs", IDLE, &[("LWLock", "WALInsert", 1.2), ("IO", "WalSync", 0.6), ("CPU", "CPU", 1.0)],
        |record| timed(record, Counter::RedoSyncTime, 9.5), (Commits, Sure), "syncing 95.0 %"),
    ("synchronous replica", IDLE, &[("IPC", "SyncRep", 3.1), ("CPU", "CPU", 0.5)], |_| {}, (Commits, Sure), "SyncRep"),
    ("row locks", IDLE, ROW, |_| {}, (Locks, Sure), "row locks (transactionid)"),
    ("row locks beside neighbours", BUSY, ROW, |_| {}, (Locks, Likely), "row locks"),
    ("row locks and commits beside neighbours", BUSY, &[("Lock", "transactionid", 1.8), ("IO", "WalSync", 1.72), ("CPU", "CPU", 0.4)],
        |_| {}, (Locks, Likely), "second: commits (WalSync) 43.0 %"),
    ("row locks and commits", IDLE, &[("Lock", "tuple", 1.2), ("IO", "WalSync", 1.72), ("CPU", "CPU", 0.4)],
        |_| {}, (Commits, Likely), "second: row locks (tuple) 30.0 %"),
    ("row locks of few rows, mostly outside", [8.0, 40.0, 10.0], &[("Lock", "transactionid", 0.9), ("Lock", "tuple", 0.14), ("IO", "WalSync", 0.2), ("CPU", "CPU", 0.3)],
        |record| step(record, "commit", 4_000, 2_200.0), (Locks, Likely), "longer than for anything else in the database"),
    ("few row locks", [2.0, 4.0, 0.0], &[("Lock", "transactionid", 0.4), ("CPU", "CPU", 0.3)], |_| {}, (RoundTrips, Likely), ""),
    ("row locks beside more work", [4.0, 12.0, 0.0], &[("Lock", "transactionid", 0.9), ("CPU", "CPU", 1.2)], |_| {}, UNKNOWN, ""),
    ("locked table", IDLE, &[("Lock", "relation", 3.2)], |_| {}, (Locks, Sure), "locks (relation)"),
    ("hot block", IDLE, &[("LWLock", "BufferContent", 3.0), ("CPU", "CPU", 0.6)], |_| {}, (Latches, Sure), "BufferContent"),
    ("pinned block", IDLE, &[("BufferPin", "BufferPin", 3.0), ("CPU", "CPU", 0.6)], |_| {}, (Latches, Sure), ""),
    ("latches beside a neighbour", [10.0, 52.0, 13.0], LATCHED, |_| {}, (Latches, Likely), "used 16.2 %"),
    ("a file that grows", IDLE, &[("Lock", "extend", 3.0), ("CPU", "CPU", 0.6)], |_| {}, (Latches, Sure), "extend"),
    ("device that is full", IDLE, READS, |record| metric(record, "device_util_pct", 99.0, Unit::Percent), (Device, Sure), "99.0 %"),
    ("device throttled before it", IDLE, READS,
        |record| { metric(record, "device_util_pct", 9.0, Unit::Percent); metric(record, "physical_read_latency_us", 7_900.0, Unit::Microseconds); metric(record, "device_read_latency_us", 90.0, Unit::Microseconds); }, (Device, Sure), "before they reach it"),
    ("device by samples only", IDLE, READS, |_| {}, (Device, Likely), "92.5 %"),
    ("full device beside neighbours", BUSY, READS, |record| metric(record, "device_util_pct", 99.0, Unit::Percent), (Device, Sure), ""),
    ("checkpoint stall", IDLE, &[("IO", "DataFileSync", 2.2), ("IO", "WalSync", 0.9), ("CPU", "CPU", 0.5)],
        |_| {}, (Device, Likely), "second: commits (WalSync) 22.5 %"),
    ("requested rate", IDLE, AWAY, |record| record.plan.workload.rate = Some(Rate(1_000.0)), (AskedRate, Sure), ""),
    ("requested rate beside neighbours", BUSY, WORK, |record| record.plan.workload.rate = Some(Rate(1_000.0)), (AskedRate, Sure), ""),
    ("think time", IDLE, AWAY, |record| metric(record, "think_pct", 80.0, Unit::Percent), (ThinkTime, Sure), ""),
    ("connections", IDLE, AWAY, |record| step(record, "connect", 10_000, 3_000.0), (Connections, Sure), "75.0 %"),
    ("connections on full processors", [10.0, 66.0, 0.0], AWAY, |record| step(record, "connect", 10_000, 3_000.0), (Cpu, Sure), ""),
    ("slow network", [2.0, 4.0, 0.0], AWAY, |record| record.targets[0].identity.same_host = false, (RoundTrips, Sure), "90.0 %"),
    ("queue of a pooler", [2.0, 4.0, 0.0], AWAY, |_| {}, (RoundTrips, Likely), "90.0 %"),
    ("way to the server beside neighbours", BUSY, AWAY, |_| {}, (Cpu, Likely), "shared with other programs"),
    ("waits that no rule knows", IDLE, &[("IPC", "ExecuteGather", 3.0), ("CPU", "CPU", 0.6)], |_| {}, (OtherWaits, Likely), "waits (IPC:ExecuteGather)"),
    ("statements that sleep, beside neighbours", BUSY, &[("Timeout", "PgSleep", 3.6)], |_| {}, (OtherWaits, Likely), "waits (Timeout:PgSleep)"),
    ("few samples", IDLE, ROW, few_samples, UNKNOWN, "sampled only 5 times"),
    ("no samples beside neighbours", BUSY, &[], unsampled, (Cpu, Likely), "shared with other programs"),
    ("nothing stands out", [10.0, 12.0, 0.0], &[("CPU", "CPU", 1.2), ("IO", "DataFileRead", 1.2)],
        |_| {}, UNKNOWN, "30.0 % of the sessions' time is device"),
    ("copies of the page cache", [6.0, 22.0, 0.0], READS,
        |record| { record.audit.push(dyno_record::AuditCheck { check: "physical_reads".into(), status: dyno_record::CheckStatus::Warn, expected: String::new(), observed: String::new(), detail: format!("80.0 % {}", crate::audit::FROM_PAGE_CACHE), }) }, (Sessions, Sure), ""),
    ("database host full", [4.0, 0.0, 1.0], WORK, |record| elsewhere(record, 98.0), (Cpu, Likely), "of db2"),
    ("database host full, sessions wait", [4.0, 0.0, 1.0], ROW, |record| elsewhere(record, 98.0), (Locks, Sure), ""),
    ("driver host full", [70.0, 0.0, 9.0], AWAY, |record| elsewhere(record, 20.0), (Client, Sure), ""),
];

#[test]
fn limits_of_sampled_activity_are_due() {
    assert_limits(server, ROWS);
}
