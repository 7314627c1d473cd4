//! Connections for loading and dropping, and what their refusals mean to the user.

use super::super::connect::ConnectConfig;
use super::super::wire::{Connection, PgError};
use super::quote::ident;
use super::tables::SCHEMA;
use crate::limits::open_unlimited;
use dyno_engine::pool;
use dyno_engine::{Cancel, Progress, Refusal as _, TargetError, TargetErrorKind};

/// Settings of every connection that loads: names mean what is written. Commits need not wait for the log: a chunk and the note of it are lost or kept together.
const LOADER_SETTINGS: &str =
    "SET search_path = pg_catalog; SET client_min_messages = warning; SET synchronous_commit = off";

/// The number of the advisory lock that keeps two loads apart: `dyno` in ASCII.
const LOCK_KEY: u64 = 0x6479_6e6f;

/// A connection for loading and dropping.
pub(super) fn loader(config: &ConnectConfig) -> Result<Connection, TargetError> {
    open_unlimited(config, "dyno load", LOADER_SETTINGS)
}

/// A load on such connections.
pub(super) type Loading<'a> = dyno_engine::layout::Loading<'a, Loaders<'a>>;

/// Has rows found by the index, as a run finds them, whatever the planner knows of them. The way that this forbids is so dear
/// in the planner's eyes that the server would compile each statement that has no other, for a second.
pub(super) fn go_by_index(connection: &mut Connection) -> Result<(), TargetError> {
    connection.simple("SET enable_seqscan = off; SET jit = off").map(drop)
}

/// Connections for a pool of them.
pub(super) struct Loaders<'a>(pub(super) &'a ConnectConfig);

impl pool::Loaders for Loaders<'_> {
    type Connection = Connection;

    fn open(&self) -> Result<(Connection, pool::BreakOff), TargetError> {
        let connection = worker(self.0)?;
        let token = connection.cancel_token();
        Ok((connection, Box::new(move || drop(token.cancel()))))
    }

    fn close(&self, connection: Connection) {
        connection.close();
    }
}

/// The advisory lock that the connections of a load share while they work, as two numbers: the one above, and 2 (1 is the
/// lock that keeps two Dynos apart).
const WORK_KEY: (u64, u32) = (LOCK_KEY, 2);

/// A connection that works for a load. It shares a lock that ends with its server process: that one notices only after
/// its statement that its client was killed, and builds an index or vacuums to the end.
///
/// Without that lock where a pooler is in between, which would keep it for the next client.
pub(super) fn worker(config: &ConnectConfig) -> Result<Connection, TargetError> {
    let mut connection = loader(config)?;
    let ((class, object), pid) = (WORK_KEY, connection.backend_pid());
    connection.simple(&format!(
        "SELECT pg_advisory_lock_shared({class}, {object}) AS dyno_lock WHERE pg_backend_pid() = {pid}"
    ))?;
    Ok(connection)
}

/// How often to look whether a load that was killed has left something at work, in milliseconds.
const LEFT_BEHIND_EVERY_MS: u32 = 200;

/// Waits until nothing of a load that was killed is at work in the server any more. What it does meanwhile is not lost:
/// an index that it finishes is there for good.
pub(super) fn outlast(
    connection: &mut Connection,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    let (class, object) = WORK_KEY;
    let ask = format!(
        "SET LOCAL lock_timeout = {LEFT_BEHIND_EVERY_MS}; SELECT pg_advisory_xact_lock({class}, {object}) AS dyno_lock"
    );
    let mut told = false;
    loop {
        match connection.simple(&ask) {
            Ok(_) => return Ok(()),
            Err(error) if PgError::of(&error).is_some_and(|server| server.code == "55P03") => {}
            Err(error) => return Err(error),
        }
        if cancel.is_cancelled() {
            return Err(pool::cancelled());
        }
        if !std::mem::replace(&mut told, true) {
            let at_work = at_work(connection)?;
            progress
                .phase(&format!("waiting for what a killed load left at work in the server ({at_work})"), 0);
        }
    }
}

/// The server processes that hold the work lock, and what they do: `process 4711: CREATE INDEX`.
fn at_work(connection: &mut Connection) -> Result<String, TargetError> {
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

/// How long to wait for another load or drop: long enough for a server to notice that its client has gone.
const LOCK_WITHIN: &str = "3s";

/// Makes sure that nobody else loads into or drops from this database until the connection ends.
pub(super) fn lock(connection: &mut Connection) -> Result<(), TargetError> {
    // One simple query is one transaction, so the time-out holds for the lock only. A pooler would keep the lock for the
    // next client; whoever comes through one was told so.
    let pid = connection.backend_pid();
    let asked = connection.simple(&format!(
        "SET LOCAL lock_timeout = '{LOCK_WITHIN}'; SELECT pg_advisory_lock({LOCK_KEY}) AS dyno_lock WHERE pg_backend_pid() = {pid}"
    ));
    let Err(error) = asked else { return Ok(()) };
    if PgError::of(&error).is_none_or(|server| server.code != "55P03") {
        return Err(error);
    }
    let message = "another load or drop of Dyno is at work in this database";
    Err(TargetError::data(message)
        .hint(format!(
            "wait for it, or find it: SELECT * FROM pg_stat_activity JOIN pg_locks USING (pid) \
             WHERE locktype = 'advisory' AND objid = {LOCK_KEY}"
        ))
        .cause(error))
}

/// Adds to an error of the server what was being done, and a way out where the server gives none.
pub(super) fn explain(error: TargetError, doing: &str, config: &ConnectConfig) -> TargetError {
    let Some(server) = PgError::of(&error) else { return error };
    let (code, own_hint) = (server.code.clone(), server.hint.clone());
    let hint = match code.as_str() {
        "42501" => grants(config),
        "53100" => {
            "free space on the server's disk, or load less; then load again to resume, or drop".to_owned()
        }
        "25006" => "load on the primary: this server is a standby or read-only".to_owned(),
        "42P07" | "42723" => format!(
            "something of that name in schema {SCHEMA} is not recorded as Dyno's: rename it or move it to another schema"
        ),
        "2BP01" => "something of yours depends on it: drop that first, Dyno removes nothing it did not make"
            .to_owned(),
        _ if own_hint.is_empty() => error.hint.clone(),
        _ => own_hint,
    };
    error.during(doing).hint(hint)
}

/// The same for an error met while looking at what is loaded, which needs fewer rights than a load.
pub(crate) fn explain_look(error: TargetError, config: &ConnectConfig) -> TargetError {
    let explained = explain(error, "what Dyno has loaded cannot be looked at", config);
    if explained.kind != TargetErrorKind::Privilege {
        return explained;
    }
    let user = ident(&config.user);
    explained.hint(format!(
        "connect as the user who loaded it, or let that user GRANT USAGE ON SCHEMA {SCHEMA} TO {user}; \
         GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA {SCHEMA} TO {user}"
    ))
}

/// What an administrator runs so that this user can load.
fn grants(config: &ConnectConfig) -> String {
    let (database, user) = (ident(&config.database), ident(&config.user));
    format!(
        "GRANT CREATE ON DATABASE {database} TO {user}; where schema {SCHEMA} is there already: \
         GRANT USAGE, CREATE ON SCHEMA {SCHEMA} TO {user}"
    )
}
