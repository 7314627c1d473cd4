//! A platform with a known limit: a control group that limits the request rate to a device.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::group::ControlGroup;

/// The group, and the throttled device.
pub struct Throttle {
    group: ControlGroup,
    device: String,
}

impl Throttle {
    /// A group that reads the device of `folder` at most `per_s` times a second; if it cannot be created,
    /// `scenario` is skipped with the reason.
    pub fn limit_reads(scenario: &str, folder: &Path, per_s: u32) -> Option<Self> {
        let made = Self::create(folder, "read_iops_device", "riops", per_s);
        made.map_err(|why| dyno_testbed::skip_unsupported(scenario, &why)).ok()
    }

    /// A group that limits writes in the same way.
    pub fn limit_writes(scenario: &str, folder: &Path, per_s: u32) -> Option<Self> {
        let made = Self::create(folder, "write_iops_device", "wiops", per_s);
        made.map_err(|why| dyno_testbed::skip_unsupported(scenario, &why)).ok()
    }

    fn create(folder: &Path, v1_suffix: &str, v2_key: &str, per_s: u32) -> Result<Self, String> {
        let device = disk_of(folder)?;
        let v1_file = format!("blkio.throttle.{v1_suffix}");
        let (group, file) = ControlGroup::create("blkio", &v1_file, "io.max")?;
        let rule = match file {
            "io.max" => format!("{device} {v2_key}={per_s}"),
            _ => format!("{device} {per_s}"),
        };
        group.limit(file, &rule)?;
        Ok(Self { group, device })
    }

    /// Number of reads that it passed, counted by the kernel.
    pub fn passed_reads(&self) -> u64 {
        // `254:0 Read 123` in version 1, `254:0 rbytes=1 wbytes=2 rios=3 …` in version 2.
        let read = |name| std::fs::read_to_string(self.group.folder.join(name));
        let text = read("blkio.throttle.io_serviced").or_else(|_| read("io.stat")).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix(&self.device));
        let count = |line: &str| {
            let mut words = line.split_whitespace();
            let first = words.next()?;
            let read_count = if first == "Read" {
                words.next()
            } else {
                words.find_map(|word| word.strip_prefix("rios="))
            };
            read_count?.parse::<u64>().ok()
        };
        lines.filter_map(count).sum()
    }

    /// Wraps `command` so that it runs inside the group.
    pub fn wrap_command(&self, command: &Command) -> Command {
        self.group.wrap_command(command)
    }

    /// Adds a process and its children; processes that they start later are inside as well.
    pub fn add_process(&self, pid: u32) {
        self.group.add_process(pid);
    }
}

/// The whole disk that contains `folder`, as `254:0`; limits apply to disks, not to partitions.
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

/// The major number, computed as in glibc.
fn major(dev: u64) -> u64 {
    ((dev >> 8) & 0xfff) | ((dev >> 32) & !0xfff)
}

/// The minor number, computed as in glibc.
fn minor(dev: u64) -> u64 {
    (dev & 0xff) | ((dev >> 12) & !0xff)
}
