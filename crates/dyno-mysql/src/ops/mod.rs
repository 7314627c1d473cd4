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

use dyno_engine::SessionSetup;
use dyno_engine::session::SessionSetting;

use crate::connect::WAIT_TIMEOUT_MAX_S;
use crate::wire::Connection;

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

/// What sessions of other statements set for themselves. Texts that they read come in UTF-8, whatever character set the column
/// has, because a later step of the transaction may give them back as values, which are in UTF-8.
const CUSTOM_SETTINGS: [(&str, &str); 2] = [("autocommit", "1"), ("character_set_results", "utf8mb4")];

/// What the server returns for a write in a read-only transaction.
const READ_ONLY_TRANSACTION: u16 = 1792;

/// The statement that makes the settings of a session; for the method with the limit on a statement's time under its name on this server.
fn settings_sql(connection: &Connection, setup: &SessionSetup) -> String {
    let (mariadb, version, method) =
        (connection.is_mariadb(), connection.version_num(), setup.blocks.is_some());
    let limit = if mariadb { "max_statement_time" } else { "max_execution_time" };
    // MySQL 5.7.20 gave it the new name and MySQL 8 has no other; MariaDB has the old name in all versions.
    let read_only = if mariadb || version < 50_720 { "tx_read_only" } else { "transaction_read_only" };
    let idle_limit_s = WAIT_TIMEOUT_MAX_S.to_string();
    let mut pairs: Vec<(&str, &str)> = match method {
        true => SESSION_SETTINGS.iter().map(|s| (s.name, s.value)).chain([(limit, "0")]).collect(),
        false => CUSTOM_SETTINGS.to_vec(),
    };
    pairs.push(("wait_timeout", &idle_limit_s));
    pairs.extend(setup.read_only.then_some((read_only, "1")));
    let all: Vec<String> = pairs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("SET SESSION {}", all.join(", SESSION "))
}
