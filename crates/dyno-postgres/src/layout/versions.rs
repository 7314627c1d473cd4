//! Reads every row's version in pieces that fit into memory.

use dyno_plan::DataSpec;

use super::super::wire::PostgresConnection;
use super::tables::tables_of_rows;
use dyno_engine::data::UpdateValues;
use dyno_engine::{RowVersion, TargetError};

/// Number of rows that are read per piece.
const ROWS_PER_PIECE: u32 = 10_000;

/// Calls `visit` for every row of the tables that updates modify, all in one consistent snapshot.
pub(crate) fn versions(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    connection.simple("SET statement_timeout = 0")?;
    connection.simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    for table in tables_of_rows(spec) {
        connection.simple(&format!(
            "DECLARE dyno_versions NO SCROLL CURSOR FOR SELECT custid, ver, left(c2, {}) FROM {}",
            UpdateValues::STAMP_BYTES,
            table.name()
        ))?;
        loop {
            let rows = connection.simple(&format!("FETCH {ROWS_PER_PIECE} FROM dyno_versions"))?;
            if rows.is_empty() {
                break;
            }
            rows.iter().for_each(|row| visit(&RowVersion::read(table.schema, row, 0)));
        }
        connection.simple("CLOSE dyno_versions")?;
    }
    connection.simple("COMMIT")?;
    Ok(())
}
