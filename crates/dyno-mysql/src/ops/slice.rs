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

/// The procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Select,
    Lookup,
    Scan,
    Update,
    Mixed,
    Secondary,
    Any,
}

impl Call {
    const ALL: [Self; 7] =
        [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed, Self::Secondary, Self::Any];

    /// Those that a session with `extra` may need, which are the first of all.
    fn of(extra: Extra) -> &'static [Self] {
        if goes_beyond(extra) { &Self::ALL } else { &Self::ALL[..5] }
    }

    /// The leanest procedure that can do all of `ops`, of a session with `extra`.
    fn for_ops(ops: &[Op], extra: Extra) -> Self {
        let of = |op: &Op| match op {
            Op::Select { .. } => Self::Select,
            Op::Lookup { .. } => Self::Lookup,
            Op::Scan => Self::Scan,
            Op::Update { .. } => Self::Update,
            Op::Secondary { .. } => Self::Secondary,
            Op::Insert { .. } | Op::Delete { .. } => Self::Any,
        };
        let mut calls = ops.iter().map(of);
        let first = calls.next().unwrap_or(Self::Select);
        match calls.all(|call| call == first) {
            true => first,
            false if goes_beyond(extra) => Self::Any,
            false => Self::Mixed,
        }
    }

    fn sql(self, schema: u32, redo: Redo) -> String {
        let redo = redo_name(redo);
        match self {
            Self::Select => format!("CALL dyno_slice_select_{schema}(?, ?)"),
            Self::Lookup => format!("CALL dyno_slice_lookup_{schema}(?)"),
            Self::Scan => format!("CALL dyno_slice_scan_{schema}(?)"),
            Self::Update => format!("CALL dyno_slice_update_{redo}_{schema}(?, ?, ?, ?, ?)"),
            Self::Mixed => format!("CALL dyno_slice_mixed_{redo}_{schema}(?, ?, ?, ?, ?)"),
            Self::Secondary => format!("CALL dyno_slice_secondary_{schema}(?)"),
            Self::Any => format!("CALL dyno_slice_any_{redo}_{schema}(?, ?, ?, ?, ?, ?)"),
        }
    }
}

/// Whether a session does more than the common operations.
fn goes_beyond(extra: Extra) -> bool {
    extra.churn || extra.secondary
}

/// The calls of one session, prepared, and what updates need beside the operations themselves.
#[derive(Debug)]
pub(super) struct Slices {
    statements: Vec<Prepared>,
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
            .iter()
            .map(|call| connection.prepare(&call.sql(schema, redo)))
            .collect::<Result<_, _>>()?;
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
        let statement = self.statements[call as usize];
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
        if matches!(call, Call::Secondary | Call::Any) {
            let [selected, looked_up, scanned, by_secondary, rows_updated, inserted, deleted, commits] =
                answer::read_call(connection)?;
            let rows_read = [selected, looked_up, scanned, by_secondary];
            return Ok(SliceDone { rows_read, rows_updated, churned: (inserted, deleted), commits });
        }
        let [selected, looked_up, scanned, rows_updated, commits] = answer::read_call(connection)?;
        Ok(SliceDone { rows_read: [selected, looked_up, scanned, 0], rows_updated, churned: (0, 0), commits })
    }

    /// The operations as the procedure of `call` reads them.
    fn fill_list(&mut self, call: Call, ops: &[Op]) {
        self.list.clear();
        for op in ops {
            let (kind, first, number) = match *op {
                Op::Select { first } => (0, first, 0),
                Op::Lookup { key } => (1, key, 0),
                Op::Scan => (2, 0, 0),
                Op::Update { first, number } => (3, first, number),
                Op::Secondary { value } => (4, value, 0),
                Op::Insert { key, number } => (5, key, number),
                Op::Delete { key } => (6, key, 0),
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leanest_procedure_is_taken() {
        let select = Op::Select { first: 1 };
        let update = Op::Update { first: 1, number: 1 };
        let call = |ops: &[Op]| Call::for_ops(ops, Extra::default());
        assert_eq!(call(&[select, select]), Call::Select);
        assert_eq!(call(&[update]), Call::Update);
        assert_eq!(call(&[select, update]), Call::Mixed);
        assert_eq!(call(&[Op::Scan, Op::Lookup { key: 1 }]), Call::Mixed);
    }

    #[test]
    fn plans_with_more_operations_have_procedures_for_them() {
        let (select, secondary) = (Op::Select { first: 1 }, Op::Secondary { value: 1 });
        let (insert, delete) = (Op::Insert { key: 1, number: 1 }, Op::Delete { key: 1 });
        let extra = Extra { secondary: true, churn: true, hot_schema: false };
        let call = |ops: &[Op]| Call::for_ops(ops, extra);
        assert_eq!(call(&[select, select]), Call::Select);
        assert_eq!(call(&[secondary, secondary]), Call::Secondary);
        assert_eq!(call(&[insert]), Call::Any);
        assert_eq!((call(&[insert, delete]), call(&[select, secondary])), (Call::Any, Call::Any));
        assert!(Call::of(extra).iter().enumerate().all(|(place, call)| *call as usize == place));
        assert!(Call::of(Extra::default()).iter().all(|call| !matches!(call, Call::Secondary | Call::Any)));
    }
}
