//! Excludes concurrent loads and drops, and explains their errors to the user.

use super::super::connect::PostgresConnectConfig;
use super::super::wire::{PostgresConnection, PostgresError};
use super::tables::SCHEMA;
use crate::connections::{LOCK_KEY, PostgresConnections, WORK_KEY};
use crate::grants::PostgresGrants;
use dyno_engine::pool;
use dyno_engine::{Cancel, LoadProgressSink, Refusal as _, TargetError, TargetErrorKind};

/// A load that uses connections of this engine.
pub(super) type PostgresLoadContext<'a> = dyno_engine::layout::ParallelLoad<'a, PostgresConnections>;

/// Makes the planner use the index, as a run does, whatever its statistics say. JIT is off too: the planner
/// assigns the excluded plan so high a cost that the server would spend a second compiling statements without
/// another plan.
pub(super) fn go_by_index(connection: &mut PostgresConnection) -> Result<(), TargetError> {
    connection.simple("SET enable_seqscan = off; SET jit = off").map(drop)
}

/// The interval in milliseconds for checking whether a killed load is still active.
const LEFT_BEHIND_EVERY_MS: u32 = 200;

/// Waits until the server processes of a killed load have ended. Their work is not lost: an index that they
/// complete remains.
pub(super) fn wait_for_leftover_load(
    connection: &mut PostgresConnection,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    let (class, object) = WORK_KEY;
    let ask = format!(
        "SET LOCAL lock_timeout = {LEFT_BEHIND_EVERY_MS}; SELECT pg_advisory_xact_lock({class}, {object}) AS dyno_lock"
    );
    let mut is_announced = false;
    loop {
        match connection.simple(&ask) {
            Ok(_) => return Ok(()),
            Err(error) if PostgresError::of(&error).is_some_and(|server| server.code == "55P03") => {}
            Err(error) => return Err(error),
        }
        if cancel.is_cancelled() {
            return Err(pool::cancelled());
        }
        if !std::mem::replace(&mut is_announced, true) {
            let at_work = leftover_backends(connection)?;
            progress.phase(&format!("waiting for server processes of a killed load ({at_work})"), 0);
        }
    }
}

/// The server processes that hold the work lock, and their statements: `process 4711: CREATE INDEX`.
fn leftover_backends(connection: &mut PostgresConnection) -> Result<String, TargetError> {
    let (class, object) = WORK_KEY;
    let rows = connection.simple(&format!(
        "SELECT a.pid, coalesce(substring(a.query FROM '^[A-Z]+(?: INDEX)?'), 'unknown')
         FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = {class} AND l.objid = {object} AND l.objsubid = 2
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ))?;
    let processes = rows.iter().filter_map(|row| Some(format!("process {}: {}", row.get(0)?, row.get(1)?)));
    Ok(processes.collect::<Vec<_>>().join(", "))
}

/// The longest wait for another load or drop: enough for a server to notice that its client has gone.
const LOCK_WITHIN: &str = "3s";

/// Ensures that no other process loads into or drops from this database until the connection ends.
pub(super) fn lock(connection: &mut PostgresConnection) -> Result<(), TargetError> {
    // One simple query is one transaction, so the time-out applies to the lock only. A pooler would keep the
    // lock for the next client; Dyno reports that to the user elsewhere.
    let pid = connection.backend_pid();
    let lock_result = connection.simple(&format!(
        "SET LOCAL lock_timeout = '{LOCK_WITHIN}'; SELECT pg_advisory_lock({LOCK_KEY}) AS dyno_lock WHERE pg_backend_pid() = {pid}"
    ));
    let Err(error) = lock_result else { return Ok(()) };
    if PostgresError::of(&error).is_none_or(|server| server.code != "55P03") {
        return Err(error);
    }
    let message = "another load or drop by Dyno is running in this database";
    Err(TargetError::data(message)
        .hint(format!(
            "wait for it, or find it: SELECT * FROM pg_stat_activity JOIN pg_locks USING (pid) \
             WHERE locktype = 'advisory' AND objid = {LOCK_KEY}"
        ))
        .cause(error))
}

/// Adds the failed action to an error of the server, and a hint if the server gives none.
pub(super) fn explain(error: TargetError, doing: &str, config: &PostgresConnectConfig) -> TargetError {
    let Some(server) = PostgresError::of(&error) else { return error };
    let (code, own_hint) = (server.code.clone(), server.hint.clone());
    let hint = match code.as_str() {
        "42501" => grants(config),
        "53100" => "free space on the server's disk, or load less data; then load again to resume, or drop"
            .to_owned(),
        "25006" => "load on the primary: this server is a standby or read-only".to_owned(),
        "42P07" | "42723" => format!(
            "an object of that name in schema {SCHEMA} exists that Dyno did not create: rename it or move \
            it to another schema"
        ),
        "2BP01" => "an object that Dyno did not create depends on it: drop that object first".to_owned(),
        _ if own_hint.is_empty() => error.hint.clone(),
        _ => own_hint,
    };
    error.during(doing).hint(hint)
}

/// Like [`explain`], for errors while reading what is loaded, which needs fewer privileges than a load.
pub(crate) fn explain_inspection(error: TargetError, config: &PostgresConnectConfig) -> TargetError {
    let explained = explain(error, "the loaded data cannot be read", config);
    if explained.kind != TargetErrorKind::Privilege {
        return explained;
    }
    explained.hint(format!(
        "connect as the user who loaded it, or let that user execute: {}",
        of_user(config).run().join(" ")
    ))
}

/// The statements with which an administrator allows this user to load.
fn grants(config: &PostgresConnectConfig) -> String {
    let grants = of_user(config);
    format!("{} If schema {SCHEMA} already exists: {}", grants.load(), grants.load_into_schema())
}

fn of_user(config: &PostgresConnectConfig) -> PostgresGrants {
    PostgresGrants::new(&config.user, &config.database)
}
