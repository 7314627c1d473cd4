//! The hot path: one session's requests on a blocking socket.
//!
//! Every statement is one `write` of a packet with its values filled in, and one `read` of the complete
//! result. Nothing is allocated while values keep their lengths.
//!
//! **Commits.** A statement outside a transaction runs in autocommit, like an update of sysbench or a single
//! statement of an application. The server sends one reply, after the commit. The boundary between the
//! statement and its commit is therefore not visible to the client, and Dyno does not estimate it. The
//! server's own counters of syncs give their time. Transactions begin and end with statements as text, each
//! of which is a round trip.

mod answer;
mod columns;
mod packets;
mod procedures;
mod ready;
mod session;
mod simple;
mod slice;
mod statements;
mod template;
mod thread;
mod transaction_counts;

use dyno_engine::SessionSetup;
use dyno_engine::session::SessionSetting;

use crate::connect::WAIT_TIMEOUT_MAX_S;
use crate::wire::MySqlConnection;

pub(super) use procedures::slice_sql;
pub use session::MySqlSession;
pub(super) use statements::blocks;

/// The settings that every session of the block workload makes. Everything else keeps the platform's values,
/// durability and isolation above all.
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

/// The settings of sessions with custom statements. Text arrives in UTF-8 whatever the column's character set
/// is, because a later step may send it back as a value, and values are UTF-8.
const CUSTOM_SETTINGS: [(&str, &str); 2] = [("autocommit", "1"), ("character_set_results", "utf8mb4")];

/// The error number for a write in a read-only transaction.
const READ_ONLY_TRANSACTION: u16 = 1792;

/// The statement that makes a session's settings. For the block workload it includes the limit on statement
/// time, under this server's name for it.
fn settings_sql(connection: &MySqlConnection, setup: &SessionSetup) -> String {
    let (mariadb, version, method) =
        (connection.is_mariadb(), connection.version_num(), setup.blocks.is_some());
    let limit = if mariadb { "max_statement_time" } else { "max_execution_time" };
    // MySQL 5.7.20 introduced the new name and MySQL 8 has no other. MariaDB has the old name in all
    // versions.
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
