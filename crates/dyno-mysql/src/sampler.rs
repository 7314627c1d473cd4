//! What Dyno's sessions wait for, looked at through the process list.
//!
//! Where `performance_schema` keeps current waits (the consumer `events_waits_current`, off by default, for it costs), a wait
//! is told by its event; else by the stage that the process list shows, as every user may see of sessions of its own name.

use super::connect::ConnectConfig;
use super::layout::{READ_ONLY, settle};
use super::own::{Sessions, open_books};
use super::wire::{Connection, MyError};
use dyno_engine::{OtherSession, Refusal as _, Sampler, TargetError, WaitSample};

/// All connections with their current wait if it has not ended: number, user, database, command, stage, event.
const BY_WAIT: &str =
    "SELECT t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_DB, t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE,
         IF(w.END_EVENT_ID IS NULL, w.EVENT_NAME, NULL)
     FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w USING (THREAD_ID)
     WHERE t.PROCESSLIST_ID IS NOT NULL";

/// The same without waits. The table of `information_schema` would be copied into a temporary one first, and MySQL counts
/// its rows as rows that were written.
const BY_STAGE: &str = "SHOW PROCESSLIST";

/// Where each statement shows number, user, database, command, stage and event.
const WAIT_COLUMNS: [usize; 6] = [0, 1, 2, 3, 4, 5];
const STAGE_COLUMNS: [usize; 6] = [0, 1, 3, 4, 6, usize::MAX];

/// Whether this user sees the connections of all users.
const SEES_ALL: &str =
    "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'PROCESS'
     AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')";

/// Whether current waits are kept.
const WAITS_ARE_KEPT: &str = "SELECT COUNT(*) FROM performance_schema.setup_consumers
     WHERE NAME = 'events_waits_current' AND ENABLED = 'YES'";

/// Looks at waits on a connection of its own.
pub(super) struct MySampler {
    connection: Connection,
    by_wait: bool,
    /// Whether it looks at all sessions alike.
    all: bool,
    sees_others: bool,
    /// The database under test, and who works in it.
    database: String,
    user: String,
    sessions: Sessions,
}

impl MySampler {
    /// Connects, and finds out how waits can be seen; `sessions` are the connections to look at.
    pub(super) fn open(config: &ConnectConfig, sessions: Sessions) -> Result<Self, TargetError> {
        Self::looking(config, sessions, false)
    }

    /// The same, for a sampler of all connections, whoever's they are.
    pub(super) fn of_all(config: &ConnectConfig, sessions: Sessions) -> Result<Self, TargetError> {
        Self::looking(config, sessions, true)
    }

    fn looking(config: &ConnectConfig, sessions: Sessions, all: bool) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno sampler")?;
        settle(&mut connection)?;
        connection.simple(READ_ONLY)?;
        let mut counts = |sql: &str| match connection.simple(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| row.parse::<u64>(0)).is_some_and(|count| count > 0)),
            Err(error) if MyError::of(&error).is_some() => Ok(false),
            Err(error) => Err(error),
        };
        let (kept, sees_others) = (counts(WAITS_ARE_KEPT)?, counts(SEES_ALL)?);
        let by_wait = kept && connection.simple(BY_WAIT).is_ok();
        open_books(&sessions).looker(connection.id());
        Ok(Self {
            connection,
            by_wait,
            all,
            sees_others,
            database: config.database.clone(),
            user: config.user.clone(),
            sessions,
        })
    }
}

impl Sampler for MySampler {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        let (sql, columns) = if self.by_wait { (BY_WAIT, WAIT_COLUMNS) } else { (BY_STAGE, STAGE_COLUMNS) };
        let rows = self.connection.simple(sql)?;
        let own = open_books(&self.sessions);
        let elsewhere = own.are_elsewhere();
        for row in &rows {
            let [_, user, database, command, stage, event] = columns.map(|column| row.get(column));
            let Some(id) = row.parse(columns[0]) else { continue };
            if !matches!(command, Some("Query" | "Execute" | "Fetch")) || own.looks(id) {
                continue;
            }
            // Connections of the run's that other processes have opened are told by their user and database alone.
            let may_be_own =
                elsewhere && database == Some(self.database.as_str()) && user == Some(self.user.as_str());
            if self.all || own.has(id) || may_be_own {
                into.push(wait(event, stage.unwrap_or_default()));
            }
            if self.all || (!elsewhere && !own.has(id) && !stands_still(stage.unwrap_or_default())) {
                others.push(OtherSession {
                    database: database.unwrap_or_default().to_owned(),
                    program: user.unwrap_or_default().to_owned(),
                    // The server's counters hold the work of all databases, and this is the one under test.
                    here: database == Some(self.database.as_str()),
                });
            }
        }
        Ok(())
    }

    fn sees_others(&self) -> Result<(), String> {
        if open_books(&self.sessions).are_elsewhere() {
            return Err("the connections of driver hosts elsewhere cannot be told from those of others, so waits are those of \
                 all that this user did in this database"
                .to_owned());
        }
        match self.sees_others {
            true => Ok(()),
            false => {
                Err("this user does not see what other users' connections do; GRANT PROCESS ON *.* to it"
                    .to_owned())
            }
        }
    }

    fn own_commits(&self) -> u64 {
        0
    }
}

/// Whether a session in this stage takes neither processor nor device: it sleeps, or waits for a lock of tables or names.
fn stands_still(stage: &str) -> bool {
    stage == "User sleep"
        || stage == "User lock"
        || stage.starts_with("Waiting for") && stage.contains("lock")
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
    fn who_sleeps_or_waits_for_a_lock_is_no_company() {
        for stage in
            ["User sleep", "User lock", "Waiting for table metadata lock", "Waiting for table level lock"]
        {
            assert!(stands_still(stage), "{stage}");
        }
        for stage in
            ["", "executing", "Sending data", "waiting for handler commit", "Waiting for table flush"]
        {
            assert!(!stands_still(stage), "{stage}");
        }
    }

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
