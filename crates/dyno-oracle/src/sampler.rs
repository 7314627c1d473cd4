//! Samples what Dyno's sessions wait for, from V$SESSION; on RAC from all instances that may work for the
//! target.

use std::collections::BTreeMap;

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::counters::OracleInstanceContext;
use super::sql;
use dyno_engine::lock_waits::LockWaits;
use dyno_engine::observer::unread_lock_waits;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{OtherSession, Sampler, TargetError, WaitSample};

/// Samples waits on a connection of its own.
pub(super) struct OracleSampler {
    connection: OracleConnection,
    sql: String,
    others: String,
}

impl OracleSampler {
    /// Connects and checks that waits are visible.
    pub(super) fn open(config: &OracleConnectConfig) -> Result<Self, TargetError> {
        let connection = OracleConnection::open(config, "sampler")?;
        let view = OracleInstanceContext::find(&connection, config)?.session_view();
        let sql = sql::SAMPLE_WAITS.with(&[("view", view)]);
        connection.rows(&sql, &[]).map_err(|error| {
            let message = format!("waits are not visible: {}", error.message);
            TargetError { message, ..error }.hint("GRANT SELECT ON SYS.V_$SESSION, on RAC GV_$SESSION too")
        })?;
        // Both statements read the same view, so no second check is needed.
        let others_sql = sql::SAMPLE_OTHERS.with(&[("view", view)]);
        Ok(Self { connection, sql, others: others_sql })
    }
}

/// Samples the sessions of all users on a connection of its own.
pub(super) struct OracleServerSampler {
    connection: OracleConnection,
    sql: String,
}

impl OracleServerSampler {
    /// Connects and checks that waits are visible.
    pub(super) fn open(config: &OracleConnectConfig) -> Result<Self, TargetError> {
        let OracleSampler { connection, .. } = OracleSampler::open(config)?;
        let view = OracleInstanceContext::find(&connection, config)?.session_view();
        Ok(Self { sql: sql::SAMPLE_ALL.with(&[("view", view)]), connection })
    }
}

impl Sampler for OracleServerSampler {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        self.connection.each(&self.sql, &[], &mut |row| {
            let word = |index| row.get(index).unwrap_or("unknown").to_owned();
            into.push(WaitSample { class: word(0), event: word(1) });
            others.push(OtherSession { database: word(2), program: word(3), is_target_database: true });
        })
    }

    fn can_see_others(&self) -> Result<(), String> {
        Ok(())
    }

    fn lock_waits(&mut self) -> Result<LockWaits, TargetError> {
        Err(unread_lock_waits("Oracle"))
    }

    /// A sample does not commit a transaction.
    fn own_commits(&self) -> u64 {
        0
    }
}

/// What the database reports about sessions whose operations do not end: their most frequent wait.
pub(super) fn stuck(config: &OracleConnectConfig) -> Result<Option<HungSessionReport>, TargetError> {
    let mut sampler = OracleSampler::open(config)?;
    let mut waits = Vec::new();
    sampler.sample(&mut waits, &mut Vec::new())?;
    let mut events: BTreeMap<WaitSample, usize> = BTreeMap::new();
    for wait in waits {
        *events.entry(wait).or_default() += 1;
    }
    let most = events.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.map(|(wait, count)| {
        let WaitSample { class, event } = wait;
        let words = format!("the database reports for {count} sessions that do not end: {event} ({class})");
        HungSessionReport { words, full: false }
    }))
}

impl Sampler for OracleSampler {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        self.connection.each(&self.sql, &[], &mut |row| {
            let [class, event] = [0, 1].map(|index| row.get(index).unwrap_or("unknown").to_owned());
            into.push(WaitSample { class, event });
        })?;
        self.connection.each(&self.others, &[], &mut |row| {
            let [database, program] = [0, 1].map(|index| row.get(index).unwrap_or_default().to_owned());
            // Every visible session is in this database or container and is included in its counters.
            others.push(OtherSession { database, program, is_target_database: true });
        })
    }

    fn can_see_others(&self) -> Result<(), String> {
        Ok(())
    }

    fn lock_waits(&mut self) -> Result<LockWaits, TargetError> {
        Err(unread_lock_waits("Oracle"))
    }

    /// A sample does not commit a transaction.
    fn own_commits(&self) -> u64 {
        0
    }
}
