//! The columns of the last row, where a statement's are read.

use super::answer::MySqlResultPart;
use crate::wire::{MySqlColumnDef, values, written_values};
use dyno_engine::LastRow;

/// The columns of the last row.
#[derive(Debug, Default)]
pub(super) struct MySqlRowReader {
    /// What those of each statement were when that was last told.
    column_defs: Vec<Vec<MySqlColumnDef>>,
    pub(super) row: LastRow,
    /// Whether values come written out.
    is_text: bool,
}

impl MySqlRowReader {
    /// Of statements whose columns are these, as far as that is known before they are executed.
    /// Values come in binary, or written out.
    pub(super) fn new(column_defs: Vec<Vec<MySqlColumnDef>>, is_text: bool) -> Self {
        Self { column_defs, row: LastRow::default(), is_text }
    }

    /// Takes in a part of the answer to statement `index`. A row that ends too early has fewer columns.
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
