//! Identifies the server's current lifetime.

use super::super::wire::PostgresConnection;
use dyno_engine::{ServerLife, TargetError};

/// Recovery from a crash discards statistics, and a normal restart keeps them. The time of the last reset
/// therefore separates the two on every version from 13 on (checked on 15 and 18).
const LIFE: &str = "SELECT pg_postmaster_start_time(), stats_reset FROM pg_stat_bgwriter";

/// The server's current lifetime: its start, and the time of the last reset of its statistics.
pub(crate) fn life(connection: &mut PostgresConnection) -> Result<ServerLife, TargetError> {
    let rows = connection.simple(LIFE)?;
    let text = |index| rows.first().and_then(|row| row.get(index)).map(str::to_owned);
    match (text(0), text(1)) {
        (Some(started), Some(statistics_since)) => Ok(ServerLife { started, statistics_since }),
        _ => Err(TargetError::database(
            "the server does not report when its statistics started (pg_stat_bgwriter.stats_reset)",
        )),
    }
}
