//! Finds the mount of a path and the block devices below it.

use std::path::{Path, PathBuf};

use crate::files::Root;
use crate::parse::mounts::{Mount, mount_of, parse_mountinfo};
use crate::tree::HostFileTree;

/// The most layers of devices (partitions, volumes, arrays, loops) that are followed.
const LAYERS_MAX: usize = 8;

/// A path that matters to a run: `data`, `redo`, `repository`.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    /// The name of the place in records.
    pub(crate) name: String,
    /// The mount it is on; absent if it cannot be found.
    pub(crate) mount: Option<Mount>,
    /// The block device that the file system (or the path itself) is on, as `/proc/diskstats` names it.
    pub(crate) device: Option<String>,
    /// That device and all below it, the top one first.
    pub(crate) layers: Vec<String>,
}

impl Location {
    /// Finds the mount and the devices of `path`. A path that does not exist yet counts as its nearest
    /// existing parent.
    pub(crate) fn find(root: &Root, name: &str, path: &Path) -> Self {
        let mounts = parse_mountinfo(&root.text("proc/self/mountinfo").unwrap_or_default());
        if let Some(tree) = root.fetched() {
            return Self::find_fetched(root, tree, &mounts, name);
        }
        let existing = nearest_existing(path);
        let mount = existing.as_deref().and_then(|path| mount_of_path(root, &mounts, path)).cloned();
        let device = match existing.as_deref().and_then(block_device_number) {
            Some(number) => device_named(root, &number),
            None => mount.as_ref().and_then(|mount| device_of_mount(root, mount)),
        };
        let layers = device.as_deref().map(|device| layers(root, device)).unwrap_or_default();
        Self { name: name.to_owned(), mount, device, layers }
    }

    /// Finds a place in a fetched `tree` by path names. A missing place is not replaced by its parent, which
    /// may be on another device.
    fn find_fetched(root: &Root, tree: &HostFileTree, mounts: &[Mount], name: &str) -> Self {
        let at = tree.place(name).filter(|at| at.lookup.is_ok());
        let mount = at.and_then(|at| mount_of(mounts, &at.path)).cloned();
        let device = match at.and_then(|at| at.device.as_deref()) {
            Some(number) => device_named(root, number),
            None => mount.as_ref().and_then(|mount| device_of_mount(root, mount)),
        };
        let layers = device.as_deref().map(|device| layers(root, device)).unwrap_or_default();
        Self { name: name.to_owned(), mount, device, layers }
    }

    /// The mount point of the path's NFS mount; absent if it is not on NFS.
    pub(crate) fn nfs_point(&self) -> Option<&Path> {
        let mount = self.mount.as_ref().filter(|mount| matches!(mount.fstype.as_str(), "nfs" | "nfs4"))?;
        Some(&mount.point)
    }
}

/// The path, or its nearest existing parent, without symbolic links.
fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().find_map(|path| std::fs::canonicalize(path).ok())
}

/// The mount of an existing path. The kernel names it for an open directory; if that fails, path names
/// decide.
///
/// Files are never opened: closing a file releases the locks that a database in this process holds on it
/// (fcntl(2)).
fn mount_of_path<'a>(root: &Root, mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let by_name = mount_of(mounts, path);
    // A file that is a mount of its own, as in containers.
    if by_name.is_some_and(|mount| mount.point == path) && !path.is_dir() {
        return by_name;
    }
    let directory = if path.is_dir() { path } else { path.parent()? };
    let by_kernel = mount_number(root, directory).and_then(|id| mounts.iter().find(|mount| mount.id == id));
    by_kernel.or(by_name)
}

/// The number of the mount that `directory` is on.
#[cfg(target_os = "linux")]
fn mount_number(root: &Root, directory: &Path) -> Option<u64> {
    use std::os::fd::AsRawFd as _;
    let open = std::fs::File::open(directory).ok()?;
    let facts = root.text(&format!("proc/self/fdinfo/{}", open.as_raw_fd()))?;
    facts.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn mount_number(_: &Root, _: &Path) -> Option<u64> {
    None
}

/// The number of a path that is itself a block device, such as a raw volume.
#[cfg(unix)]
fn block_device_number(path: &Path) -> Option<String> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let facts = std::fs::metadata(path).ok().filter(|facts| facts.file_type().is_block_device())?;
    // Decoded like glibc's gnu_dev_major and gnu_dev_minor.
    let number = facts.rdev();
    let major = ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff);
    let minor = (number & 0xff) | ((number >> 12) & !0xff);
    Some(format!("{major}:{}", minor & 0xffff_ffff))
}

#[cfg(not(unix))]
fn block_device_number(_: &Path) -> Option<String> {
    None
}

/// The device of a mount: by its number, or by the mount's source (btrfs uses a number of its own).
fn device_of_mount(root: &Root, mount: &Mount) -> Option<String> {
    device_named(root, &mount.device).or_else(|| {
        if root.fetched().is_some() {
            return device_called(root, &mount.source);
        }
        let source = Path::new(&mount.source).strip_prefix("/").ok()?;
        let node = std::fs::canonicalize(root.path(source.to_str()?)).ok()?;
        device_named(root, &block_device_number(&node)?)
    })
}

/// The kernel's name of a device file, `/dev/sdb1` or `/dev/mapper/vg-data`, by path names alone.
fn device_called(root: &Root, file: &str) -> Option<String> {
    let name = Path::new(file).strip_prefix("/dev").ok()?.to_str()?;
    if let Some(volume) = name.strip_prefix("mapper/") {
        let is_it = |device: &String| {
            root.text(&format!("{}/dm/name", sys_folder(device))).as_deref() == Some(volume)
        };
        return root.names("sys/class/block").into_iter().find(is_it);
    }
    root.exists(&sys_folder(name)).then(|| name.to_owned())
}

/// The name of the device with the number `MAJOR:MINOR`.
fn device_named(root: &Root, number: &str) -> Option<String> {
    // The kernel writes `cciss/c0d0` as `cciss!c0d0` in file names.
    root.link_name(&format!("sys/dev/block/{number}")).map(|name| name.replace('!', "/"))
}

/// The device and everything below it: a partition's disk, the members of a volume or array, the device of a
/// loop file.
fn layers(root: &Root, device: &str) -> Vec<String> {
    let mut devices = vec![device.to_owned()];
    let mut at = 0;
    while at < devices.len() && at < LAYERS_MAX {
        for below in devices_below(root, &devices[at]) {
            if !devices.contains(&below) {
                devices.push(below);
            }
        }
        at += 1;
    }
    devices
}

fn devices_below(root: &Root, device: &str) -> Vec<String> {
    let folder = sys_folder(device);
    if root.exists(&format!("{folder}/partition")) {
        return whole_disk(root, device).into_iter().collect();
    }
    let backing = root.text(&format!("{folder}/loop/backing_file"));
    if let (Some(file), Some(_)) = (&backing, root.fetched()) {
        let mounts = parse_mountinfo(&root.text("proc/self/mountinfo").unwrap_or_default());
        let mount = mount_of(&mounts, Path::new(file));
        return mount.and_then(|mount| device_of_mount(root, mount)).into_iter().collect();
    }
    if let Some(file) = backing.as_deref().and_then(|file| nearest_existing(Path::new(file))) {
        let mounts = parse_mountinfo(&root.text("proc/self/mountinfo").unwrap_or_default());
        let mount = mount_of_path(root, &mounts, &file);
        return mount.and_then(|mount| device_of_mount(root, mount)).into_iter().collect();
    }
    root.names(&format!("{folder}/slaves")).into_iter().map(|name| name.replace('!', "/")).collect()
}

/// The disk of a partition: its folder lies in the disk's.
fn whole_disk(root: &Root, partition: &str) -> Option<String> {
    let folder = root.follow_link(&sys_folder(partition))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().replace('!', "/"))
}

/// The sysfs folder that describes a device.
pub(crate) fn sys_folder(device: &str) -> String {
    format!("sys/class/block/{}", device.replace('/', "!"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A machine whose `/` is on a logical volume over two partitions.
    fn machine() -> tempfile::TempDir {
        let machine = tempfile::tempdir().unwrap();
        let at = |path: &str| machine.path().join(path);
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), text).unwrap();
        };
        for device in ["pci/sda", "pci/sda/sda2", "pci/cciss!c0d0", "virtual/dm-0"] {
            std::fs::create_dir_all(at("sys/devices").join(device)).unwrap();
        }
        write("sys/devices/pci/sda/sda2/partition", "2\n");
        write("sys/devices/virtual/dm-0/slaves/sda2/x", "");
        write("sys/devices/virtual/dm-0/slaves/cciss!c0d0/x", "");
        std::fs::create_dir_all(at("sys/class/block")).unwrap();
        std::fs::create_dir_all(at("sys/dev/block")).unwrap();
        for (name, path, number) in [
            ("sda", "pci/sda", "8:0"),
            ("sda2", "pci/sda/sda2", "8:2"),
            ("cciss!c0d0", "pci/cciss!c0d0", "104:0"),
            ("dm-0", "virtual/dm-0", "253:0"),
        ] {
            symlink(at("sys/devices").join(path), at("sys/class/block").join(name)).unwrap();
            symlink(at("sys/devices").join(path), at("sys/dev/block").join(number)).unwrap();
        }
        write(
            "proc/self/mountinfo",
            "1 0 253:0 / / rw - xfs /dev/mapper/root rw\n2 1 0:9 / /nowhere rw - tmpfs t rw\n",
        );
        machine
    }

    #[test]
    fn volume_is_resolved_to_its_disks() {
        let machine = machine();
        let place = Location::find(&Root::at(machine.path()), "data", Path::new("/not/there/yet"));
        assert_eq!(place.device.as_deref(), Some("dm-0"));
        assert_eq!(place.layers, ["dm-0", "cciss/c0d0", "sda2", "sda"]);
        assert_eq!(place.mount.unwrap().fstype, "xfs");
    }

    #[test]
    fn location_of_unknown_device_is_empty() {
        let empty = tempfile::tempdir().unwrap();
        let place = Location::find(&Root::at(empty.path()), "data", Path::new("/tmp"));
        assert!(place.mount.is_none());
        assert!(place.device.is_none());
        assert!(place.layers.is_empty());
    }
}
