//! Computes the figures of an interval from the counters of database and host at its two ends.
//!
//! Every rate is divided by the time that its counts cover. For operations, and for counters that sessions
//! publish between two of them, that is the sessions' working time. For everything else it is the time
//! between the snapshots. A figure without its counter is absent, with the counter's reason.

use std::collections::BTreeMap;

use dyno_host::{CpuShare, DeviceRates, HostDelta};
use dyno_record::metric::without_dust;
use dyno_record::{Counter, Counters, Metric, Unit, Waits};

use crate::counter_watchdog::withhold_reset_counters;
use crate::cover::CoveredSeconds;
use crate::snapshot::TargetSnapshot;

/// Bytes in a megabyte of a rate (10⁶, as for storage and networks).
pub const MEGABYTE: f64 = 1e6;

pub type MetricMap = BTreeMap<String, Metric>;

pub fn put(metrics: &mut MetricMap, name: &str, value: f64, unit: Unit) {
    let metric = match value.is_finite() {
        true => Metric::Value { value: without_dust(value), unit },
        false => Metric::Absent { absent: "division by zero".into() },
    };
    metrics.insert(name.to_owned(), metric);
}

pub fn absent(metrics: &mut MetricMap, name: &str, reason: &str) {
    metrics.insert(name.to_owned(), Metric::Absent { absent: reason.to_owned() });
}

/// Enters a figure, or the reason why there is none.
pub fn put_result(metrics: &mut MetricMap, name: &str, figure: Result<f64, &str>, unit: Unit) {
    match figure {
        Ok(value) => put(metrics, name, value, unit),
        Err(reason) => absent(metrics, name, reason),
    }
}

/// Name and unit of a counter's rate, and the divisor of its sum besides the seconds.
fn rate_of(counter: Counter) -> Option<(&'static str, Unit, f64)> {
    let rate = match counter {
        Counter::LogicalReads => ("logical_reads_per_s", Unit::BlocksPerSecond, 1.0),
        Counter::PhysicalReads => ("physical_reads_per_s", Unit::BlocksPerSecond, 1.0),
        Counter::PhysicalReadRequests => ("physical_read_requests_per_s", Unit::PerSecond, 1.0),
        Counter::PhysicalReadBytes => ("physical_read_mb_per_s", Unit::MegabytesPerSecond, MEGABYTE),
        Counter::PhysicalWrites => ("physical_writes_per_s", Unit::BlocksPerSecond, 1.0),
        Counter::PhysicalWriteRequests => ("physical_write_requests_per_s", Unit::PerSecond, 1.0),
        Counter::PhysicalWriteBytes => ("physical_write_mb_per_s", Unit::MegabytesPerSecond, MEGABYTE),
        Counter::RedoBytes => ("redo_bytes_per_s", Unit::BytesPerSecond, 1.0),
        Counter::RedoWrites => ("redo_writes_per_s", Unit::PerSecond, 1.0),
        Counter::RedoSyncs => ("redo_syncs_per_s", Unit::PerSecond, 1.0),
        Counter::Commits => ("commits_per_s", Unit::PerSecond, 1.0),
        Counter::Rollbacks => ("rollbacks_per_s", Unit::PerSecond, 1.0),
        Counter::Executions => ("executions_per_s", Unit::PerSecond, 1.0),
        Counter::RowsRead => ("rows_read_per_s", Unit::RowsPerSecond, 1.0),
        Counter::RowsWritten => ("rows_written_per_s", Unit::RowsPerSecond, 1.0),
        Counter::DbTime => ("database_active_sessions", Unit::Sessions, 1e6),
        Counter::CpuTime => ("database_cpus", Unit::Sessions, 1e6),
        Counter::PhysicalReadTime | Counter::PhysicalWriteTime | Counter::RedoSyncTime => return None,
    };
    Some(rate)
}

/// The counter of the rate called `name`.
pub fn counter_of(name: &str) -> Option<Counter> {
    Counter::ALL.into_iter().find(|counter| rate_of(*counter).is_some_and(|(of, ..)| of == name))
}

/// Figures of the database over an interval that its counters `cover`.
pub fn of_database(counters: &Counters, cover: &CoveredSeconds) -> MetricMap {
    let mut metrics = MetricMap::new();
    for counter in Counter::ALL {
        let Some((name, unit, divisor)) = rate_of(counter) else { continue };
        let seconds = cover.seconds(counter);
        let adjusted = |delta| {
            if counter == Counter::Commits { exclude_overhead_commits(delta, counters) } else { delta }
        };
        let rate = counters.without_observer(counter).map(|delta| adjusted(delta) as f64 / divisor / seconds);
        put_result(&mut metrics, name, rate, unit);
    }
    let redo = counters.get(Counter::RedoBytes);
    let redo = redo.map(|bytes| bytes as f64 / MEGABYTE / cover.seconds(Counter::RedoBytes));
    put_result(&mut metrics, "redo_mb_per_s", redo, Unit::MegabytesPerSecond);
    for (name, time, requests) in [
        ("physical_read_latency_us", Counter::PhysicalReadTime, Counter::PhysicalReadRequests),
        ("physical_write_latency_us", Counter::PhysicalWriteTime, Counter::PhysicalWriteRequests),
        ("redo_sync_latency_us", Counter::RedoSyncTime, Counter::RedoSyncs),
    ] {
        put_result(&mut metrics, name, latency_us(counters, time, requests), Unit::Microseconds);
    }
    put_result(&mut metrics, "buffer_hit_pct", hit_pct(counters), Unit::Percent);
    metrics
}

/// Commits without the transactions that connect, observe and sample: these are not part of the work.
fn exclude_overhead_commits(commits: i64, counters: &Counters) -> i64 {
    let overhead_commits = counters.native.get(crate::snapshot::OWN_COMMITS).copied().unwrap_or(0.0);
    // In an interval, an overhead transaction may be noted a moment before the database counts it.
    (commits - overhead_commits as i64).max(0)
}

/// Mean time of one request, if both time and requests are known.
fn latency_us(counters: &Counters, time: Counter, requests: Counter) -> Result<f64, &str> {
    match (counters.get(time)?, counters.get(requests)?) {
        (_, 0) => Err("there were no requests"),
        (time_us, count) => Ok(time_us as f64 / count as f64),
    }
}

/// Share of the logical reads that the cache served, %.
fn hit_pct(counters: &Counters) -> Result<f64, &str> {
    let without_observer = |counter| counters.without_observer(counter);
    match (without_observer(Counter::LogicalReads)?, without_observer(Counter::PhysicalReads)?) {
        (0, _) => Err("there were no logical reads"),
        (logical, physical) => Ok((100.0 * (1.0 - physical as f64 / logical as f64)).clamp(0.0, 100.0)),
    }
}

/// Average active sessions, from samples.
pub fn of_waits(metrics: &mut MetricMap, waits: &Waits) {
    match waits {
        Waits::Sampled { average_active_sessions, .. } => {
            put(metrics, "average_active_sessions", *average_active_sessions, Unit::Sessions);
        }
        Waits::Absent { absent: reason } => absent(metrics, "average_active_sessions", reason),
    }
}

/// Figures of a machine's processors, or the reason why there are none.
pub fn of_processors(metrics: &mut MetricMap, host: Result<&HostDelta, &str>) {
    for (name, of) in CPU_SHARES {
        let share = host.and_then(|host| host.cpu.as_ref().map(of).ok_or(UNREAD));
        put_result(metrics, name, share, Unit::Percent);
    }
    let switches = host.and_then(|host| host.context_switches_per_s.ok_or(UNREAD));
    put_result(metrics, "context_switches_per_s", switches, Unit::PerSecond);
}

/// Why a machine lacks a figure.
pub const UNREAD: &str = "this host does not report it";

/// A share of the processors' time: its name and its accessor.
type ShareFigure = (&'static str, fn(&CpuShare) -> f64);

const CPU_SHARES: [ShareFigure; 6] = [
    ("cpu_busy_pct", |cpu| cpu.busy_pct),
    ("cpu_user_pct", |cpu| cpu.user_pct),
    ("cpu_sys_pct", |cpu| cpu.system_pct),
    ("cpu_iowait_pct", |cpu| cpu.iowait_pct),
    ("cpu_steal_pct", |cpu| cpu.steal_pct),
    ("cpu_idle_pct", |cpu| cpu.idle_pct),
];

/// A figure of a block device: its name, its unit and its accessor.
type DeviceFigure = (&'static str, Unit, fn(&DeviceRates) -> Option<f64>);

const DEVICE_FIGURES: [DeviceFigure; 7] = [
    ("device_reads_per_s", Unit::PerSecond, |device| Some(device.reads_per_s)),
    ("device_writes_per_s", Unit::PerSecond, |device| Some(device.writes_per_s)),
    ("device_read_mb_per_s", Unit::MegabytesPerSecond, |device| Some(device.read_mb_per_s)),
    ("device_write_mb_per_s", Unit::MegabytesPerSecond, |device| Some(device.write_mb_per_s)),
    ("device_read_latency_us", Unit::Microseconds, |device| device.read_latency_us),
    ("device_write_latency_us", Unit::Microseconds, |device| device.write_latency_us),
    ("device_util_pct", Unit::Percent, |device| device.utilisation_pct),
];

/// Names of the figures of a block device.
pub fn device_names() -> impl Iterator<Item = &'static str> {
    DEVICE_FIGURES.into_iter().map(|(name, ..)| name)
}

/// The unit of a figure of a machine's processors or device.
pub fn unit_of_machine(name: &str) -> Unit {
    let device = DEVICE_FIGURES.into_iter().find(|(device, ..)| *device == name).map(|(_, unit, _)| unit);
    device.unwrap_or(if name == "context_switches_per_s" { Unit::PerSecond } else { Unit::Percent })
}

/// The name of this program's cost per operation.
pub const CLIENT: &str = "client_cpu_us_per_op";

/// Names of the figures of the machine and of this program.
pub fn cpu_names() -> impl Iterator<Item = &'static str> {
    CPU_SHARES.into_iter().map(|(name, _)| name).chain(["context_switches_per_s", CLIENT])
}

/// Figures of a machine's block device that holds the data, or the reason why there are none.
pub fn of_device(metrics: &mut MetricMap, host: Result<&HostDelta, &str>) {
    let device =
        host.and_then(|host| host.data_device().ok_or("the data is not on a block device of its host"));
    for (name, unit, of) in DEVICE_FIGURES {
        let figure = device.and_then(|device| of(device).ok_or("the device had no such requests"));
        put_result(metrics, name, figure, unit);
    }
}

/// Whether nothing moved between two readings except what reading itself adds.
pub fn is_unchanged(moved: &Counters) -> bool {
    let own_commits = moved.native.get(crate::snapshot::OWN_COMMITS).copied().unwrap_or(0.0) as i64;
    let delta = |counter| moved.get(counter).unwrap_or(0);
    delta(Counter::Commits) <= own_commits && delta(Counter::RowsWritten) == 0
}

/// The counters' deltas between two readings; overhead transactions of sessions count as Dyno's own.
pub fn between(begin: &TargetSnapshot, end: &TargetSnapshot) -> Counters {
    let mut counters = Counters::between(&begin.database, &end.database);
    withhold_reset_counters(&mut counters, &end.database);
    let overhead = end.overhead - begin.overhead;
    crate::snapshot::add_overhead(&mut counters.native, overhead);
    counters
}

#[cfg(test)]
mod tests {
    use dyno_record::Snapshot;

    use super::*;

    #[test]
    fn observer_reads_are_excluded_from_database_figures() {
        let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
        for (counter, from, to) in [(Counter::LogicalReads, 1_000, 1_573), (Counter::PhysicalReads, 100, 110)]
        {
            begin.set(counter, from);
            end.set(counter, to);
        }
        let figures = |begin: &Snapshot, end: &Snapshot| {
            let figures = of_database(&Counters::between(begin, end), &CoveredSeconds::all(1.0));
            ["logical_reads_per_s", "physical_reads_per_s", "buffer_hit_pct"]
                .map(|name| figures[name].value())
        };
        assert_eq!(figures(&begin, &end)[..2], [Some(573.0), Some(10.0)], "the server does not tell");
        begin.observer = [(Counter::LogicalReads, 150), (Counter::PhysicalReads, 0)].into();
        end.observer = [(Counter::LogicalReads, 428), (Counter::PhysicalReads, 10)].into();
        assert_eq!(figures(&begin, &end), [Some(295.0), Some(0.0), Some(100.0)]);
        end.observer.insert(Counter::LogicalReads, 9_999);
        assert_eq!(figures(&begin, &end)[0], Some(0.0));
        assert_eq!(figures(&begin, &end)[2], None, "a share of none");
    }

    #[test]
    fn commit_rate_excludes_own_observer_commits() {
        let (begin, mut end) = (Snapshot::default(), Snapshot::default());
        let mut begin =
            Snapshot { native: BTreeMap::from([(crate::snapshot::OWN_COMMITS.to_owned(), 7.0)]), ..begin };
        begin.set(Counter::Commits, 1_000);
        end.set(Counter::Commits, 1_036);
        end.native.insert(crate::snapshot::OWN_COMMITS.to_owned(), 13.0);
        let figures = of_database(&Counters::between(&begin, &end), &CoveredSeconds::all(2.0));
        assert_eq!(figures["commits_per_s"].value(), Some(15.0));
        end.set(Counter::Commits, 1_002);
        let figures = of_database(&Counters::between(&begin, &end), &CoveredSeconds::all(2.0));
        assert_eq!(figures["commits_per_s"].value(), Some(0.0), "a moment before they are counted");
    }
}
