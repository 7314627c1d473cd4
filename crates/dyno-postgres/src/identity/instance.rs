//! Identifies the server and database and whether it accepts writes, to distinguish several targets of one
//! run.

use dyno_record::Counter;

use super::super::wire::PostgresConnection;
use dyno_engine::{CounterScope, TargetError};

/// A standby has its primary's system identifier but another start time.
const INSTANCE: &str =
    "SELECT concat_ws(' ', s.system_identifier, pg_postmaster_start_time()), current_database()
     FROM pg_control_system() s";

const READS_ONLY: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";

/// Counters that PostgreSQL does not keep per database: `docs/reference/engines/postgres-counters.md`.
const SERVER_WIDE: &[Counter] = &[
    Counter::PhysicalReadRequests,
    Counter::PhysicalWrites,
    Counter::PhysicalWriteRequests,
    Counter::PhysicalWriteBytes,
    Counter::PhysicalWriteTime,
    Counter::RedoBytes,
    Counter::RedoWrites,
    Counter::RedoSyncs,
    Counter::RedoSyncTime,
];

/// The counters that this version keeps for the whole server. Up to 16 each block read is a request and is
/// counted per database.
pub(super) fn server_wide(version_num: u32) -> Vec<Counter> {
    let by_database = |counter: Counter| counter == Counter::PhysicalReadRequests && version_num < 170_000;
    SERVER_WIDE.iter().copied().filter(|&counter| !by_database(counter)).collect()
}

/// The server and the database of a connection.
pub(crate) fn instance(connection: &mut PostgresConnection) -> Result<CounterScope, TargetError> {
    let rows = connection.simple(INSTANCE)?;
    let text = |index| rows.first().and_then(|row| row.get(index)).map(str::to_owned);
    match (text(0), text(1)) {
        (Some(server), Some(scope)) => {
            Ok(CounterScope { servers: vec![server], scope, server_wide: SERVER_WIDE })
        }
        _ => Err(TargetError::database("the server does not report its identity")),
    }
}

/// The reason if this user can only read; absent if it can write.
pub(crate) fn reads_only(connection: &mut PostgresConnection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple(READS_ONLY)?;
    let flag = |index| rows.first().and_then(|row| row.get(index)) == Some("t");
    Ok(match (flag(0), flag(1)) {
        (true, _) => Some("it is a standby in recovery".to_owned()),
        (_, true) => Some("default_transaction_read_only is on".to_owned()),
        _ => None,
    })
}
