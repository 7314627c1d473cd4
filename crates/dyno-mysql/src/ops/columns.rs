//! The columns of the last row, where a statement's are read.

use super::answer::Part;
use crate::wire::{Column, values, written_values};
use dyno_engine::LastRow;

/// The columns of the last row.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// What those of each statement were when that was last told.
    known: Vec<Vec<Column>>,
    pub(super) row: LastRow,
    /// Whether values come written out.
    is_text: bool,
}

impl Columns {
    /// Of statements whose columns are these, as far as that is known before they are executed.
    /// Values come in binary, or written out.
    pub(super) fn new(known: Vec<Vec<Column>>, is_text: bool) -> Self {
        Self { known, row: LastRow::default(), is_text }
    }

    /// Takes in a part of the answer to statement `index`. A row that ends too early has fewer columns.
    pub(super) fn heard(&mut self, index: usize, part: Part<'_>) {
        let Self { known, row, is_text } = self;
        match part {
            Part::Column(is_first, body) => {
                if is_first {
                    known[index].clear();
                }
                known[index].push(Column::read(body).unwrap_or_default());
            }
            Part::Row(body) => {
                let read = if *is_text { written_values } else { values };
                let _ = read(&known[index], body, row);
            }
        }
    }
}
