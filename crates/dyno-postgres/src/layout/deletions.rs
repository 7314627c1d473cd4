//! How many of the deletions that the server has counted are Dyno's own.
//!
//! Runs with inserts and deletes remove exactly the rows that they have inserted. The data holds how many that were, so that
//! the statistics of the server tell when somebody else has deleted: where the two are the same, nobody has, and the keys
//! need not be counted before the next run.

use super::super::wire::Connection;
use dyno_engine::TargetError;

/// The name of the number in `dyno.meta`.
const NAME: &str = "own_deletions";

/// Rows that Dyno has deleted from the tables that are read by key, as far as it was noted.
pub(super) fn noted(connection: &mut Connection) -> Result<u64, TargetError> {
    let rows = connection.simple(&format!("SELECT value FROM dyno.meta WHERE key = '{NAME}'"))?;
    Ok(rows.first().and_then(|row| row.parse(0)).unwrap_or(0))
}

/// The statement that adds `rows` to them.
fn add_sql(rows: u64) -> String {
    format!(
        "INSERT INTO dyno.meta AS m VALUES ('{NAME}', '{rows}')
         ON CONFLICT (key) DO UPDATE SET value = (m.value::int8 + excluded.value::int8)::text"
    )
}

/// Notes that sessions have deleted `rows` rows of theirs.
pub(crate) fn add(connection: &mut Connection, rows: u64) -> Result<(), TargetError> {
    connection.simple(&add_sql(rows)).map(|_| ())
}

/// Notes `rows` as all of them: every key was counted after the server had counted so many.
///
/// A user who may not write here, or a server that takes reads only, keeps the old number: the keys are then counted again
/// the next time, which costs time and no more.
pub(super) fn set(connection: &mut Connection, rows: u64) {
    let sql = format!(
        "INSERT INTO dyno.meta VALUES ('{NAME}', '{rows}') ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    );
    let _ = connection.simple(&sql);
}
