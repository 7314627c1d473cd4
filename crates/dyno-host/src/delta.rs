//! Computes what the host did between two snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::parse::memory::{Memory, VmCounters};
use crate::rates::{CpuShare, DeviceRates, NetworkRates, NfsRates, PressurePct, ProcessCpu, moved_opt};
use crate::snapshot::{Fixed, HostSnapshot};

/// What the host did in an interval. Unknown figures are absent.
#[derive(Debug, Clone, Default)]
pub struct HostDelta {
    /// Length of the interval, s.
    pub seconds: f64,
    /// How the CPUs' time was used.
    pub cpu: Option<CpuShare>,
    /// Context switches of the whole machine per second.
    pub context_switches_per_s: Option<f64>,
    /// Threads that ran or waited for a CPU at the end.
    pub threads_running: Option<u64>,
    /// Threads that waited for storage at the end.
    pub threads_blocked: Option<u64>,
    /// Memory at the end of the interval.
    pub memory: Option<Memory>,
    /// Paging and swapping in the interval.
    pub vm: VmCounters,
    pub devices: BTreeMap<Arc<str>, DeviceRates>,
    pub network: BTreeMap<Arc<str>, NetworkRates>,
    /// Share of the interval that threads lost waiting, by resource: `cpu`, `io`, `memory`.
    pub pressure: BTreeMap<&'static str, PressurePct>,
    /// NFS mounts, by the names of the places on them.
    pub nfs: BTreeMap<Arc<str>, NfsRates>,
    /// CPU time of this process: the cost of driving the load.
    pub process: Option<ProcessCpu>,
    pub(crate) fixed: Arc<Fixed>,
}

impl HostDelta {
    /// The difference of two snapshots of one observer, `seconds` apart. Everything is absent if `seconds` is
    /// not a positive number.
    pub fn between(begin: &HostSnapshot, end: &HostSnapshot, seconds: f64) -> Self {
        let mut delta = Self { seconds, fixed: Arc::clone(&end.fixed), ..Self::default() };
        if !(seconds > 0.0 && seconds.is_finite()) {
            return delta;
        }
        if let (Some(begin), Some(end)) = (&begin.cpu, &end.cpu) {
            delta.cpu = CpuShare::between(&begin.times, &end.times, delta.fixed.ticks_per_s);
            let switches = moved_opt(begin.context_switches, end.context_switches);
            delta.context_switches_per_s = switches.map(|switches| switches as f64 / seconds);
            (delta.threads_running, delta.threads_blocked) = (end.running, end.blocked);
        }
        delta.memory = end.memory;
        delta.vm = vm_between(begin.vm.as_ref(), end.vm.as_ref());
        delta.devices = each(&begin.devices, &end.devices, |b, e| DeviceRates::between(b, e, seconds));
        delta.network = each(&begin.network, &end.network, |b, e| NetworkRates::between(b, e, seconds));
        delta.pressure = each(&begin.pressure, &end.pressure, |b, e| PressurePct::between(b, e, seconds));
        delta.nfs = each(&begin.nfs, &end.nfs, NfsRates::between);
        delta.process = ProcessCpu::between(begin, end);
        delta
    }

    /// The work of the device that holds the place's file system.
    pub fn device_of(&self, place: &str) -> Option<&DeviceRates> {
        let (_, device) = self.fixed.devices.iter().find(|(name, _)| name == place)?;
        self.devices.get(device.as_str())
    }

    /// The work of the device that holds the place `data`.
    pub fn data_device(&self) -> Option<&DeviceRates> {
        self.device_of("data")
    }

    /// Whether any place is on the device called `name`.
    pub(crate) fn holds_a_place(&self, name: &str) -> bool {
        self.fixed.devices.iter().any(|(_, device)| device == name)
    }
}

fn vm_between(begin: Option<&VmCounters>, end: Option<&VmCounters>) -> VmCounters {
    let (Some(begin), Some(end)) = (begin, end) else { return VmCounters::default() };
    VmCounters {
        page_in_bytes: moved_opt(begin.page_in_bytes, end.page_in_bytes),
        page_out_bytes: moved_opt(begin.page_out_bytes, end.page_out_bytes),
        major_faults: moved_opt(begin.major_faults, end.major_faults),
        swap_in_pages: moved_opt(begin.swap_in_pages, end.swap_in_pages),
        swap_out_pages: moved_opt(begin.swap_out_pages, end.swap_out_pages),
    }
}

/// Applies `rates` to everything that is in both snapshots.
fn each<K: Ord + Clone, C, R>(
    begin: &BTreeMap<K, C>,
    end: &BTreeMap<K, C>,
    rates: impl Fn(&C, &C) -> Option<R>,
) -> BTreeMap<K, R> {
    end.iter().filter_map(|(name, end)| Some((name.clone(), rates(begin.get(name)?, end)?))).collect()
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
