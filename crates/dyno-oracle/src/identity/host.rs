//! Whether the database runs on this machine.
//!
//! Its host has to have our name, and its process monitor has to be a process here. In doubt (another PID namespace, no
//! /proc) the answer is no.

use dyno_record::ServerProcesses;

/// What the process monitor of an instance is called, before the instance's name.
const MONITORS: [&str; 3] = ["ora_pmon_", "db_pmon_", "xe_pmon_"];

/// Whether `instance` on `host` runs here.
pub(super) fn is_this_one(host: &str, instance: &str) -> bool {
    let ours = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if host.is_empty() || short(host) != short(ours.trim()) {
        return false;
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .any(|line| is_monitor(&line, instance))
}

/// The processes of `instance`: background processes (`ora_dbw0_FREE`) and those that serve sessions (`oracleFREE`).
pub(super) fn processes(same_host: bool, instance: &str) -> ServerProcesses {
    match same_host {
        true => ServerProcesses::Called { starts: &["ora", "db_", "xe_"], ends: instance.to_owned() },
        false => ServerProcesses::default(),
    }
}

fn short(host: &str) -> String {
    host.split('.').next().unwrap_or_default().to_ascii_lowercase()
}

fn is_monitor(command_line: &str, instance: &str) -> bool {
    let name = command_line.split('\0').next().unwrap_or_default();
    MONITORS.iter().any(|start| {
        name.strip_prefix(start).is_some_and(|own| own.trim_end().eq_ignore_ascii_case(instance))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_are_known_by_their_name() {
        assert!(is_monitor("ora_pmon_orcl\0", "ORCL") && is_monitor("db_pmon_FREE\0", "FREE"));
        assert!(!is_monitor("ora_pmon_other\0", "ORCL") && !is_monitor("vim\0ora_pmon_ORCL\0", "ORCL"));
        assert!(!is_this_one("", "ORCL") && !is_this_one("no-such-host.example", "ORCL"));
    }
}
