//! The lock that keeps two Dynos off one database: a session-level advisory lock on a connection of its own.
//!
//! The server releases it when the connection ends, so it dies with its process. Who holds it is written into that
//! connection's `application_name`, which every user may read in `pg_stat_activity`. All statistics of the connection are
//! booked at once, so an idle lock adds nothing to the counters of the run that it guards.

mod key;
mod server;

use std::time::{Duration, Instant};

use super::connect::ConnectConfig;
use super::counters::{OBSERVER_SETTINGS, flush_sql};
use super::wire::{Connection, PgError};
use dyno_engine::lock::busy;
use dyno_engine::{Claim, Holder, Lock, Refusal as _, TargetError};
use key::{DYING_MS, KEY, NAME};

/// Takes the lock of the database, called `target` in a refusal, and the server's as `claim` says.
pub(super) fn take(
    config: &ConnectConfig,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let mut connection = Connection::open(config, &format!("{NAME}{}", holder.encode()))?;
    if let Some(process) = served_by_another(&mut connection)? {
        return Ok(Lock::impossible(format!(
            "a connection pooler is in between ({process} serves this connection), and through it no lock can be kept: \
             other dynos are not kept off {target}, nor off its server"
        )));
    }
    connection.simple(OBSERVER_SETTINGS)?;
    if !locked(&mut connection)? {
        let found = found(&mut connection)?;
        let holder = found.as_ref().and_then(|(_, holder)| holder.as_ref());
        let backend = found.as_ref().map_or_else(|| "PID".to_owned(), |(backend, _)| backend.clone());
        let hint = format!(
            "wait until it has ended; what hangs ends by SELECT pg_terminate_backend({backend}) on the server"
        );
        return Err(busy(target, holder, hint));
    }
    server::take(&mut connection, claim, target)?;
    let left_behind = outlast(&mut connection)?;
    let flush = flush_sql(connection.server_version_num());
    if !flush.is_empty() {
        connection.simple(flush)?;
    }
    let lock = Lock::held_by(connection, Connection::close);
    Ok(match left_behind {
        None => lock,
        Some(processes) => lock.but(format!(
            "sessions of a dyno that was killed are still at work in {target} (server {processes}): what they do is counted \
             with this command's; SELECT pg_terminate_backend(PID) ends them"
        )),
    })
}

/// How long sessions of a killed run may take to be gone, and how often to look.
const LEFT_BEHIND: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(50));

/// Waits for server processes that a killed run has left: each ends its statement, and books it with its statistics when
/// it goes. Who holds the lock has none of its own yet, so all there are are such. Returns those that stay.
fn outlast(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let until = Instant::now() + LEFT_BEHIND.0;
    loop {
        let rows = connection.simple(
            "SELECT string_agg('process ' || pid, ', ') FROM pg_stat_activity
             WHERE datname = current_database() AND application_name ~ '^dyno session [0-9]+$'",
        )?;
        let processes = rows.first().and_then(|row| row.get(0)).map(str::to_owned);
        if processes.is_none() || Instant::now() >= until {
            return Ok(processes);
        }
        std::thread::sleep(LEFT_BEHIND.1);
    }
}

/// The process that answers, if it is not the one that greeted us.
fn served_by_another(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple("SELECT pg_backend_pid()")?;
    let serving: Option<i32> = rows.first().and_then(|row| row.parse(0));
    Ok(serving.filter(|&pid| pid != connection.backend_pid()).map(|pid| format!("process {pid}")))
}

/// Takes the lock, or waits a moment for a holder that is dying.
fn locked(connection: &mut Connection) -> Result<bool, TargetError> {
    let (class, object) = KEY;
    // One simple query is one transaction, so the time-out holds for the lock only.
    let asked = connection.simple(&format!(
        "SET LOCAL lock_timeout = {DYING_MS}; SELECT pg_advisory_lock({class}, {object}) AS dyno_lock"
    ));
    match asked {
        Ok(_) => Ok(true),
        Err(error) if PgError::of(&error).is_some_and(|server| server.code == "55P03") => Ok(false),
        Err(error) => Err(error),
    }
}

/// The holder's server process, and what it says of itself.
fn found(connection: &mut Connection) -> Result<Option<(String, Option<Holder>)>, TargetError> {
    let (class, object) = KEY;
    let rows = connection.simple(&format!(
        "SELECT a.pid, a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = {class} AND l.objid = {object} AND l.objsubid = 2
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ))?;
    Ok(rows.first().and_then(|row| {
        let name = row.get(1).unwrap_or_default();
        Some((row.get(0)?.to_owned(), name.strip_prefix(NAME).and_then(Holder::decode)))
    }))
}
