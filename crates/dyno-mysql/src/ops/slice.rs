//! The server drive: a batch of operations as one call of a stored procedure.

use std::fmt::Write as _;

use dyno_plan::Redo;

use super::answer;
use super::procedures::{HASH_BYTES, redo_name};
use super::template::head;
use crate::layout::Shape;
use crate::wire::{Connection, Prepared, WireError, message};
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::session::{Extra, Op, SessionSetup, SliceDone};
use dyno_engine::slices::{Call, done, parts};

/// The statement that calls a procedure.
fn sql(call: Call, schema: u32, redo: Redo) -> String {
    let redo = redo_name(redo);
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

/// The calls of one session, prepared, and what updates need beside the operations themselves.
#[derive(Debug)]
pub(super) struct Slices {
    statements: Vec<(Call, Prepared)>,
    /// The run's and session's part of every stamp.
    prefix: String,
    column_bytes: usize,
    /// Nineteen columns, one after the other; the procedures replace their beginnings.
    columns: Vec<u8>,
    /// What fills the rest of inserted rows; empty where none are. Behind a column that holds a stamp, whole columns.
    pad: Vec<u8>,
    pad_bytes: usize,
    list: String,
    work_unit: u64,
    extra: Extra,
}

impl Slices {
    /// Prepares all calls.
    pub(super) fn prepare(
        connection: &mut Connection,
        setup: &SessionSetup,
        schema: u32,
        prefix: String,
    ) -> Result<Self, WireError> {
        let SessionSetup { extra, redo, work_unit, .. } = *setup;
        let Shape { column_bytes, pad_bytes, .. } =
            Shape::of(setup.spec.block_size).map_err(|_| WireError::protocol("no such page size"))?;
        let statements = Call::of(extra)
            .map(|call| Ok((call, connection.prepare(&sql(call, schema, redo))?)))
            .collect::<Result<_, WireError>>()?;
        let pad_columns = if extra.churn { 1 + pad_bytes.div_ceil(column_bytes) } else { 0 };
        Ok(Self {
            statements,
            prefix,
            column_bytes,
            columns: vec![0; TEXT_COLUMNS * column_bytes],
            pad: vec![0; pad_columns * column_bytes],
            pad_bytes,
            list: String::new(),
            work_unit: u64::from(work_unit),
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
        let work_unit = self.work_unit;
        self.fill_list(call, ops);
        let prepared = self.statements.iter().find(|(prepared, _)| *prepared == call);
        let (_, statement) = *prepared.ok_or_else(|| WireError::protocol("a slice that was not prepared"))?;
        let list = self.list.as_bytes();
        let out = &mut connection.line.out;
        match call {
            Call::Scan => execute(out, statement, &[Value::Number(ops.len() as u64)]),
            Call::Lookup | Call::Secondary => execute(out, statement, &[Value::Text(list)]),
            Call::Select => execute(out, statement, &[Value::Text(list), Value::Number(work_unit)]),
            Call::Update | Call::Mixed | Call::Any => {
                values.fill_columns(0, &mut self.columns);
                let (first, others) = self.columns.split_at(self.column_bytes);
                let tails: Vec<u8> = others
                    .chunks_exact(self.column_bytes)
                    .flat_map(|column| &column[HASH_BYTES..])
                    .copied()
                    .collect();
                let texts = [self.prefix.as_bytes(), &first[UpdateValues::STAMP_BYTES..], &tails];
                let [prefix, tail, tails] = texts.map(Value::Text);
                let all = [Value::Text(list), Value::Number(work_unit), prefix, tail, tails];
                match call {
                    Call::Any => {
                        values.fill_columns(0, &mut self.pad);
                        let pad = self.pad.get(self.column_bytes..).unwrap_or_default();
                        let pad = Value::Text(pad.get(..self.pad_bytes).unwrap_or_default());
                        let [list, work_unit, prefix, tail, tails] = all;
                        execute(out, statement, &[list, work_unit, prefix, tail, tails, pad]);
                    }
                    _ => execute(out, statement, &all),
                }
            }
        }
        connection.line.send()?;
        let numbers = answer::read_call(connection, call.results())?;
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

/// A value of a call.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Text(&'a [u8]),
}

fn execute(out: &mut Vec<u8>, statement: Prepared, values: &[Value<'_>]) {
    message::packet(out, 0, |out| {
        head(out, statement, values.iter().map(|value| matches!(value, Value::Number(_))));
        for value in values {
            match value {
                Value::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
                Value::Text(text) => message::bytes(out, text),
            }
        }
    });
}
