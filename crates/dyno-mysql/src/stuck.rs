//! What holds up sessions whose operations do not end: the stage they are in, who holds the locks that they wait for, and what
//! the server's log says of a full disk.
//!
//! A server whose binlog or redo log has no space left does not refuse a commit: it waits, for ever if need be, and writes so
//! into its log. MySQL shows that log as a table; MariaDB's is a file, which can be read on the server's own machine.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

use super::blockers::blockers;
use super::identity::log_file;
use super::own::{Sessions, open_books};
use super::wire::{Connection, MyError};
use dyno_engine::target::Stuck;
use dyno_engine::{Refusal as _, TargetError};

/// MySQL's own log, as far back as it repeats itself.
const LOG: &str = "SELECT DATA FROM performance_schema.error_log
     WHERE LOGGED >= NOW() - INTERVAL 11 MINUTE AND (DATA LIKE '%Disk is full%' OR DATA LIKE '%No space left%')
     ORDER BY LOGGED DESC LIMIT 1";

/// What both products call a full disk in their logs, and MariaDB the stage of whoever waits for it.
const FULL: [&str; 2] = ["Disk is full", "No space left"];
const FULL_STAGE: &str = "free space";

/// How much of the end of a log file is looked at.
const TAIL_BYTES: u64 = 64 * 1024;

/// What the server says of `sessions` that are in a statement.
pub(super) fn ask(connection: &mut Connection, sessions: &Sessions) -> Result<Option<Stuck>, TargetError> {
    let Some((stage, count)) = stage(connection, sessions)? else { return Ok(None) };
    let no_space = stage.contains(FULL_STAGE);
    let said = match connection.simple(LOG) {
        Ok(rows) => rows.first().and_then(|row| row.get(0)).map(str::to_owned),
        // The file has no moments that are easily compared, so it is believed only where the stage says the same.
        Err(error) if MyError::of(&error).is_some() => {
            if no_space {
                in_file(connection)?
            } else {
                None
            }
        }
        Err(error) => return Err(error),
    };
    let mut words = format!("the server says of {count} sessions that do not end: {stage}");
    let blocking = blockers(connection, |id| open_books(sessions).has(id))?;
    if !blocking.is_empty() {
        words.push_str(&format!("; in their way: {}", blocking.join(", ")));
    }
    if let Some(said) = &said {
        words.push_str(&format!("; its log says: {said}"));
    }
    Ok(Some(Stuck { words, full: no_space || said.is_some() }))
}

/// The stage in which most of `sessions` are, and how many.
fn stage(connection: &mut Connection, sessions: &Sessions) -> Result<Option<(String, usize)>, TargetError> {
    let rows = connection.simple("SHOW PROCESSLIST")?;
    let own = open_books(sessions);
    let mut stages: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let is_own = row.parse(0).is_some_and(|id| own.has(id));
        if is_own && matches!(row.get(4), Some("Query" | "Execute" | "Fetch")) {
            *stages.entry(row.get(6).unwrap_or_default()).or_default() += 1;
        }
    }
    let most = stages.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.map(|(stage, count)| (if stage.is_empty() { "at work" } else { stage }.to_owned(), count)))
}

/// The last line about a full disk at the end of the server's log file, if that can be read.
fn in_file(connection: &mut Connection) -> Result<Option<String>, TargetError> {
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
    Ok(last_full(&String::from_utf8_lossy(&tail)).map(str::to_owned))
}

/// The last line of a log that tells of a full disk.
fn last_full(log: &str) -> Option<&str> {
    log.lines().rev().map(str::trim).find(|line| FULL.iter().any(|words| line.contains(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_about_a_full_disk_is_found() {
        let log = "1 [Note] ready\n2 [Warning] mariadbd: Disk is full writing './binlog.000001' (Errcode: 28)\n\
                   3 [Warning] mariadbd: Retry in 60 secs\n";
        assert!(last_full(log).unwrap().contains("binlog.000001"));
        assert_eq!(last_full("1 [Note] ready\n"), None);
    }
}
