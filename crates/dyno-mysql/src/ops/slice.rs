//! The server drive: a batch of operations as one call of a stored procedure.

use std::fmt::Write as _;

use dyno_plan::Redo;

use super::answer::{Part, Reply};
use super::procedures::HASH_BYTES;
use super::template::Template;
use crate::layout::Shape;
use crate::wire::{Column, Connection, WireError};
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::slices::{Call, done, parts};
use dyno_engine::{Blocks, Extra, Op, SliceDone, Type, Value};

/// The statement that calls a procedure.
fn sql(call: Call, schema: u32, redo: Redo) -> String {
    let redo = redo.name();
    match call {
        Call::Select => format!("CALL dyno_slice_select_{schema}(?, ?)"),
        Call::Lookup => format!("CALL dyno_slice_lookup_{schema}(?)"),
        Call::Scan => format!("CALL dyno_slice_scan_{schema}(?)"),
        Call::Update => format!("CALL dyno_slice_update_{redo}_{schema}(?, ?, ?, ?, ?)"),
        Call::Mixed => format!("CALL dyno_slice_mixed_{redo}_{schema}(?, ?, ?, ?, ?)"),
        Call::Secondary => format!("CALL dyno_slice_secondary_{schema}(?)"),
        Call::Any => format!("CALL dyno_slice_any_{redo}_{schema}(?, ?, ?, ?, ?, ?)"),
    }
}

/// What a call is told: the list of operations, the work unit, and the parts of new values.
fn params(call: Call) -> &'static [Type] {
    const ALL: [Type; 6] = [Type::Text, Type::Int, Type::Text, Type::Text, Type::Text, Type::Text];
    match call {
        Call::Scan => &[Type::Int],
        Call::Lookup | Call::Secondary => &ALL[..1],
        Call::Select => &ALL[..2],
        Call::Update | Call::Mixed => &ALL[..5],
        Call::Any => &ALL,
    }
}

/// The calls of one session on one schema, prepared, and what updates need beside the operations themselves.
#[derive(Debug)]
pub(super) struct Calls {
    templates: Vec<(Call, Template)>,
    /// The run's and session's part of every stamp.
    prefix: String,
    column_bytes: usize,
    /// Nineteen columns, one after the other; the procedures replace their beginnings.
    columns: Vec<u8>,
    /// What fills the rest of inserted rows; empty where none are. Behind a column that holds a stamp, whole columns.
    pad: Vec<u8>,
    pad_bytes: usize,
    list: String,
    work_unit: u32,
    extra: Extra,
}

impl Calls {
    /// Prepares all of them.
    pub(super) fn prepare(
        connection: &mut Connection,
        blocks: &Blocks,
        schema: u32,
    ) -> Result<Self, WireError> {
        let Blocks { extra, redo, work_unit, .. } = *blocks;
        let Shape { column_bytes, pad_bytes, .. } =
            Shape::of(blocks.spec.block_size).map_err(|_| WireError::protocol("no such page size"))?;
        let templates = Call::of(extra)
            .map(|call| {
                let statement = connection.prepare(&sql(call, schema, redo))?;
                Ok((call, Template::new(statement, params(call))))
            })
            .collect::<Result<_, WireError>>()?;
        let pad_columns = if extra.churn { 1 + pad_bytes.div_ceil(column_bytes) } else { 0 };
        Ok(Self {
            templates,
            prefix: blocks.stamp(),
            column_bytes,
            columns: vec![0; TEXT_COLUMNS * column_bytes],
            pad: vec![0; pad_columns * column_bytes],
            pad_bytes,
            list: String::new(),
            work_unit,
            extra,
        })
    }

    /// Does `ops` in one call.
    pub(super) fn run(
        &mut self,
        connection: &mut Connection,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, WireError> {
        let call = Call::for_ops(ops, self.extra);
        self.fill_list(call, ops);
        let mut tails = Vec::new();
        if call.writes() {
            values.fill_columns(0, &mut self.columns);
            let others = self.columns[self.column_bytes..].chunks_exact(self.column_bytes);
            tails.extend(others.flat_map(|column| &column[HASH_BYTES..]));
        }
        if call == Call::Any {
            values.fill_columns(0, &mut self.pad);
        }
        let pad = self.pad.get(self.column_bytes..).and_then(|pad| pad.get(..self.pad_bytes));
        let all = [
            Value::Text(self.list.as_bytes()),
            Value::count(self.work_unit.into()),
            Value::Text(self.prefix.as_bytes()),
            Value::Text(&self.columns[UpdateValues::STAMP_BYTES..self.column_bytes]),
            Value::Text(&tails),
            Value::Text(pad.unwrap_or_default()),
        ];
        let told = match call {
            Call::Scan => &[Value::count(ops.len() as u64)],
            _ => &all[..params(call).len()],
        };
        let template = self.templates.iter_mut().find(|(prepared, _)| *prepared == call);
        let (_, template) = template.ok_or_else(|| WireError::protocol("a slice that was not prepared"))?;
        connection.line.send_bytes(template.bind(told).map_err(WireError::Undone)?)?;
        let mut numbers = Vec::new();
        Reply::to(Column::default()).wait(connection, |part| {
            if let Part::Row(row) = part {
                numbers = numbers_of(row, call.results());
            }
        })?;
        done(&numbers).ok_or_else(|| WireError::protocol("a slice's result of another shape"))
    }

    /// The operations as the procedure of `call` reads them.
    fn fill_list(&mut self, call: Call, ops: &[Op]) {
        self.list.clear();
        for op in ops {
            let (kind, first, number) = parts(*op);
            // Writing to a String cannot fail.
            let _ = match call {
                Call::Select | Call::Lookup | Call::Secondary => write!(self.list, "{first:020}"),
                Call::Scan => Ok(()),
                Call::Update => write!(self.list, "{first:020}{number:020}"),
                Call::Mixed | Call::Any => write!(self.list, "{kind}{first:020}{number:020}"),
            };
        }
    }
}

/// The numbers of a row that has so many, all of 64 bits.
fn numbers_of(row: &[u8], results: usize) -> Vec<u64> {
    // The row's mark, then a bit for each column behind two that are not used.
    let head = 1 + (results + 2).div_ceil(8);
    let (numbers, rest) = row.get(head..).unwrap_or_default().as_chunks::<8>();
    // Another shape has another count of numbers.
    let whole = numbers.iter().filter(|_| rest.is_empty() && numbers.len() == results);
    whole.map(|number| u64::from_le_bytes(*number)).collect()
}
