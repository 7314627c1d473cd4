//! The machines of a run: what each is, which part it had in the run, and what it counted meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::RunRecord;

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
static UNKNOWN: Host = Host {
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

impl RunRecord {
    /// The host that drove the run; one of which nothing is known where nobody here drove it.
    pub fn driver(&self) -> &Host {
        self.hosts.iter().find(|host| host.roles.contains(&Role::Driver)).unwrap_or(&UNKNOWN)
    }

    /// The host to show for the run: the one that drove it, else the first that its source tells of.
    pub fn host(&self) -> &Host {
        let driver = self.hosts.iter().find(|host| host.roles.contains(&Role::Driver));
        driver.or(self.hosts.first()).unwrap_or(&UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_driver_is_found_among_any_number_of_hosts() {
        let mut record = sample::full();
        let database =
            Host { name: "db2".into(), roles: [Role::Database].into(), cpus: 64, ..Host::default() };
        record.hosts.insert(0, database);
        assert_eq!((record.driver().name.as_str(), record.host().name.as_str()), ("db1", "db1"));
        let read = RunRecord::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(read, record, "both hosts are kept");
        record.hosts.pop();
        assert_eq!(record.driver(), &Host::default(), "a database's host did not drive the run");
        assert_eq!(record.host().name, "db2");
        record.hosts.clear();
        assert_eq!(record.host(), &Host::default());
    }
}
