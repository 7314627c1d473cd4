//! The operations on one schema, prepared.

use super::statements;
use super::template::{Parameter, Template};
use crate::layout::Shape;
use crate::wire::{Connection, WireError};
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::layout::updated_columns;
use dyno_engine::session::{Op, SessionSetup};

/// Packets of every operation on one schema; those that a session does not need are empty.
#[derive(Default)]
pub(super) struct Templates {
    select: Template,
    lookup: Template,
    scan: Template,
    update: Template,
    secondary: Template,
    insert: Template,
    delete: Template,
    work_unit: u64,
    column_bytes: usize,
    /// The new columns of one update or insert, one after the other.
    fresh: Vec<u8>,
    updated: usize,
    /// What fills the rest of an inserted row.
    pad: Vec<u8>,
    /// Of the rows that are inserted; absent where none are.
    shape: Option<Shape>,
}

impl Templates {
    /// Prepares what a session with `setup` needs of `schema`.
    pub(super) fn prepare(
        connection: &mut Connection,
        setup: &SessionSetup,
        schema: u32,
        column_bytes: usize,
    ) -> Result<Self, WireError> {
        use Parameter::{Number, Text};
        let mut all = Self {
            work_unit: u64::from(setup.work_unit),
            column_bytes,
            updated: updated_columns(setup.redo).count() * column_bytes,
            ..Self::default()
        };
        let mut prepare = |sql: &str, parameters: &[Parameter]| {
            connection.prepare(sql).map(|prepared| Template::new(prepared, parameters))
        };
        all.select = prepare(&statements::select(schema), &[Number, Number])?;
        all.lookup = prepare(&statements::lookup(schema), &[Number])?;
        let columns = updated_columns(setup.redo).map(|_| Text(column_bytes));
        let parameters: Vec<Parameter> = columns.chain([Number, Number]).collect();
        all.update = prepare(&statements::update(schema, setup.redo), &parameters)?;
        if setup.spec.scan_rows > 0 {
            all.scan = prepare(&statements::scan(schema), &[])?;
        }
        if setup.extra.secondary {
            all.secondary = prepare(&statements::secondary(schema), &[Number])?;
        }
        all.fresh = vec![0; all.updated];
        if setup.extra.churn && schema == setup.schema {
            let shape =
                Shape::of(setup.spec.block_size).map_err(|_| WireError::protocol("no such page size"))?;
            let mut parameters = vec![Number; shape.spacers as usize + 2];
            parameters.extend([Text(column_bytes); TEXT_COLUMNS]);
            parameters.push(Text(shape.pad_bytes));
            all.insert = prepare(&statements::insert(schema, shape), &parameters)?;
            all.delete = prepare(&statements::delete(schema), &[Number, Number])?;
            all.fresh = vec![0; TEXT_COLUMNS * column_bytes];
            // Whole columns, of which the first holds a stamp and is left out.
            all.pad = vec![0; (1 + shape.pad_bytes.div_ceil(column_bytes)) * column_bytes];
            all.shape = Some(shape);
        }
        Ok(all)
    }

    /// The packet for `op`.
    #[inline]
    pub(super) fn fill(&mut self, op: Op, values: &mut UpdateValues) -> &[u8] {
        let template = match op {
            Op::Select { first } => {
                self.select.set_number(0, first);
                self.select.set_number(1, first + self.work_unit - 1);
                &self.select
            }
            Op::Lookup { key } => {
                self.lookup.set_number(0, key);
                &self.lookup
            }
            Op::Secondary { value } => {
                self.secondary.set_number(0, value);
                &self.secondary
            }
            Op::Scan => &self.scan,
            Op::Update { first, number } => {
                let fresh = &mut self.fresh[..self.updated];
                values.fill_columns(number, fresh);
                let columns = fresh.chunks_exact(self.column_bytes);
                let count = columns.len();
                for (index, column) in columns.enumerate() {
                    self.update.set_text(index, column);
                }
                self.update.set_number(count, first);
                self.update.set_number(count + 1, first + self.work_unit - 1);
                &self.update
            }
            Op::Insert { key, number } => {
                values.fill_columns(number, &mut self.fresh);
                values.fill_columns(number, &mut self.pad);
                // The places of a row and its spacers, as those that were loaded have them.
                let (places, pad_bytes) = places(self.shape, key);
                let mut next = 0;
                for place in places {
                    self.insert.set_number(next, place);
                    next += 1;
                }
                self.insert.set_number(next, key);
                for column in self.fresh.chunks_exact(self.column_bytes) {
                    next += 1;
                    self.insert.set_text(next, column);
                }
                self.insert.set_text(next + 1, &self.pad[self.column_bytes..][..pad_bytes]);
                &self.insert
            }
            Op::Delete { key } => {
                let (places, _) = places(self.shape, key);
                self.delete.set_number(0, *places.start());
                self.delete.set_number(1, *places.end());
                &self.delete
            }
        };
        template.bytes()
    }
}

/// The places of the spacers and, last, of the row with `key` behind the loaded ones; and the length of its pad.
#[inline]
fn places(shape: Option<Shape>, key: u64) -> (std::ops::RangeInclusive<u64>, usize) {
    let place = |shape: Shape| {
        let id = shape.id(key - 1);
        (shape.spacer_ids(id).start..=id, shape.pad_bytes)
    };
    shape.map_or((key..=key, 0), place)
}
