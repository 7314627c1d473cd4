//! A control group of the test's own, and processes inside it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The group; removed when dropped, its processes back where everybody is.
pub struct Group {
    pub folder: PathBuf,
    root: PathBuf,
}

impl Group {
    /// An empty one of `controller`, whose limit is the file `first` in version 1 of control groups and `second` in version 2:
    /// with which of them it is.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn make<'f>(controller: &str, first: &'f str, second: &'f str) -> Result<(Self, &'f str), String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let own = PathBuf::from(format!("/sys/fs/cgroup/{controller}"));
        let (root, file) = if own.is_dir() {
            (own, first)
        } else {
            let root = PathBuf::from("/sys/fs/cgroup");
            // The root's children may have limits only if it lets them.
            let enabled = if controller == "blkio" { "io" } else { controller };
            let _ = std::fs::write(root.join("cgroup.subtree_control"), format!("+{enabled}"));
            (root, second)
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = root.join(format!("dyno-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder)
            .map_err(|error| format!("no control group can be made, which needs root: {error}"))?;
        Ok((Self { folder, root }, file))
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// Why it cannot be set.
    pub fn limit(&self, file: &str, rule: &str) -> Result<(), String> {
        std::fs::write(self.folder.join(file), rule)
            .map_err(|error| format!("{file} cannot be set to {rule:?}, which needs root: {error}"))
    }

    /// `command`, to be run inside the group.
    pub fn around(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        let procs = self.folder.join("cgroup.procs");
        let entry = format!("echo $$ > '{}' && exec \"$0\" \"$@\"", procs.display());
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
            let _ = std::fs::write(self.folder.join("cgroup.procs"), pid);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let inside = std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.split_whitespace() {
            let _ = std::fs::write(self.root.join("cgroup.procs"), pid);
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// A group whose processes have so much processor time; where that cannot be, `what` is skipped with the reason.
pub fn quota(what: &str, cpus: f64) -> Option<Group> {
    const PERIOD_US: u32 = 20_000;
    let made = Group::make("cpu", "cpu.cfs_quota_us", "cpu.max").and_then(|(group, file)| {
        let quota = (cpus * f64::from(PERIOD_US)).round();
        match file {
            "cpu.max" => group.limit(file, &format!("{quota} {PERIOD_US}"))?,
            _ => {
                group.limit("cpu.cfs_period_us", &PERIOD_US.to_string())?;
                group.limit(file, &quota.to_string())?;
            }
        }
        Ok(group)
    });
    made.map_err(|why| dyno_testbed::cannot(what, &why)).ok()
}
