//! Reads the server's limit on prepared statements.

use super::super::wire::MySqlConnection;
use dyno_engine::{StatementLimit, StatementScope, TargetError};

const WAY_OUT: &str = "SET GLOBAL max_prepared_stmt_count to more, use fewer sessions, or write \
                       workload.protocol = \"simple\", which keeps none prepared";

/// The limit, and the number of statements that all sessions have prepared now.
pub(crate) fn statement_limit(
    connection: &mut MySqlConnection,
) -> Result<Option<StatementLimit>, TargetError> {
    let mut number = |sql| -> Result<Option<u64>, TargetError> {
        Ok(connection.simple(sql)?.first().and_then(|row| row.parse(1)))
    };
    let most = number("SHOW GLOBAL VARIABLES LIKE 'max_prepared_stmt_count'")?;
    let open = number("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")?.unwrap_or(0);
    Ok(most.map(|most| StatementLimit {
        setting: "max_prepared_stmt_count",
        most,
        open,
        scope: StatementScope::Server,
        way_out: WAY_OUT,
    }))
}
