//! Tables of loaded data: the measured size of each table, and what a drop would remove.

use crate::model::table::{Grid, GridCell, GridHead};
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

fn rows_per_block(rows: u64, blocks: u64) -> GridCell {
    let ratio = (blocks > 0).then(|| rows as f64 / blocks as f64);
    let is_exact = ratio.is_none_or(|ratio| (ratio - 1.0).abs() <= ROWS_PER_BLOCK_SLACK);
    GridCell::fixed(ratio, 3).toned(if is_exact { "" } else { "bad" })
}

/// The line of a table, or of all tables.
fn load_cells(name: GridCell, row: &LoadRow) -> [GridCell; 5] {
    let count = |value: u64| GridCell::within(value as f64, COUNT_MAX);
    let density = rows_per_block(row.rows, row.blocks);
    [name, count(row.rows), count(row.blocks), density, GridCell::bytes(row.bytes as f64)]
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
        table.row(load_cells((&row.table).into(), row));
    }
    if rows.len() > ROWS_MAX {
        table.note(&format!("… and {} more (--json shows all)", rows.len() - ROWS_MAX), "dim");
    }
    if rows.len() > 1 {
        let sum = |part: fn(&LoadRow) -> u64| rows.iter().map(part).fold(0u64, u64::saturating_add);
        let all = LoadRow {
            table: String::new(),
            rows: sum(|row| row.rows),
            blocks: sum(|row| row.blocks),
            bytes: sum(|row| row.bytes),
        };
        table.row(load_cells(GridCell::from("all").toned("total"), &all));
    }
    table.render(style)
}

/// What a drop would remove, or has removed. The list is always complete, because the user confirms it.
pub fn drop_table(rows: &[DropRow], style: &Style) -> String {
    let mut table =
        Grid::new(vec![GridHead::text("kind"), GridHead::text("name"), GridHead::figures("size", "")]);
    for row in rows {
        let size = GridCell::bytes(row.bytes.map(|bytes| bytes as f64));
        table.row([(&row.kind).into(), (&row.name).into(), size]);
    }
    table.render(style)
}
