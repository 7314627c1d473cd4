//! The hot path: one session's requests on a blocking socket.
//!
//! Every statement is one `write` of a packet with its values patched in, and one `read` of the whole answer. Nothing is
//! allocated as long as values keep their lengths.
//!
//! **Commits.** A statement outside of a transaction runs in autocommit: what sysbench does with an update, and what a single
//! statement of an application does. The server answers once, after the commit, so where the statement ends and its commit
//! begins cannot be seen from outside and is not made up; the server's own counters of syncs tell their time. Transactions
//! begin and end by statements as text, each a round trip.

mod answer;
mod books;
mod columns;
mod procedures;
mod ready;
mod session;
mod simple;
mod slice;
mod statements;
mod template;
mod texts;
mod thread;

use dyno_engine::session::SessionSetting;

pub(super) use procedures::slice_sql;
pub use session::MySession;
pub(super) use statements::blocks;

/// What every session of the method sets for itself; everything else is as the platform has it, durability and isolation above all.
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

/// Those of [`SESSION_SETTINGS`] that sessions of other statements make, too: what they are asked for and told depends on them.
const OF_ALL: [&str; 2] = ["autocommit", "character_set_results"];

/// The statement that makes the settings; for the `method` with the limit on a statement's time under its name on this server.
fn settings_sql(mariadb: bool, method: bool) -> String {
    let limit = if mariadb { "max_statement_time" } else { "max_execution_time" };
    let own = SESSION_SETTINGS.iter().filter(|setting| method || OF_ALL.contains(&setting.name));
    let set = own.map(|setting| format!("{} = {}", setting.name, setting.value));
    let all: Vec<String> = set.chain(method.then(|| format!("{limit} = 0"))).collect();
    format!("SET SESSION {}", all.join(", SESSION "))
}
