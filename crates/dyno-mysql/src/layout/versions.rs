//! Reads every row's version in pieces that fit into memory.

use dyno_plan::DataSpec;

use super::super::wire::MySqlConnection;
use super::tables::tables_of_rows;
use dyno_engine::data::UpdateValues;
use dyno_engine::{RowVersion, TargetError};

/// Records per piece.
const RECORDS_PER_PIECE: u32 = 20_000;

/// Calls `visit` for every row of the tables that updates modify, all in one consistent snapshot.
pub(crate) fn versions(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    visit: &mut dyn FnMut(&RowVersion<'_>),
) -> Result<(), TargetError> {
    connection.simple(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    )?;
    for table in tables_of_rows(spec) {
        let mut last: u64 = 0;
        loop {
            let rows = connection.simple(&format!(
                "SELECT id, custid, ver, LEFT(c2, {}) FROM {} WHERE id > {last} ORDER BY id LIMIT {RECORDS_PER_PIECE}",
                UpdateValues::STAMP_BYTES,
                table.name()
            ))?;
            let Some(end) = rows.last().and_then(|row| row.parse(0)) else { break };
            last = end;
            let rows = rows.iter().filter(|row| row.get(1).is_some());
            rows.for_each(|row| visit(&RowVersion::read(table.schema, row, 1)));
        }
    }
    connection.simple("COMMIT")?;
    Ok(())
}
