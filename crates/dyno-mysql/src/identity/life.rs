//! Which life of the server this is.

use std::path::{Path, PathBuf};

use super::super::wire::{Connection, MyError};
use super::host;
use dyno_engine::{Refusal as _, ServerLife, TargetError};

/// When the server was started. Both figures are taken at the statement's own start, so their difference is the same
/// second whenever it is asked for.
const STARTED: &str =
    "SELECT CONCAT('second ', UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS UNSIGNED), ' since 1970')
     FROM {schema}.global_status WHERE VARIABLE_NAME = 'Uptime'";

/// What MySQL's own log of errors says of a start after a crash (8.0.22 and later).
const RECOVERED: &str = "SELECT COUNT(*) FROM performance_schema.error_log
     WHERE DATA LIKE '%crash recovery%' AND LOGGED >= NOW() - INTERVAL
       (SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime') + 60 SECOND";

/// What MariaDB writes into its log when it starts after a crash (InnoDB only where it finds work, Aria always), and what it
/// writes when it starts.
const LOG_RECOVERED: [&str; 2] = ["Starting crash recovery", "Aria engine: starting recovery"];
const LOG_STARTED: &str = " as process ";

/// When the server was started, in words that stay the same through one life.
pub(crate) fn started(connection: &mut Connection) -> Result<String, TargetError> {
    let schema = if connection.is_mariadb() { "information_schema" } else { "performance_schema" };
    let rows = connection.simple(&STARTED.replace("{schema}", schema))?;
    rows.first()
        .and_then(|row| row.get(0))
        .map(str::to_owned)
        .ok_or_else(|| TargetError::database("the server does not say how long it has been up"))
}

/// Which life of the server this is, and whether it began with the recovery from a crash.
///
/// Neither product keeps that in a view. MySQL shows its log as a table; MariaDB's is a file, which can be read only on the
/// server's own machine. Where neither can be read, a crash is not told from a restart in good order.
pub(crate) fn life(connection: &mut Connection) -> Result<ServerLife, TargetError> {
    let started = started(connection)?;
    let recovered = match connection.simple(RECOVERED) {
        Ok(rows) => rows.first().and_then(|row| row.parse::<u64>(0)).is_some_and(|lines| lines > 0),
        Err(error) if MyError::of(&error).is_some() => log_says_recovered(connection)?,
        Err(error) => return Err(error),
    };
    let statistics_since = if recovered {
        format!("recovery at {started}")
    } else {
        "a start in good order, as far as can be seen".to_owned()
    };
    Ok(ServerLife { started, statistics_since })
}

/// The file of the server's log; `None` where the server runs elsewhere, or has none.
pub(crate) fn log_file(connection: &mut Connection) -> Result<Option<PathBuf>, TargetError> {
    if !host::is_this_one(connection)? {
        return Ok(None);
    }
    let rows = connection.simple("SELECT @@log_error, @@datadir")?;
    let path = |i| rows.first().and_then(|row| row.get(i)).filter(|path| !path.is_empty());
    Ok(path(0).zip(path(1)).map(|(log, data)| Path::new(data).join(log)))
}

/// Whether the log file's last start was a recovery.
fn log_says_recovered(connection: &mut Connection) -> Result<bool, TargetError> {
    let Some(path) = log_file(connection)? else { return Ok(false) };
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last_start = text.rfind(LOG_STARTED).map_or("", |at| &text[at..]);
    Ok(LOG_RECOVERED.iter().any(|words| last_start.contains(words)))
}
