//! Rows of a described table, made one after the other. Where they belong to rows of another table, those are made beside them to
//! know how many each has.

use dyno_engine::data::mix;
use dyno_engine::{Rows, Type, Value};

use super::table::{DescribedTable, Parent};
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
    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.parent.as_ref().map_or(self.rows, |parent| parent.rows())
    }

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

impl RowMaker<'_> {
    /// Makes the row of this number as the one at `place` among those of row `parent`.
    pub(super) fn make_child(&mut self, number: u64, parent: u64, place: u64) {
        self.hold.held[self.row_slot + 1] = Held::Int(parent as i64);
        self.hold.held[self.row_slot + 2] = Held::Int(place as i64);
        self.make_row(number);
    }

    fn make_row(&mut self, number: u64) {
        self.row = number;
        self.keys.turn_to(number);
        self.hold.held[self.row_slot] = Held::Int(number as i64);
        // What counts has come so far as the row says, wherever a part begins.
        self.hold.counted.fill(number - 1);
        self.table.draws.draw(&self.slots, &mut self.keys, &mut self.hold);
    }
}

impl Rows for RowMaker<'_> {
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

/// Rows of the parent between two that are known: few enough to go through, many enough that the list of all of them is short.
const STRIDE: u64 = 256;

impl Parent {
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
    pub(super) fn count(&mut self, parent: u64) -> u64 {
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
