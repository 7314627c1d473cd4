//! Computes the figures of CPUs, devices, interfaces and mounts from their counters at two moments.
//!
//! A counter that went backwards, such as that of a replaced device or a recreated interface, has no
//! difference. The figure is absent, and never a large or negative number.

use serde::Serialize;

use crate::parse::cpu::CpuTimes;
use crate::parse::disk::DiskCounters;
use crate::parse::net::NetworkCounters;
use crate::parse::nfs::NfsCounters;
use crate::parse::pressure::Pressure;
use crate::snapshot::HostSnapshot;

/// Bytes in a megabyte, for rates.
const MB: f64 = 1e6;

/// Use of the time of all CPUs, %: `busy + iowait + steal + idle` is 100, and `user + system` is `busy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CpuShare {
    /// Time of programs and the kernel, %.
    pub busy_pct: f64,
    /// User mode, at any priority, %.
    pub user_pct: f64,
    /// Kernel mode, interrupts included, %.
    pub system_pct: f64,
    /// Idle while a thread waited for storage, %.
    pub iowait_pct: f64,
    /// Taken by the hypervisor, %.
    pub steal_pct: f64,
    /// Idle without waiting for storage, %.
    pub idle_pct: f64,
    /// Time in user mode, summed over CPUs, s.
    pub user_s: Option<f64>,
    /// Time in kernel mode, summed over CPUs, s.
    pub system_s: Option<f64>,
}

/// What a block device did in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DeviceRates {
    /// Reads completed in the interval.
    pub reads: u64,
    /// Writes completed in the interval.
    pub writes: u64,
    /// Bytes read in the interval.
    pub read_bytes: u64,
    /// Bytes written in the interval.
    pub write_bytes: u64,
    /// Flushes of the device's cache completed.
    pub flushes: Option<u64>,
    pub reads_per_s: f64,
    pub writes_per_s: f64,
    /// MB (10⁶ bytes) read per second.
    pub read_mb_per_s: f64,
    /// MB (10⁶ bytes) written per second.
    pub write_mb_per_s: f64,
    /// Mean time of a read from queueing to completion, µs; absent where there were too few for a precise
    /// mean.
    pub read_latency_us: Option<f64>,
    /// Mean time of a write from queueing to completion, µs; absent where there were too few for a precise
    /// mean.
    pub write_latency_us: Option<f64>,
    /// Share of the interval in which at least one request was in progress, %. A device that serves many
    /// requests at once can show 100 % long before its limit. Kernels from 5.0 count in ticks of 1 to 10 ms,
    /// so short bursts may not show.
    pub utilisation_pct: Option<f64>,
    /// Requests in progress, on average over the interval.
    pub queue_depth: Option<f64>,
}

/// What a network interface did in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct NetworkRates {
    /// Bytes received in the interval.
    pub rx_bytes: u64,
    /// Bytes sent in the interval.
    pub tx_bytes: u64,
    /// MB (10⁶ bytes) received per second.
    pub rx_mb_per_s: f64,
    /// MB (10⁶ bytes) sent per second.
    pub tx_mb_per_s: f64,
    /// Packets that were broken or dropped, in both directions.
    pub bad_packets: u64,
}

/// What an NFS mount did in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct NfsRates {
    /// Reads sent to the server.
    pub reads: u64,
    /// Writes sent to the server.
    pub writes: u64,
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
    /// Mean time from sending a read to its answer, µs; absent where there were too few for a precise mean.
    pub read_rtt_us: Option<f64>,
    /// Mean time from sending a write to its answer, µs; absent where there were too few for a precise mean.
    pub write_rtt_us: Option<f64>,
    /// Requests that had to be sent again.
    pub retransmissions: u64,
}

/// Share of an interval that was lost waiting for a resource, %.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PressurePct {
    /// Time in which at least one thread waited, %.
    pub some_pct: f64,
    /// Time in which every thread with work waited, %.
    pub full_pct: Option<f64>,
}

/// CPU time of this process in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ProcessCpu {
    /// Time in user mode, s.
    pub user_s: f64,
    /// Time in kernel mode, s.
    pub system_s: f64,
}

impl CpuShare {
    pub(crate) fn between(begin: &CpuTimes, end: &CpuTimes, ticks_per_s: Option<u64>) -> Option<Self> {
        // Idle time and I/O wait can step back by a tick (proc_stat(5)), steal on some hypervisors.
        let forgiving = |b: u64, e: u64| e.saturating_sub(b) as f64;
        let idle = forgiving(begin.idle, end.idle);
        let iowait = forgiving(begin.iowait, end.iowait);
        let steal = forgiving(begin.steal, end.steal);
        let strict = |b: u64, e: u64| moved(b, e).map(|ticks| ticks as f64);
        let user = strict(begin.user, end.user)? + strict(begin.nice, end.nice)?;
        let interrupts = strict(begin.irq, end.irq)? + strict(begin.softirq, end.softirq)?;
        let system = strict(begin.system, end.system)? + interrupts;
        let total = user + system + idle + iowait + steal;
        let pct = |ticks: f64| 100.0 * ticks / total;
        let seconds = |ticks: f64| ticks_per_s.map(|ticks_per_s| ticks / ticks_per_s as f64);
        (total > 0.0).then(|| Self {
            busy_pct: pct(user + system),
            user_pct: pct(user),
            system_pct: pct(system),
            iowait_pct: pct(iowait),
            steal_pct: pct(steal),
            idle_pct: pct(idle),
            user_s: seconds(user),
            system_s: seconds(system),
        })
    }
}

impl DeviceRates {
    pub(crate) fn between(begin: &DiskCounters, end: &DiskCounters, seconds: f64) -> Option<Self> {
        let (reads, writes) = (moved(begin.reads, end.reads)?, moved(begin.writes, end.writes)?);
        let read_bytes = moved(begin.read_bytes, end.read_bytes)?;
        let write_bytes = moved(begin.write_bytes, end.write_bytes)?;
        let share = |begin: u64, end: u64| moved_ms(begin, end).map(|ms| ms as f64 / (seconds * 1_000.0));
        Some(Self {
            reads,
            writes,
            read_bytes,
            write_bytes,
            flushes: moved_opt(begin.flushes, end.flushes),
            reads_per_s: reads as f64 / seconds,
            writes_per_s: writes as f64 / seconds,
            read_mb_per_s: read_bytes as f64 / seconds / MB,
            write_mb_per_s: write_bytes as f64 / seconds / MB,
            read_latency_us: moved_ms(begin.read_ms, end.read_ms).and_then(|ms| mean_us(ms, reads)),
            write_latency_us: moved_ms(begin.write_ms, end.write_ms).and_then(|ms| mean_us(ms, writes)),
            // The kernel counts whole milliseconds at the ends of requests, so the share can slightly exceed
            // 100 %.
            utilisation_pct: share(begin.busy_ms, end.busy_ms).map(|share| (100.0 * share).min(100.0)),
            queue_depth: share(begin.queue_ms, end.queue_ms),
        })
    }
}

impl NetworkRates {
    pub(crate) fn between(begin: &NetworkCounters, end: &NetworkCounters, seconds: f64) -> Option<Self> {
        let rx_bytes = moved(begin.rx_bytes, end.rx_bytes)?;
        let tx_bytes = moved(begin.tx_bytes, end.tx_bytes)?;
        Some(Self {
            rx_bytes,
            tx_bytes,
            rx_mb_per_s: rx_bytes as f64 / seconds / MB,
            tx_mb_per_s: tx_bytes as f64 / seconds / MB,
            bad_packets: moved(begin.rx_bad, end.rx_bad)?.saturating_add(moved(begin.tx_bad, end.tx_bad)?),
        })
    }
}

impl NfsRates {
    pub(crate) fn between(begin: &NfsCounters, end: &NfsCounters) -> Option<Self> {
        let (reads, writes) = (moved(begin.reads, end.reads)?, moved(begin.writes, end.writes)?);
        Some(Self {
            reads,
            writes,
            read_bytes: moved(begin.read_bytes, end.read_bytes)?,
            write_bytes: moved(begin.write_bytes, end.write_bytes)?,
            read_rtt_us: mean_us(moved(begin.read_rtt_ms, end.read_rtt_ms)?, reads),
            write_rtt_us: mean_us(moved(begin.write_rtt_ms, end.write_rtt_ms)?, writes),
            retransmissions: moved(begin.retransmissions, end.retransmissions)?,
        })
    }
}

impl PressurePct {
    pub(crate) fn between(begin: &Pressure, end: &Pressure, seconds: f64) -> Option<Self> {
        let pct = |us: u64| us as f64 / (seconds * 1e6) * 100.0;
        let full = moved_opt(begin.full_us, end.full_us);
        Some(Self { some_pct: pct(moved(begin.some_us, end.some_us)?), full_pct: full.map(pct) })
    }
}

impl ProcessCpu {
    pub(crate) fn between(begin: &HostSnapshot, end: &HostSnapshot) -> Option<Self> {
        let ticks_per_s = end.fixed.ticks_per_s? as f64;
        let (begin, end) = (begin.process?, end.process?);
        let seconds = |b, e| Some(moved(b, e)? as f64 / ticks_per_s);
        Some(Self { user_s: seconds(begin.user, end.user)?, system_s: seconds(begin.system, end.system)? })
    }
}

/// The difference of a counter; absent if it went backwards.
pub(crate) fn moved(begin: u64, end: u64) -> Option<u64> {
    end.checked_sub(begin)
}

pub(crate) fn moved_opt(begin: Option<u64>, end: Option<u64>) -> Option<u64> {
    moved(begin?, end?)
}

/// The difference of a device's time counter. The kernel keeps 32 bits, so a fall from the upper half to the
/// lower one is a wrap. Any other fall means that the device's counters were reset.
pub(crate) fn moved_ms(begin: u64, end: u64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    let wrapped = (WRAP / 2..WRAP).contains(&begin) && end < WRAP / 2;
    moved(begin, if wrapped { end + WRAP } else { end })
}

/// The mean of `count` times with the sum `sum_ms`, µs.
///
/// The sum is in whole milliseconds, so the mean is off by up to 1,000 ÷ `count` µs. It is present only where
/// that is at most 10 µs or 5 %.
fn mean_us(sum_ms: u64, count: u64) -> Option<f64> {
    (count >= 100 || count > 0 && sum_ms >= 20).then(|| sum_ms as f64 * 1_000.0 / count as f64)
}
