//! Rows that belong to rows of another table: which of them a row is of, by its number.

use std::sync::OnceLock;

use dyno_engine::{Rows as _, Value};

use super::rows::RowMaker;
use super::table::DescribedTable;

/// The table whose rows have some each, and the column that says how many.
#[derive(Debug)]
pub(super) struct Parent {
    table: DescribedTable,
    column: usize,
    /// How many rows stand before those of every [`STRIDE`]th row of the table, and behind the last: counted when it is first asked for.
    before: OnceLock<Vec<u64>>,
}

/// Rows of the parent between two that are known: few enough to go through, many enough that the list of all of them is short.
const STRIDE: u64 = 256;

impl Parent {
    pub(super) fn new(table: DescribedTable, column: usize) -> Self {
        Self { table, column, before: OnceLock::new() }
    }

    fn before(&self) -> &[u64] {
        self.before.get_or_init(|| {
            let mut finder = Finder::new(self);
            let (mut before, mut sum) = (Vec::new(), 0);
            for parent in 1..=self.table.rows() {
                if (parent - 1) % STRIDE == 0 {
                    before.push(sum);
                }
                sum += finder.count(parent);
            }
            before.push(sum);
            before
        })
    }

    /// How many rows there are of all.
    pub(super) fn rows(&self) -> u64 {
        self.before().last().copied().unwrap_or(0)
    }
}

/// Finds which row of the parent one belongs to.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    parent: &'a Parent,
    maker: Box<RowMaker<'a>>,
    /// The row that was found last, how many stand before those of it, and how many it has.
    last: (u64, u64, u64),
}

impl<'a> Finder<'a> {
    pub(super) fn new(parent: &'a Parent) -> Self {
        let maker = Box::new(RowMaker::of(&parent.table, &[parent.column]));
        Self { parent, maker, last: (0, 0, 0) }
    }

    /// How many rows this one of the parent has.
    fn count(&mut self, parent: u64) -> u64 {
        self.maker.make(parent);
        match self.maker.value(self.parent.column) {
            Value::Int(count) => u64::try_from(count).unwrap_or(0),
            _ => 0,
        }
    }

    /// The parent's row of row `number`, and its place among those of it, both from 1.
    pub(super) fn find(&mut self, number: u64) -> (u64, u64) {
        let (_, before, _) = self.last;
        if self.last.0 == 0 || number <= before || number - before > STRIDE {
            let known = self.parent.before();
            let place = known[..known.len() - 1].partition_point(|&before| before < number).max(1) - 1;
            let parent = place as u64 * STRIDE + 1;
            self.last = (parent, known[place], self.count(parent));
        }
        loop {
            let (parent, before, count) = self.last;
            // Nobody asks for rows behind the last one; if somebody did, they would be of the last.
            if number - before <= count || parent >= self.parent.table.rows() {
                return (parent, number - before);
            }
            self.last = (parent + 1, before + count, self.count(parent + 1));
        }
    }
}
