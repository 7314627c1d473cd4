//! Opens and settles every connection: its name in the server's views, its time limits and its settings.
//!
//! Auxiliary connections lift all time limits. Measuring sessions keep the platform's limits except the one on
//! idle sessions, because they may wait long for their next operation.

use std::sync::Arc;

use super::connect::{PostgresConnectConfig, establish};
use super::wire::{Breaker, PostgresConnection, TextRow};
use dyno_engine::pool::InterruptFn;
use dyno_engine::session::SessionSetting;
use dyno_engine::{ConnectionPurpose, ServerConnections, SessionSetup, TargetError, TextConnection};
use dyno_plan::Commit;

/// The connections of one target.
pub(super) type PostgresConnections = ServerConnections<PostgresConnection>;

impl TextConnection for PostgresConnection {
    type Config = PostgresConnectConfig;

    fn connect(config: &Self::Config, name: &str, breaker: &Breaker) -> Result<Self, TargetError> {
        establish(config, name, breaker)
    }

    fn interrupt(&self, _: Arc<Breaker>) -> InterruptFn {
        let token = self.cancel_token();
        Box::new(move || drop(token.cancel()))
    }

    fn execute(&mut self, sql: &str) -> Result<Vec<TextRow>, TargetError> {
        self.simple(sql)
    }

    fn end(self) {
        self.close();
    }
}

/// Opens the connection of a session.
pub(super) fn open_session(
    connections: &PostgresConnections,
    setup: &SessionSetup,
    breaker: &Breaker,
) -> Result<PostgresConnection, TargetError> {
    let purpose = ConnectionPurpose::Session(setup);
    let mut connection = connections.guarded(purpose, breaker)?;
    let rows = connections.settle(&mut connection, purpose)?;
    refuse_pooler(&connection, rows.last())?;
    Ok(connection)
}

/// Opens the connection of a session for one transaction, with only the settings that the transaction needs.
/// Also returns the transactions that this adds: the start of the server's process, and the settings.
pub(super) fn open_for_transaction(
    connections: &PostgresConnections,
    setup: &SessionSetup,
    breaker: &Breaker,
) -> Result<(PostgresConnection, u64), TargetError> {
    let mut connection = connections.guarded(ConnectionPurpose::Session(setup), breaker)?;
    let sql = set(requested(setup));
    if !sql.is_empty() {
        connection.simple(&sql)?;
    }
    Ok((connection, 1 + u64::from(!sql.is_empty())))
}

/// Lifts every time limit of this server; the names differ between versions.
const LIFT_LIMITS: &str = "SELECT /* dyno */ pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN \
    ('statement_timeout', 'lock_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout', \
    'transaction_timeout')";

/// Names mean PostgreSQL's own objects.
const OWN_NAMES: &str = "SET search_path = pg_catalog";

/// Settings of loading connections. Commits do not wait for the WAL, because a chunk and its note are lost or kept
/// together.
const LOADER: &str = "SET client_min_messages = warning; SET synchronous_commit = off";

/// Settings of observing connections. The connection cannot write. The JIT compiles no reading, because that takes
/// longer than the reading. No reading uses parallel workers, each of which counts its own blocks.
const OBSERVER: &str = "SET jit = off; SET max_parallel_workers_per_gather = 0; \
    SET client_min_messages = warning; SET default_transaction_read_only = on";

/// The advisory lock that the connections of a load share while they work, as two numbers: the key that prevents
/// concurrent loads, and 2. (1 is the lock that excludes a second Dyno process.)
pub(super) const WORK_KEY: (u64, u32) = (LOCK_KEY, 2);

/// The key of the advisory lock that prevents concurrent loads: `dyno` in ASCII.
pub(super) const LOCK_KEY: u64 = 0x6479_6e6f;

/// The settings that every session of the block workload makes. Everything else keeps the platform's values,
/// durability and isolation above all.
pub const SESSION_SETTINGS: [SessionSetting; 6] = [
    SessionSetting::new(
        "plan_cache_mode",
        "force_generic_plan",
        "one plan from the first execution on, planned once",
    ),
    SessionSetting::new(
        "enable_seqscan",
        "off",
        "ranges go by the index in small tables too, as the method demands",
    ),
    SessionSetting::new(
        "max_parallel_workers_per_gather",
        "0",
        "a session is one process, so sessions count the load",
    ),
    SessionSetting::new("jit", "off", "no compiling between measured operations"),
    SessionSetting::new("statement_timeout", "0", "a long scan is a result, not an error"),
    SessionSetting::new("search_path", "pg_catalog", "functions and operators mean PostgreSQL's own"),
];

/// The first version with a limit on idle sessions.
const IDLE_SESSION_TIMEOUT: u32 = 140_000;

/// The settings that the plan asks for: how commits wait, and whether sessions only read.
fn requested(setup: &SessionSetup) -> impl Iterator<Item = (&'static str, &'static str)> {
    let read_only = setup.read_only.then_some(("default_transaction_read_only", "on"));
    commit_setting(setup.commit).into_iter().chain(read_only)
}

/// The setting that commits of `commit` need, if it differs from the server's own.
pub(super) fn commit_setting(commit: Commit) -> Option<(&'static str, &'static str)> {
    (commit == Commit::Nowait).then_some(("synchronous_commit", "off"))
}

fn set<'a>(settings: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    settings.map(|(name, value)| format!("SET {name} = {value}; ")).collect()
}

/// The settings of connections to PostgreSQL. For a session the last statement returns the process that serves
/// it.
pub(super) fn server_settings(connection: &PostgresConnection, purpose: ConnectionPurpose<'_>) -> String {
    let settings = match purpose {
        ConnectionPurpose::Check => OWN_NAMES.to_owned(),
        ConnectionPurpose::Script => String::new(),
        ConnectionPurpose::Load => format!("{OWN_NAMES}; {LOADER}"),
        ConnectionPurpose::LoadWork => format!("{OWN_NAMES}; {LOADER}; {}", share_work_lock(connection)),
        ConnectionPurpose::Fill => format!("{LOADER}; {}", share_work_lock(connection)),
        ConnectionPurpose::Lock | ConnectionPurpose::Observe | ConnectionPurpose::Sample => {
            format!("{OWN_NAMES}; {OBSERVER}")
        }
        ConnectionPurpose::Session(setup) => {
            let has_limit = connection.server_version_num() >= IDLE_SESSION_TIMEOUT;
            let idle = has_limit.then_some(("idle_session_timeout", "0"));
            let method = if setup.blocks.is_some() { &SESSION_SETTINGS[..] } else { &[] };
            let method = method.iter().map(|setting| (setting.name, setting.value));
            let settings = set(idle.into_iter().chain(method).chain(requested(setup)));
            return format!("{settings}SELECT pg_catalog.pg_backend_pid()");
        }
    };
    format!("{LIFT_LIMITS}; {settings}")
}

/// The settings that the plan asks for, in SQL that every product with PostgreSQL's protocol knows.
pub(super) fn requested_settings(_: &PostgresConnection, purpose: ConnectionPurpose<'_>) -> String {
    match purpose {
        ConnectionPurpose::Session(setup) => set(requested(setup)),
        _ => String::new(),
    }
}

/// Shares a lock that ends with the connection's server process. The process notices only after its statement that
/// its client was killed, and completes an index or VACUUM first.
///
/// Through a pooler the lock is not taken, because the pooler would keep it for the next client.
fn share_work_lock(connection: &PostgresConnection) -> String {
    let ((class, object), pid) = (WORK_KEY, connection.backend_pid());
    format!("SELECT pg_advisory_lock_shared({class}, {object}) AS dyno_lock WHERE pg_backend_pid() = {pid}")
}

/// Rejects an undetected pooler: prepared statements would be lost, and counters would be those of another
/// connection.
fn refuse_pooler(connection: &PostgresConnection, row: Option<&TextRow>) -> Result<(), TargetError> {
    match row.and_then(|row| row.parse::<i32>(0)) {
        Some(pid) if pid != connection.backend_pid() => Err(TargetError::unsupported(format!(
            "the session goes through a connection pooler: it was opened as process {} but is served \
                by process {pid}",
            connection.backend_pid()
        ))
        .hint(
            "set target.observe_url to the server's own address to run sessions through the pooler; or set \
            target.url to the server's own address",
        )),
        _ => Ok(()),
    }
}
