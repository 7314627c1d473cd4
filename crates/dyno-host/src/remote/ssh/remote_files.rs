//! Lists what is fetched once from a machine, and converts the answers to a tree of files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::remote::HostPlace;
use crate::tree::{HostFileTree, RemotePlace};

/// Files of facts, besides the kernel settings; the remote shell expands the patterns.
const FILES: &str = "/proc/cpuinfo /proc/meminfo /proc/self/mountinfo /etc/os-release /usr/lib/os-release \
    /proc/sys/kernel/hostname /proc/sys/kernel/osrelease /proc/sys/kernel/version /proc/sys/kernel/random/boot_id \
    /proc/sys/kernel/sched_* /sys/devices/system/cpu/online /sys/devices/system/cpu/isolated \
    /sys/devices/system/cpu/smt/control /sys/devices/system/cpu/cpufreq/boost /sys/devices/system/cpu/intel_pstate/no_turbo \
    /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver \
    /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq /sys/devices/system/node/online \
    /sys/devices/system/clocksource/clocksource0/current_clocksource /sys/hypervisor/type /sys/class/dmi/id/sys_vendor \
    /sys/class/dmi/id/product_name /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/defrag \
    /sys/class/net/*/speed /sys/class/net/*/mtu /sys/class/net/*/operstate /sys/class/block/*/partition \
    /sys/class/block/*/size /sys/class/block/*/dm/name /sys/class/block/*/md/level /sys/class/block/*/loop/backing_file \
    /sys/class/block/*/device/model /sys/class/block/*/device/queue_depth /sys/class/block/*/queue/scheduler \
    /sys/class/block/*/queue/rotational /sys/class/block/*/queue/nr_requests /sys/class/block/*/queue/read_ahead_kb \
    /sys/class/block/*/queue/logical_block_size /sys/class/block/*/queue/physical_block_size \
    /sys/class/block/*/queue/max_sectors_kb /sys/class/block/*/queue/write_cache";

/// Folders whose symbolic links are fetched.
pub(super) const LINKS: &str = "/sys/dev/block /sys/class/block";

/// Names whose existence matters, not their content.
pub(super) const NAMES: &str = "/proc/stat /sys/class/block/*/slaves/* /.dockerenv /run/.containerenv /run/systemd/container \
    /var/run/secrets/kubernetes.io";

/// All files of facts, kernel settings included.
pub(super) fn files() -> String {
    let settings = crate::facts::SYSCTLS.iter().map(|setting| format!(" /proc/sys/{setting}"));
    std::iter::once(FILES.to_owned()).chain(settings).collect()
}

/// Splits a line of an answer into the file, without its first slash, and the line.
fn named(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('/')?.split_once(':')
}

pub(super) fn put_files(tree: &mut HostFileTree, text: &str) {
    for (file, line) in text.lines().filter_map(named) {
        tree.put_line(file, line);
    }
}

/// The texts of several files, by file name.
pub(super) fn by_file(text: &str) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (file, line) in text.lines().filter_map(named) {
        if !texts.contains_key(file) {
            texts.insert(file.to_owned(), String::with_capacity(4 << 10));
        }
        let Some(text) = texts.get_mut(file) else { continue };
        text.push_str(line);
        text.push('\n');
    }
    texts
}

/// Parses `ls -l` of folders: a line with the folder and a colon, then `… NAME -> TARGET`.
pub(super) fn put_links(tree: &mut HostFileTree, text: &str) {
    let mut folder = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('/').and_then(|line| line.strip_suffix(':')) {
            folder = name;
        } else if let Some((before, target)) = line.split_once(" -> ")
            && let Some(name) = before.rsplit(' ').next()
        {
            tree.put_link(&format!("{folder}/{name}"), target);
        }
    }
}

pub(super) fn put_names(tree: &mut HostFileTree, text: &str) {
    text.lines().filter_map(|line| line.strip_prefix('/')).for_each(|name| tree.put_file(name));
}

/// Adds the machine's architecture; returns its clock ticks per second.
pub(super) fn put_system(tree: &mut HostFileTree, text: &str) -> Option<u64> {
    let mut lines = text.lines();
    tree.put_line(crate::facts::MACHINE, lines.next()?.trim());
    lines.next()?.trim().parse().ok().filter(|ticks| (1..=100_000).contains(ticks))
}

/// The place at `path`, from the answer about it.
pub(super) fn place(path: &str, text: &str) -> Option<RemotePlace> {
    let mut lines = text.lines();
    let (word, existing, real) = (lines.next()?, lines.next()?, lines.next()?);
    let number = lines.next().and_then(|number| {
        let (major, minor) = number.split_once(':')?;
        let read = |hex| u32::from_str_radix(hex, 16).ok();
        Some(format!("{}:{}", read(major)?, read(minor)?))
    });
    let beyond = Path::new(path).strip_prefix(existing).unwrap_or(Path::new(""));
    let real = Path::new(real);
    let (at, found) = match word {
        "there" => (real.to_path_buf(), Ok(())),
        // The rest of the path lies where this user may not look.
        "hidden" => (real.join(beyond), Ok(())),
        _ => (
            real.to_path_buf(),
            Err(format!("there is no {path} on it: a database in a container has mounts of its own")),
        ),
    };
    Some(RemotePlace { path: at, device: number, lookup: found })
}

/// What the machine does not report, and why.
pub(super) fn missing(
    tree: &HostFileTree,
    places: &[HostPlace],
    ticks_per_s: Option<u64>,
) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    let mut miss = |name: &str, why: String| missing.push((name.to_owned(), why));
    for (name, path) in places {
        match tree.place(name).map(|place| &place.lookup) {
            Some(Ok(())) => {}
            Some(Err(why)) => miss(&format!("place.{name}"), why.clone()),
            None => miss(&format!("place.{name}"), format!("it does not report where {path} is")),
        }
    }
    if ticks_per_s.is_none() {
        miss("cpu.user_s", "getconf does not report the length of a clock tick".into());
    }
    miss("processes", "the processes that used its processors are not read".into());
    miss("cgroup", "limits of the database's control groups are not read".into());
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_path_lookup_handles_present_hidden_and_missing() {
        let present = place("/srv/pg", "there\n/srv/pg\n/data/pg\n").unwrap();
        assert_eq!((present.path.to_str(), present.lookup), (Some("/data/pg"), Ok(())));
        let hidden = place("/srv/pg/main", "hidden\n/srv\n/data\n").unwrap();
        assert_eq!((hidden.path.to_str(), hidden.lookup), (Some("/data/pg/main"), Ok(())));
        assert!(place("/x/y", "gone\n/x\n/x\n").unwrap().lookup.is_err());
        assert_eq!(
            place("/dev/sdb", "there\n/dev/sdb\n/dev/sdb\n8:10\n").unwrap().device.as_deref(),
            Some("8:16")
        );
        assert_eq!(place("/x", "there"), None);
    }

    #[test]
    fn remote_symlink_listing_is_parsed() {
        let mut tree = HostFileTree::default();
        put_links(
            &mut tree,
            "/sys/dev/block:\ntotal 0\nlrwxrwxrwx 1 root root 0 Jan  1 00:00 254:0 -> ../../devices/virtual/block/vda\n",
        );
        assert_eq!(
            tree.follow_link("sys/dev/block/254:0").unwrap(),
            Path::new("/sys/devices/virtual/block/vda")
        );
    }
}
