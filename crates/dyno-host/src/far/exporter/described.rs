//! What node_exporter tells of a machine itself, and of the places on it.

use std::collections::BTreeSet;
use std::path::Path;

use dyno_record::Host;

use super::text::Samples;
use crate::far::Place;
use crate::snapshot::HostSnapshot;
use crate::tree::{FarPlace, Tree};

/// Its answer as a tree of the kernel's files, as far as it tells of these, and what it does not tell of the places.
pub(super) fn tree(samples: &Samples, places: &[Place]) -> (Tree, Vec<(String, String)>) {
    let mut tree = Tree::default();
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

/// Block devices: those that it counts, and what volumes are called.
fn put_devices(tree: &mut Tree, samples: &Samples) {
    for sample in samples.all("node_disk_reads_completed_total") {
        let device = sample.label("device").replace('/', "!");
        tree.put_link(&format!("sys/class/block/{device}"), &format!("../../devices/{device}"));
    }
    for sample in samples.all("node_disk_device_mapper_info") {
        let device = sample.label("device").replace('/', "!");
        tree.put_line(&format!("sys/class/block/{device}/dm/name"), sample.label("name"));
    }
}

/// Where a place is, by names alone: the deepest file system that it tells of. The line of a mount goes into the tree.
fn place(tree: &mut Tree, samples: &Samples, path: &str) -> Result<FarPlace, String> {
    let there = Path::new(path);
    let all = samples.all("node_filesystem_size_bytes").iter();
    let on = all.filter(|sample| there.starts_with(sample.label("mountpoint")));
    let deepest = on.max_by_key(|sample| Path::new(sample.label("mountpoint")).components().count());
    let Some(sample) = deepest else {
        return Err(format!("it tells of no file system that {path} would be on"));
    };
    let device = sample.label("device");
    let known = device_of(tree, samples, device);
    let escaped = |text: &str| {
        text.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012")
    };
    let line = format!(
        // Options are not told.
        "1 0 0:0 / {}  - {} {}",
        escaped(sample.label("mountpoint")),
        escaped(sample.label("fstype")),
        escaped(known.as_deref().unwrap_or(device)),
    );
    tree.put_line("proc/self/mountinfo", &line);
    Ok(FarPlace { path: there.to_path_buf(), device: None, found: Ok(()) })
}

/// The device's file under a name whose counters it has: partitions are left out of them as it is packaged, and their disk is what is
/// counted.
fn device_of(tree: &Tree, samples: &Samples, file: &str) -> Option<String> {
    let name = file.strip_prefix("/dev/")?;
    if name.starts_with("mapper/") || tree.has(&format!("sys/class/block/{}", name.replace('/', "!"))) {
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

/// What is no file of the kernel's here.
pub(super) fn complete(host: &mut Host, samples: &Samples) {
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

/// What it does not tell, and why.
pub(super) fn missing(snapshot: &HostSnapshot) -> Vec<(String, String)> {
    let collector = |name: &str| format!("node_exporter runs without its collector {name}");
    let known = [
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
        ("processes", "node_exporter does not tell whose its processors were"),
        ("settings", "node_exporter tells nothing of the kernel's settings and of the devices' queues"),
    ];
    let known = known.into_iter().filter(|(_, is_missing, _)| *is_missing).map(|(name, _, why)| (name, why));
    known
        .chain(always.map(|(name, why)| (name, why.to_owned())))
        .map(|(name, why)| (name.to_owned(), why))
        .collect()
}
