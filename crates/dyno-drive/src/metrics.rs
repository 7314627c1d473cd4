//! Figures of an interval from the counters of database and host at its two ends.
//!
//! Every rate divides by the time that its own counts cover: operations, and counters that sessions publish between two of
//! them, by what the sessions worked; everything else by the time between the snapshots. What has no counter is absent with
//! the counter's own reason.

use std::collections::BTreeMap;

use dyno_host::{CpuShare, DeviceRates, HostDelta};
use dyno_record::{Counter, Counters, Metric, OpStats, Unit, Waits, Window};

use crate::cover::Cover;
use crate::observe::Taken;
use crate::vigil::leave_out_fallen;

/// Bytes in a megabyte of a rate (10⁶, as storage is sold and as networks count).
const MEGABYTE: f64 = 1e6;

pub(crate) type Metrics = BTreeMap<String, Metric>;

pub(crate) fn put(metrics: &mut Metrics, name: &str, value: f64, unit: Unit) {
    let metric = match value.is_finite() {
        true => Metric::Value { value, unit },
        false => Metric::Absent { absent: "it would be a division by zero".into() },
    };
    metrics.insert(name.to_owned(), metric);
}

pub(crate) fn absent(metrics: &mut Metrics, name: &str, reason: &str) {
    metrics.insert(name.to_owned(), Metric::Absent { absent: reason.to_owned() });
}

/// Puts a figure, or why there is none.
pub(crate) fn tell(metrics: &mut Metrics, name: &str, figure: Result<f64, &str>, unit: Unit) {
    match figure {
        Ok(value) => put(metrics, name, value, unit),
        Err(reason) => absent(metrics, name, reason),
    }
}

/// Name and unit of the rate of a counter, and what to divide its sum by beside the seconds.
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

/// The counter that the rate called `name` is of.
pub(crate) fn counter_of(name: &str) -> Option<Counter> {
    Counter::ALL.into_iter().find(|counter| rate_of(*counter).is_some_and(|(of, ..)| of == name))
}

/// Figures of the database over an interval that its counters `cover`.
pub(crate) fn of_database(counters: &Counters, cover: &Cover) -> Metrics {
    let mut metrics = Metrics::new();
    for counter in Counter::ALL {
        let Some((name, unit, divisor)) = rate_of(counter) else { continue };
        let seconds = cover.seconds(counter);
        let own = |delta| if counter == Counter::Commits { without_own(delta, counters) } else { delta };
        let rate = counters.without_observer(counter).map(|delta| own(delta) as f64 / divisor / seconds);
        tell(&mut metrics, name, rate, unit);
    }
    let redo = counters.get(Counter::RedoBytes);
    let redo = redo.map(|bytes| bytes as f64 / MEGABYTE / cover.seconds(Counter::RedoBytes));
    tell(&mut metrics, "redo_mb_per_s", redo, Unit::MegabytesPerSecond);
    for (name, time, requests) in [
        ("physical_read_latency_us", Counter::PhysicalReadTime, Counter::PhysicalReadRequests),
        ("physical_write_latency_us", Counter::PhysicalWriteTime, Counter::PhysicalWriteRequests),
        ("redo_sync_latency_us", Counter::RedoSyncTime, Counter::RedoSyncs),
    ] {
        tell(&mut metrics, name, latency_us(counters, time, requests), Unit::Microseconds);
    }
    tell(&mut metrics, "buffer_hit_pct", hit_pct(counters), Unit::Percent);
    metrics
}

/// Leaves out the rates of counters of which nobody knows how much of the window's work they hold: sessions went on while
/// these were read. Ratios of two counters, which were read together, stay.
pub(crate) fn withhold_unsure(metrics: &mut Metrics, window: &Window) {
    let unsure = window.unsure_share();
    if unsure <= Window::UNSURE_SHARE_MAX {
        return;
    }
    let absent = format!(
        "{:.1} % of the work was done while the counters were read, so that a rate may be wrong by as much",
        unsure * 100.0
    );
    for metric in metrics.values_mut() {
        if let Metric::Value { unit, .. } = metric
            && !matches!(unit, Unit::Percent | Unit::Microseconds)
        {
            *metric = Metric::Absent { absent: absent.clone() };
        }
    }
}

/// Commits without the transactions that connect, observe and sample, which are no part of the work.
fn without_own(commits: i64, counters: &Counters) -> i64 {
    let own = counters.native.get(crate::observe::OWN_COMMITS).copied().unwrap_or(0.0);
    // Those of an interval may have been noted a moment before the database counts them.
    (commits - own as i64).max(0)
}

/// Mean time of one request, where both time and requests are known.
fn latency_us(counters: &Counters, time: Counter, requests: Counter) -> Result<f64, &str> {
    match (counters.get(time)?, counters.get(requests)?) {
        (_, 0) => Err("there were no requests"),
        (time_us, count) => Ok(time_us as f64 / count as f64),
    }
}

/// Share of the logical reads that the cache answered.
fn hit_pct(counters: &Counters) -> Result<f64, &str> {
    let without_observer = |counter| counters.without_observer(counter);
    match (without_observer(Counter::LogicalReads)?, without_observer(Counter::PhysicalReads)?) {
        (0, _) => Err("there were no logical reads"),
        (logical, physical) => Ok((100.0 * (1.0 - physical as f64 / logical as f64)).clamp(0.0, 100.0)),
    }
}

/// Figures of what was done: operations and rows.
pub(crate) fn of_work(metrics: &mut Metrics, all: &OpStats, leading: &OpStats, seconds: f64) {
    put(metrics, "ops_per_s", leading.rate_per_s, Unit::PerSecond);
    put(metrics, "rows_per_s", (all.rows as f64 - all.rows_before) / seconds, Unit::RowsPerSecond);
}

/// Figures of full scans: how many, the blocks that they read (a row fills one), and the same in MB.
pub(crate) fn of_scans(metrics: &mut Metrics, scans: &OpStats, block_size: u64, seconds: f64) {
    let blocks = scans.rows as f64 - scans.rows_before;
    put(metrics, "scans_per_s", scans.rate_per_s, Unit::PerSecond);
    put(metrics, "scan_blocks_per_s", blocks / seconds, Unit::BlocksPerSecond);
    let megabytes = blocks * block_size as f64 / MEGABYTE;
    put(metrics, "scan_mb_per_s", megabytes / seconds, Unit::MegabytesPerSecond);
}

/// Share of the time that `sessions` sessions slept.
pub(crate) fn of_think(metrics: &mut Metrics, think_s: f64, sessions: u32, seconds: f64) {
    put(metrics, "think_pct", 100.0 * think_s / (f64::from(sessions) * seconds), Unit::Percent);
}

/// Average active sessions, from samples.
pub(crate) fn of_waits(metrics: &mut Metrics, waits: &Waits) {
    match waits {
        Waits::Sampled { average_active_sessions, .. } => {
            put(metrics, "average_active_sessions", *average_active_sessions, Unit::Sessions);
        }
        Waits::Absent { absent: reason } => absent(metrics, "average_active_sessions", reason),
    }
}

/// Figures of a machine's processors, or why there are none.
pub(crate) fn of_processors(metrics: &mut Metrics, host: Result<&HostDelta, &str>) {
    for (name, of) in CPU_SHARES {
        let share = host.and_then(|host| host.cpu.as_ref().map(of).ok_or(UNREAD));
        tell(metrics, name, share, Unit::Percent);
    }
    let switches = host.and_then(|host| host.context_switches_per_s.ok_or(UNREAD));
    tell(metrics, "context_switches_per_s", switches, Unit::PerSecond);
}

/// Why a machine has no figure.
const UNREAD: &str = "this host does not tell";

/// What this program itself cost; `ops_per_s` is for its cost per operation.
pub(crate) fn of_client(metrics: &mut Metrics, host: &HostDelta, ops_per_s: f64) {
    let client = match &host.process {
        // Rate by rate: operations and processor time may cover slightly different times.
        Some(process) if ops_per_s > 0.0 => {
            Ok((process.user_s + process.system_s) * 1e6 / host.seconds / ops_per_s)
        }
        Some(_) => Err("there were no operations"),
        None => Err(UNREAD),
    };
    tell(metrics, CLIENT, client, Unit::Microseconds);
}

/// The processor time of an operation where sessions were led from several hosts, which took so many processors together; nothing
/// where one of them does not tell.
pub(crate) fn of_fleet(metrics: &mut Metrics, client_cpus: Option<f64>, ops_per_s: f64) {
    let client = match client_cpus {
        Some(cpus) if ops_per_s > 0.0 => Ok(cpus * 1e6 / ops_per_s),
        Some(_) => Err("there were no operations"),
        None => Err("a driver host does not tell"),
    };
    tell(metrics, "client_cpu_us_per_op", client, Unit::Microseconds);
}

/// A share of the processors' time: its name, and where it is.
type ShareFigure = (&'static str, fn(&CpuShare) -> f64);

const CPU_SHARES: [ShareFigure; 6] = [
    ("cpu_busy_pct", |cpu| cpu.busy_pct),
    ("cpu_user_pct", |cpu| cpu.user_pct),
    ("cpu_sys_pct", |cpu| cpu.system_pct),
    ("cpu_iowait_pct", |cpu| cpu.iowait_pct),
    ("cpu_steal_pct", |cpu| cpu.steal_pct),
    ("cpu_idle_pct", |cpu| cpu.idle_pct),
];

/// A figure of a block device: its name, its unit, and where it is.
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
pub(crate) fn device_names() -> impl Iterator<Item = &'static str> {
    DEVICE_FIGURES.into_iter().map(|(name, ..)| name)
}

/// The unit of a figure of a machine's processors or device.
pub(crate) fn unit_of_machine(name: &str) -> Unit {
    let device = DEVICE_FIGURES.into_iter().find(|(device, ..)| *device == name).map(|(_, unit, _)| unit);
    device.unwrap_or(if name == "context_switches_per_s" { Unit::PerSecond } else { Unit::Percent })
}

/// The cost of this program per operation.
pub(crate) const CLIENT: &str = "client_cpu_us_per_op";

/// Names of the figures of the whole machine and of this program.
pub(crate) fn cpu_names() -> impl Iterator<Item = &'static str> {
    CPU_SHARES.into_iter().map(|(name, _)| name).chain(["context_switches_per_s", CLIENT])
}

/// Figures of the block device of a machine that holds the data, or why there are none.
pub(crate) fn of_device(metrics: &mut Metrics, host: Result<&HostDelta, &str>) {
    let device = host.and_then(|host| host.data_device().ok_or("the data is on no block device of its host"));
    for (name, unit, of) in DEVICE_FIGURES {
        let figure = device.and_then(|device| of(device).ok_or("the device did nothing of the kind"));
        tell(metrics, name, figure, unit);
    }
}

/// Whether nothing moved between two looks but what looking itself adds.
pub(crate) fn stands_still(moved: &Counters) -> bool {
    let own_commits = moved.native.get(crate::observe::OWN_COMMITS).copied().unwrap_or(0.0) as i64;
    let delta = |counter| moved.get(counter).unwrap_or(0);
    delta(Counter::Commits) <= own_commits && delta(Counter::RowsWritten) == 0
}

/// What counters moved by between two looks; transactions of sessions that were no operations are among Dyno's own.
pub(crate) fn between(begin: &Taken, end: &Taken) -> Counters {
    let mut counters = Counters::between(&begin.database, &end.database);
    leave_out_fallen(&mut counters, &end.database);
    let overhead = end.overhead - begin.overhead;
    crate::observe::add_overhead(&mut counters.native, overhead);
    counters
}

#[cfg(test)]
mod tests {
    use dyno_record::Snapshot;
    use dyno_record::window::Counted;

    use super::*;

    #[test]
    fn rates_that_nobody_can_know_are_left_out_and_ratios_stay() {
        let counted =
            |ops| Counted { ops: BTreeMap::from([("select".to_owned(), ops)]), ..Counted::default() };
        let window = |unsure| Window {
            counted: Some(counted(1_000)),
            unsure: Some((counted(unsure), Counted::default())),
            ..Window::default()
        };
        let mut figures = Metrics::new();
        put(&mut figures, "logical_reads_per_s", 8.0, Unit::BlocksPerSecond);
        put(&mut figures, "buffer_hit_pct", 99.0, Unit::Percent);
        withhold_unsure(&mut figures, &window(20));
        assert!(figures.values().all(|figure| figure.value().is_some()), "2 % is within what runs differ by");
        withhold_unsure(&mut figures, &window(30));
        assert!(
            matches!(&figures["logical_reads_per_s"], Metric::Absent { absent } if absent.contains("3.0 %"))
        );
        assert_eq!(figures["buffer_hit_pct"].value(), Some(99.0));
    }

    #[test]
    fn reads_of_the_observer_are_in_no_figure() {
        let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
        for (counter, from, to) in [(Counter::LogicalReads, 1_000, 1_573), (Counter::PhysicalReads, 100, 110)]
        {
            begin.set(counter, from);
            end.set(counter, to);
        }
        let figures = |begin: &Snapshot, end: &Snapshot| {
            let figures = of_database(&Counters::between(begin, end), &Cover::all(1.0));
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
    fn commits_are_those_of_the_work() {
        let (begin, mut end) = (Snapshot::default(), Snapshot::default());
        let mut begin =
            Snapshot { native: BTreeMap::from([(crate::observe::OWN_COMMITS.to_owned(), 7.0)]), ..begin };
        begin.set(Counter::Commits, 1_000);
        end.set(Counter::Commits, 1_036);
        end.native.insert(crate::observe::OWN_COMMITS.to_owned(), 13.0);
        let figures = of_database(&Counters::between(&begin, &end), &Cover::all(2.0));
        assert_eq!(figures["commits_per_s"].value(), Some(15.0));
        end.set(Counter::Commits, 1_002);
        let figures = of_database(&Counters::between(&begin, &end), &Cover::all(2.0));
        assert_eq!(figures["commits_per_s"].value(), Some(0.0), "a moment before they are counted");
    }
}
