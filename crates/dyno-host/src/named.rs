//! The host's figures under the names that records use: `cpu.busy_pct`, `device.vda.reads`.

use std::collections::BTreeMap;

use crate::delta::HostDelta;
use crate::rates::DeviceRates;

/// Figures by name; what is absent or no finite number is not entered.
#[derive(Default)]
struct Named(BTreeMap<String, f64>);

impl Named {
    fn put(&mut self, group: &str, name: &str, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.0.insert(format!("{group}.{name}"), value);
        }
    }

    fn put_count(&mut self, group: &str, name: &str, value: impl Into<Option<u64>>) {
        self.put(group, name, value.into().map(|value| value as f64));
    }
}

impl HostDelta {
    /// The figures under dotted names, as a record keeps them. Names say the unit; those without one are counts over the
    /// interval. Devices that did nothing are left out unless a place is on them, as are interfaces that did nothing.
    pub fn counters(&self) -> BTreeMap<String, f64> {
        let mut named = Named::default();
        self.name_cpu(&mut named);
        self.name_memory(&mut named);
        for (name, device) in &self.devices {
            if device.reads > 0 || device.writes > 0 || self.holds_a_place(name) {
                name_device(&mut named, &format!("device.{name}"), device);
            }
        }
        for (name, network) in &self.network {
            if network.rx_bytes > 0 || network.tx_bytes > 0 {
                let group = format!("net.{name}");
                named.put_count(&group, "rx_bytes", network.rx_bytes);
                named.put_count(&group, "tx_bytes", network.tx_bytes);
                named.put(&group, "rx_mb_per_s", network.rx_mb_per_s);
                named.put(&group, "tx_mb_per_s", network.tx_mb_per_s);
                named.put_count(&group, "bad_packets", network.bad_packets);
            }
        }
        for (place, nfs) in &self.nfs {
            let group = format!("nfs.{place}");
            named.put_count(&group, "reads", nfs.reads);
            named.put_count(&group, "writes", nfs.writes);
            named.put_count(&group, "read_bytes", nfs.read_bytes);
            named.put_count(&group, "write_bytes", nfs.write_bytes);
            named.put(&group, "read_rtt_us", nfs.read_rtt_us);
            named.put(&group, "write_rtt_us", nfs.write_rtt_us);
            named.put_count(&group, "retransmissions", nfs.retransmissions);
        }
        named.0
    }

    fn name_cpu(&self, named: &mut Named) {
        if let Some(cpu) = &self.cpu {
            named.put("cpu", "busy_pct", cpu.busy_pct);
            named.put("cpu", "user_pct", cpu.user_pct);
            named.put("cpu", "system_pct", cpu.system_pct);
            named.put("cpu", "iowait_pct", cpu.iowait_pct);
            named.put("cpu", "steal_pct", cpu.steal_pct);
            named.put("cpu", "idle_pct", cpu.idle_pct);
            named.put("cpu", "user_s", cpu.user_s);
            named.put("cpu", "system_s", cpu.system_s);
        }
        named.put("cpu", "context_switches_per_s", self.context_switches_per_s);
        named.put_count("threads", "running", self.threads_running);
        named.put_count("threads", "blocked", self.threads_blocked);
        if let Some(process) = &self.process {
            named.put("process", "user_s", process.user_s);
            named.put("process", "system_s", process.system_s);
            named.put("process", "cpu_s", process.user_s + process.system_s);
        }
        for (resource, pressure) in &self.pressure {
            let group = format!("pressure.{resource}");
            named.put(&group, "some_pct", pressure.some_pct);
            named.put(&group, "full_pct", pressure.full_pct);
        }
    }

    fn name_memory(&self, named: &mut Named) {
        if let Some(memory) = &self.memory {
            named.put_count("memory", "free_bytes", memory.free_bytes);
            named.put_count("memory", "available_bytes", memory.available_bytes);
            named.put_count("memory", "cached_bytes", memory.cached_bytes);
            named.put_count("memory", "dirty_bytes", memory.dirty_bytes);
            named.put_count("memory", "writeback_bytes", memory.writeback_bytes);
        }
        named.put_count("vm", "page_in_bytes", self.vm.page_in_bytes);
        named.put_count("vm", "page_out_bytes", self.vm.page_out_bytes);
        named.put_count("vm", "major_faults", self.vm.major_faults);
        named.put_count("vm", "swap_in_pages", self.vm.swap_in_pages);
        named.put_count("vm", "swap_out_pages", self.vm.swap_out_pages);
    }
}

fn name_device(named: &mut Named, group: &str, device: &DeviceRates) {
    named.put_count(group, "reads", device.reads);
    named.put_count(group, "writes", device.writes);
    named.put_count(group, "read_bytes", device.read_bytes);
    named.put_count(group, "write_bytes", device.write_bytes);
    named.put_count(group, "flushes", device.flushes);
    named.put(group, "reads_per_s", device.reads_per_s);
    named.put(group, "writes_per_s", device.writes_per_s);
    named.put(group, "read_mb_per_s", device.read_mb_per_s);
    named.put(group, "write_mb_per_s", device.write_mb_per_s);
    named.put(group, "read_latency_us", device.read_latency_us);
    named.put(group, "write_latency_us", device.write_latency_us);
    named.put(group, "utilisation_pct", device.utilisation_pct);
    named.put(group, "queue_depth", device.queue_depth);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::snapshot::Fixed;

    #[test]
    fn devices_that_did_something_or_hold_a_place_are_named() {
        let mut delta = HostDelta { seconds: 1.0, ..HostDelta::default() };
        let busy = DeviceRates { reads: 5, read_latency_us: Some(80.0), ..DeviceRates::default() };
        delta.devices.insert("vda".into(), busy);
        delta.devices.insert("vdb".into(), DeviceRates::default());
        delta.devices.insert("vdc".into(), DeviceRates::default());
        delta.fixed = Arc::new(Fixed { ticks_per_s: None, devices: vec![("data".into(), "vdc".into())] });
        let counters = delta.counters();
        assert_eq!(counters["device.vda.reads"], 5.0);
        assert_eq!(counters["device.vda.read_latency_us"], 80.0);
        assert!(!counters.contains_key("device.vda.write_latency_us"), "what is absent is not named");
        assert!(!counters.keys().any(|name| name.starts_with("device.vdb")));
        assert_eq!(counters["device.vdc.reads"], 0.0);
        assert!(!counters.keys().any(|name| name.starts_with("cpu") || name.starts_with("process")));
    }
}
