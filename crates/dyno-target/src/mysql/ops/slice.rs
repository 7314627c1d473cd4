//! The server drive: a batch of operations as one call of a stored procedure.

use std::fmt::Write as _;

use dyno_plan::Redo;

use super::answer;
use super::procedures::{HASH_BYTES, redo_name};
use super::template::head;
use crate::data::{TEXT_COLUMNS, UpdateValues};
use crate::mysql::wire::{Connection, Prepared, WireError, message};
use crate::session::{Op, SliceDone};

/// The procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Select,
    Lookup,
    Scan,
    Update,
    Mixed,
}

impl Call {
    const ALL: [Self; 5] = [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed];

    /// The leanest procedure that can do all of `ops`.
    fn for_ops(ops: &[Op]) -> Self {
        let of = |op: &Op| match op {
            Op::Select { .. } => Self::Select,
            Op::Lookup { .. } => Self::Lookup,
            Op::Scan => Self::Scan,
            Op::Update { .. } => Self::Update,
            // Sessions are asked for these on the client drive only: see `extras`.
            Op::Secondary { .. } | Op::Insert { .. } | Op::Delete { .. } => Self::Mixed,
        };
        let mut calls = ops.iter().map(of);
        let first = calls.next().unwrap_or(Self::Select);
        if calls.all(|call| call == first) { first } else { Self::Mixed }
    }

    fn sql(self, schema: u32, redo: Redo) -> String {
        let redo = redo_name(redo);
        match self {
            Self::Select => format!("CALL dyno_slice_select_{schema}(?, ?)"),
            Self::Lookup => format!("CALL dyno_slice_lookup_{schema}(?)"),
            Self::Scan => format!("CALL dyno_slice_scan_{schema}(?)"),
            Self::Update => format!("CALL dyno_slice_update_{redo}_{schema}(?, ?, ?, ?, ?)"),
            Self::Mixed => format!("CALL dyno_slice_mixed_{redo}_{schema}(?, ?, ?, ?, ?)"),
        }
    }
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
    list: String,
}

impl Slices {
    /// Prepares all calls.
    pub(super) fn prepare(
        connection: &mut Connection,
        schema: u32,
        redo: Redo,
        prefix: String,
        column_bytes: usize,
    ) -> Result<Self, WireError> {
        let statements = Call::ALL
            .iter()
            .map(|call| connection.prepare(&call.sql(schema, redo)))
            .collect::<Result<_, _>>()?;
        let columns = vec![0; TEXT_COLUMNS * column_bytes];
        Ok(Self { statements, prefix, column_bytes, columns, list: String::new() })
    }

    /// Does `ops` in one call.
    pub(super) fn run(
        &mut self,
        connection: &mut Connection,
        ops: &[Op],
        work_unit: u32,
        values: &mut UpdateValues,
    ) -> Result<SliceDone, WireError> {
        let call = Call::for_ops(ops);
        let work_unit = u64::from(work_unit);
        self.fill_list(call, ops);
        let statement = self.statements[call as usize];
        let list = self.list.as_bytes();
        let out = &mut connection.out;
        match call {
            Call::Scan => execute(out, statement, &[Value::Number(ops.len() as u64)]),
            Call::Lookup => execute(out, statement, &[Value::Text(list)]),
            Call::Select => execute(out, statement, &[Value::Text(list), Value::Number(work_unit)]),
            Call::Update | Call::Mixed => {
                values.fill_columns(0, &mut self.columns);
                let (first, others) = self.columns.split_at(self.column_bytes);
                let tails: Vec<u8> = others
                    .chunks_exact(self.column_bytes)
                    .flat_map(|column| &column[HASH_BYTES..])
                    .copied()
                    .collect();
                let texts = [self.prefix.as_bytes(), &first[UpdateValues::STAMP_BYTES..], &tails];
                let [prefix, tail, tails] = texts.map(Value::Text);
                execute(out, statement, &[Value::Text(list), Value::Number(work_unit), prefix, tail, tails]);
            }
        }
        connection.send()?;
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
                Op::Secondary { .. } | Op::Insert { .. } | Op::Delete { .. } => {
                    unreachable!("a slice is refused if it holds one of these")
                }
            };
            // Writing to a String cannot fail.
            let _ = match call {
                Call::Select | Call::Lookup => write!(self.list, "{first:020}"),
                Call::Scan => Ok(()),
                Call::Update => write!(self.list, "{first:020}{number:020}"),
                Call::Mixed => write!(self.list, "{kind}{first:020}{number:020}"),
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
        assert_eq!(Call::for_ops(&[select, select]), Call::Select);
        assert_eq!(Call::for_ops(&[update]), Call::Update);
        assert_eq!(Call::for_ops(&[select, update]), Call::Mixed);
        assert_eq!(Call::for_ops(&[Op::Scan, Op::Lookup { key: 1 }]), Call::Mixed);
    }
}
