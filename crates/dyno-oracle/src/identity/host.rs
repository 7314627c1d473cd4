//! Determines whether the database runs on this machine.
//!
//! Its host name must be this machine's, and its process monitor must be a local process. In doubt (another
//! PID namespace, no /proc) the answer is no.

use dyno_record::ServerProcesses;

/// Prefixes of the name of an instance's process monitor.
const MONITORS: [&str; 3] = ["ora_pmon_", "db_pmon_", "xe_pmon_"];

/// Whether `instance` on `host` runs on this machine.
pub(super) fn is_local_server(host: &str, instance: &str) -> bool {
    let ours = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if host.is_empty() || short(host) != short(ours.trim()) {
        return false;
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .any(|line| is_monitor(&line, instance))
}

/// The processes of `instance`: background processes (`ora_dbw0_FREE`) and server processes of sessions
/// (`oracleFREE`).
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
    fn process_monitor_is_recognized_by_name() {
        assert!(is_monitor("ora_pmon_orcl\0", "ORCL"));
        assert!(is_monitor("db_pmon_FREE\0", "FREE"));
        assert!(!is_monitor("ora_pmon_other\0", "ORCL"));
        assert!(!is_monitor("vim\0ora_pmon_ORCL\0", "ORCL"));
        assert!(!is_local_server("", "ORCL"));
        assert!(!is_local_server("no-such-host.example", "ORCL"));
    }
}
