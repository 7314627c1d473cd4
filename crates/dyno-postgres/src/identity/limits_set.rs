//! Reads the time limits that apply to sessions of this user.

use std::time::Duration;

use super::super::wire::PostgresConnection;
use dyno_engine::{TargetError, TimeLimit, TimeLimitScope};

/// The limits for sessions of this user; this connection has lifted its own. All are in milliseconds.
const LIMITS: &str = "SELECT name, reset_val FROM pg_settings
     WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')
       AND reset_val <> '0' ORDER BY name";

/// Reads the limits that are set.
pub(super) fn read(connection: &mut PostgresConnection) -> Result<Vec<TimeLimit>, TargetError> {
    let rows = connection.simple(LIMITS)?;
    let limit = |row: &dyno_engine::TextRow| {
        let setting = row.get(0)?.to_owned();
        let ends = match setting.as_str() {
            "statement_timeout" => TimeLimitScope::Statement,
            "transaction_timeout" => TimeLimitScope::Transaction,
            "idle_session_timeout" => TimeLimitScope::IdleSession,
            _ => TimeLimitScope::IdleTransaction,
        };
        Some(TimeLimit { setting, most: Duration::from_millis(row.parse(1)?), ends })
    };
    Ok(rows.iter().filter_map(limit).collect())
}
