//! The hot path: one session's operations on a blocking socket.
//!
//! Every operation is one `write` of a prepared message with its keys filled in, and one `read` of the
//! complete result. An update needs a second `read` for the commit. Nothing is allocated after the session
//! has been opened.
//!
//! **Where a commit begins.** An update is sent as Bind, Execute, Flush, Sync in one write. The statement
//! runs in the implicit transaction that Sync ends. Flush makes the server send the statement's
//! CommandComplete before it commits. The client therefore sees the end of the update and the end of the
//! commit as two arrivals without a second round trip. If one `read` returns both, the boundary was not
//! visible, and Dyno does not estimate it.
//!
//! **Plans.** [`SESSION_SETTINGS`] keep the plans of all operations constant from the first execution on, so
//! a run measures the platform and not changes of plan.

mod answer;
mod batch;
mod columns;
mod encode;
mod inferred;
mod method;
mod opening;
mod procedures;
mod session;
mod simple;
mod slice;
mod statements;
mod template;

use dyno_engine::SessionSetup;
use dyno_engine::session::SessionSetting;
use dyno_plan::Commit;

pub(crate) use inferred::InferredTypes;

use crate::limits::stay_while_idle;
use crate::wire::PostgresConnection;

pub use method::blocks;
pub use procedures::slice_sql;
pub use session::PostgresSession;
pub(crate) use simple::literal;

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

/// The subset of [`SESSION_SETTINGS`] that an operation through a pooler makes for itself: the ones that
/// determine its plan. Setting the search path would force a new plan each time, and the statements use fully
/// qualified names.
const LOCAL_SETTINGS: [&str; 4] =
    ["plan_cache_mode", "enable_seqscan", "max_parallel_workers_per_gather", "jit"];

/// The setting that commits of `commit` need, if it differs from the server's own.
fn commit_setting(commit: Commit) -> Option<(&'static str, &'static str)> {
    (commit == Commit::Nowait).then_some(("synchronous_commit", "off"))
}

/// The setting of a read-only session.
const READ_ONLY: (&str, &str) = ("default_transaction_read_only", "on");

/// The SQLSTATE for a write in a read-only transaction.
const READ_ONLY_TRANSACTION: &str = "25006";

/// The settings of a session on a server that has only PostgreSQL's protocol and SQL.
fn only_sql_settings(setup: &SessionSetup) -> String {
    let settings = commit_setting(setup.commit).into_iter().chain(setup.read_only.then_some(READ_ONLY));
    settings.map(|(name, value)| format!("SET {name} = {value}; ")).chain(["SELECT 1".to_owned()]).collect()
}

/// The statement that makes the settings, including those of the block workload for its own statements, and
/// returns the process that serves this connection.
fn settings_sql(connection: &PostgresConnection, setup: &SessionSetup) -> String {
    let idle = stay_while_idle(connection);
    let method = if setup.blocks.is_some() { &SESSION_SETTINGS[..] } else { &[] };
    let settings = method.iter().map(|s| (s.name, s.value)).chain(commit_setting(setup.commit));
    let settings = settings.chain(setup.read_only.then_some(READ_ONLY));
    let set: String = settings.map(|(name, value)| format!("SET {name} = {value}; ")).collect();
    format!("{idle}{set}SELECT pg_catalog.pg_backend_pid()")
}
