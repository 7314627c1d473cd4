//! Tables of loaded data: the measured size of each table, and what a drop would remove.

use dyno_analyze::number::{ABSENT, bytes, compact, count, fixed};

use crate::grid::{Grid, GridCell, GridHead};
use crate::style::Style;

/// Maximum number of tables shown; a load of hundreds of schemas is summed up.
const ROWS_MAX: usize = 20;

/// Characters of a count before it is abbreviated: a trillion.
const COUNT_MAX: usize = 17;

/// Deviation of rows per block from one before it is marked; the last block of each loader may hold fewer.
const ROWS_PER_BLOCK_SLACK: f64 = 0.01;

/// Measured size of one table after a load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadRow {
    pub table: String,
    /// Rows counted by the database.
    pub rows: u64,
    pub blocks: u64,
    /// Bytes of table and index on disk.
    pub bytes: u64,
}

/// One object that a drop would remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropRow {
    /// `table`, `index`, `procedure`, `schema` or `file`.
    pub kind: String,
    pub name: String,
    /// Size on disk in bytes; absent if unknown.
    pub bytes: Option<u64>,
}

/// A count with all digits, as long as a table can have so many rows.
fn exact(value: u64) -> String {
    let text = count(value);
    if text.len() <= COUNT_MAX { text } else { compact(value as f64) }
}

fn rows_per_block(rows: u64, blocks: u64) -> GridCell {
    if blocks == 0 {
        return GridCell::from(ABSENT);
    }
    let ratio = rows as f64 / blocks as f64;
    let text = fixed(ratio, 3);
    if (ratio - 1.0).abs() <= ROWS_PER_BLOCK_SLACK {
        GridCell::from(text)
    } else {
        GridCell::from(text).toned("bad")
    }
}

/// What a load created: rows, blocks, rows per block (the method requires one) and size of each table.
pub fn load_table(rows: &[LoadRow], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("table"),
        GridHead::figures("rows", ""),
        GridHead::figures("blocks", ""),
        GridHead::figures("rows per block", ""),
        GridHead::figures("size", ""),
    ]);
    for row in rows.iter().take(ROWS_MAX) {
        table.row([
            GridCell::from(row.table.as_str()),
            exact(row.rows).into(),
            exact(row.blocks).into(),
            rows_per_block(row.rows, row.blocks),
            bytes(row.bytes).into(),
        ]);
    }
    if rows.len() > ROWS_MAX {
        table.note(&format!("… and {} more (--json shows all)", rows.len() - ROWS_MAX), "dim");
    }
    if rows.len() > 1 {
        let sum = |part: fn(&LoadRow) -> u64| rows.iter().map(part).fold(0u64, u64::saturating_add);
        let (all_rows, blocks) = (sum(|row| row.rows), sum(|row| row.blocks));
        table.row([
            GridCell::from("all").toned("total"),
            exact(all_rows).into(),
            exact(blocks).into(),
            rows_per_block(all_rows, blocks),
            bytes(sum(|row| row.bytes)).into(),
        ]);
    }
    table.render(style)
}

/// What a drop would remove, or has removed. The list is always complete, because the user confirms it.
pub fn drop_table(rows: &[DropRow], style: &Style) -> String {
    let mut table =
        Grid::new(vec![GridHead::text("kind"), GridHead::text("name"), GridHead::figures("size", "")]);
    for row in rows {
        let size = row.bytes.map_or_else(|| ABSENT.to_owned(), bytes);
        table.row([GridCell::from(row.kind.as_str()), row.name.as_str().into(), size.into()]);
    }
    table.render(style)
}
