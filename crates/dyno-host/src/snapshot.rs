//! Stores all of the host's counters at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::parse::cpu::CpuStat;
use crate::parse::disk::DiskCounters;
use crate::parse::memory::{Memory, VmCounters};
use crate::parse::net::NetworkCounters;
use crate::parse::nfs::NfsCounters;
use crate::parse::pressure::Pressure;
use crate::parse::process::ProcessTicks;

/// The resources whose pressure the kernel measures, and their files.
pub(crate) const RESOURCES: [(&str, &str); 3] =
    [("cpu", "proc/pressure/cpu"), ("io", "proc/pressure/io"), ("memory", "proc/pressure/memory")];

/// The host's counters at one moment, cumulative since boot unless stated otherwise. What could not be read
/// is absent. Two of them make a [`HostDelta`](crate::HostDelta). It can be serialized.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "SnapshotPayload", into = "SnapshotPayload")]
pub struct HostSnapshot {
    /// CPU time, context switches, and threads that are running or blocked now.
    pub cpu: Option<CpuStat>,
    /// The state of memory at this moment.
    pub memory: Option<Memory>,
    pub vm: Option<VmCounters>,
    /// Block devices by name: those that were ever used, and those of the places.
    pub devices: BTreeMap<Arc<str>, DiskCounters>,
    pub network: BTreeMap<Arc<str>, NetworkCounters>,
    /// Time that threads lost waiting, by resource: `cpu`, `io`, `memory`.
    pub pressure: BTreeMap<&'static str, Pressure>,
    /// NFS mounts of the places, by place name.
    pub nfs: BTreeMap<Arc<str>, NfsCounters>,
    /// CPU time of this process, in clock ticks.
    pub(crate) process: Option<ProcessTicks>,
    /// Values that do not change between snapshots.
    pub(crate) fixed: Arc<Fixed>,
}

/// What an observer knows from the start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fixed {
    pub(crate) ticks_per_s: Option<u64>,
    /// Places and the devices their file systems are on.
    pub(crate) devices: Vec<(String, String)>,
}

/// A snapshot in serialized form. It includes the sizes of memory and swap, which records leave out of the
/// counters.
#[derive(Serialize, Deserialize)]
struct SnapshotPayload {
    cpu: Option<CpuStat>,
    memory: Option<Memory>,
    memory_bytes: [Option<u64>; 3],
    vm: Option<VmCounters>,
    devices: BTreeMap<String, DiskCounters>,
    network: BTreeMap<String, NetworkCounters>,
    pressure: BTreeMap<String, Pressure>,
    nfs: BTreeMap<String, NfsCounters>,
    process: Option<ProcessTicks>,
    fixed: Fixed,
}

fn owned<T>(map: BTreeMap<Arc<str>, T>) -> BTreeMap<String, T> {
    map.into_iter().map(|(name, value)| (name.as_ref().to_owned(), value)).collect()
}

fn shared<T>(map: BTreeMap<String, T>) -> BTreeMap<Arc<str>, T> {
    map.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

impl From<HostSnapshot> for SnapshotPayload {
    fn from(snapshot: HostSnapshot) -> Self {
        let memory = snapshot.memory.unwrap_or_default();
        Self {
            cpu: snapshot.cpu,
            memory: snapshot.memory,
            memory_bytes: [memory.total_bytes, memory.swap_total_bytes, memory.swap_free_bytes],
            vm: snapshot.vm,
            devices: owned(snapshot.devices),
            network: owned(snapshot.network),
            pressure: snapshot.pressure.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            nfs: owned(snapshot.nfs),
            process: snapshot.process,
            fixed: Fixed::clone(&snapshot.fixed),
        }
    }
}

impl From<SnapshotPayload> for HostSnapshot {
    fn from(carried: SnapshotPayload) -> Self {
        let [total_bytes, swap_total_bytes, swap_free_bytes] = carried.memory_bytes;
        let whole = |memory| Memory { total_bytes, swap_total_bytes, swap_free_bytes, ..memory };
        let known_resource = |(name, value): (String, Pressure)| {
            RESOURCES.iter().find(|(known, _)| *known == name).map(|(known, _)| (*known, value))
        };
        Self {
            cpu: carried.cpu,
            memory: carried.memory.map(whole),
            vm: carried.vm,
            devices: shared(carried.devices),
            network: shared(carried.network),
            pressure: carried.pressure.into_iter().filter_map(known_resource).collect(),
            nfs: shared(carried.nfs),
            process: carried.process,
            fixed: Arc::new(carried.fixed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn host_snapshot_survives_serialization() {
        let snapshot = crate::HostObserver::new(&[("data", Path::new("/"))]).snapshot();
        let bytes = serde_json::to_vec(&snapshot).unwrap();
        assert_eq!(serde_json::from_slice::<HostSnapshot>(&bytes).unwrap(), snapshot);
    }
}
