//! Counts how many of the deletions that the server reports are Dyno's own.
//!
//! Runs with inserts and deletes remove exactly the rows that they have inserted, and the metadata stores how
//! many. If the server's count of deletions equals that number, nobody else has deleted rows. The keys then
//! need not be counted before the next run.

use super::super::wire::PostgresConnection;
use dyno_engine::TargetError;

/// The key of the number in `dyno.meta`.
const NAME: &str = "own_deletions";

/// The recorded number of rows that Dyno has deleted from the tables that are read by key.
pub(super) fn noted(connection: &mut PostgresConnection) -> Result<u64, TargetError> {
    let rows = connection.simple(&format!("SELECT value FROM dyno.meta WHERE key = '{NAME}'"))?;
    Ok(rows.first().and_then(|row| row.parse(0)).unwrap_or(0))
}

/// The statement that adds `rows` to the recorded number.
fn add_sql(rows: u64) -> String {
    format!(
        "INSERT INTO dyno.meta AS m VALUES ('{NAME}', '{rows}')
         ON CONFLICT (key) DO UPDATE SET value = (m.value::int8 + excluded.value::int8)::text"
    )
}

/// Records that sessions have deleted `rows` of their own rows.
pub(crate) fn add(connection: &mut PostgresConnection, rows: u64) -> Result<(), TargetError> {
    connection.simple(&add_sql(rows)).map(|_| ())
}

/// Records `rows` as the total, after a count of all keys has confirmed it.
///
/// If the user may not write here or the server is read-only, the old number remains. The keys are then
/// counted again the next time, which only costs time.
pub(super) fn set(connection: &mut PostgresConnection, rows: u64) {
    let sql = format!(
        "INSERT INTO dyno.meta VALUES ('{NAME}', '{rows}') ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    );
    let _ = connection.simple(&sql);
}
