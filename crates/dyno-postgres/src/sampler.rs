//! What Dyno's sessions wait for, looked at through `pg_stat_activity`.

use super::connect::ConnectConfig;
use super::wire::Connection;
use dyno_engine::target::Stuck;
use dyno_engine::{OtherSession, Sampler, TargetError, WaitSample};

/// Active sessions of Dyno in this database with their waits, and all other active sessions of the server with database and
/// program. A user sees what backends of its own name do, and all with `pg_read_all_stats`; sessions connect as the
/// same user as this sampler. Background processes are no client backends. Another Dyno in another database is
/// somebody else, here the lock keeps it out. Whoever sleeps, waits for a lock or for its client takes neither processor nor
/// device, and is no company.
const SAMPLE: &str = "SELECT a.ours, CASE WHEN a.ours THEN a.wait_event_type ELSE a.datname END,
         CASE WHEN a.ours THEN a.wait_event ELSE coalesce(nullif(a.application_name, ''), a.usename) END, a.here
     FROM (
         SELECT *, datname = current_database() AS here,
             datname = current_database() AND application_name ~ '^dyno( |$)' AS ours
         FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend'
     ) a
     WHERE CASE WHEN a.ours THEN a.application_name !~ '^dyno (load|check|lock|observer|sampler)( |$)'
         ELSE coalesce(a.wait_event_type, '') NOT IN ('Timeout', 'Lock', 'Client') END";

/// All active sessions of the server but those that look on: wait, then database and program, and whether it is in this database.
const SAMPLE_ALL: &str = "SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'CPU'), datname,
         coalesce(nullif(application_name, ''), usename), datname = current_database()
     FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend'
         AND application_name !~ '^dyno (observer|sampler)( |$)'";

/// Says, in one row, whether a wait can be seen: that of this very backend; and whether what sessions of other users do.
const PROBE: &str = "SELECT state, pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
     FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// What most of Dyno's sessions wait for that are in a statement, how many they are, and who is in their way.
const STUCK: &str = "SELECT concat_ws(' ', a.wait_event_type, a.wait_event), count(*),
         string_agg(DISTINCT concat_ws(' ', 'process', b.pid::text, nullif(b.application_name, ''), b.usename), ', ')
     FROM pg_stat_activity a LEFT JOIN pg_stat_activity b ON b.pid = ANY (pg_blocking_pids(a.pid))
     WHERE a.state = 'active' AND a.datname = current_database() AND a.application_name ~ '^dyno( |$)'
         AND a.application_name !~ '^dyno (load|check|lock|observer|sampler)( |$)'
     GROUP BY 1 ORDER BY 2 DESC LIMIT 1";

/// What the server says of sessions whose operations do not end.
pub(super) fn stuck(connection: &mut Connection) -> Result<Option<Stuck>, TargetError> {
    let rows = connection.simple(STUCK)?;
    let Some(row) = rows.last().filter(|row| row.len() == 3) else { return Ok(None) };
    let (wait, count) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
    let wait = if wait.is_empty() { "no wait, they are at work" } else { wait };
    let mut words = format!("the server says of {count} sessions that do not end: {wait}");
    if let Some(who) = row.get(2).filter(|who| !who.is_empty()) {
        words.push_str(&format!("; in their way: {who}"));
    }
    Ok(Some(Stuck { words, full: false }))
}

/// Looks at waits on a connection of its own.
pub(super) struct PgSampler {
    connection: Connection,
    sample: String,
    /// Whether it looks at all sessions alike.
    all: bool,
    sees_others: bool,
    commits: u64,
}

impl PgSampler {
    /// Connects and makes sure that waits can be seen.
    pub(super) fn open(config: &ConnectConfig) -> Result<Self, TargetError> {
        Self::looking(config, false)
    }

    /// The same, for a sampler of all sessions, whoever's they are.
    pub(super) fn of_all(config: &ConnectConfig) -> Result<Self, TargetError> {
        Self::looking(config, true)
    }

    fn looking(config: &ConnectConfig, all: bool) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno sampler")?;
        connection.simple(super::counters::OBSERVER_SETTINGS)?;
        // Books what opening cost at once, so that a snapshot taken next has it.
        let flush = super::counters::flush_sql(connection.server_version_num());
        let first = |sql: &str| if flush.is_empty() { sql.to_owned() } else { format!("{flush}; {sql}") };
        let probe = connection.simple(&first(PROBE))?;
        if probe.last().and_then(|row| row.get(0)) != Some("active") {
            return Err(TargetError::privilege("pg_stat_activity does not show what sessions do")
                .hint("turn track_activities on, or GRANT pg_read_all_stats to this user"));
        }
        let sees_others = probe.last().and_then(|row| row.get(1)) == Some("t");
        let sample = first(if all { SAMPLE_ALL } else { SAMPLE });
        // The first one looks its views up in the catalog, whose blocks would count in the window.
        connection.simple(&sample)?;
        // Start-up, settings, probe and that sample were one transaction each.
        Ok(Self { connection, sample, all, sees_others, commits: 4 })
    }
}

impl Sampler for PgSampler {
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
                others.push(OtherSession { database, program, here: row.get(4) == Some("t") });
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
                    here: row.get(3) == Some("t"),
                }),
            }
        }
        Ok(())
    }

    fn sees_others(&self) -> Result<(), String> {
        match self.sees_others {
            true => Ok(()),
            false => {
                Err("this user does not see what other users' sessions do; GRANT pg_read_all_stats to it"
                    .to_owned())
            }
        }
    }

    fn own_commits(&self) -> u64 {
        self.commits
    }
}

/// The program of an `application_name`: sessions of another Dyno are many names of one.
fn program(name: &str) -> &str {
    if name.starts_with("dyno ") { "dyno" } else { name }
}
