//! Whether the database runs on this machine.
//!
//! Addresses do not tell: loopback may be a tunnel, and a public address may be our own. So the server has to call its machine
//! by our name, and a process here that is called as a server is must have started when the server did. In doubt (another
//! PID namespace, no /proc) the answer is no.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::wire::Connection;
use crate::error::TargetError;

/// Seconds between the start of a process and the moment its server takes for its own: reading options comes first.
const START_WITHIN_S: f64 = 5.0;

/// Kernel ticks in a second, as /proc counts them (`USER_HZ`, 100 on every Linux).
const TICKS_PER_S: f64 = 100.0;

/// Whether the server behind this connection runs on this machine.
pub(super) fn is_this_one(connection: &mut Connection) -> Result<bool, TargetError> {
    let rows = connection.simple("SELECT @@hostname")?;
    let theirs = rows.first().and_then(|row| row.get(0)).unwrap_or_default();
    let ours = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if theirs.is_empty() || theirs != ours.trim() {
        return Ok(false);
    }
    let rows = connection.simple("SHOW GLOBAL STATUS LIKE 'Uptime'")?;
    let Some(uptime_s) = rows.first().and_then(|row| row.parse::<f64>(1)) else { return Ok(false) };
    let started_s = seconds_since_1970() - uptime_s;
    Ok(servers_started_s().iter().any(|process_s| (process_s - started_s).abs() <= START_WITHIN_S))
}

fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// When each process that is called as a server is was started, seconds since 1970.
fn servers_started_s() -> Vec<f64> {
    let booted_s = std::fs::read_to_string("/proc/uptime")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map(|up_s| seconds_since_1970() - up_s);
    let Some(booted_s) = booted_s else { return Vec::new() };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| is_server(&String::from_utf8_lossy(&line)))
    });
    let ticks = folders.filter_map(|path| start_ticks(&std::fs::read_to_string(path.join("stat")).ok()?));
    ticks.map(|ticks| booted_s + ticks / TICKS_PER_S).collect()
}

/// Whether a command line is that of a server; it may have been started through a loader or a wrapper.
fn is_server(command_line: &str) -> bool {
    let words = command_line.split('\0');
    words.filter_map(|word| word.rsplit('/').next()).any(|name| matches!(name, "mysqld" | "mariadbd"))
}

/// The 22nd field of /proc/PID/stat: when the process was started, in ticks since the machine was.
fn start_ticks(stat: &str) -> Option<f64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_known_by_their_command_line() {
        assert!(is_server("/usr/sbin/mariadbd\0--no-defaults\0"));
        assert!(is_server("/x/ld-linux-x86-64.so.2\0--library-path\0/x\0/x/usr/sbin/mysqld\0"));
        assert!(!is_server("vim\0mysqld.cnf\0"));
    }

    #[test]
    fn the_start_is_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 12345 0 0";
        assert_eq!(start_ticks(stat), Some(12_345.0));
    }
}
