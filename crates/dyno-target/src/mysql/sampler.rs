//! What Dyno's sessions wait for, looked at through the process list.
//!
//! Where `performance_schema` keeps current waits (the consumer `events_waits_current`, off by default, for it costs), a wait
//! is told by its event; else by the stage that the process list shows, as every user may see of sessions of its own name.

use super::connect::ConnectConfig;
use super::layout::settle;
use super::ops::Sessions;
use super::wire::{Connection, MyError};
use crate::error::TargetError;
use crate::target::{OtherSession, Sampler, WaitSample};

/// Sessions with their current wait if it has not ended: connection, command, stage, event.
const BY_WAIT: &str = "SELECT t.PROCESSLIST_ID, t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE,
         IF(w.END_EVENT_ID IS NULL, w.EVENT_NAME, NULL)
     FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w USING (THREAD_ID)
     WHERE t.PROCESSLIST_ID IS NOT NULL";

/// The same without waits. The table of `information_schema` would be copied into a temporary one first, and MySQL counts
/// its rows as rows that were written.
const BY_STAGE: &str = "SHOW PROCESSLIST";

/// Where each statement shows connection, command, stage and event.
const WAIT_COLUMNS: [usize; 4] = [0, 1, 2, 3];
const STAGE_COLUMNS: [usize; 4] = [0, 4, 6, usize::MAX];

/// Whether current waits are kept.
const WAITS_ARE_KEPT: &str = "SELECT COUNT(*) FROM performance_schema.setup_consumers
     WHERE NAME = 'events_waits_current' AND ENABLED = 'YES'";

/// Looks at waits on a connection of its own.
pub(super) struct MySampler {
    connection: Connection,
    by_wait: bool,
    sessions: Sessions,
}

impl MySampler {
    /// Connects, and finds out how waits can be seen; `sessions` are the connections to look at.
    pub(super) fn open(config: &ConnectConfig, sessions: Sessions) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno sampler")?;
        settle(&mut connection)?;
        let kept = match connection.simple(WAITS_ARE_KEPT) {
            Ok(rows) => rows.first().and_then(|row| row.get(0)) == Some("1"),
            Err(error) if MyError::of(&error).is_some() => false,
            Err(error) => return Err(error),
        };
        let by_wait = kept && connection.simple(BY_WAIT).is_ok();
        Ok(Self { connection, by_wait, sessions })
    }
}

impl Sampler for MySampler {
    fn sample(&mut self, into: &mut Vec<WaitSample>, _: &mut Vec<OtherSession>) -> Result<(), TargetError> {
        let (sql, columns) = if self.by_wait { (BY_WAIT, WAIT_COLUMNS) } else { (BY_STAGE, STAGE_COLUMNS) };
        let rows = self.connection.simple(sql)?;
        // A set of numbers is whole at every moment, so a panic elsewhere does not spoil it.
        let sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for row in rows.iter().filter(|row| row.parse(columns[0]).is_some_and(|id| sessions.contains(&id))) {
            let [_, command, stage, event] = columns.map(|column| row.get(column));
            if matches!(command, Some("Query" | "Execute")) {
                into.push(wait(event, stage.unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn sees_others(&self) -> Result<(), String> {
        Err("sessions of others are not sampled on MySQL".to_owned())
    }

    fn own_commits(&self) -> u64 {
        0
    }
}

/// The wait of a session: `wait/io/file/innodb/innodb_log_file` is class `io`, and a stage is told as it is.
fn wait(event: Option<&str>, stage: &str) -> WaitSample {
    let sample = |class: &str, event: &str| WaitSample { class: class.to_owned(), event: event.to_owned() };
    if let Some(event) = event.and_then(|event| event.strip_prefix("wait/")) {
        let (class, rest) = event.split_once('/').unwrap_or((event, event));
        return sample(class, rest);
    }
    if stage.is_empty() { sample("CPU", "CPU") } else { sample("stage", stage) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_before_stages() {
        let of = |event, stage| {
            let WaitSample { class, event } = wait(event, stage);
            (class, event)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            of(Some("wait/io/file/innodb/innodb_log_file"), "x"),
            pair("io", "file/innodb/innodb_log_file")
        );
        assert_eq!(of(None, "Statistics"), pair("stage", "Statistics"));
        assert_eq!(of(None, ""), pair("CPU", "CPU"));
    }
}
