//! A platform whose limit is known: a control group whose processes may read a device only so often.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The group; removed when dropped, its processes back where everybody is.
pub struct Throttle {
    group: PathBuf,
    root: PathBuf,
    device: String,
}

impl Throttle {
    /// A group that reads the device of `folder` at most `per_s` times a second; where that cannot be, `what` is
    /// skipped with the reason.
    pub fn reads(what: &str, folder: &Path, per_s: u32) -> Option<Self> {
        match Self::make(folder, per_s) {
            Ok(throttle) => Some(throttle),
            Err(why) => {
                dyno_testbed::cannot(what, &why);
                None
            }
        }
    }

    fn make(folder: &Path, per_s: u32) -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let device = disk_of(folder)?;
        let first = Path::new("/sys/fs/cgroup/blkio");
        let (root, file, rule) = if first.join("blkio.throttle.read_iops_device").exists() {
            (first.to_path_buf(), "blkio.throttle.read_iops_device", format!("{device} {per_s}"))
        } else {
            let root = PathBuf::from("/sys/fs/cgroup");
            // The root's children may limit devices only if it lets them.
            let _ = std::fs::write(root.join("cgroup.subtree_control"), "+io");
            (root, "io.max", format!("{device} riops={per_s}"))
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let group = root.join(format!("dyno-test-{}-{number}", std::process::id()));
        let told = |doing: &str, error: &std::io::Error| format!("{doing}, which needs root: {error}");
        std::fs::create_dir(&group).map_err(|e| told("no control group can be made", &e))?;
        let throttle = Self { group, root, device: device.clone() };
        std::fs::write(throttle.group.join(file), rule)
            .map_err(|e| told(&format!("device {device} cannot be throttled"), &e))?;
        Ok(throttle)
    }

    /// How many reads it has let pass: its own account, which is nobody's opinion.
    pub fn passed(&self) -> u64 {
        // `254:0 Read 123` of the first version, `254:0 rbytes=1 wbytes=2 rios=3 …` of the second.
        let read = |name| std::fs::read_to_string(self.group.join(name));
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
        let mut inside = Command::new("sh");
        let entry =
            format!("echo $$ > '{}' && exec \"$0\" \"$@\"", self.group.join("cgroup.procs").display());
        inside.args(["-c", &entry]).arg(command.get_program()).args(command.get_args()).env_clear();
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            inside.current_dir(folder);
        }
        inside
    }

    /// Takes a process and its children in; what they start later is born inside.
    pub fn take(&self, pid: u32) {
        let children = format!("/proc/{pid}/task/{pid}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let pids = children.split_whitespace().map(str::to_owned);
        for pid in std::iter::once(pid.to_string()).chain(pids) {
            // One that has just ended needs no limit.
            let _ = std::fs::write(self.group.join("cgroup.procs"), pid);
        }
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let inside = std::fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.split_whitespace() {
            let _ = std::fs::write(self.root.join("cgroup.procs"), pid);
        }
        let _ = std::fs::remove_dir(&self.group);
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
