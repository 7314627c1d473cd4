//! Kills what an earlier process of a study left running: its command at the time when it was killed.
//!
//! A server that a command started in another process group is not affected; the revert command stops it.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::command::{MARK, RUNNING};

/// How long killed processes may take to disappear.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// How often the processes are counted.
const LOOK: Duration = Duration::from_millis(10);

/// Kills what the study `id` has left running in `folder`; returns the number of processes.
pub(super) fn kill_leftover_processes(folder: &Path, id: &str) -> usize {
    let text = std::fs::read_to_string(folder.join(RUNNING)).unwrap_or_default();
    let Some(group) = text.trim().parse().ok().and_then(Pid::from_raw) else { return 0 };
    let left = count_group_processes(group, id);
    if left == 0 {
        return 0;
    }
    // The process group may just have ended by itself.
    let _ = kill_process_group(group, Signal::KILL);
    let until = Instant::now() + GONE_WITHIN;
    while count_group_processes(group, id) > 0 && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    left
}

/// Counts the processes of a group that carry the study's mark. The group number may have been reused by
/// other processes.
fn count_group_processes(group: Pid, id: &str) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let mark = format!("{MARK}={id}");
    let is_member = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The fields after the name, which may contain any character: state, parent, group (proc(5)).
        let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
        let mut fields = behind.split_whitespace();
        let (state, own) = (fields.next(), fields.nth(1));
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let marked = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        state != Some("Z")
            && own.and_then(|own| own.parse().ok()) == Some(group.as_raw_nonzero().get())
            && marked
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| is_member(*pid))
        .count()
}
