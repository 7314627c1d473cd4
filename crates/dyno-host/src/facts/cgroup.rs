//! Reads the limits that control groups put on this process. A group's limit binds everything below it, so
//! the tightest limit from the own group upwards counts. Group names are not kept: they may name users.

use super::map::FactMap;
use crate::allowed::{cpu_quota, read};
use crate::files::Root;
use crate::parse::cgroup::{folder, parse_memory_max};
use crate::parse::mounts::parse_mountinfo;

pub(super) fn add(root: &Root, facts: &mut FactMap) {
    let Some(membership) = root.text("proc/self/cgroup") else { return };
    let mounts = parse_mountinfo(&root.text("proc/self/mountinfo").unwrap_or_default());
    let find = |controller: &str| folder(&membership, &mounts, controller);
    if let Some(cpu) = find("cpu") {
        facts.put("cgroup.version", Some(if cpu.unified { 2 } else { 1 }));
        let quotas = cpu.with_parents().filter_map(|folder| cpu_quota(&cpu, folder));
        facts.put("cgroup.cpu.quota_cpus", quotas.reduce(f64::min));
    }
    if let Some(memory) = find("memory") {
        let file = if memory.unified { "memory.max" } else { "memory.limit_in_bytes" };
        let limits = memory.with_parents().filter_map(|folder| parse_memory_max(&read(folder, file)?));
        facts.put("cgroup.memory.max_bytes", limits.min());
    }
    if let Some(cpuset) = find("cpuset") {
        let file = if cpuset.unified { "cpuset.cpus.effective" } else { "cpuset.effective_cpus" };
        facts.put(
            "cgroup.cpuset.cpus",
            read(&cpuset.process_folder, file).or_else(|| read(&cpuset.process_folder, "cpuset.cpus")),
        );
    }
    if let Some(io) = find("io") {
        facts.put("cgroup.io.max", read(&io.process_folder, "io.max"));
    }
    if let Some(blkio) = find("blkio").filter(|blkio| !blkio.unified) {
        for limit in ["read_iops_device", "write_iops_device", "read_bps_device", "write_bps_device"] {
            facts.put(
                format!("cgroup.blkio.{limit}"),
                read(&blkio.process_folder, &format!("blkio.throttle.{limit}")),
            );
        }
    }
}
