//! Determines whether the database runs on this machine.
//!
//! Addresses are not reliable: loopback may be a tunnel, and a public address may be this machine's. So two
//! conditions must hold. The server reports this machine's host name, and a process here with a server's name
//! started when the server did. In doubt (another PID namespace, no /proc) the answer is no.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use dyno_record::ServerProcesses;

use super::super::wire::MySqlConnection;
use dyno_engine::TargetError;

const SERVERS: [&str; 2] = ["mysqld", "mariadbd"];

/// Seconds between the start of a process and the start time that its server reports; reading options comes
/// first.
const START_WITHIN_S: f64 = 5.0;

/// Kernel ticks per second, as /proc counts them (`USER_HZ`, 100 on every Linux).
const TICKS_PER_S: f64 = 100.0;

/// Whether the server behind this connection runs on this machine.
pub(super) fn is_local_server(connection: &mut MySqlConnection) -> Result<bool, TargetError> {
    Ok(!candidates(connection)?.is_empty())
}

/// The server's process. If several started within the same seconds, the server's PID file identifies it.
pub(super) fn processes(connection: &mut MySqlConnection) -> Result<ServerProcesses, TargetError> {
    let candidates = candidates(connection)?;
    Ok(match candidates.as_slice() {
        [] => ServerProcesses::Elsewhere(&SERVERS),
        &[only] => ServerProcesses::Tree(only),
        several => match written_pid(connection)?.filter(|pid| several.contains(pid)) {
            Some(pid) => ServerProcesses::Tree(pid),
            None => ServerProcesses::Unknown(format!(
                "{} servers were started in the same seconds, and the file of @@pid_file cannot be read",
                several.len()
            )),
        },
    })
}

/// Local processes that may be the server behind this connection; empty if it runs elsewhere.
fn candidates(connection: &mut MySqlConnection) -> Result<Vec<u32>, TargetError> {
    let rows = connection.simple("SELECT @@hostname")?;
    let theirs = rows.first().and_then(|row| row.get(0)).unwrap_or_default();
    let ours = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if theirs.is_empty() || theirs != ours.trim() {
        return Ok(Vec::new());
    }
    let rows = connection.simple("SHOW GLOBAL STATUS LIKE 'Uptime'")?;
    let Some(uptime_s) = rows.first().and_then(|row| row.parse::<f64>(1)) else { return Ok(Vec::new()) };
    let started_s = seconds_since_1970() - uptime_s;
    let near = |&(_, process_s): &(u32, f64)| (process_s - started_s).abs() <= START_WITHIN_S;
    Ok(servers_started_s().into_iter().filter(near).map(|(pid, _)| pid).collect())
}

/// The process id from the server's PID file; `None` if it cannot be read.
fn written_pid(connection: &mut MySqlConnection) -> Result<Option<u32>, TargetError> {
    let rows = connection.simple("SELECT @@pid_file, @@datadir")?;
    let text = |at| rows.first().and_then(|row| row.get(at)).filter(|text| !text.is_empty());
    let (Some(file), Some(data)) = (text(0), text(1)) else { return Ok(None) };
    let written = std::fs::read_to_string(Path::new(data).join(file)).ok();
    Ok(written.and_then(|text| text.trim().parse().ok()))
}

fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Each process with a server's name, and its start in seconds since 1970.
fn servers_started_s() -> Vec<(u32, f64)> {
    let booted_s = std::fs::read_to_string("/proc/uptime")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map(|up_s| seconds_since_1970() - up_s);
    let Some(booted_s) = booted_s else { return Vec::new() };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| is_server(&String::from_utf8_lossy(&line)))
    });
    let started = folders.filter_map(|path| {
        let pid: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let ticks = start_ticks(&std::fs::read_to_string(path.join("stat")).ok()?)?;
        Some((pid, booted_s + ticks / TICKS_PER_S))
    });
    started.collect()
}

/// Whether a command line belongs to a server, which may have been started through a loader or a wrapper.
pub(crate) fn is_server(command_line: &str) -> bool {
    let words = command_line.split('\0');
    words.filter_map(|word| word.rsplit('/').next()).any(|name| SERVERS.contains(&name))
}

/// The 22nd field of /proc/PID/stat: the start of the process, in ticks since the machine started.
fn start_ticks(stat: &str) -> Option<f64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_server_is_recognized_by_command_line() {
        assert!(is_server("/usr/sbin/mariadbd\0--no-defaults\0"));
        assert!(is_server("/x/ld-linux-x86-64.so.2\0--library-path\0/x\0/x/usr/sbin/mysqld\0"));
        assert!(!is_server("vim\0mysqld.cnf\0"));
    }

    #[test]
    fn process_start_is_parsed_after_any_program_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 12345 0 0";
        assert_eq!(start_ticks(stat), Some(12_345.0));
    }
}
