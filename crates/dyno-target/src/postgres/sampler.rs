//! What Dyno's sessions wait for, looked at through `pg_stat_activity`.

use super::connect::ConnectConfig;
use super::wire::Connection;
use crate::error::{TargetError, TargetErrorKind};
use crate::target::{Sampler, WaitSample};

/// Active sessions of Dyno in this database. A user sees the waits of backends of its own name, and all with
/// `pg_read_all_stats`; sessions connect as the same user as this sampler.
const SAMPLE: &str = "SELECT wait_event_type, wait_event FROM pg_stat_activity
     WHERE application_name ~ '^dyno( |$)' AND application_name !~ '^dyno (load|check|lock|observer|sampler)( |$)'
       AND datname = current_database() AND state = 'active' AND backend_type = 'client backend'";

/// Says, in one row, whether a wait can be seen: that of this very backend.
const PROBE: &str = "SELECT state FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// Looks at waits on a connection of its own.
pub(super) struct PgSampler {
    connection: Connection,
    sample: String,
    commits: u64,
}

impl PgSampler {
    /// Connects and makes sure that waits can be seen.
    pub(super) fn open(config: &ConnectConfig) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno sampler")?;
        connection.simple(super::counters::OBSERVER_SETTINGS)?;
        // Books what opening cost at once, so that a snapshot taken next has it.
        let flush = super::counters::flush_sql(connection.server_version_num());
        let first = |sql: &str| if flush.is_empty() { sql.to_owned() } else { format!("{flush}; {sql}") };
        let probe = connection.simple(&first(PROBE))?;
        if probe.last().and_then(|row| row.get(0)) != Some("active") {
            return Err(TargetError::new(
                TargetErrorKind::Privilege,
                "pg_stat_activity does not show what sessions do",
            )
            .hint("turn track_activities on, or GRANT pg_read_all_stats to this user"));
        }
        // Start-up, settings and probe were one transaction each.
        Ok(Self { connection, sample: first(SAMPLE), commits: 3 })
    }
}

impl Sampler for PgSampler {
    fn sample(&mut self, into: &mut Vec<WaitSample>) -> Result<(), TargetError> {
        let rows = self.connection.simple(&self.sample)?;
        self.commits += 1;
        for row in rows.iter().filter(|row| row.len() == 2) {
            let word = |column| row.get(column).unwrap_or("CPU").to_owned();
            into.push(WaitSample { class: word(0), event: word(1) });
        }
        Ok(())
    }

    fn own_commits(&self) -> u64 {
        self.commits
    }
}
