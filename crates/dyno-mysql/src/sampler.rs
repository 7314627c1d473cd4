//! Samples what Dyno's sessions wait for, from the process list.
//!
//! If `performance_schema` keeps current waits, the sampler reports a wait by its event. That needs the
//! consumer `events_waits_current`, which costs time and is off by default. Otherwise the sampler reports the
//! stage from the process list, which every user may see for sessions of its own name.

use super::blockers;
use super::connections::MySqlConnections;
use super::own_connections::SharedSessionRegistry;
use super::wire::{MySqlConnection, MySqlError};
use dyno_engine::lock_waits::LockWaits;
use dyno_engine::{ConnectionPurpose, OtherSession, Refusal as _, Sampler, TargetError, WaitSample};

/// All connections with their current wait, if it has not ended. Columns: id, user, database, command, stage,
/// event.
const BY_WAIT: &str =
    "SELECT t.PROCESSLIST_ID AS dyno_monitoring, t.PROCESSLIST_USER, t.PROCESSLIST_DB, t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE,
         IF(w.END_EVENT_ID IS NULL, w.EVENT_NAME, NULL)
     FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w USING (THREAD_ID)
     WHERE t.PROCESSLIST_ID IS NOT NULL";

/// The same without waits. `information_schema.PROCESSLIST` is not used: the server would copy it into a
/// temporary table, and MySQL counts those rows as rows written.
const BY_STAGE: &str = "SHOW PROCESSLIST";

/// The positions of id, user, database, command, stage and event in each result.
const WAIT_COLUMNS: [usize; 6] = [0, 1, 2, 3, 4, 5];
const STAGE_COLUMNS: [usize; 6] = [0, 1, 3, 4, 6, usize::MAX];

/// Whether this user can see the connections of all users.
const SEES_ALL: &str =
    "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'PROCESS'
     AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')";

/// Whether the server records current waits.
const WAITS_ARE_KEPT: &str = "SELECT COUNT(*) FROM performance_schema.setup_consumers
     WHERE NAME = 'events_waits_current' AND ENABLED = 'YES'";

/// Sessions that wait for a row lock now. Columns: name and value.
const CURRENT_LOCK_WAITS: &str = "SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_row_lock_current_waits' AND (SELECT 1 AS dyno_monitoring)";

/// Samples waits on a connection of its own.
pub(super) struct MySqlSampler {
    connection: MySqlConnection,
    by_wait: bool,
    /// Whether it samples all sessions and not only Dyno's.
    all: bool,
    sees_others: bool,
    /// The database under test, and the user that Dyno connects as.
    database: String,
    user: String,
    sessions: SharedSessionRegistry,
    /// Whether a session waited for a metadata lock since lock waits were last read.
    saw_metadata_wait: bool,
}

impl MySqlSampler {
    /// Connects and determines how waits can be read; `sessions` are the connections to sample.
    pub(super) fn open(
        connections: &MySqlConnections,
        sessions: SharedSessionRegistry,
    ) -> Result<Self, TargetError> {
        Self::connect(connections, sessions, false)
    }

    /// Like [`Self::open`], but samples the connections of all users.
    pub(super) fn open_for_all(
        connections: &MySqlConnections,
        sessions: SharedSessionRegistry,
    ) -> Result<Self, TargetError> {
        Self::connect(connections, sessions, true)
    }

    fn connect(
        connections: &MySqlConnections,
        sessions: SharedSessionRegistry,
        all: bool,
    ) -> Result<Self, TargetError> {
        let mut connection = connections.open_for(ConnectionPurpose::Sample)?;
        let config = &connections.config;
        let mut counts = |sql: &str| match connection.simple(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| row.parse::<u64>(0)).is_some_and(|count| count > 0)),
            Err(error) if MySqlError::of(&error).is_some() => Ok(false),
            Err(error) => Err(error),
        };
        let (kept, sees_others) = (counts(WAITS_ARE_KEPT)?, counts(SEES_ALL)?);
        let by_wait = kept && connection.simple(BY_WAIT).is_ok();
        sessions.lock().add_observer(connection.id());
        Ok(Self {
            connection,
            by_wait,
            all,
            sees_others,
            database: config.database.clone(),
            user: config.user.clone(),
            sessions,
            saw_metadata_wait: false,
        })
    }
}

impl Sampler for MySqlSampler {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        let (sql, columns) = if self.by_wait { (BY_WAIT, WAIT_COLUMNS) } else { (BY_STAGE, STAGE_COLUMNS) };
        self.sessions.lock().add_process_list();
        let rows = self.connection.simple(sql)?;
        let registry = self.sessions.lock();
        let elsewhere = registry.has_remote_sessions();
        for row in &rows {
            let [_, user, database, command, stage, event] = columns.map(|column| row.get(column));
            let Some(id) = row.parse(columns[0]) else { continue };
            if !matches!(command, Some("Query" | "Execute" | "Fetch")) || registry.is_observer(id) {
                continue;
            }
            self.saw_metadata_wait |= stage.is_some_and(|stage| stage.ends_with("metadata lock"));
            // Connections of this run in other processes can only be recognized by user and database.
            let may_be_own =
                elsewhere && database == Some(self.database.as_str()) && user == Some(self.user.as_str());
            if self.all || registry.is_session(id) || may_be_own {
                into.push(wait(event, stage.unwrap_or_default()));
            }
            if self.all
                || (!elsewhere && !registry.is_session(id) && !is_idle_stage(stage.unwrap_or_default()))
            {
                others.push(OtherSession {
                    database: database.unwrap_or_default().to_owned(),
                    program: user.unwrap_or_default().to_owned(),
                    // The server's counters cover all databases; this marks sessions in the database under
                    // test.
                    is_target_database: database == Some(self.database.as_str()),
                });
            }
        }
        Ok(())
    }

    fn can_see_others(&self) -> Result<(), String> {
        if self.sessions.lock().has_remote_sessions() {
            return Err("Dyno cannot distinguish connections of other driver hosts from other sessions, so \
                waits include all activity of this user in this database"
                .to_owned());
        }
        match self.sees_others {
            true => Ok(()),
            false => {
                Err("this user cannot see the activity of other users' connections; GRANT PROCESS ON *.* \
                    to it"
                    .to_owned())
            }
        }
    }

    fn lock_waits(&mut self) -> Result<LockWaits, TargetError> {
        // Listing the locks of a busy server is expensive, and is done only while a session waits for one.
        let rows = self.connection.simple(CURRENT_LOCK_WAITS)?;
        let is_waiting = rows.first().and_then(|row| row.parse::<u64>(1)).is_some_and(|count| count > 0);
        let blocked = match std::mem::take(&mut self.saw_metadata_wait) || is_waiting {
            true => blockers::blocked(&mut self.connection)?,
            false => Vec::new(),
        };
        let mut transactions = blockers::open_transactions(&mut self.connection)?;
        let registry = self.sessions.lock();
        let is_observer = |id: &str| id.parse().is_ok_and(|id| registry.is_observer(id));
        transactions.retain(|transaction| !is_observer(&transaction.session.id));
        Ok(LockWaits { blocked, transactions })
    }

    fn own_commits(&self) -> u64 {
        0
    }
}

/// Whether a session in this stage uses neither processor nor device: it sleeps, or waits for a table lock or
/// a user lock.
fn is_idle_stage(stage: &str) -> bool {
    stage == "User sleep"
        || stage == "User lock"
        || stage.starts_with("Waiting for") && stage.contains("lock")
}

/// The wait of a session. The event `wait/io/file/innodb/innodb_log_file` has class `io`; a stage is reported
/// under its own name.
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
    fn sleeping_and_lock_waiting_sessions_are_idle() {
        for stage in
            ["User sleep", "User lock", "Waiting for table metadata lock", "Waiting for table level lock"]
        {
            assert!(is_idle_stage(stage), "{stage}");
        }
        for stage in
            ["", "executing", "Sending data", "waiting for handler commit", "Waiting for table flush"]
        {
            assert!(!is_idle_stage(stage), "{stage}");
        }
    }

    #[test]
    fn wait_event_takes_precedence_over_stage() {
        let class_and_event = |event, stage| {
            let WaitSample { class, event } = wait(event, stage);
            (class, event)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            class_and_event(Some("wait/io/file/innodb/innodb_log_file"), "x"),
            pair("io", "file/innodb/innodb_log_file")
        );
        assert_eq!(class_and_event(None, "Statistics"), pair("stage", "Statistics"));
        assert_eq!(class_and_event(None, ""), pair("CPU", "CPU"));
    }
}
