//! The columns of the last row, for statements whose columns are used.

use super::answer::MySqlResultPart;
use crate::wire::{MySqlColumnDef, values, written_values};
use dyno_engine::LastRow;

/// The columns of the last row.
#[derive(Debug, Default)]
pub(super) struct MySqlRowReader {
    /// The column definitions of each statement, as the server last sent them.
    column_defs: Vec<Vec<MySqlColumnDef>>,
    pub(super) row: LastRow,
    /// Whether rows contain their values as text.
    is_text: bool,
}

impl MySqlRowReader {
    /// A reader for statements with these column definitions, as far as they are known before execution. Rows
    /// contain their values as text if `is_text`, otherwise in binary.
    pub(super) fn new(column_defs: Vec<Vec<MySqlColumnDef>>, is_text: bool) -> Self {
        Self { column_defs, row: LastRow::default(), is_text }
    }

    /// Reads a part of the result of statement `index`. A row that ends too early has fewer columns.
    pub(super) fn read_part(&mut self, index: usize, part: MySqlResultPart<'_>) {
        let Self { column_defs, row, is_text } = self;
        match part {
            MySqlResultPart::Column(is_first, body) => {
                if is_first {
                    column_defs[index].clear();
                }
                column_defs[index].push(MySqlColumnDef::read(body).unwrap_or_default());
            }
            MySqlResultPart::Row(body) => {
                let read = if *is_text { written_values } else { values };
                let _ = read(&column_defs[index], body, row);
            }
        }
    }
}
