//! Reports why sessions do not end: their stage, the holders of the locks that they wait for, and full disks
//! that the server's log reports.
//!
//! A server that has no space left for its binlog or redo log does not return an error for a commit. The
//! commit waits, possibly for ever, and the server writes a message to its log. MySQL shows the log as a
//! table. MariaDB's log is a file, which can be read on the server's machine only.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

use super::blockers::blockers;
use super::identity::log_file;
use super::own_connections::SharedSessionRegistry;
use super::wire::{MySqlConnection, MySqlError};
use dyno_engine::target::HungSessionReport;
use dyno_engine::{Refusal as _, TargetError};

/// Recent entries about a full disk in MySQL's error log. The server repeats such an entry while the disk stays
/// full.
const LOG: &str = "SELECT DATA FROM performance_schema.error_log
     WHERE LOGGED >= NOW() - INTERVAL 11 MINUTE AND (DATA LIKE '%Disk is full%' OR DATA LIKE '%No space left%')
     ORDER BY LOGGED DESC LIMIT 1";

/// How both products report a full disk in their logs, and the stage that MariaDB shows for a connection that
/// waits for space.
const FULL: [&str; 2] = ["Disk is full", "No space left"];
const FULL_STAGE: &str = "free space";

/// Bytes read from the end of a log file.
const TAIL_BYTES: u64 = 64 * 1024;

/// What the server reports about `sessions` that are executing a statement.
pub(super) fn ask(
    connection: &mut MySqlConnection,
    sessions: &SharedSessionRegistry,
) -> Result<Option<HungSessionReport>, TargetError> {
    let Some((stage, count)) = stage(connection, sessions)? else { return Ok(None) };
    let no_space = stage.contains(FULL_STAGE);
    let log_line = match connection.simple(LOG) {
        Ok(rows) => rows.first().and_then(|row| row.get(0)).map(str::to_owned),
        // The file's timestamps are hard to compare, so it counts only if the stage reports a full disk too.
        Err(error) if MySqlError::of(&error).is_some() => {
            if no_space {
                read_log_file(connection)?
            } else {
                None
            }
        }
        Err(error) => return Err(error),
    };
    let mut words = format!("the server reports for {count} sessions that do not end: {stage}");
    let blocking = blockers(connection, |id| sessions.lock().is_session(id))?;
    if !blocking.is_empty() {
        words.push_str(&format!("; blocked by: {}", blocking.join(", ")));
    }
    if let Some(line) = &log_line {
        words.push_str(&format!("; its log reports: {line}"));
    }
    Ok(Some(HungSessionReport { words, full: no_space || log_line.is_some() }))
}

/// The stage that most of `sessions` are in, and how many are in it.
fn stage(
    connection: &mut MySqlConnection,
    sessions: &SharedSessionRegistry,
) -> Result<Option<(String, usize)>, TargetError> {
    let rows = connection.simple("SHOW PROCESSLIST")?;
    let registry = sessions.lock();
    let mut stages: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let is_own = row.parse(0).is_some_and(|id| registry.is_session(id));
        if is_own && matches!(row.get(4), Some("Query" | "Execute" | "Fetch")) {
            *stages.entry(row.get(6).unwrap_or_default()).or_default() += 1;
        }
    }
    let most = stages.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.map(|(stage, count)| (if stage.is_empty() { "active" } else { stage }.to_owned(), count)))
}

/// The last line about a full disk at the end of the server's log file; absent if the file cannot be read.
fn read_log_file(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    let Some(path) = log_file(connection)? else { return Ok(None) };
    let read = || {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        Ok::<_, std::io::Error>(tail)
    };
    let tail = read().unwrap_or_default();
    Ok(last_disk_full_line(&String::from_utf8_lossy(&tail)).map(str::to_owned))
}

/// The last line of a log that reports a full disk.
fn last_disk_full_line(log: &str) -> Option<&str> {
    log.lines().rev().map(str::trim).find(|line| FULL.iter().any(|words| line.contains(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_disk_full_log_line_is_found() {
        let log = "1 [Note] ready\n2 [Warning] mariadbd: Disk is full writing './binlog.000001' (Errcode: 28)\n\
                   3 [Warning] mariadbd: Retry in 60 secs\n";
        assert!(last_disk_full_line(log).unwrap().contains("binlog.000001"));
        assert_eq!(last_disk_full_line("1 [Note] ready\n"), None);
    }
}
