//! Describes the machine: everything that affects a run and can be read without privileges.

mod cgroup;
mod cpu;
mod devices;
mod kernel;
mod map;
mod memory;
mod network;

use std::path::Path;

use dyno_record::Host;

use crate::files::Root;
use crate::locate::Location;
pub(crate) use kernel::{MACHINE, SYSCTLS};
use map::FactMap;

/// The facts of this machine. `paths` are the places of the run, such as `("data", "/srv/pg")`. The facts
/// include their mounts and devices under these names.
///
/// Roles and counters are left empty: the caller knows the machine's part in the run and when to count. An
/// unreadable number is 0, a text is empty, and a fact is left out. Names of users and secrets are never
/// read.
pub fn facts(paths: &[(&str, &Path)]) -> Host {
    of_root(&Root::system(), paths)
}

fn of_root(root: &Root, paths: &[(&str, &Path)]) -> Host {
    let places: Vec<Location> = paths.iter().map(|(name, path)| Location::find(root, name, path)).collect();
    of_places(root, &places)
}

/// The facts of the machine of `root`, whose places are known.
pub(crate) fn of_places(root: &Root, places: &[Location]) -> Host {
    let mut facts = FactMap::default();
    let mut host = Host::default();
    cpu::add(root, &mut host, &mut facts);
    memory::add(root, &mut host, &mut facts);
    kernel::add(root, &mut host, &mut facts);
    cgroup::add(root, &mut facts);
    network::add(root, &mut facts);
    devices::add(root, places, &mut facts);
    host.mounts = devices::mounts(places);
    if !root.exists("proc/stat") {
        facts.put("unavailable", Some("there is no /proc: facts and counters are read on Linux only"));
    }
    host.facts = facts.0;
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_without_readable_files_has_no_facts() {
        let empty = tempfile::tempdir().unwrap();
        let host = of_root(&Root::at(empty.path()), &[("data", Path::new("/"))]);
        assert_eq!(host.facts.keys().collect::<Vec<_>>(), ["unavailable"]);
        assert!(host.mounts.is_empty());
        let rest = Host { facts: Default::default(), ..host };
        assert_eq!(rest, Host { kernel: rest.kernel.clone(), ..Host::default() });
    }

    #[test]
    fn host_facts_are_read_from_kernel_files() {
        let machine = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("proc/stat", "cpu 1 2 3 4\n"),
            ("proc/cpuinfo", "processor : 0\nmodel name : Some CPU\nflags : fpu hypervisor\n"),
            (
                "proc/meminfo",
                "MemTotal: 1000 kB\nSwapTotal: 20 kB\nHugePages_Total: 5\nHugepagesize: 2048 kB\n",
            ),
            ("proc/self/status", "Cpus_allowed_list:\t0-1,3\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-13\n"),
            ("proc/sys/kernel/hostname", "db1\n"),
            ("proc/sys/kernel/random/boot_id", "b-1\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/kernel/sched_autogroup_enabled", "1\n"),
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("sys/devices/system/cpu/online", "0-7\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/class/block/vda/queue/scheduler", "[none] mq-deadline\n"),
            ("sys/class/block/vda/queue/rotational", "0\n"),
            ("sys/class/block/vda/size", "2048\n"),
            ("sys/class/net/eth0/speed", "25000\n"),
            ("sys/class/net/eth0/mtu", "9000\n"),
            ("sys/class/net/veth1/speed", "-1\n"),
            ("sys/fs/cgroup/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/job/memory.max", "1048576\n"),
            ("proc/self/cgroup", "0::/job\n"),
        ] {
            let path = machine.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        // Mount points are absolute, so they contain the fixture's own folder.
        let at = machine.path().display();
        let mounts = format!(
            "1 0 254:0 / / rw,relatime - ext4 /dev/vda rw\n2 1 0:26 / {at}/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        );
        std::fs::write(machine.path().join("proc/self/mountinfo"), mounts).unwrap();

        let host = of_root(&Root::at(machine.path()), &[("data", Path::new("/"))]);
        assert_eq!((host.name.as_str(), host.os.as_str()), ("db1", "Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(host.kernel, format!("Linux 6.1.0-13 {}", std::env::consts::ARCH));
        assert_eq!((host.cpu_model.as_str(), host.cpus, host.cpus_allowed), ("Some CPU", 8, 3));
        assert_eq!((host.numa_nodes, host.memory_bytes), (2, 1_024_000));
        assert_eq!(host.mounts["data"], "/dev/vda ext4 rw,relatime");
        for (name, value) in [
            ("boot_id", "b-1"),
            ("cgroup.cpu.quota_cpus", "1.5"),
            ("cgroup.memory.max_bytes", "1048576"),
            ("clocksource", "tsc"),
            ("cpu.governor", "powersave"),
            ("cpu.turbo", "on"),
            ("huge_pages.size_bytes", "2097152"),
            ("huge_pages.total", "5"),
            ("net.eth0.mtu_bytes", "9000"),
            ("net.eth0.speed_mbit_per_s", "25000"),
            ("swap.total_bytes", "20480"),
            ("sysctl.kernel.sched_autogroup_enabled", "1"),
            ("sysctl.net.ipv4.tcp_rmem", "4096 131072 6291456"),
            ("sysctl.vm.swappiness", "60"),
            ("transparent_huge_pages.enabled", "madvise"),
            ("virtualisation", "yes"),
        ] {
            assert_eq!(host.facts.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!(!host.facts.keys().any(|name| name.contains("veth1.speed") || name == "unavailable"));
    }
}
