//! Opens and settles every connection: its name in the server's views, its time limits and its settings.
//!
//! Auxiliary connections lift all time limits. Measuring sessions keep the platform's limits except the one on
//! idle connections, because they may wait long for their next operation.

use std::sync::Arc;

use super::connect::{MySqlConnectConfig, establish};
use super::wire::MySqlConnection;
use dyno_engine::net::Breaker;
use dyno_engine::pool::InterruptFn;
use dyno_engine::session::SessionSetting;
use dyno_engine::{
    ConnectionPurpose, Interrupter as _, ServerConnections, SessionSetup, TargetError, TextConnection,
    TextRow,
};

/// The connections of one target.
pub(super) type MySqlConnections = ServerConnections<MySqlConnection>;

impl TextConnection for MySqlConnection {
    type Config = MySqlConnectConfig;

    fn connect(config: &Self::Config, name: &str, breaker: &Breaker) -> Result<Self, TargetError> {
        establish(config, name, breaker)
    }

    /// The server rolls back uncommitted work when a connection ends.
    fn interrupt(&self, breaker: Arc<Breaker>) -> InterruptFn {
        Box::new(move || breaker.interrupt())
    }

    fn execute(&mut self, sql: &str) -> Result<Vec<TextRow>, TargetError> {
        self.simple(sql)
    }

    fn end(self) {
        self.close();
    }
}

/// The longest idle time that the server allows a connection: one year, in seconds.
const WAIT_TIMEOUT_MAX: &str = "31536000";

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

/// Settings of auxiliary connections. Each statement commits, and no time limit of the server ends the connection or a
/// statement.
const AUXILIARY: [(&str, &str); 4] = [
    ("autocommit", "1"),
    ("wait_timeout", WAIT_TIMEOUT_MAX),
    ("net_write_timeout", "600"),
    ("net_read_timeout", "600"),
];

/// Settings that make Dyno's own statements independent of the site's defaults. Invalid values are errors, backslashes
/// escape, quotes delimit text, and times are UTC.
const OWN_STATEMENTS: [(&str, &str); 2] =
    [("sql_mode", "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"), ("time_zone", "'+00:00'")];

/// The time limits of MySQL and of MariaDB; MariaDB before 10.3 has the first only.
const MYSQL_LIMITS: [&str; 1] = ["max_execution_time"];
const MARIADB_LIMITS: [&str; 4] = [
    "max_statement_time",
    "idle_transaction_timeout",
    "idle_readonly_transaction_timeout",
    "idle_write_transaction_timeout",
];

fn set(settings: &[(&str, &str)]) -> String {
    let all: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("SET SESSION {}", all.join(", SESSION "))
}

/// The settings of connections to MySQL and MariaDB.
pub(super) fn server_settings(connection: &MySqlConnection, purpose: ConnectionPurpose<'_>) -> String {
    if let ConnectionPurpose::Session(setup) = purpose {
        return session_settings(connection, setup);
    }
    let (mariadb, version) = (connection.is_mariadb(), connection.version_num());
    let limits: &[&str] = match (mariadb, version) {
        (false, _) => &MYSQL_LIMITS,
        (true, ..100_300) => &MARIADB_LIMITS[..1],
        (true, _) => &MARIADB_LIMITS,
    };
    let mut settings = AUXILIARY.to_vec();
    settings.extend(limits.iter().map(|&limit| (limit, "0")));
    if !matches!(purpose, ConnectionPurpose::Script) {
        settings.extend(OWN_STATEMENTS);
        // The dictionary shows current table sizes instead of ones that are up to a day old.
        settings.extend((!mariadb && version >= 80_000).then_some(("information_schema_stats_expiry", "0")));
    }
    match purpose {
        // A killed load leaves rows that the server rolls back slowly, and a load of the same rows waits for that.
        ConnectionPurpose::Fill => settings.push(("innodb_lock_wait_timeout", "3600")),
        ConnectionPurpose::Observe | ConnectionPurpose::Sample => settings.push(read_only(mariadb, version)),
        _ => {}
    }
    set(&settings)
}

/// The settings on a product with only MySQL's protocol and SQL.
pub(super) fn requested_settings(connection: &MySqlConnection, purpose: ConnectionPurpose<'_>) -> String {
    match purpose {
        ConnectionPurpose::Session(setup) => session_settings(connection, setup),
        _ => String::new(),
    }
}

/// The settings of a session. For the block workload they include the limit on statement time.
fn session_settings(connection: &MySqlConnection, setup: &SessionSetup) -> String {
    let (mariadb, version) = (connection.is_mariadb(), connection.version_num());
    let limit = if mariadb { MARIADB_LIMITS[0] } else { MYSQL_LIMITS[0] };
    let mut settings: Vec<(&str, &str)> = match setup.blocks.is_some() {
        true => SESSION_SETTINGS.iter().map(|s| (s.name, s.value)).chain([(limit, "0")]).collect(),
        false => CUSTOM_SETTINGS.to_vec(),
    };
    settings.push(("wait_timeout", WAIT_TIMEOUT_MAX));
    settings.extend(setup.read_only.then(|| read_only(mariadb, version)));
    set(&settings)
}

/// The setting that makes transactions read-only. MySQL 5.7.20 introduced the new name and MySQL 8 has no other.
/// MariaDB has the old name in all versions.
fn read_only(mariadb: bool, version: u32) -> (&'static str, &'static str) {
    (if mariadb || version < 50_720 { "tx_read_only" } else { "transaction_read_only" }, "1")
}
