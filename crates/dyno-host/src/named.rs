//! Gives the host's figures the names that records use: `cpu.busy_pct`, `device.vda.reads`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::delta::HostDelta;

/// Figures by name; absent and non-finite values are not entered.
#[derive(Default)]
struct Named(BTreeMap<String, f64>);

impl Named {
    fn put(&mut self, group: &str, name: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.0.insert(format!("{group}.{name}"), value);
        }
    }

    /// Adds all figures of one thing, under the names of its fields.
    fn put_all(&mut self, group: &str, figures: &impl Serialize) {
        let figures = serde_json::to_value(figures).ok();
        for (name, figure) in figures.as_ref().and_then(Value::as_object).into_iter().flatten() {
            self.put(group, name, figure.as_f64());
        }
    }
}

impl HostDelta {
    /// The figures under dotted names, as records store them. A name includes its unit; figures without one
    /// are counts over the interval. Devices and interfaces that did nothing are left out, except devices
    /// with a place.
    pub fn counters(&self) -> BTreeMap<String, f64> {
        let mut named = Named::default();
        named.put_all("cpu", &self.cpu);
        named.put("cpu", "context_switches_per_s", self.context_switches_per_s);
        named.put("threads", "running", self.threads_running.map(|running| running as f64));
        named.put("threads", "blocked", self.threads_blocked.map(|blocked| blocked as f64));
        named.put_all("process", &self.process);
        named.put("process", "cpu_s", self.process.map(|process| process.user_s + process.system_s));
        named.put_all("memory", &self.memory);
        named.put_all("vm", &self.vm);
        for (resource, pressure) in &self.pressure {
            named.put_all(&format!("pressure.{resource}"), pressure);
        }
        for (name, device) in &self.devices {
            if device.reads > 0 || device.writes > 0 || self.holds_a_place(name) {
                named.put_all(&format!("device.{name}"), device);
            }
        }
        for (name, network) in &self.network {
            if network.rx_bytes > 0 || network.tx_bytes > 0 {
                named.put_all(&format!("net.{name}"), network);
            }
        }
        for (place, nfs) in &self.nfs {
            named.put_all(&format!("nfs.{place}"), nfs);
        }
        named.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rates::DeviceRates;
    use crate::snapshot::Fixed;

    #[test]
    fn active_devices_and_data_devices_are_listed() {
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
