//! Samples what Dyno's sessions wait for, from `pg_stat_activity`.

use super::connections::PostgresConnections;
use super::lock_waits;
use super::wire::PostgresConnection;
use dyno_engine::lock_waits::LockWaits;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{ConnectionPurpose, OtherSession, Sampler, TargetError, WaitSample};

/// Active sessions of Dyno in this database with their waits, and other active sessions of the server with
/// database and program.
///
/// A user sees the activity of its own backends, and of all with `pg_read_all_stats`; sessions connect as the
/// same user as this sampler. Only client backends are included, not background processes. A Dyno process in
/// another database counts as another client; in this database the lock excludes it. Sessions that sleep or
/// wait for a lock or their client use neither processor nor device and are not included.
const SAMPLE: &str = "SELECT /* dyno */ a.ours, CASE WHEN a.ours THEN a.wait_event_type ELSE a.datname END,
         CASE WHEN a.ours THEN a.wait_event ELSE coalesce(nullif(a.application_name, ''), a.usename) END, a.here
     FROM (
         SELECT *, datname = current_database() AS here,
             datname = current_database() AND application_name ~ '^dyno( |$)' AS ours
         FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend'
     ) a
     WHERE CASE WHEN a.ours THEN a.application_name !~ '^dyno (load|check|lock|observer|sampler)( |$)'
         ELSE coalesce(a.wait_event_type, '') NOT IN ('Timeout', 'Lock', 'Client') END";

/// All active sessions of the server except observers and samplers: wait, database, program, and whether it
/// is in this database.
const SAMPLE_ALL: &str =
    "SELECT /* dyno */ coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'CPU'), datname,
         coalesce(nullif(application_name, ''), usename), datname = current_database()
     FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend'
         AND application_name !~ '^dyno (observer|sampler)( |$)'";

/// Returns one row: whether a wait is visible, that of this backend itself, and whether other users' sessions
/// are visible.
const PROBE: &str = "SELECT state, pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
     FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// The most frequent wait of Dyno's sessions that are executing a statement, their number, and the sessions
/// that block them.
const STUCK: &str = "SELECT /* dyno */ concat_ws(' ', a.wait_event_type, a.wait_event), count(*),
         string_agg(DISTINCT concat_ws(' ', 'process', b.pid::text, nullif(b.application_name, ''), b.usename), ', ')
     FROM pg_stat_activity a LEFT JOIN pg_stat_activity b ON b.pid = ANY (pg_blocking_pids(a.pid))
     WHERE a.state = 'active' AND a.datname = current_database() AND a.application_name ~ '^dyno( |$)'
         AND a.application_name !~ '^dyno (load|check|lock|observer|sampler)( |$)'
     GROUP BY 1 ORDER BY 2 DESC LIMIT 1";

/// What the server reports about sessions whose operations do not end.
pub(super) fn stuck(connection: &mut PostgresConnection) -> Result<Option<HungSessionReport>, TargetError> {
    let rows = connection.simple(STUCK)?;
    let Some(row) = rows.last().filter(|row| row.len() == 3) else { return Ok(None) };
    let (wait, count) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
    let wait = if wait.is_empty() { "no wait, they are active" } else { wait };
    let mut words = format!("the server reports for {count} sessions that do not end: {wait}");
    if let Some(who) = row.get(2).filter(|who| !who.is_empty()) {
        words.push_str(&format!("; blocked by: {who}"));
    }
    Ok(Some(HungSessionReport { words, full: false }))
}

/// Samples waits on a connection of its own.
pub(super) struct PostgresSampler {
    connection: PostgresConnection,
    sample: String,
    lock_waits: String,
    /// Whether it samples all sessions and not only Dyno's.
    all: bool,
    sees_others: bool,
    commits: u64,
}

impl PostgresSampler {
    /// Connects and checks that waits are visible.
    pub(super) fn open(connections: &PostgresConnections) -> Result<Self, TargetError> {
        Self::connect(connections, false)
    }

    /// Like [`Self::open`], but samples the sessions of all users.
    pub(super) fn open_for_all(connections: &PostgresConnections) -> Result<Self, TargetError> {
        Self::connect(connections, true)
    }

    fn connect(connections: &PostgresConnections, all: bool) -> Result<Self, TargetError> {
        let mut connection = connections.open_for(ConnectionPurpose::Sample)?;
        // Flushes the statistics of opening at once, so that the next snapshot contains them.
        let flush = super::counters::flush_sql(connection.server_version_num());
        let first = |sql: &str| if flush.is_empty() { sql.to_owned() } else { format!("{flush}; {sql}") };
        let probe = connection.simple(&first(PROBE))?;
        if probe.last().and_then(|row| row.get(0)) != Some("active") {
            return Err(TargetError::privilege("pg_stat_activity does not show the activity of sessions")
                .hint("set track_activities = on, or GRANT pg_read_all_stats to this user"));
        }
        let sees_others = probe.last().and_then(|row| row.get(1)) == Some("t");
        let sample = first(if all { SAMPLE_ALL } else { SAMPLE });
        // The first sample looks up its views in the catalog, and those blocks would count in the window.
        connection.simple(&sample)?;
        // One transaction each: start-up, settings, probe and that sample.
        let lock_waits = first(lock_waits::QUERY);
        Ok(Self { connection, sample, lock_waits, all, sees_others, commits: 4 })
    }
}

impl Sampler for PostgresSampler {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        let rows = self.connection.simple(&self.sample)?;
        self.commits += 1;
        if self.all {
            for row in rows.iter().filter(|row| row.len() == 5) {
                let word = |column| row.get(column).unwrap_or_default().to_owned();
                into.push(WaitSample { class: word(0), event: word(1) });
                let (database, program) = (word(2), program(&word(3)).to_owned());
                others.push(OtherSession { database, program, is_target_database: row.get(4) == Some("t") });
            }
            return Ok(());
        }
        for row in rows.iter().filter(|row| row.len() == 4) {
            let word = |column| row.get(column).unwrap_or_default().to_owned();
            match row.get(0) {
                Some("t") => {
                    let word = |column| row.get(column).unwrap_or("CPU").to_owned();
                    into.push(WaitSample { class: word(1), event: word(2) });
                }
                _ => others.push(OtherSession {
                    database: word(1),
                    program: program(&word(2)).to_owned(),
                    is_target_database: row.get(3) == Some("t"),
                }),
            }
        }
        Ok(())
    }

    fn can_see_others(&self) -> Result<(), String> {
        match self.sees_others {
            true => Ok(()),
            false => {
                Err("this user cannot see the activity of other users' sessions; GRANT pg_read_all_stats \
                    to it"
                    .to_owned())
            }
        }
    }

    fn lock_waits(&mut self) -> Result<LockWaits, TargetError> {
        let rows = self.connection.simple(&self.lock_waits)?;
        self.commits += 1;
        Ok(lock_waits::read(&rows))
    }

    fn own_commits(&self) -> u64 {
        self.commits
    }
}

/// The program in an `application_name`; the names of all sessions of one Dyno process give the same program.
fn program(name: &str) -> &str {
    if name.starts_with("dyno ") { "dyno" } else { name }
}
