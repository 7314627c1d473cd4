//! Which server and database this is, and whether it takes writes: what several targets of one run have to be told apart by.

use dyno_record::Counter;

use super::super::wire::Connection;
use dyno_engine::{Instance, TargetError};

/// A standby has its primary's identifier, and started at another moment.
const INSTANCE: &str =
    "SELECT concat_ws(' ', s.system_identifier, pg_postmaster_start_time()), current_database()
     FROM pg_control_system() s";

const READS_ONLY: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";

/// Nobody counts these by database: `docs/reference/engines/postgres.md`.
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

/// Those that this version counts for the whole server: up to 16 each block read is a request, and counted by database.
pub(super) fn server_wide(version_num: u32) -> Vec<Counter> {
    let by_database = |counter: Counter| counter == Counter::PhysicalReadRequests && version_num < 170_000;
    SERVER_WIDE.iter().copied().filter(|&counter| !by_database(counter)).collect()
}

/// Server and database.
pub(crate) fn instance(connection: &mut Connection) -> Result<Instance, TargetError> {
    let rows = connection.simple(INSTANCE)?;
    let text = |index| rows.first().and_then(|row| row.get(index)).map(str::to_owned);
    match (text(0), text(1)) {
        (Some(server), Some(scope)) => {
            Ok(Instance { servers: vec![server], scope, server_wide: SERVER_WIDE })
        }
        _ => Err(TargetError::database("the server does not say which one it is")),
    }
}

/// Why this user can only read, if so.
pub(crate) fn reads_only(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple(READS_ONLY)?;
    let flag = |index| rows.first().and_then(|row| row.get(index)) == Some("t");
    Ok(match (flag(0), flag(1)) {
        (true, _) => Some("it is a standby in recovery".to_owned()),
        (_, true) => Some("default_transaction_read_only is on".to_owned()),
        _ => None,
    })
}
