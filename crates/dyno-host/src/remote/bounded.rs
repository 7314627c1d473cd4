//! Limits a machine's message to plausible values, since anybody may have sent it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dyno_plan::terminal::spelled;
use dyno_record::Host;

use super::{HostDescription, TimedHostSnapshot};
use crate::counted::is_plain;
use crate::snapshot::{Fixed, HostSnapshot};

/// The most names of one kind.
const NAMES_MAX: usize = 1_000;
/// The most facts, and the most reasons for missing ones.
const FACTS_MAX: usize = 20_000;
const MISSING_MAX: usize = 100;
/// The most places of a run.
const PLACES_MAX: usize = 16;
/// The longest text that is accepted, in characters.
const TEXT_MAX: usize = 1_000;

impl HostDescription {
    /// Removes characters that could affect a terminal or a page, and parts that only the run's own machine
    /// has.
    ///
    /// # Errors
    /// The description is not plausible for a machine.
    pub fn bounded(self) -> Result<Self, String> {
        let Self { host, missing, boot } = self;
        if host.facts.len() > FACTS_MAX || host.mounts.len() > PLACES_MAX || missing.len() > MISSING_MAX {
            return Err(format!(
                "it reports too much: {} facts and {} places",
                host.facts.len(),
                host.mounts.len()
            ));
        }
        let texts = |map: BTreeMap<String, String>| -> BTreeMap<String, String> {
            map.into_iter().map(|(name, value)| (text(&name), text(&value))).collect()
        };
        let host = Host {
            name: text(&host.name),
            kernel: text(&host.kernel),
            os: text(&host.os),
            cpu_model: text(&host.cpu_model),
            facts: texts(host.facts),
            mounts: texts(host.mounts),
            cpus: host.cpus,
            numa_nodes: host.numa_nodes,
            memory_bytes: host.memory_bytes,
            ..Host::default()
        };
        let missing = missing.iter().map(|(name, why)| (text(name), text(why))).collect();
        Ok(Self { host, missing, boot: boot.as_deref().map(text) })
    }
}

impl TimedHostSnapshot {
    /// Accepts only names that a kernel could give, and no more of them than a machine has.
    ///
    /// # Errors
    /// The counters are not plausible for a machine.
    pub fn bounded(self) -> Result<Self, String> {
        let HostSnapshot { cpu, memory, vm, devices, network, pressure, nfs, fixed, .. } = self.snapshot;
        let most = devices.len().max(network.len()).max(nfs.len());
        if most > NAMES_MAX || fixed.devices.len() > PLACES_MAX {
            return Err(format!("it reports too much: {most} devices or interfaces"));
        }
        let places = fixed.devices.iter().filter(|(name, device)| is_plain(name) && is_plain(device));
        let fixed = Fixed {
            ticks_per_s: fixed.ticks_per_s.filter(|ticks| (1..=100_000).contains(ticks)),
            devices: places.cloned().collect(),
        };
        let snapshot = HostSnapshot {
            cpu,
            memory,
            vm,
            devices: named(devices),
            network: named(network),
            pressure,
            nfs: named(nfs),
            process: None,
            fixed: Arc::new(fixed),
        };
        Ok(Self { snapshot, ..self })
    }
}

fn named<T>(map: BTreeMap<Arc<str>, T>) -> BTreeMap<Arc<str>, T> {
    map.into_iter().filter(|(name, _)| is_plain(name)).collect()
}

fn text(text: &str) -> String {
    spelled(text, TEXT_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::HostDelta;
    use crate::parse::cpu::{CpuStat, CpuTimes};
    use crate::parse::disk::DiskCounters;
    use crate::parse::process::ProcessTicks;

    #[test]
    fn implausible_host_descriptions_are_trimmed_or_refused() {
        let mut host = Host { name: "db\u{1b}[2J1".into(), cpus_allowed: 3, ..Host::default() };
        host.counters.insert("ops".into(), 1.0);
        let description = HostDescription { host, ..HostDescription::default() }.bounded().unwrap();
        assert!(!description.host.name.contains('\u{1b}'));
        assert!(description.host.counters.is_empty());
        assert_eq!(description.host.cpus_allowed, 0);
        let many = (0..FACTS_MAX + 1).map(|at| (at.to_string(), String::new())).collect();
        let host = Host { facts: many, ..Host::default() };
        assert!(HostDescription { host, ..HostDescription::default() }.bounded().is_err());

        let mut snapshot =
            HostSnapshot { process: Some(ProcessTicks { user: 1, system: 1 }), ..Default::default() };
        snapshot.devices.insert("v\u{1b}a".into(), DiskCounters::default());
        snapshot.devices.insert("vda".into(), DiskCounters::default());
        snapshot.fixed = Arc::new(Fixed { ticks_per_s: Some(0), devices: Vec::new() });
        let bounded_snapshot =
            TimedHostSnapshot { snapshot: snapshot.clone(), ..TimedHostSnapshot::default() }
                .bounded()
                .unwrap()
                .snapshot;
        assert_eq!(
            (bounded_snapshot.process, bounded_snapshot.fixed.ticks_per_s, bounded_snapshot.devices.len()),
            (None, None, 1)
        );
        for at in 0..=NAMES_MAX {
            snapshot.devices.insert(at.to_string().into(), DiskCounters::default());
        }
        assert!(TimedHostSnapshot { snapshot, ..TimedHostSnapshot::default() }.bounded().is_err());
    }

    proptest! {
        #[test]
        fn host_figures_are_finite_for_any_counters(ticks: u64, values: [u64; 8], bytes in any::<[u64; 2]>()) {
            let [user, nice, system, idle, iowait, irq, softirq, steal] = values;
            let times = CpuTimes { user, nice, system, idle, iowait, irq, softirq, steal };
            let device = DiskCounters { reads: user, read_bytes: bytes[0], read_ms: bytes[1], ..Default::default() };
            let mut snapshot = HostSnapshot { cpu: Some(CpuStat { times, ..CpuStat::default() }), ..Default::default() };
            snapshot.devices.insert("vda".into(), device);
            snapshot.fixed = Arc::new(Fixed { ticks_per_s: Some(ticks), devices: vec![("data".into(), "vda".into())] });
            let end = TimedHostSnapshot { snapshot, ..TimedHostSnapshot::default() }.bounded().unwrap().snapshot;
            let mut begin = end.clone();
            begin.cpu = Some(CpuStat::default());
            begin.devices.insert("vda".into(), DiskCounters::default());
            let counters = HostDelta::between(&begin, &end, 1.0).counters();
            prop_assert!(counters.values().all(|value| value.is_finite() && *value >= 0.0), "{counters:?}");
        }
    }
}
