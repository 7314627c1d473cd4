//! Which life of the server this is.

use super::super::wire::Connection;
use dyno_engine::{ServerLife, TargetError};

/// Statistics are thrown away by recovery from a crash, and kept by a restart in good order: on every version from 13 on
/// the moment of the last reset tells the two apart (looked at on 15 and 18).
const LIFE: &str = "SELECT pg_postmaster_start_time(), stats_reset FROM pg_stat_bgwriter";

/// Which life of the server this is.
pub(crate) fn life(connection: &mut Connection) -> Result<ServerLife, TargetError> {
    let rows = connection.simple(LIFE)?;
    let text = |index| rows.first().and_then(|row| row.get(index)).map(str::to_owned);
    match (text(0), text(1)) {
        (Some(started), Some(statistics_since)) => Ok(ServerLife { started, statistics_since }),
        _ => Err(TargetError::database(
            "the server does not say since when it has kept statistics (pg_stat_bgwriter.stats_reset)",
        )),
    }
}
