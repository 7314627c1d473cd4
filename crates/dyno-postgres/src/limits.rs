//! Lifts the server's time limits on Dyno's auxiliary connections: observers, loaders, setup SQL.
//!
//! Measuring sessions keep the platform's limits except the one on idle sessions, because they may wait long
//! for their next operation.

use super::connect::PostgresConnectConfig;
use super::wire::PostgresConnection;
use dyno_engine::TargetError;

/// One statement that lifts every time limit of this server; the names differ between versions.
macro_rules! lift_limits {
    () => {
        "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN ('statement_timeout', \
         'lock_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')"
    };
}
pub(super) use lift_limits;

/// The first version with a limit on idle sessions.
const IDLE_SESSION_TIMEOUT: u32 = 140_000;

/// Opens an auxiliary connection without time limits. `settings` run in the same transaction.
pub(super) fn open_unlimited(
    config: &PostgresConnectConfig,
    name: &str,
    settings: &str,
) -> Result<PostgresConnection, TargetError> {
    let mut connection = PostgresConnection::open(config, name)?;
    connection.simple(&format!("{}; {settings}", lift_limits!()))?;
    Ok(connection)
}

/// The statement that lifts the limit on idle sessions; empty if the server of `connection` has none.
pub(super) fn stay_while_idle(connection: &PostgresConnection) -> &'static str {
    if connection.server_version_num() >= IDLE_SESSION_TIMEOUT {
        "SET idle_session_timeout = 0; "
    } else {
        ""
    }
}
