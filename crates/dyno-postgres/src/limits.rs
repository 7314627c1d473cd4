//! The server's time limits, which must not end a connection of Dyno's housekeeping: observers, loaders, setup SQL.
//!
//! Sessions that measure keep the limits of the platform, except the one on idle sessions: they may wait long for their next operation.

use super::connect::ConnectConfig;
use super::wire::Connection;
use dyno_engine::TargetError;

/// Lifts every time limit that this server has, in one statement: the names differ between versions.
macro_rules! lift_limits {
    () => {
        "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN ('statement_timeout', \
         'lock_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')"
    };
}
pub(super) use lift_limits;

/// The first version that limits how long a session may be idle.
const IDLE_SESSION_TIMEOUT: u32 = 140_000;

/// A connection of Dyno's housekeeping, without time limits. `settings` are made with it in the same transaction.
pub(super) fn open_unlimited(
    config: &ConnectConfig,
    name: &str,
    settings: &str,
) -> Result<Connection, TargetError> {
    let mut connection = Connection::open(config, name)?;
    connection.simple(&format!("{}; {settings}", lift_limits!()))?;
    Ok(connection)
}

/// Lifts the limit on idle sessions where `connection`'s server has one; empty where it has none.
pub(super) fn stay_while_idle(connection: &Connection) -> &'static str {
    if connection.server_version_num() >= IDLE_SESSION_TIMEOUT {
        "SET idle_session_timeout = 0; "
    } else {
        ""
    }
}
