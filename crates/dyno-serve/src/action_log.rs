//! The action log: who requested what, from where, and how the server answered.

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size at which the file is renamed to `actions.jsonl.1`, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Number of latest actions that the API returns.
const KEPT: usize = 200;
/// Longest path that is logged, bytes.
const PATH_BYTES_MAX: usize = 200;

/// A request that changed something, logged in or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Action {
    /// Time of the answer, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Name of the token; absent if the request had none.
    pub(crate) by: Option<String>,
    /// Address of the client; absent if unknown.
    pub(crate) from: Option<String>,
    /// The method of the request.
    pub(crate) method: String,
    /// The path of the request, without its query.
    pub(crate) path: String,
    /// The HTTP status of the answer.
    pub(crate) status: u16,
}

impl Action {
    pub(crate) fn new(
        by: Option<String>,
        from: Option<IpAddr>,
        method: &str,
        path: &str,
        status: u16,
    ) -> Self {
        let end =
            (0..=path.len().min(PATH_BYTES_MAX)).rev().find(|at| path.is_char_boundary(*at)).unwrap_or(0);
        Self {
            at: dyno_record::now_rfc3339(),
            by,
            from: from.map(|address| address.to_string()),
            method: method.chars().take(16).collect(),
            path: path[..end].to_owned(),
            status,
        }
    }
}

/// The action log, in a file if that can be written.
#[derive(Debug)]
pub(crate) struct ActionLog {
    path: Option<PathBuf>,
    latest: Mutex<VecDeque<Action>>,
}

impl ActionLog {
    /// Opens the log in the file at `path`; without a path it is kept in memory only.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let text = path.as_deref().and_then(|path| crate::private_file::read(path).ok().flatten());
        let lines = text.as_deref().unwrap_or_default().lines().rev().take(KEPT);
        let mut latest: VecDeque<Action> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        latest.make_contiguous().reverse();
        Self { path, latest: Mutex::new(latest) }
    }

    /// Appends an action to the log, and drops the oldest one in memory.
    pub(crate) fn note(&self, action: Action) {
        let mut latest = self.latest.lock();
        if let Some(path) = &self.path {
            // The server must answer even if the disk is full; the latest actions are in memory.
            let _ = append(path, &action);
        }
        if latest.len() == KEPT {
            latest.pop_front();
        }
        latest.push_back(action);
    }

    /// The latest 200 actions, newest first.
    pub(crate) fn latest(&self) -> Vec<Action> {
        self.latest.lock().iter().rev().cloned().collect()
    }
}

fn append(path: &Path, action: &Action) -> std::io::Result<()> {
    // JSON escapes control characters, so a name cannot forge a log line.
    let mut line = serde_json::to_vec(action)?;
    line.push(b'\n');
    if std::fs::symlink_metadata(path).is_ok_and(|facts| facts.len() >= FILE_BYTES_MAX) {
        std::fs::rename(path, path.with_extension("jsonl.1"))?;
    }
    let mut options = std::fs::OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options.append(true).create(true).mode(0o600).custom_flags(flags as i32).open(path)?.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_action_is_one_line_for_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("actions.jsonl");
        let log = ActionLog::open(Some(path.clone()));
        let odd = format!("/jobs/\n{{\"by\":\"owner\"}}\u{1b}[31m{}", "é".repeat(200));
        log.note(Action::new(Some("anna".into()), Some(IpAddr::from([127, 0, 0, 1])), "POST", &odd, 403));
        log.note(Action::new(None, None, "GET", "/", 401));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(!text.contains('\u{1b}'));
        let latest = ActionLog::open(Some(path)).latest();
        assert_eq!(latest, log.latest());
        assert_eq!((latest[0].status, latest[1].by.as_deref()), (401, Some("anna")));
        assert!(latest[1].path.len() <= PATH_BYTES_MAX);
    }

    #[test]
    fn action_log_file_is_rotated_at_size_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("actions.jsonl");
        std::fs::write(&path, vec![b'x'; FILE_BYTES_MAX as usize]).unwrap();
        let log = ActionLog::open(Some(path.clone()));
        (0..3).for_each(|_| log.note(Action::new(None, None, "GET", "/", 401)));
        assert!(std::fs::metadata(&path).unwrap().len() < 1_000);
        assert!(path.with_extension("jsonl.1").exists());
    }
}
