//! What the user's profile limits.

use super::super::connection::Connection;
use super::super::sql;
use dyno_engine::TargetError;

/// Limits that are set: the resource, and its number as the view has it.
pub(super) fn read(connection: &Connection) -> Result<Vec<(String, u64)>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::PROFILE_LIMITS.text(), &[])?.unwrap_or_default();
    let limit = |row: &dyno_engine::Row| Some((row.get(0)?.to_owned(), row.parse(1)?));
    Ok(rows.iter().filter_map(limit).collect())
}
