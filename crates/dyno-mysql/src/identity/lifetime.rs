//! Identifies the server's current lifetime: its start, and whether a crash preceded it.

use std::path::{Path, PathBuf};

use super::super::wire::{MySqlConnection, MySqlError};
use super::host;
use dyno_engine::{Refusal as _, ServerLife, TargetError};

/// When the server was started. Both values come from the statement's start time, so their difference always
/// gives the same second.
const STARTED: &str =
    "SELECT CONCAT('second ', UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS UNSIGNED), ' since 1970') AS dyno_monitoring
     FROM {schema}.global_status WHERE VARIABLE_NAME = 'Uptime'";

/// The entries in MySQL's error log for a start after a crash (8.0.22 and later).
const RECOVERED: &str = "SELECT COUNT(*) FROM performance_schema.error_log
     WHERE DATA LIKE '%crash recovery%' AND LOGGED >= NOW() - INTERVAL
       (SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime') + 60 SECOND";

/// MariaDB's log entries for a start after a crash (InnoDB only if there is something to recover, Aria
/// always), and for any start.
const LOG_RECOVERED: [&str; 2] = ["Starting crash recovery", "Aria engine: starting recovery"];
const LOG_STARTED: &str = " as process ";

/// The server's start time as text that stays the same until it restarts.
pub(crate) fn started(connection: &mut MySqlConnection) -> Result<String, TargetError> {
    let schema = if connection.is_mariadb() { "information_schema" } else { "performance_schema" };
    let rows = connection.simple(&STARTED.replace("{schema}", schema))?;
    rows.first()
        .and_then(|row| row.get(0))
        .map(str::to_owned)
        .ok_or_else(|| TargetError::database("the server does not report its uptime"))
}

/// The server's current lifetime, and whether it began with crash recovery.
///
/// Neither product shows this in a view. MySQL shows its log as a table. MariaDB's log is a file, which can
/// be read on the server's machine only. If neither can be read, a crash looks like a normal restart.
pub(crate) fn life(connection: &mut MySqlConnection) -> Result<ServerLife, TargetError> {
    let started = started(connection)?;
    let recovered = match connection.simple(RECOVERED) {
        Ok(rows) => rows.first().and_then(|row| row.parse::<u64>(0)).is_some_and(|lines| lines > 0),
        Err(error) if MySqlError::of(&error).is_some() => log_says_recovered(connection)?,
        Err(error) => return Err(error),
    };
    let statistics_since = if recovered {
        format!("recovery at {started}")
    } else {
        "a start in good order, as far as can be seen".to_owned()
    };
    Ok(ServerLife { started, statistics_since })
}

/// The path of the server's log file; `None` if the server runs elsewhere or has none.
pub(crate) fn log_file(connection: &mut MySqlConnection) -> Result<Option<PathBuf>, TargetError> {
    if !host::is_local_server(connection)? {
        return Ok(None);
    }
    let rows = connection.simple("SELECT @@log_error, @@datadir")?;
    let path = |i| rows.first().and_then(|row| row.get(i)).filter(|path| !path.is_empty());
    Ok(path(0).zip(path(1)).map(|(log, data)| Path::new(data).join(log)))
}

/// Whether the last start in the log file was a recovery.
fn log_says_recovered(connection: &mut MySqlConnection) -> Result<bool, TargetError> {
    let Some(path) = log_file(connection)? else { return Ok(false) };
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last_start = text.rfind(LOG_STARTED).map_or("", |at| &text[at..]);
    Ok(LOG_RECOVERED.iter().any(|words| last_start.contains(words)))
}
