//! Whether a table is what it shall be, measured from the database itself.
//!
//! One scan counts the rows, checks that the keys are `1..=rows`, each once, and counts the rows that are the first of their
//! block. Freshly loaded all are, so blocks with rows are exactly rows. Where some are not (a resumed load reuses line
//! pointers), a second scan counts distinct blocks.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::copy_rows::RowMaker;
use super::keys::{check_keys, check_secondary, wrong};
use super::spot::check_order;
use super::tables::{COLUMN_BYTES, Table};
use dyno_engine::data::{TEXT_COLUMNS, TableKind};
use dyno_engine::error::TargetError;
use dyno_engine::load::SchemaFacts;

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
    let name = table.full_name();
    let unreadable = || wrong(&name, "could not be measured: the database's answer cannot be read");
    let rows = connection.simple(&format!(
        "SELECT count(*), count(*) FILTER (WHERE ctid::text LIKE '%,1)'), min(custid), max(custid), sum(custid)
         FROM {name}"
    ))?;
    let row = rows.first().ok_or_else(unreadable)?;
    let count: u64 = row.parse(0).ok_or_else(unreadable)?;
    let first_of_block: u64 = row.parse(1).ok_or_else(unreadable)?;
    check_keys(table, count, row.parse(2), row.parse(3), row.parse(4))?;
    let blocks = if first_of_block == count {
        count
    } else {
        let rows =
            connection.simple(&format!("SELECT count(DISTINCT (ctid::text::point)[0]) FROM {name}"))?;
        rows.first().and_then(|row| row.parse(0)).ok_or_else(unreadable)?
    };
    if blocks != count {
        let found = format!("holds {count} rows in {blocks} blocks, and one row per block is the method");
        return Err(wrong(&name, &found));
    }
    let rows = connection.simple(&format!(
        "SELECT pg_relation_size('{name}') / current_setting('block_size')::int8, pg_total_relation_size('{name}')"
    ))?;
    let row = rows.first().ok_or_else(unreadable)?;
    let relation_blocks = row.parse(0).ok_or_else(unreadable)?;
    let bytes = row.parse(1).ok_or_else(unreadable)?;
    check_contents(connection, spec, table, relation_blocks)?;
    if table.kind == TableKind::Rows {
        check_order(connection, table, spec.seed)?;
    }
    check_secondary(connection, spec, table)?;
    let facts = SchemaFacts {
        schema: table.schema,
        kind: table.kind.name(),
        table: name,
        rows: count,
        blocks,
        bytes,
    };
    Ok((facts, relation_blocks))
}

/// Reads rows in blocks spread over the table and compares every byte.
fn check_contents(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
    relation_blocks: u64,
) -> Result<(), TargetError> {
    let columns: Vec<String> = (2..2 + TEXT_COLUMNS).map(|i| format!("c{i}")).collect();
    let step = (relation_blocks / SAMPLED_ROWS).max(1);
    let tids: Vec<String> = (0..SAMPLED_ROWS)
        .map(|i| i * step)
        .filter(|&block| block < relation_blocks)
        .map(|block| format!("'({block},1)'"))
        .collect();
    let name = table.full_name();
    let rows = connection.simple(&format!(
        "SELECT custid, {} FROM {name} WHERE ctid = ANY (ARRAY[{}]::tid[])",
        columns.join(" || "),
        tids.join(", ")
    ))?;
    let mut maker = RowMaker::new(spec, table);
    for row in &rows {
        let key: u64 = row.parse(0).ok_or_else(|| wrong(&name, "holds a row without a key"))?;
        let text = maker.text(key);
        debug_assert_eq!(text.len(), TEXT_COLUMNS * COLUMN_BYTES);
        if row.get(1).map(str::as_bytes) != Some(text) {
            return Err(wrong(
                &name,
                &format!("holds other contents in the row with key {key} than were loaded"),
            ));
        }
    }
    Ok(())
}
