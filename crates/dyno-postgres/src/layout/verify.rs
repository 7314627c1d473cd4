//! Whether a table is what it shall be, measured from the database itself.
//!
//! One scan counts the rows, checks that the keys are `1..=rows`, each once, and counts the rows that are the first of their
//! block. Freshly loaded all are, so blocks with rows are exactly rows. Where some are not (a resumed load reuses line
//! pointers), a second scan counts distinct blocks.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::keys::{KEYS, check_keys, check_secondary, wrong};
use super::spot::check_order;
use super::tables::{COLUMN_BYTES, Table};
use dyno_engine::layout::{RowText, checked_key, text_columns};
use dyno_engine::row::first;
use dyno_engine::{SchemaFacts, TargetError};

/// Rows of each table whose contents are read back and compared with what was to be written.
const SAMPLED_ROWS: u64 = 8;

/// Measures `table`; its facts, and the blocks of its file whether they hold rows or not.
///
/// # Errors
/// `Data` if rows, keys, contents or rows per block are not what `spec` asks for.
pub(super) fn measure(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(SchemaFacts, u64), TargetError> {
    let name = table.name();
    let unreadable = || wrong(table, "could not be measured: the database's answer cannot be read");
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
        let found = format!("holds {count} rows in {blocks} blocks, and one row per block is the method");
        return Err(wrong(table, &found));
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

/// Reads rows in blocks spread over the table and compares every byte.
fn check_contents(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
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
        checked_key(table, row, &mut text).map_err(|fault| wrong(table, &fault))?;
    }
    Ok(())
}
