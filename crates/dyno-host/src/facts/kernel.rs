//! Describes kernel and distribution, and the kernel settings that affect a database's I/O, memory and
//! network.

use dyno_record::Host;

use super::map::FactMap;
use crate::files::Root;

/// The place of `uname -m` in a fetched tree.
pub(crate) const MACHINE: &str = "uname/machine";

/// The recorded settings, as files below `/proc/sys`.
pub(crate) const SYSCTLS: [&str; 33] = [
    "fs/aio-max-nr",
    "fs/aio-nr",
    "fs/file-max",
    "kernel/io_uring_disabled",
    "kernel/numa_balancing",
    "kernel/perf_event_paranoid",
    "kernel/sem",
    "kernel/shmall",
    "kernel/shmmax",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_max",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "sunrpc/tcp_max_slot_table_entries",
    "sunrpc/tcp_slot_table_entries",
    "vm/dirty_background_bytes",
    "vm/dirty_background_ratio",
    "vm/dirty_bytes",
    "vm/dirty_expire_centisecs",
    "vm/dirty_ratio",
    "vm/dirty_writeback_centisecs",
    "vm/laptop_mode",
    "vm/max_map_count",
    "vm/min_free_kbytes",
    "vm/nr_hugepages",
    "vm/overcommit_memory",
    "vm/overcommit_ratio",
    "vm/page-cluster",
    "vm/swappiness",
    "vm/vfs_cache_pressure",
    "vm/zone_reclaim_mode",
];

pub(super) fn add(root: &Root, host: &mut Host, facts: &mut FactMap) {
    host.name = root.text("proc/sys/kernel/hostname").unwrap_or_default();
    let arch = match root.fetched() {
        Some(_) => root.text(MACHINE).unwrap_or_default(),
        None => std::env::consts::ARCH.to_owned(),
    };
    host.kernel = match root.text("proc/sys/kernel/osrelease") {
        Some(release) => format!("Linux {release} {arch}").trim_end().to_owned(),
        None if root.fetched().is_some() => String::new(),
        None => format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    };
    host.os = ["etc/os-release", "usr/lib/os-release"]
        .into_iter()
        .find_map(|file| pretty_name(&root.text(file)?))
        .unwrap_or_default();
    facts.put("boot_id", root.text("proc/sys/kernel/random/boot_id"));
    facts.put("kernel.version", root.text("proc/sys/kernel/version"));
    for setting in SYSCTLS {
        put_setting(root, facts, setting);
    }
    // The scheduler's settings differ between kernels (many moved to debugfs), so all existing ones are
    // recorded.
    for name in root.names("proc/sys/kernel") {
        if name.starts_with("sched_") && name != "sched_domain" {
            put_setting(root, facts, &format!("kernel/{name}"));
        }
    }
}

fn put_setting(root: &Root, facts: &mut FactMap, setting: &str) {
    facts.put(format!("sysctl.{}", setting.replace('/', ".")), root.text(&format!("proc/sys/{setting}")));
}

/// The distribution's name: `PRETTY_NAME` of os-release(5).
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}
