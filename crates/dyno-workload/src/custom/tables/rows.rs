//! Generates the rows of a described table in order. For child rows it also generates the parent rows, to
//! know the number of children.

use dyno_engine::data::mix;
use dyno_engine::{Rows, Type, Value};

use super::table::{DescribedTable, Parent};
use crate::custom::draws::{DrawFrequency, DrawSeeds, NULL, NULL_PARTS};
use crate::custom::value::{HeldValue, SessionValues};

/// Generates the rows of one table.
#[derive(Debug)]
pub struct TableRowMaker<'a> {
    table: &'a DescribedTable,
    /// Slots to draw, ordered so that each follows the slots that it reads.
    slots: Vec<u16>,
    keys: DrawSeeds,
    hold: SessionValues,
    /// The slot of the row's number; then the parent row's number, and the index among its children.
    row_slot: usize,
    /// Finds the parent row and the index, for a table with a parent.
    finder: Option<ParentFinder<'a>>,
    row: u64,
    /// Distinguishes this table's random numbers from those of others.
    table_seed: u64,
}

impl DescribedTable {
    /// The number of rows in the table.
    pub fn rows(&self) -> u64 {
        self.parent.as_ref().map_or(self.rows, |parent| parent.rows())
    }

    /// A generator for the rows of the table.
    pub fn row_maker(&self) -> TableRowMaker<'_> {
        TableRowMaker::new(self)
    }

    /// The sum of an integer column over all rows.
    pub fn sum(&self, column: usize) -> i128 {
        TableRowMaker::for_columns(self, &[column]).sum(column)
    }
}

impl<'a> TableRowMaker<'a> {
    /// A generator for all columns.
    pub(super) fn new(table: &'a DescribedTable) -> Self {
        let all: Vec<usize> = (0..table.columns.len()).collect();
        Self::for_columns(table, &all)
    }

    /// A generator for these columns only.
    pub(super) fn for_columns(table: &'a DescribedTable, columns: &[usize]) -> Self {
        let salt = table.made_as.bytes().fold(0, |salt, byte| mix(salt ^ u64::from(byte)));
        let table_seed = mix(mix(table.seed) ^ salt);
        let mut keys = DrawSeeds::new(table_seed, 0);
        // After the columns come the generators of `[draw]`, then scale and seed, then the row's number,
        // which is not drawn.
        let row_slot = table.draws.all.len();
        let hold = table.draws.initial_values(row_slot + 3, table_seed, &mut keys);
        let columns: Vec<u16> = columns.iter().map(|&column| column as u16).collect();
        let slots =
            table.draws.closure(&columns, |draw| draw.when != DrawFrequency::Run || draw.null.is_some());
        let finder = table.parent.as_deref().map(ParentFinder::new);
        Self { table, slots, keys, hold, row_slot, finder, row: 0, table_seed }
    }

    /// Whether the value of this column in the row is NULL, whatever was drawn.
    fn is_null(&self, column: usize) -> bool {
        let draw = &self.table.draws.all[column];
        if draw.null.as_ref().is_some_and(|null| self.hold.counted[null.counter] == 1) {
            return true;
        }
        let share = u64::from(self.table.nulls[column]);
        share > 0 && {
            let salt = draw.salt;
            mix(mix(self.table_seed ^ self.row) ^ salt ^ NULL) % NULL_PARTS < share
        }
    }

    /// The sum of an integer column over all rows.
    pub(super) fn sum(&mut self, column: usize) -> i128 {
        let mut sum = 0;
        for number in 1..=self.table.rows() {
            self.make(number);
            if let Value::Int(value) = self.value(column) {
                sum += i128::from(value);
            }
        }
        sum
    }
}

impl TableRowMaker<'_> {
    /// Generates the row with this number as the child number `place` of row `parent`.
    pub(super) fn make_child(&mut self, number: u64, parent: u64, place: u64) {
        self.hold.held[self.row_slot + 1] = HeldValue::Int(parent as i64);
        self.hold.held[self.row_slot + 2] = HeldValue::Int(place as i64);
        self.make_row(number);
    }

    fn make_row(&mut self, number: u64) {
        self.row = number;
        self.keys.begin_transaction(number);
        self.hold.held[self.row_slot] = HeldValue::Int(number as i64);
        // Counters have the value that they would have in a load from the first row.
        self.hold.counted.fill(number - 1);
        self.table.draws.draw(&self.slots, &mut self.keys, &mut self.hold);
    }
}

impl Rows for TableRowMaker<'_> {
    fn make(&mut self, number: u64) {
        match self.finder.as_mut().map(|finder| finder.find(number)) {
            Some((parent, place)) => self.make_child(number, parent, place),
            None => self.make_row(number),
        }
    }

    fn value(&self, column: usize) -> Value<'_> {
        if self.is_null(column) {
            return Value::Null;
        }
        match self.hold.held[column] {
            HeldValue::Int(number) => Value::Int(number),
            HeldValue::Real(number) => Value::Real(number),
            held => {
                let bytes = self.hold.bytes_of(held, &self.table.draws.shared);
                match self.table.draws.all[column].of {
                    Type::Bytes => Value::Bytes(bytes),
                    _ => Value::Text(bytes),
                }
            }
        }
    }
}

/// Distance between parent rows with a known number of children before them: small enough to search, and the
/// list stays short.
const STRIDE: u64 = 256;

impl Parent {
    fn before(&self) -> &[u64] {
        self.before.get_or_init(|| {
            let mut finder = ParentFinder::new(self);
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

    /// The number of child rows in total.
    pub(super) fn rows(&self) -> u64 {
        self.before().last().copied().unwrap_or(0)
    }
}

/// Finds the parent row of a child row.
#[derive(Debug)]
pub(super) struct ParentFinder<'a> {
    parent: &'a Parent,
    maker: Box<TableRowMaker<'a>>,
    /// The last parent row found, the number of child rows before its own, and the number of its own.
    last: (u64, u64, u64),
}

impl<'a> ParentFinder<'a> {
    pub(super) fn new(parent: &'a Parent) -> Self {
        let maker = Box::new(TableRowMaker::for_columns(&parent.table, &[parent.column]));
        Self { parent, maker, last: (0, 0, 0) }
    }

    /// The number of child rows of this parent row.
    pub(super) fn count(&mut self, parent: u64) -> u64 {
        self.maker.make(parent);
        match self.maker.value(self.parent.column) {
            Value::Int(count) => u64::try_from(count).unwrap_or(0),
            _ => 0,
        }
    }

    /// The parent row of child row `number`, and the index among its children, both from 1.
    pub(super) fn find(&mut self, number: u64) -> (u64, u64) {
        let (_, before, _) = self.last;
        if self.last.0 == 0 || number <= before || number - before > STRIDE {
            let counts_before = self.parent.before();
            let place =
                counts_before[..counts_before.len() - 1].partition_point(|&before| before < number).max(1)
                    - 1;
            let parent = place as u64 * STRIDE + 1;
            self.last = (parent, counts_before[place], self.count(parent));
        }
        loop {
            let (parent, before, count) = self.last;
            // Callers never ask beyond the last row; such a row would belong to the last parent.
            if number - before <= count || parent >= self.parent.table.rows() {
                return (parent, number - before);
            }
            self.last = (parent + 1, before + count, self.count(parent + 1));
        }
    }
}
