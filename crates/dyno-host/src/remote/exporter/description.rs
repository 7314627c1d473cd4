//! Describes a machine and its places from node_exporter's answer.

use std::collections::BTreeSet;
use std::path::Path;

use dyno_record::Host;

use super::text::ExporterSamples;
use crate::remote::HostPlace;
use crate::snapshot::HostSnapshot;
use crate::tree::{HostFileTree, RemotePlace};

/// The answer as a tree of kernel files, as far as possible, and what it does not report about the places.
pub(super) fn tree(samples: &ExporterSamples, places: &[HostPlace]) -> (HostFileTree, Vec<(String, String)>) {
    let mut tree = HostFileTree::default();
    tree.put_file("proc/stat");
    for sample in samples.all("node_uname_info").iter().take(1) {
        tree.put_line("proc/sys/kernel/hostname", sample.label("nodename"));
        tree.put_line("proc/sys/kernel/osrelease", sample.label("release"));
        tree.put_line("proc/sys/kernel/version", sample.label("version"));
        tree.put_line(crate::facts::MACHINE, sample.label("machine"));
    }
    for sample in samples.all("node_os_info").iter().take(1) {
        tree.put_line("etc/os-release", &format!("PRETTY_NAME=\"{}\"", sample.label("pretty_name")));
    }
    for (file, name) in [("MemTotal", "MemTotal"), ("SwapTotal", "SwapTotal")] {
        if let Some(bytes) = samples.count(&format!("node_memory_{name}_bytes")) {
            tree.put_line("proc/meminfo", &format!("{file}: {} kB", bytes / 1_024));
        }
    }
    put_devices(&mut tree, samples);
    let mut missing = Vec::new();
    for (name, path) in places {
        match place(&mut tree, samples, path) {
            Ok(place) => tree.put_place(name, place),
            Err(why) => missing.push((format!("place.{name}"), why)),
        }
    }
    (tree, missing)
}

/// The block devices that it counts, and the names of volumes.
fn put_devices(tree: &mut HostFileTree, samples: &ExporterSamples) {
    for sample in samples.all("node_disk_reads_completed_total") {
        let device = sample.label("device").replace('/', "!");
        tree.put_link(&format!("sys/class/block/{device}"), &format!("../../devices/{device}"));
    }
    for sample in samples.all("node_disk_device_mapper_info") {
        let device = sample.label("device").replace('/', "!");
        tree.put_line(&format!("sys/class/block/{device}/dm/name"), sample.label("name"));
    }
}

/// Finds a place by path names: the deepest file system in the answer. Adds the line of its mount to the
/// tree.
fn place(tree: &mut HostFileTree, samples: &ExporterSamples, path: &str) -> Result<RemotePlace, String> {
    let place_path = Path::new(path);
    let all = samples.all("node_filesystem_size_bytes").iter();
    let on = all.filter(|sample| place_path.starts_with(sample.label("mountpoint")));
    let deepest = on.max_by_key(|sample| Path::new(sample.label("mountpoint")).components().count());
    let Some(sample) = deepest else {
        return Err(format!("it reports no file system that contains {path}"));
    };
    let device = sample.label("device");
    let known_device = device_of(tree, samples, device);
    let escaped = |text: &str| {
        text.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012")
    };
    let line = format!(
        // node_exporter does not report mount options.
        "1 0 0:0 / {}  - {} {}",
        escaped(sample.label("mountpoint")),
        escaped(sample.label("fstype")),
        escaped(known_device.as_deref().unwrap_or(device)),
    );
    tree.put_line("proc/self/mountinfo", &line);
    Ok(RemotePlace { path: place_path.to_path_buf(), device: None, lookup: Ok(()) })
}

/// The name under which the device's counters appear. Packaged versions leave out partitions, so the counters
/// of their disk are used.
fn device_of(tree: &HostFileTree, samples: &ExporterSamples, file: &str) -> Option<String> {
    let name = file.strip_prefix("/dev/")?;
    if name.starts_with("mapper/") || tree.exists(&format!("sys/class/block/{}", name.replace('/', "!"))) {
        return None;
    }
    let disks: BTreeSet<&str> =
        samples.all("node_disk_reads_completed_total").iter().map(|sample| sample.label("device")).collect();
    let is_partition_of = |disk: &&&str| {
        let rest = name.strip_prefix(**disk).unwrap_or_default();
        let number = rest.strip_prefix('p').unwrap_or(rest);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    disks.iter().filter(is_partition_of).max_by_key(|disk| disk.len()).map(|disk| format!("/dev/{disk}"))
}

/// Adds facts that do not come from kernel files.
pub(super) fn complete(host: &mut Host, samples: &ExporterSamples) {
    let cpus: BTreeSet<&str> =
        samples.all("node_cpu_seconds_total").iter().map(|sample| sample.label("cpu")).collect();
    host.cpus = u32::try_from(cpus.len()).unwrap_or(0);
    if let Some(sample) = samples.all("node_cpu_info").first() {
        sample.label("model_name").clone_into(&mut host.cpu_model);
    }
    for sample in samples.all("node_exporter_build_info").iter().take(1) {
        host.facts.insert("node_exporter".into(), sample.label("version").to_owned());
    }
    if let Some(seconds) = samples.value("node_boot_time_seconds") {
        host.facts.insert("booted_s".into(), format!("{seconds:.0}"));
    }
}

/// The counters that node_exporter does not report, and why.
pub(super) fn missing(snapshot: &HostSnapshot) -> Vec<(String, String)> {
    let collector = |name: &str| format!("node_exporter runs without its collector {name}");
    let checks = [
        ("cpu", snapshot.cpu.is_none(), collector("cpu")),
        ("memory", snapshot.memory.is_none(), collector("meminfo")),
        ("vm", snapshot.vm.is_none(), collector("vmstat")),
        ("device", snapshot.devices.is_empty(), collector("diskstats")),
        ("net", snapshot.network.is_empty(), collector("netdev")),
        (
            "pressure",
            snapshot.pressure.is_empty(),
            format!("{}, or the kernel does not measure it", collector("pressure")),
        ),
    ];
    let always = [
        ("nfs", "node_exporter's counters of NFS mounts are not read"),
        ("processes", "node_exporter does not report which processes used the processors"),
        ("settings", "node_exporter does not report the kernel's settings and the devices' queues"),
    ];
    let absent =
        checks.into_iter().filter(|(_, is_missing, _)| *is_missing).map(|(name, _, why)| (name, why));
    absent
        .chain(always.map(|(name, why)| (name, why.to_owned())))
        .map(|(name, why)| (name.to_owned(), why))
        .collect()
}
