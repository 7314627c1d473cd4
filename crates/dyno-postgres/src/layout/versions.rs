//! Reading every row's version, in pieces that fit into memory.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::tables::tables_of_rows;
use dyno_engine::data::UpdateValues;
use dyno_engine::{RowVersion, TargetError};

/// Rows that one piece holds.
const ROWS_PER_PIECE: u32 = 10_000;

/// Tells `visit` of every row of the tables that updates go to, all of them as they are at one moment.
pub(crate) fn versions(
    connection: &mut Connection,
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
