//! The hot path: one session's operations on a blocking socket.
//!
//! Every operation is one `write` of a prepared packet with its keys patched in, and one `read` of the whole answer. Nothing
//! is allocated after the session was opened.
//!
//! **Commits.** An update runs in autocommit, as one statement: what sysbench does, and what a single statement of an
//! application does. The server answers once, after the commit, so where the update ends and its commit begins cannot be
//! seen from outside and is not made up; the server's own counters of syncs tell their time.

mod answer;
mod procedures;
mod session;
mod slice;
mod statements;
mod template;
mod templates;
mod thread;

use dyno_engine::session::SessionSetting;

pub(super) use procedures::slice_sql;
pub use session::MySession;

/// What every session sets for itself; everything else is as the platform has it, durability and isolation above all.
pub const SESSION_SETTINGS: [SessionSetting; 4] = [
    SessionSetting::new("autocommit", "1", "each operation is a transaction"),
    SessionSetting::new(
        "sql_mode",
        "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
        "a value that does not fit is an error",
    ),
    SessionSetting::new(
        "optimizer_switch",
        "'mrr=off'",
        "rows are visited in key order, one page each, as the method demands",
    ),
    SessionSetting::new("character_set_results", "NULL", "the server converts no text on its way out"),
];

/// The statement that makes the settings; with the limit on a statement's time under its name on this server.
fn settings_sql(mariadb: bool) -> String {
    let limit = if mariadb { "max_statement_time" } else { "max_execution_time" };
    let set = SESSION_SETTINGS.iter().map(|s| format!("{} = {}", s.name, s.value));
    let all: Vec<String> = set.chain([format!("{limit} = 0")]).collect();
    format!("SET SESSION {}", all.join(", SESSION "))
}
