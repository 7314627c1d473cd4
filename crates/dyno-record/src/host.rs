//! The machines of a run: what each is, which part it had in the run, and what it counted meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part a machine has in a run; one machine may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The sessions are led from it.
    Driver,
    /// A database of the run works on it.
    Database,
}

/// A machine of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The machine's name.
    pub name: String,
    /// Its part in the run. Without `database` its figures do not tell how busy a database was.
    pub roles: BTreeSet<Role>,
    /// Operating system and kernel: `Linux 6.1.0 x86_64`.
    pub kernel: String,
    /// Distribution: `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// CPUs that this process may use.
    pub cpus_allowed: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Further facts, dotted names: `huge_pages.total`, `sysctl.vm.swappiness`, `device.vda.scheduler`, `cgroup.memory.max`.
    pub facts: BTreeMap<String, String>,
    /// Mounts of data, redo and repository: path → `device fstype options`.
    pub mounts: BTreeMap<String, String>,
    /// Its counters over the window by name: `cpu.user_s`, `device.vda.reads`.
    pub counters: BTreeMap<String, f64>,
    /// How it was looked at; absent where it is the one that drove the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// How a machine was looked at that is not the one that drove the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Through what: `ssh://db1`, `node-exporter://db1:9100`.
    pub url: String,
    /// Numbers (from 1) of the targets whose databases work on it.
    pub targets: BTreeSet<usize>,
    /// Whether it is, seen from there, the same machine that drove the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_driver: bool,
    /// What it does not tell, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Its clock against that of the machine that drove the run; absent where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClock>,
    /// When its counters at the window's begin were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<HostReading>,
    /// The same at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<HostReading>,
    /// How often its counters were asked for, and how often they were not there in time.
    pub readings: (u64, u64),
    /// Why it was not looked at to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// A clock against another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostClock {
    /// By how much it was ahead, s.
    pub ahead_s: f64,
    /// How far that may be wrong, s.
    pub bound_s: f64,
    /// How often one of the two was set while the run lasted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps: u32,
    /// By how much in the largest of these steps, s.
    #[serde(default, skip_serializing_if = "is_still")]
    pub step_s_max: f64,
}

/// When counters of a machine were read that belong to an edge of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReading {
    /// After the database's counters of that edge, s; before them, if negative.
    pub after_s: f64,
    /// How far that may be wrong, s.
    pub bound_s: f64,
    /// From asking for them to having them, s.
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
    /// Whether the database of the target with this number (from 1) works on it, as far as its part in the run tells.
    pub fn is_of_target(&self, number: usize) -> bool {
        let is_named = |observed: &Observed| observed.targets.contains(&number);
        self.roles.contains(&Role::Database) && self.observed.as_ref().is_none_or(is_named)
    }

    /// How it is called where there are several: its name, and how it was looked at.
    pub fn words(&self) -> String {
        match &self.observed {
            Some(observed) if self.name.is_empty() => observed.url.clone(),
            Some(observed) => format!("{} ({})", self.name, observed.url),
            None => self.name.clone(),
        }
    }
}

/// A host of which nothing is known.
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
