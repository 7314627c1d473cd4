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
};
