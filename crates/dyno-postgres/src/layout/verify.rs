//! Measures in the database whether a table matches its spec.
//!
//! One scan counts the rows, checks that the keys are `1..=rows`, and counts the rows that are the first of
//! their block. In a new table all rows are, so the number of blocks with rows is the number of rows. If some
//! are not (a resumed load reuses line pointers), a second scan counts distinct blocks.

use dyno_plan::DataSpec;

use super::super::wire::PostgresConnection;
use super::keys::{KEYS, check_keys, check_secondary, table_error};
use super::spot_check::check_order;
use super::tables::{COLUMN_BYTES, TestTable};
use dyno_engine::layout::{RowText, checked_key, text_columns};
use dyno_engine::row::first;
use dyno_engine::{SchemaFacts, TargetError};

/// Rows of each table whose contents are read and compared with the expected ones.
const SAMPLED_ROWS: u64 = 8;

/// Measures `table`; returns its facts, and the number of blocks of its file including empty ones.
///
/// # Errors
/// `Data` if rows, keys, contents or rows per block do not match `spec`.
pub(super) fn measure(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(SchemaFacts, u64), TargetError> {
    let name = table.name();
    let unreadable = || table_error(table, "could not be measured: the database's answer cannot be read");
    let rows = connection
        .simple(&format!("SELECT {KEYS}, count(*) FILTER (WHERE ctid::text LIKE '%,1)') FROM {name}"))?;
    let row = rows.first().ok_or_else(unreadable)?;
    check_keys(table, row)?;
    let (count, first_of_block) = (table.rows, row.parse::<u64>(4).ok_or_else(unreadable)?);
    let blocks = if first_of_block == count {
        count
    } else {
        let rows =
            connection.simple(&format!("SELECT count(DISTINCT (ctid::text::point)[0]) FROM {name}"))?;
        first(&rows, 0).ok_or_else(unreadable)?
    };
    if blocks != count {
        let fault = format!("has {count} rows in {blocks} blocks, but the method requires one row per block");
        return Err(table_error(table, &fault));
    }
    let rows = connection.simple(&format!(
        "SELECT pg_relation_size('{name}') / current_setting('block_size')::int8, pg_total_relation_size('{name}')"
    ))?;
    let relation_blocks = first(&rows, 0).ok_or_else(unreadable)?;
    let bytes = first(&rows, 1).ok_or_else(unreadable)?;
    check_contents(connection, spec, table, relation_blocks)?;
    if table.has_keys() {
        check_order(connection, table, spec.seed)?;
    }
    check_secondary(connection, spec, table)?;
    Ok((table.facts(name, blocks, bytes), relation_blocks))
}

/// Reads rows in blocks that are spread over the table and compares every byte.
fn check_contents(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
    relation_blocks: u64,
) -> Result<(), TargetError> {
    let step = (relation_blocks / SAMPLED_ROWS).max(1);
    let tids: Vec<String> = (0..SAMPLED_ROWS)
        .map(|i| i * step)
        .filter(|&block| block < relation_blocks)
        .map(|block| format!("'({block},1)'"))
        .collect();
    let rows = connection.simple(&format!(
        "SELECT custid, 0, {} FROM {} WHERE ctid = ANY (ARRAY[{}]::tid[])",
        text_columns(" || "),
        table.name(),
        tids.join(", ")
    ))?;
    let mut text = RowText::new(spec, table, COLUMN_BYTES);
    for row in &rows {
        checked_key(table, row, &mut text).map_err(|fault| table_error(table, &fault))?;
    }
    Ok(())
}
