//! Reads the instance's limit on open cursors per session.

use super::super::connection::OracleConnection;
use super::settings;
use dyno_engine::{StatementLimit, StatementScope, TargetError};

const WAY_OUT: &str = "ALTER SYSTEM SET open_cursors to more, or use a workload with fewer statements";

/// The limit; absent if this user may not see it.
pub(crate) fn statement_limit(connection: &OracleConnection) -> Result<Option<StatementLimit>, TargetError> {
    let most = settings::read(connection)?.number("open_cursors");
    Ok(most.map(|most| StatementLimit {
        setting: "open_cursors",
        most,
        open: 0,
        scope: StatementScope::Session,
        way_out: WAY_OUT,
    }))
}
