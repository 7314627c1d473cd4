//! Whether a table is what it shall be, measured from the database itself.
//!
//! One scan counts the rows, checks that the keys are `1..=rows`, each once, and counts the rows that are the first of their
//! block. Freshly loaded all are, so blocks with rows are exactly rows. Where some are not (a resumed load reuses line
//! pointers), a second scan counts distinct blocks.

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::copy_rows::RowMaker;
use super::spot::check_order;
use super::tables::{COLUMN_BYTES, Table};
use dyno_engine::data::{TEXT_COLUMNS, TableKind};
use dyno_engine::error::{TargetError, TargetErrorKind};
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

/// Whether some values of the secondary key have the rows that they shall have.
pub(super) fn check_secondary(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
) -> Result<(), TargetError> {
    if table.secondary_index_name(spec).is_none() {
        return Ok(());
    }
    // Found by the index: all else would read the whole table.
    connection.simple("SET enable_seqscan = off")?;
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let (name, key) = (table.full_name(), spec.secondary_sql("%"));
        let rows = connection.simple(&format!("SELECT count(*) FROM {name} WHERE ({key}) = {value}"))?;
        let found: Option<u64> = rows.first().and_then(|row| row.parse(0));
        let wanted = spec.group_rows(value);
        if found != Some(wanted) {
            let found = format!(
                "has {} rows with secondary key {value}, and {wanted} is right",
                found.unwrap_or_default()
            );
            return Err(wrong(&name, &found));
        }
    }
    Ok(())
}

fn wrong(table: &str, found: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Data, format!("table {table} {found}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew; check that nobody else writes to schema dyno")
}

/// Keys are `1..=rows` if count, smallest, largest and sum are theirs; the loader writes each position once, so what could
/// cheat all four cannot come from it.
pub(super) fn check_keys(
    table: &Table,
    count: u64,
    min: Option<u64>,
    max: Option<u64>,
    sum: Option<u128>,
) -> Result<(), TargetError> {
    let rows = table.rows;
    let expected_sum = u128::from(rows) * (u128::from(rows) + 1) / 2;
    if (count, min, max, sum) == (rows, Some(1), Some(rows), Some(expected_sum)) {
        return Ok(());
    }
    let found = format!(
        "holds {count} rows with keys {} to {}, and {rows} rows with keys 1 to {rows}, each once, were loaded",
        min.unwrap_or(0),
        max.unwrap_or(0)
    );
    Err(wrong(&table.full_name(), &found))
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
