//! Rows of a described table, made one after the other.

use dyno_engine::data::mix;
use dyno_engine::{Rows, Type, Value};

use super::parent::Finder;
use super::table::DescribedTable;
use crate::own::draws::{Keys, NULL, NULL_PARTS, When};
use crate::own::value::{Held, Hold};

/// Makes the rows of one table.
#[derive(Debug)]
pub struct RowMaker<'a> {
    table: &'a DescribedTable,
    /// Slots that are drawn, each behind those that it needs.
    slots: Vec<u16>,
    keys: Keys,
    hold: Hold,
    /// The slot of the row's number; behind it that of the row that it belongs to, and of its place among those of it.
    row_slot: usize,
    /// What finds those, where rows belong to rows of another table.
    finder: Option<Finder<'a>>,
    row: u64,
    /// What tells this table from others.
    own: u64,
}

impl DescribedTable {
    /// What makes its rows.
    pub fn row_maker(&self) -> RowMaker<'_> {
        RowMaker::new(self)
    }

    /// The sum of an integer column over all rows.
    pub fn sum(&self, column: usize) -> i128 {
        RowMaker::of(self, &[column]).sum(column)
    }
}

impl<'a> RowMaker<'a> {
    /// Makes all columns.
    pub(super) fn new(table: &'a DescribedTable) -> Self {
        let all: Vec<usize> = (0..table.columns.len()).collect();
        Self::of(table, &all)
    }

    /// Makes these columns only.
    pub(super) fn of(table: &'a DescribedTable, columns: &[usize]) -> Self {
        let salt = table.made_as.bytes().fold(0, |salt, byte| mix(salt ^ u64::from(byte)));
        let own = mix(mix(table.seed) ^ salt);
        let mut keys = Keys::new(own, 0);
        // Behind the columns comes what is drawn beside them, then scale and seed, and then the row's number, which is not drawn.
        let row_slot = table.draws.all.len();
        let hold = table.draws.hold(row_slot + 3, own, &mut keys);
        let columns: Vec<u16> = columns.iter().map(|&column| column as u16).collect();
        let slots = table.draws.closure(&columns, |draw| draw.when != When::Run || draw.null.is_some());
        let finder = table.parent.as_deref().map(Finder::new);
        Self { table, slots, keys, hold, row_slot, finder, row: 0, own }
    }

    /// Whether the value of this column of the row is NULL, whatever was drawn.
    fn is_null(&self, column: usize) -> bool {
        let draw = &self.table.draws.all[column];
        if draw.null.as_ref().is_some_and(|null| self.hold.counted[null.counter] == 1) {
            return true;
        }
        let share = u64::from(self.table.nulls[column]);
        share > 0 && {
            let salt = draw.salt;
            mix(mix(self.own ^ self.row) ^ salt ^ NULL) % NULL_PARTS < share
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

impl Rows for RowMaker<'_> {
    fn make(&mut self, number: u64) {
        self.row = number;
        self.keys.turn_to(number);
        self.hold.held[self.row_slot] = Held::Int(number as i64);
        if let Some(finder) = &mut self.finder {
            let (parent, place) = finder.find(number);
            self.hold.held[self.row_slot + 1] = Held::Int(parent as i64);
            self.hold.held[self.row_slot + 2] = Held::Int(place as i64);
        }
        // What counts has come so far as the row says, wherever a part begins.
        self.hold.counted.fill(number - 1);
        self.table.draws.draw(&self.slots, &mut self.keys, &mut self.hold);
    }

    fn value(&self, column: usize) -> Value<'_> {
        if self.is_null(column) {
            return Value::Null;
        }
        match self.hold.held[column] {
            Held::Int(number) => Value::Int(number),
            Held::Real(number) => Value::Real(number),
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
