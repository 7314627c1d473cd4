//! A control group of the test, and processes inside it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The group; when dropped, its processes return to the root group and it is removed.
pub struct ControlGroup {
    pub folder: PathBuf,
    root: PathBuf,
}

impl ControlGroup {
    /// Creates an empty group of `controller`. Its limit is the file `v1_file` in version 1 of control groups
    /// and `v2_file` in version 2; returns the one in use.
    ///
    /// # Errors
    /// Why it cannot be created.
    pub fn create<'f>(
        controller: &str,
        v1_file: &'f str,
        v2_file: &'f str,
    ) -> Result<(Self, &'f str), String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let v1_root = PathBuf::from(format!("/sys/fs/cgroup/{controller}"));
        let (root, file) = if v1_root.is_dir() {
            (v1_root, v1_file)
        } else {
            let root = PathBuf::from("/sys/fs/cgroup");
            // The root must enable limits for its children.
            let enabled = if controller == "blkio" { "io" } else { controller };
            let _ = std::fs::write(root.join("cgroup.subtree_control"), format!("+{enabled}"));
            (root, v2_file)
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

    /// Wraps `command` so that it runs inside the group.
    pub fn wrap_command(&self, command: &Command) -> Command {
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

    /// Adds a process and its children; processes that they start later are inside as well.
    pub fn add_process(&self, pid: u32) {
        let children = format!("/proc/{pid}/task/{pid}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let pids = children.split_whitespace().map(str::to_owned);
        for pid in std::iter::once(pid.to_string()).chain(pids) {
            // A process that has just ended needs no limit.
            let _ = std::fs::write(self.folder.join("cgroup.procs"), pid);
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let inside = std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.split_whitespace() {
            let _ = std::fs::write(self.root.join("cgroup.procs"), pid);
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// A group with this much processor time; if it cannot be created, `scenario` is skipped with the reason.
pub fn cpu_quota(scenario: &str, cpus: f64) -> Option<ControlGroup> {
    const PERIOD_US: u32 = 20_000;
    let made = ControlGroup::create("cpu", "cpu.cfs_quota_us", "cpu.max").and_then(|(group, file)| {
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
    made.map_err(|why| dyno_testbed::skip_unsupported(scenario, &why)).ok()
}
