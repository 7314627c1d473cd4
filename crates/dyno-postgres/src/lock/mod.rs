//! The lock that prevents two Dyno processes from using one database: a session-level advisory lock on its
//! own connection.
//!
//! The server releases the lock when the connection ends, so it ends with the process. The connection's
//! `application_name` describes the holder; every user may read it in `pg_stat_activity`. All statistics of
//! the connection are flushed at once, so an idle lock adds nothing to the run's counters.

mod key;
mod server;

use std::time::{Duration, Instant};

use super::connections::PostgresConnections;
use super::counters::flush_sql;
use super::wire::{PostgresConnection, PostgresError};
use dyno_engine::lock::busy;
use dyno_engine::{Claim, ConnectionPurpose, Holder, Lock, Refusal as _, TargetError};
use key::{DYING_MS, KEY, NAME};

/// Acquires the lock of the database, named `target` in errors, and the server's lock as `claim` requires.
pub(super) fn take(
    connections: &PostgresConnections,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let mut connection = connections.plain(&format!("{NAME}{}", holder.encode()))?;
    if let Some(process) = served_by_another(&mut connection)? {
        return Ok(Lock::impossible(format!(
            "the connection goes through a connection pooler ({process} serves this connection), which \
            prevents a lock: Dyno cannot lock other dynos out of {target} or its server"
        )));
    }
    connections.settle(&mut connection, ConnectionPurpose::Lock)?;
    if !acquire(&mut connection)? {
        let lock_owner = find_holder(&mut connection)?;
        let holder = lock_owner.as_ref().and_then(|(_, holder)| holder.as_ref());
        let backend = lock_owner.as_ref().map_or_else(|| "PID".to_owned(), |(backend, _)| backend.clone());
        let hint = format!(
            "wait until it ends; if it hangs, end it with SELECT pg_terminate_backend({backend}) on the \
            server"
        );
        return Err(busy(target, holder, hint));
    }
    server::take(&mut connection, claim, target)?;
    let left_behind = wait_for_leftover_sessions(&mut connection)?;
    let flush = flush_sql(connection.server_version_num());
    if !flush.is_empty() {
        connection.simple(flush)?;
    }
    let lock = Lock::held_by(connection, PostgresConnection::close);
    Ok(match left_behind {
        None => lock,
        Some(processes) => lock.but(format!(
            "sessions of a killed dyno are still active in {target} (server {processes}): the counters of \
            this command include their activity; SELECT pg_terminate_backend(PID) ends them"
        )),
    })
}

/// The longest wait for sessions of a killed run to end, and the interval between checks.
const LEFT_BEHIND: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(50));

/// Waits for server processes of a killed run to end. Each completes its statement and adds it to the
/// statistics when it exits. The holder of the lock has no sessions yet, so all sessions found belong to the
/// killed run. Returns those that remain.
fn wait_for_leftover_sessions(connection: &mut PostgresConnection) -> Result<Option<String>, TargetError> {
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

/// The server process that answers, if it is not the one from the start-up message.
fn served_by_another(connection: &mut PostgresConnection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple("SELECT pg_backend_pid()")?;
    let serving: Option<i32> = rows.first().and_then(|row| row.parse(0));
    Ok(serving.filter(|&pid| pid != connection.backend_pid()).map(|pid| format!("process {pid}")))
}

/// Acquires the lock, and waits briefly for a holder that is ending.
fn acquire(connection: &mut PostgresConnection) -> Result<bool, TargetError> {
    let (class, object) = KEY;
    // One simple query is one transaction, so the time-out applies to the lock only.
    let lock_result = connection.simple(&format!(
        "SET LOCAL lock_timeout = {DYING_MS}; SELECT pg_advisory_lock({class}, {object}) AS dyno_lock"
    ));
    match lock_result {
        Ok(_) => Ok(true),
        Err(error) if PostgresError::of(&error).is_some_and(|server| server.code == "55P03") => Ok(false),
        Err(error) => Err(error),
    }
}

/// The holder's server process and its description.
fn find_holder(connection: &mut PostgresConnection) -> Result<Option<(String, Option<Holder>)>, TargetError> {
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
