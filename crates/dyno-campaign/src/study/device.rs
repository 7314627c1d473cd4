//! Decides which devices may be formatted: unused ones that are blank, or that the user named for erasing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use dyno_plan::study::expanded;

use super::order::StudyDefinition;
use crate::error::Error;

/// Amount of data examined at the beginning and at the end of a device, bytes. Between them, smaller samples
/// are examined.
const LOOKED_AT: u64 = 1 << 20;
const PLACES: u64 = 64;
const PLACE: u64 = 4 << 10;

/// Signatures at fixed positions of a device: description, position and bytes.
const SIGNATURES: [(&str, u64, &[u8]); 10] = [
    ("an ext2, ext3 or ext4 file system", 0x438, &[0x53, 0xef]),
    ("an XFS file system", 0, b"XFSB"),
    ("a btrfs file system", 0x1_0040, b"_BHRfS_M"),
    ("a JFS file system", 0x8000, b"JFS1"),
    ("a ReiserFS file system", 0x1_0034, b"ReIsEr"),
    ("an LVM volume", 0x218, b"LVM2 001"),
    ("swap space", 0xff6, b"SWAPSPACE2"),
    ("an encrypted volume (LUKS)", 0, b"LUKS\xba\xbe"),
    ("a GPT partition table", 0x200, b"EFI PART"),
    ("a partition table or a boot sector", 0x1fe, &[0x55, 0xaa]),
];

/// Refuses devices of `order` that its commands must not format. The study removes its own data, so a device
/// is blank before each leg.
pub(super) fn check_devices(order: &StudyDefinition) -> Result<(), Error> {
    require_same_disks(order)?;
    for device in named(order) {
        let path = Path::new(&device);
        let is_device = std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_block_device());
        if !is_device {
            return Err(Error::usage(
                format!("{device} is not a block device"),
                "name one such as /dev/sdb, or leave it empty for a loop file",
            ));
        }
        if let Some(user) = used_by(path) {
            return Err(Error::usage(
                format!("{device} is in use: {user}"),
                "name another device; one that is in use is never formatted",
            ));
        }
        let may_go = order.erase.iter().any(|erase| is_same_device(Path::new(erase), path));
        let probe = File::open(path).and_then(|mut file| detect_content(&mut file));
        let content = probe.map_err(|error| Error::because(format!("{device} cannot be read"), error))?;
        if let (Some(what), false) = (content, may_go) {
            return Err(Error::usage(
                format!("{device} contains {what}"),
                format!("name another device, or give --erase {device} to delete all data on it"),
            ));
        }
    }
    Ok(())
}

/// Refuses devices that are not the same disks as at the start of the study.
pub(super) fn require_same_disks(order: &StudyDefinition) -> Result<(), Error> {
    let other = order.disks.iter().find(|(device, known)| **known != identity(Path::new(device)));
    other.map_or(Ok(()), |(device, _)| {
        Err(Error::usage(
            format!("{device} is no longer the disk that it was when the study began"),
            "disk names can change when a machine starts: start a new study with a name from /dev/disk/by-id",
        ))
    })
}

/// Returns the identity of each device of `order`.
pub(super) fn disks(order: &StudyDefinition) -> BTreeMap<String, String> {
    let pair = |device: String| {
        let identity = identity(Path::new(&device));
        (device, identity)
    };
    named(order).map(pair).collect()
}

fn named(order: &StudyDefinition) -> impl Iterator<Item = String> {
    let folder = order.folder.to_string_lossy();
    let devices = order.study.devices.iter();
    devices
        .map(move |device| expanded(device, &order.study.params, &folder))
        .filter(|device| !device.is_empty())
}

/// The identity of a device, to recognize it after a restart: its size and the vendor's numbers.
fn identity(path: &Path) -> String {
    let Some(folder) = sysfs_folder(path) else { return String::new() };
    let disk = match folder.join("partition").exists() {
        true => folder.parent().unwrap_or(&folder),
        false => &folder,
    };
    let device_files = ["size", "partition"].map(|name| folder.join(name));
    let of_disk = ["serial", "wwid", "device/serial", "device/wwid"].map(|name| disk.join(name));
    let texts = device_files.iter().chain(&of_disk).filter_map(|file| std::fs::read_to_string(file).ok());
    texts.map(|text| text.trim().to_owned()).collect::<Vec<_>>().join(" ")
}

/// The device's folder in sysfs.
fn sysfs_folder(path: &Path) -> Option<PathBuf> {
    let number = std::fs::metadata(path).ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()
}

fn is_same_device(a: &Path, b: &Path) -> bool {
    let number = |path: &Path| std::fs::metadata(path).map(|facts| facts.rdev()).ok();
    number(a).is_some() && number(a) == number(b)
}

/// Returns what uses a device or a part of it: a mount, swap, or another device on top of it.
fn used_by(path: &Path) -> Option<String> {
    let folder = sysfs_folder(path)?;
    // A disk and its partitions, which are subfolders of its own folder.
    let mut all = vec![folder.clone()];
    let inside = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
    all.extend(inside.map(|entry| entry.path()).filter(|path| path.join("partition").exists()));
    let numbers: Vec<String> = all
        .iter()
        .filter_map(|one| Some(std::fs::read_to_string(one.join("dev")).ok()?.trim().to_owned()))
        .collect();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for line in mounts.lines() {
        let mut fields = line.split_whitespace();
        let (dev, place) = (fields.nth(2).unwrap_or_default(), fields.nth(1).unwrap_or_default());
        if numbers.iter().any(|number| number == dev) {
            return Some(format!("it is mounted at {place}"));
        }
    }
    // Some file systems (btrfs) have device numbers of their own, so they are found by the name of the
    // device.
    let names: Vec<String> =
        all.iter().filter_map(|one| Some(format!("/dev/{}", one.file_name()?.to_str()?))).collect();
    if let Some(name) = names.iter().find(|name| mounts.split_whitespace().any(|word| word == name.as_str()))
    {
        return Some(format!("{name} is mounted"));
    }
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    if let Some(name) = names.iter().find(|name| swaps.split_whitespace().any(|word| word == name.as_str())) {
        return Some(format!("{name} is swap space"));
    }
    let holder = all.iter().find_map(|one| std::fs::read_dir(one.join("holders")).ok()?.next()?.ok());
    holder.map(|holder| format!("{} uses it", holder.file_name().to_string_lossy()))
}

/// Returns what a device contains, judged by samples; `None` if it is blank.
fn detect_content(device: &mut (impl Read + Seek)) -> std::io::Result<Option<&'static str>> {
    let size = device.seek(SeekFrom::End(0))?;
    for (what, at, bytes) in SIGNATURES {
        let mut actual_bytes = vec![0; bytes.len()];
        let is_there = at + bytes.len() as u64 <= size && {
            device.seek(SeekFrom::Start(at))?;
            device.read_exact(&mut actual_bytes)?;
            actual_bytes == bytes
        };
        if is_there {
            return Ok(Some(what));
        }
    }
    let head = LOOKED_AT.min(size);
    let between = (1..PLACES).map(|place| (size / PLACES * place, PLACE));
    let mut buffer = vec![0; LOOKED_AT as usize];
    for (at, length) in [(0, head), (size - head, head)].into_iter().chain(between) {
        let length = length.min(size.saturating_sub(at)) as usize;
        device.seek(SeekFrom::Start(at))?;
        device.read_exact(&mut buffer[..length])?;
        if buffer[..length].iter().any(|byte| *byte != 0) {
            return Ok(Some("data (it is not blank)"));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use std::io::Cursor;

    use super::*;

    fn of(size: usize, at: usize, bytes: &[u8]) -> Option<&'static str> {
        let mut all = vec![0; size];
        all[at..at + bytes.len()].copy_from_slice(bytes);
        detect_content(&mut Cursor::new(all)).unwrap()
    }

    #[test]
    fn device_signatures_are_recognized_and_other_bytes_are_data() {
        assert_eq!(of(8 << 20, 0, &[]), None);
        assert_eq!(of(1_000, 0, &[]), None);
        assert_eq!(of(0, 0, &[]), None);
        for (what, at, bytes) in SIGNATURES {
            assert_eq!(of(8 << 20, at as usize, bytes), Some(what));
        }
        assert!(of(8 << 20, 5_000, b"x").is_some_and(|what| what.contains("data")));
        assert!(of(8 << 20, (8 << 20) - 1, b"x").is_some(), "at its end, where RAID has its block");
        assert!(of(8 << 20, 4 << 20, b"x").is_some(), "in the middle");
    }

    #[test]
    fn dev_null_is_not_reported_as_in_use() {
        assert_eq!(used_by(Path::new("/dev/null")), None);
    }
}
