//! Determines whether the database runs on this machine.
//!
//! Addresses are not reliable: loopback may be a tunnel, and a public address may be this machine's. A server
//! process is: its title contains the user, the database and the client's port. If the local process with the
//! backend's id has exactly our title, it is ours. In doubt (another PID namespace, titles turned off, no
//! /proc) the answer is no.

use std::path::Path;

use dyno_record::ServerProcesses;

use super::super::wire::PostgresConnection;
use dyno_engine::TargetError;

/// Whether the process behind this connection runs on this machine.
pub(super) fn is_local_server(connection: &mut PostgresConnection) -> Result<bool, TargetError> {
    let rows = connection.simple(
        "SELECT pg_backend_pid(), session_user, current_database(), host(inet_client_addr()), inet_client_port()",
    )?;
    let Some(row) = rows.first() else { return Ok(false) };
    let (Some(pid), Some(user), Some(database)) = (row.parse::<u32>(0), row.get(1), row.get(2)) else {
        return Ok(false);
    };
    let from = match (row.get(3), row.get(4)) {
        (Some(address), Some(port)) => format!("{address}({port})"),
        _ => "[local]".to_owned(),
    };
    let title = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Ok(is_our_backend(&String::from_utf8_lossy(&title), user, database, &from))
}

/// The server's processes: the postmaster, which is the parent of this connection's process, and all its
/// children.
pub(super) fn processes(
    connection: &mut PostgresConnection,
    same_host: bool,
) -> Result<ServerProcesses, TargetError> {
    if !same_host {
        return Ok(ServerProcesses::Elsewhere(&["postgres"]));
    }
    let rows = connection.simple("SELECT pg_backend_pid()")?;
    let pid = rows.first().and_then(|row| row.parse::<u32>(0));
    let stat = pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    Ok(match stat.as_deref().and_then(parent) {
        Some(postmaster) => ServerProcesses::Tree(postmaster),
        None => ServerProcesses::Unknown("the server's processes cannot be inspected".to_owned()),
    })
}

/// The fourth field of /proc/PID/stat: the parent of the process.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a title is `postgres: USER DATABASE FROM …`; the cluster's name precedes the user if it is set.
fn is_our_backend(title: &str, user: &str, database: &str, from: &str) -> bool {
    title.starts_with("postgres: ") && title.contains(&format!(" {user} {database} {from} "))
}

/// The WAL directory of the data directory `data`: with links resolved if possible, otherwise as the server
/// names it.
pub(super) fn redo_path(data: &str, same_host: bool) -> String {
    let named = Path::new(data).join("pg_wal");
    let followed = if same_host { named.canonicalize().ok() } else { None };
    followed.unwrap_or(named).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backend_is_recognized_only_by_own_process_title() {
        let title = "postgres: main: me bench 127.0.0.1(50123) SELECT\0\0";
        assert!(is_our_backend(title, "me", "bench", "127.0.0.1(50123)"));
        assert!(!is_our_backend(title, "me", "bench", "127.0.0.1(5012)"));
        assert!(!is_our_backend(title, "you", "bench", "127.0.0.1(50123)"));
        assert!(!is_our_backend("vim postgres: me bench [local] x", "me", "bench", "[local]"));
        assert!(is_our_backend("postgres: me bench [local] SELECT", "me", "bench", "[local]"));
    }

    #[test]
    fn parent_process_is_parsed_after_any_program_name() {
        assert_eq!(parent("812 (postgres) S 807 812 812 0 -1"), Some(807));
        assert_eq!(parent("812 (a) b) S 807 812"), Some(807));
        assert_eq!(parent("812"), None);
    }
}
