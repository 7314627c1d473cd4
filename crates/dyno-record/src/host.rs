//! The hosts of a run: hardware, role, and counters over the window.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The role of a host in a run; one host may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The sessions run from this host.
    Driver,
    /// A database of the run runs on this host.
    Database,
}

/// A host that took part in the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The name of the host.
    pub name: String,
    /// Its roles in the run. Without `database`, its figures do not show how busy a database was.
    pub roles: BTreeSet<Role>,
    /// Operating system and kernel: `Linux 6.1.0 x86_64`.
    pub kernel: String,
    /// Distribution: `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// Model name of its CPUs.
    pub cpu_model: String,
    /// Number of CPUs that are online.
    pub cpus: u32,
    /// Number of CPUs that this process may use.
    pub cpus_allowed: u32,
    /// Number of its NUMA nodes.
    pub numa_nodes: u32,
    /// Size of its memory in bytes.
    pub memory_bytes: u64,
    /// Further facts with dotted names: `huge_pages.total`, `sysctl.vm.swappiness`, `device.vda.scheduler`, `cgroup.memory.max`.
    pub facts: BTreeMap<String, String>,
    /// Mounts of data, redo and repository: path → `device fstype options`.
    pub mounts: BTreeMap<String, String>,
    /// Its counters over the window by name: `cpu.user_s`, `device.vda.reads`.
    pub counters: BTreeMap<String, f64>,
    /// How Dyno observed it; absent for the driver host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// How Dyno observed a host other than the driver host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// The URL of access: `ssh://db1`, `node-exporter://db1:9100`.
    pub url: String,
    /// Numbers (from 1) of the targets whose databases run on it.
    pub targets: BTreeSet<usize>,
    /// Whether it identifies itself as the driver host.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_driver: bool,
    /// What it does not report, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Its clock compared with the driver host's; absent if it does not report its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClock>,
    /// When its counters for the window's begin were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<HostReading>,
    /// When its counters for the window's end were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<HostReading>,
    /// How often its counters were requested, and how often they did not arrive in time.
    pub readings: (u64, u64),
    /// Why Dyno lost access before the end; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// The offset between two wall clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostClock {
    /// How far it was ahead, in seconds.
    pub ahead_s: f64,
    /// The largest possible error of that, in seconds.
    pub bound_s: f64,
    /// How often one of the two clocks was set during the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps: u32,
    /// The largest of these steps, in seconds.
    #[serde(default, skip_serializing_if = "is_still")]
    pub step_s_max: f64,
}

/// When a host's counters for a window boundary were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReading {
    /// Seconds after the database's counters of that boundary; negative if before.
    pub after_s: f64,
    /// The largest possible error of that, in seconds.
    pub bound_s: f64,
    /// From the request to the answer, in seconds.
    pub took_s: f64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_still(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl Host {
    /// Whether the database of the target with this number (from 1) runs on it, as far as its roles show.
    pub fn is_of_target(&self, number: usize) -> bool {
        let is_named = |observed: &Observed| observed.targets.contains(&number);
        self.roles.contains(&Role::Database) && self.observed.as_ref().is_none_or(is_named)
    }

    /// Its label if there are several hosts: its name, and how Dyno observed it.
    pub fn words(&self) -> String {
        match &self.observed {
            Some(observed) if self.name.is_empty() => observed.url.clone(),
            Some(observed) => format!("{} ({})", self.name, observed.url),
            None => self.name.clone(),
        }
    }
}

/// A host without any known facts.
pub(crate) static UNKNOWN: Host = Host {
    name: String::new(),
    roles: BTreeSet::new(),
    kernel: String::new(),
    os: String::new(),
    cpu_model: String::new(),
    cpus: 0,
    cpus_allowed: 0,
    numa_nodes: 0,
    memory_bytes: 0,
    facts: BTreeMap::new(),
    mounts: BTreeMap::new(),
    counters: BTreeMap::new(),
    observed: None,
};
