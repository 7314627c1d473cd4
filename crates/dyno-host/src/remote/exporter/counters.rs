//! Converts node_exporter's counters to the kernel counters from which they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::text::{ExporterSample, ExporterSamples, whole};
use crate::counted::HostCounterReader;
use crate::files::Root;
use crate::parse::cpu::{CpuStat, CpuTimes};
use crate::parse::disk::DiskCounters;
use crate::parse::memory::{Memory, VmCounters};
use crate::parse::net::NetworkCounters;
use crate::parse::pressure::Pressure;
use crate::snapshot::HostSnapshot;

/// node_exporter always divides by this number (its `collector/cpu_linux.go`, `userHZ`).
pub(super) const TICKS_PER_S: u64 = 100;

/// All counters of one answer.
pub(super) fn snapshot(
    samples: &ExporterSamples,
    counted: &mut HostCounterReader,
    root: &Root,
) -> HostSnapshot {
    let disks = disks(samples);
    let network = network(samples);
    HostSnapshot {
        cpu: cpu(samples),
        memory: memory(samples),
        vm: vm(samples),
        devices: counted.devices_of(disks.iter().map(|(name, disk)| (name.as_str(), *disk)), root),
        network: counted.interfaces_of(network.iter().map(|(name, net)| (name.as_str(), *net))),
        pressure: pressure(samples),
        fixed: Arc::clone(&counted.fixed),
        ..HostSnapshot::default()
    }
}

/// CPU time by kind, summed over processors. `user` and `nice` already include guests' time.
fn cpu(samples: &ExporterSamples) -> Option<CpuStat> {
    let all = samples.all("node_cpu_seconds_total");
    let ticks = |mode: &str| {
        let mode_samples = all.iter().filter(|sample| sample.label("mode") == mode);
        mode_samples
            .map(|sample| whole(sample.value * TICKS_PER_S as f64))
            .try_fold(0u64, |sum, ticks| Some(sum + ticks?))
    };
    if all.is_empty() {
        return None;
    }
    Some(CpuStat {
        times: CpuTimes {
            user: ticks("user")?,
            nice: ticks("nice")?,
            system: ticks("system")?,
            idle: ticks("idle")?,
            iowait: ticks("iowait")?,
            irq: ticks("irq")?,
            softirq: ticks("softirq")?,
            steal: ticks("steal")?,
        },
        context_switches: samples.count("node_context_switches_total"),
        running: samples.count("node_procs_running"),
        blocked: samples.count("node_procs_blocked"),
    })
}

fn memory(samples: &ExporterSamples) -> Option<Memory> {
    let bytes_of = |name: &str| samples.count(&format!("node_memory_{name}_bytes"));
    let memory = Memory {
        total_bytes: bytes_of("MemTotal"),
        free_bytes: bytes_of("MemFree"),
        available_bytes: bytes_of("MemAvailable"),
        cached_bytes: bytes_of("Cached"),
        dirty_bytes: bytes_of("Dirty"),
        writeback_bytes: bytes_of("Writeback"),
        swap_total_bytes: bytes_of("SwapTotal"),
        swap_free_bytes: bytes_of("SwapFree"),
    };
    memory.total_bytes.map(|_| memory)
}

fn vm(samples: &ExporterSamples) -> Option<VmCounters> {
    let count_of = |name: &str| samples.count(&format!("node_vmstat_{name}"));
    let kib = |name: &str| count_of(name)?.checked_mul(1_024);
    let vm = VmCounters {
        page_in_bytes: kib("pgpgin"),
        page_out_bytes: kib("pgpgout"),
        major_faults: count_of("pgmajfault"),
        swap_in_pages: count_of("pswpin"),
        swap_out_pages: count_of("pswpout"),
    };
    (vm != VmCounters::default()).then_some(vm)
}

/// A counter's name and the function that stores it.
type Put<T> = (&'static str, fn(&mut T, f64) -> Option<()>);

/// Collects counters by the label `device`. Skips a device that lacks one of the first `needed` counters.
fn by_device<T: Default + Copy>(
    samples: &ExporterSamples,
    needed: usize,
    counters: &[Put<T>],
) -> BTreeMap<String, T> {
    let mut by_name: BTreeMap<&str, (T, usize)> = BTreeMap::new();
    for (at, (name, put)) in counters.iter().enumerate() {
        for sample in samples.all(name).iter().filter(|sample| !sample.label("device").is_empty()) {
            let (thing, has) = by_name.entry(device(sample)).or_default();
            if put(thing, sample.value).is_some() && at < needed {
                *has += 1;
            }
        }
    }
    let whole = by_name.into_iter().filter(|(_, (_, has))| *has == needed);
    whole.map(|(name, (thing, _))| (name.to_owned(), thing)).collect()
}

fn device(sample: &ExporterSample) -> &str {
    sample.label("device")
}

/// Stores a count, or a time in seconds as ms, in a field.
macro_rules! count {
    ($name:literal, $field:ident) => {
        ($name, |thing, value| {
            thing.$field = whole(value)?;
            Some(())
        })
    };
    ($name:literal, ms $field:ident) => {
        ($name, |thing, value| {
            thing.$field = whole(value * 1e3)?;
            Some(())
        })
    };
    ($name:literal, some $field:ident) => {
        ($name, |thing, value| {
            thing.$field = Some(whole(value)?);
            Some(())
        })
    };
    ($name:literal, add $field:ident) => {
        ($name, |thing, value| {
            thing.$field = thing.$field.saturating_add(whole(value)?);
            Some(())
        })
    };
}

const DISK: [Put<DiskCounters>; 11] = [
    count!("node_disk_reads_completed_total", reads),
    count!("node_disk_read_bytes_total", read_bytes),
    count!("node_disk_read_time_seconds_total", ms read_ms),
    count!("node_disk_writes_completed_total", writes),
    count!("node_disk_written_bytes_total", write_bytes),
    count!("node_disk_write_time_seconds_total", ms write_ms),
    count!("node_disk_io_now", in_flight),
    count!("node_disk_io_time_seconds_total", ms busy_ms),
    count!("node_disk_io_time_weighted_seconds_total", ms queue_ms),
    count!("node_disk_discards_completed_total", some discards),
    count!("node_disk_flush_requests_total", some flushes),
];
const DISK_NEEDED: usize = 9;

fn disks(samples: &ExporterSamples) -> BTreeMap<String, DiskCounters> {
    by_device(samples, DISK_NEEDED, &DISK)
}

const NETWORK: [Put<NetworkCounters>; 8] = [
    count!("node_network_receive_bytes_total", rx_bytes),
    count!("node_network_receive_packets_total", rx_packets),
    count!("node_network_receive_errs_total", add rx_bad),
    count!("node_network_receive_drop_total", add rx_bad),
    count!("node_network_transmit_bytes_total", tx_bytes),
    count!("node_network_transmit_packets_total", tx_packets),
    count!("node_network_transmit_errs_total", add tx_bad),
    count!("node_network_transmit_drop_total", add tx_bad),
];

fn network(samples: &ExporterSamples) -> BTreeMap<String, NetworkCounters> {
    by_device(samples, NETWORK.len(), &NETWORK)
}

/// For processors node_exporter reports only `some` (at least one thread waited); for other resources also
/// `full`.
fn pressure(samples: &ExporterSamples) -> BTreeMap<&'static str, Pressure> {
    let us = |name: &str, kind: &str| {
        let seconds = samples.value(&format!("node_pressure_{name}_{kind}_seconds_total"))?;
        whole(seconds * 1e6)
    };
    let pressure_of = |name: &'static str| {
        Some((name, Pressure { some_us: us(name, "waiting")?, full_us: us(name, "stalled") }))
    };
    ["cpu", "io", "memory"].into_iter().filter_map(pressure_of).collect()
}
