//! Parses `/proc/self/cgroup` and the limits of control groups, version 1 and 2 (cgroups(7)).

use std::path::{Path, PathBuf};

use super::mounts::Mount;

/// Version 1 writes unlimited memory as the largest multiple of the page size.
const V1_UNLIMITED_BYTES: u64 = 1 << 62;

/// The folder of `controller` for the process whose `/proc/self/cgroup` is `membership`, and the mount's top
/// folder, above which nothing can be read.
pub(crate) struct CgroupFolder {
    /// Whether it is version 2.
    pub(crate) unified: bool,
    /// The process's own cgroup folder.
    pub(crate) process_folder: PathBuf,
    /// The top folder of the mount.
    pub(crate) mount_folder: PathBuf,
}

/// Finds the folder of `controller`. Version 1 is tried first: a controller belongs to only one version, and
/// where both are mounted version 2 is often empty.
pub(crate) fn folder(membership: &str, mounts: &[Mount], controller: &str) -> Option<CgroupFolder> {
    let entries = || membership.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let v1 = entries().find(|(controllers, _)| controllers.split(',').any(|name| name == controller));
    let v2 = || entries().find(|(controllers, _)| controllers.is_empty());
    let (unified, path) = match v1 {
        Some((_, path)) => (false, path),
        None => (true, v2()?.1),
    };
    let mount = mounts.iter().find(|mount| match unified {
        true => mount.fstype == "cgroup2",
        false => mount.fstype == "cgroup" && mount.super_options.split(',').any(|name| name == controller),
    })?;
    // In a container only the container's part may be mounted, but the membership is written from the top.
    let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    Some(CgroupFolder { unified, process_folder: mount.point.join(below), mount_folder: mount.point.clone() })
}

impl CgroupFolder {
    /// The process's own folder and all folders above it: the limit of each applies.
    pub(crate) fn with_parents(&self) -> impl Iterator<Item = &Path> {
        self.process_folder.ancestors().take_while(|folder| folder.starts_with(&self.mount_folder))
    }
}

/// CPUs' worth of time from `cpu.max` of version 2: `50000 100000` is 0.5, `max 100000` is unlimited.
pub(crate) fn parse_cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    cpus(quota.parse().ok()?, period.trim().parse().ok()?)
}

/// CPUs' worth of time from `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; a negative quota is
/// unlimited.
pub(crate) fn parse_cpu_quota(quota_us: &str, period_us: &str) -> Option<f64> {
    cpus(quota_us.parse().ok()?, period_us.parse().ok()?)
}

fn cpus(quota_us: i64, period_us: i64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

/// Periods and throttled periods from `cpu.stat` of either version.
pub(crate) fn parse_throttled(text: &str) -> Option<(u64, u64)> {
    let count_of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    Some((count_of("nr_periods")?, count_of("nr_throttled")?))
}

/// Bytes from `memory.max` or `memory.limit_in_bytes`; absent if unlimited.
pub(crate) fn parse_memory_max(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&bytes: &u64| bytes < V1_UNLIMITED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::mounts::parse_mountinfo;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn cgroup_v1_is_used_beside_an_empty_v2() {
        let mounts = parse_mountinfo(V1);
        let membership = "4:memory:/docker/abc/inner\n1:cpu,cpuacct:/jobs/7\n0::/\n";
        let memory = folder(membership, &mounts, "memory").unwrap();
        assert_eq!(
            (memory.unified, memory.process_folder.as_path()),
            (false, Path::new("/sys/fs/cgroup/memory/inner"))
        );
        let cpu = folder(membership, &mounts, "cpu").unwrap();
        let all: Vec<_> = cpu.with_parents().collect();
        let expected =
            ["/sys/fs/cgroup/cpu/jobs/7", "/sys/fs/cgroup/cpu/jobs", "/sys/fs/cgroup/cpu"].map(Path::new);
        assert_eq!(all, expected);
    }

    #[test]
    fn cgroup_v2_folder_is_found() {
        let mounts = parse_mountinfo("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
        let memory_folder = folder("0::/user.slice/x.scope\n", &mounts, "memory").unwrap();
        assert!(memory_folder.unified);
        assert_eq!(memory_folder.process_folder, Path::new("/sys/fs/cgroup/user.slice/x.scope"));
        assert!(folder("", &mounts, "memory").is_none());
        assert!(folder("0::/", &[], "memory").is_none());
    }

    #[test]
    fn cgroup_limits_and_throttling_are_read() {
        assert_eq!(parse_cpu_max("50000 100000"), Some(0.5));
        assert_eq!(parse_cpu_max("max 100000"), None);
        assert_eq!(parse_cpu_quota("-1", "100000"), None);
        assert_eq!(parse_cpu_quota("250000", "100000"), Some(2.5));
        assert_eq!(parse_cpu_quota("1", "0"), None);
        let stat = "usage_usec 9\nnr_periods 120\nnr_throttled 118\nthrottled_usec 7\n";
        assert_eq!(parse_throttled(stat), Some((120, 118)));
        assert_eq!(parse_throttled("usage_usec 9\n"), None, "the root's group deals nothing out");
        assert_eq!(parse_memory_max("max"), None);
        assert_eq!(parse_memory_max("9223372036854771712"), None);
        assert_eq!(parse_memory_max("1073741824"), Some(1 << 30));
    }
}
