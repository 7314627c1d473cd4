//! A platform whose limit is known: a control group whose processes may use a device only so often.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::group::Group;

/// The group, and the device that it may use only so often.
pub struct Throttle {
    group: Group,
    device: String,
}

impl Throttle {
    /// A group that reads the device of `folder` at most `per_s` times a second; where that cannot be, `what` is
    /// skipped with the reason.
    pub fn reads(what: &str, folder: &Path, per_s: u32) -> Option<Self> {
        let made = Self::make(folder, "read_iops_device", "riops", per_s);
        made.map_err(|why| dyno_testbed::cannot(what, &why)).ok()
    }

    /// The same for writes.
    pub fn writes(what: &str, folder: &Path, per_s: u32) -> Option<Self> {
        let made = Self::make(folder, "write_iops_device", "wiops", per_s);
        made.map_err(|why| dyno_testbed::cannot(what, &why)).ok()
    }

    fn make(folder: &Path, first: &str, second: &str, per_s: u32) -> Result<Self, String> {
        let device = disk_of(folder)?;
        let first = format!("blkio.throttle.{first}");
        let (group, file) = Group::make("blkio", &first, "io.max")?;
        let rule = match file {
            "io.max" => format!("{device} {second}={per_s}"),
            _ => format!("{device} {per_s}"),
        };
        group.limit(file, &rule)?;
        Ok(Self { group, device })
    }

    /// How many reads it has let pass: its own account, which is nobody's opinion.
    pub fn passed(&self) -> u64 {
        // `254:0 Read 123` of the first version, `254:0 rbytes=1 wbytes=2 rios=3 …` of the second.
        let read = |name| std::fs::read_to_string(self.group.folder.join(name));
        let text = read("blkio.throttle.io_serviced").or_else(|_| read("io.stat")).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix(&self.device));
        let count = |line: &str| {
            let mut words = line.split_whitespace();
            let first = words.next()?;
            let found = if first == "Read" {
                words.next()
            } else {
                words.find_map(|word| word.strip_prefix("rios="))
            };
            found?.parse::<u64>().ok()
        };
        lines.filter_map(count).sum()
    }

    /// `command`, to be run inside the group.
    pub fn around(&self, command: &Command) -> Command {
        self.group.around(command)
    }

    /// Takes a process and its children in; what they start later is born inside.
    pub fn take(&self, pid: u32) {
        self.group.take(pid);
    }
}

/// The whole disk that holds `folder`, as `254:0`; limits are set on disks, not on partitions.
fn disk_of(folder: &Path) -> Result<String, String> {
    let dev = std::fs::metadata(folder).map_err(|e| e.to_string())?.dev();
    let device = format!("{}:{}", major(dev), minor(dev));
    let block = PathBuf::from(format!("/sys/dev/block/{device}"));
    if !block.exists() {
        return Err(format!("{} is on no block device", folder.display()));
    }
    if !block.join("partition").exists() {
        return Ok(device);
    }
    let disk = block.canonicalize().map_err(|e| e.to_string())?;
    let whole = disk.parent().ok_or("a partition without a disk")?.join("dev");
    std::fs::read_to_string(whole).map(|text| text.trim().to_owned()).map_err(|e| e.to_string())
}

/// As glibc's `major(3)`.
fn major(dev: u64) -> u64 {
    ((dev >> 8) & 0xfff) | ((dev >> 32) & !0xfff)
}

/// As glibc's `minor(3)`.
fn minor(dev: u64) -> u64 {
    (dev & 0xff) | ((dev >> 12) & !0xff)
}
