//! What an earlier process of a study has left running: the command that was under way when it was killed.
//!
//! A server that a command has started in a group of its own is not meant: the command that undoes it ends it.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::command::{MARK, RUNNING};

/// How long processes that were ended may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// How often they are looked for.
const LOOK: Duration = Duration::from_millis(10);

/// Ends what the study `id` has left running in `folder`; returns how many processes that were.
pub(super) fn end(folder: &Path, id: &str) -> usize {
    let text = std::fs::read_to_string(folder.join(RUNNING)).unwrap_or_default();
    let Some(group) = text.trim().parse().ok().and_then(Pid::from_raw) else { return 0 };
    let left = members(group, id);
    if left == 0 {
        return 0;
    }
    // It may have ended by itself just now.
    let _ = kill_process_group(group, Signal::KILL);
    let until = Instant::now() + GONE_WITHIN;
    while members(group, id) > 0 && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    left
}

/// Processes of a group that bear the mark of the study: a number that was given to others since is none of ours.
fn members(group: Pid, id: &str) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let mark = format!("{MARK}={id}");
    let is_member = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind the name, which may hold anything: state, parent, group (proc(5)).
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
