//! Reads the limits of the user's profile.

use super::super::connection::OracleConnection;
use super::super::sql;
use dyno_engine::TargetError;

/// The limits that are set: the resource, and its number in the view.
pub(super) fn read(connection: &OracleConnection) -> Result<Vec<(String, u64)>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::PROFILE_LIMITS.text(), &[])?.unwrap_or_default();
    let limit = |row: &dyno_engine::TextRow| Some((row.get(0)?.to_owned(), row.parse(1)?));
    Ok(rows.iter().filter_map(limit).collect())
}
