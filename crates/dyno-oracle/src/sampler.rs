//! What Dyno's sessions wait for, looked at through V$SESSION, on RAC on all instances that may work for the target.

use std::collections::BTreeMap;

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::counters::Surroundings;
use super::sql;
use dyno_engine::target::Stuck;
use dyno_engine::{OtherSession, Sampler, TargetError, WaitSample};

/// Looks at waits on a connection of its own.
pub(super) struct OraSampler {
    connection: Connection,
    sql: String,
    others: String,
}

impl OraSampler {
    /// Connects, and finds out whether waits can be seen.
    pub(super) fn open(config: &ConnectConfig) -> Result<Self, TargetError> {
        let connection = Connection::open(config, "sampler")?;
        let view = Surroundings::find(&connection, config)?.session_view();
        let sql = sql::SAMPLE_WAITS.with(&[("view", view)]);
        connection.rows(&sql, &[]).map_err(|error| {
            let message = format!("waits cannot be seen: {}", error.message);
            TargetError { message, ..error }.hint("GRANT SELECT ON SYS.V_$SESSION, on RAC GV_$SESSION too")
        })?;
        // Whoever may ask for the one may ask for the other: it is the same view.
        let others = sql::SAMPLE_OTHERS.with(&[("view", view)]);
        Ok(Self { connection, sql, others })
    }
}

/// Looks at all sessions alike, whoever's they are, on a connection of its own.
pub(super) struct OraSamplerOfAll {
    connection: Connection,
    sql: String,
}

impl OraSamplerOfAll {
    /// Connects, and finds out whether waits can be seen.
    pub(super) fn open(config: &ConnectConfig) -> Result<Self, TargetError> {
        let OraSampler { connection, .. } = OraSampler::open(config)?;
        let view = Surroundings::find(&connection, config)?.session_view();
        Ok(Self { sql: sql::SAMPLE_ALL.with(&[("view", view)]), connection })
    }
}

impl Sampler for OraSamplerOfAll {
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError> {
        self.connection.each(&self.sql, &[], &mut |row| {
            let word = |index| row.get(index).unwrap_or("unknown").to_owned();
            into.push(WaitSample { class: word(0), event: word(1) });
            others.push(OtherSession { database: word(2), program: word(3), here: true });
        })
    }

    fn sees_others(&self) -> Result<(), String> {
        Ok(())
    }

    /// Looking is no transaction.
    fn own_commits(&self) -> u64 {
        0
    }
}

/// What the database says of sessions whose operations do not end: what most of them wait for.
pub(super) fn stuck(config: &ConnectConfig) -> Result<Option<Stuck>, TargetError> {
    let mut sampler = OraSampler::open(config)?;
    let mut waits = Vec::new();
    sampler.sample(&mut waits, &mut Vec::new())?;
    let mut events: BTreeMap<WaitSample, usize> = BTreeMap::new();
    for wait in waits {
        *events.entry(wait).or_default() += 1;
    }
    let most = events.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.map(|(wait, count)| {
        let WaitSample { class, event } = wait;
        let words = format!("the database says of {count} sessions that do not end: {event} ({class})");
        Stuck { words, full: false }
    }))
}

impl Sampler for OraSampler {
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
            // Whoever is seen is in this database, or in this container, and in its counters.
            others.push(OtherSession { database, program, here: true });
        })
    }

    fn sees_others(&self) -> Result<(), String> {
        Ok(())
    }

    /// Looking is no transaction.
    fn own_commits(&self) -> u64 {
        0
    }
}
