//! All of the host's counters at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::parse::cpu::CpuStat;
use crate::parse::disk::DiskCounters;
use crate::parse::memory::{Memory, VmCounters};
use crate::parse::net::NetworkCounters;
use crate::parse::nfs::NfsCounters;
use crate::parse::pressure::Pressure;
use crate::parse::process::ProcessTicks;

/// The host's counters at one moment, cumulative since the boot unless they say otherwise. What could not be read is
/// absent. Two of them make a [`HostDelta`](crate::HostDelta).
#[derive(Debug, Clone, Default)]
pub struct HostSnapshot {
    /// CPU time, context switches, and threads that run or are blocked now.
    pub cpu: Option<CpuStat>,
    /// Memory now.
    pub memory: Option<Memory>,
    /// Paging and swapping.
    pub vm: Option<VmCounters>,
    /// Block devices by name: those that ever did something, and those of the places.
    pub devices: BTreeMap<Arc<str>, DiskCounters>,
    /// Network interfaces by name.
    pub network: BTreeMap<Arc<str>, NetworkCounters>,
    /// Time lost waiting, by resource: `cpu`, `io`, `memory`.
    pub pressure: BTreeMap<&'static str, Pressure>,
    /// NFS mounts of the places, by the place's name.
    pub nfs: BTreeMap<Arc<str>, NfsCounters>,
    /// CPU time of this process, in clock ticks.
    pub(crate) process: Option<ProcessTicks>,
    /// What does not change between snapshots.
    pub(crate) fixed: Arc<Fixed>,
}

/// What an observer knows from its beginning.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    /// Clock ticks per second.
    pub(crate) ticks_per_s: Option<u64>,
    /// Places and the devices their file systems are on.
    pub(crate) devices: Vec<(String, String)>,
}
