//! The server drive: sends a batch of operations as one call of a stored procedure.

use std::fmt::Write as _;

use dyno_plan::Redo;

use super::answer::{MySqlReplyReader, MySqlResultPart};
use super::procedures::HASH_BYTES;
use super::template::MySqlRequestTemplate;
use crate::layout::MySqlRowShape;
use crate::wire::{MySqlColumnDef, MySqlConnection, MySqlWireError};
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::slices::{SliceProcedure, done, parts};
use dyno_engine::{BlockOp, BlockSessionConfig, Extra, SliceDone, Type, Value};

/// The statement that calls a procedure.
fn sql(call: SliceProcedure, schema: u32, redo: Redo) -> String {
    let redo = redo.name();
    match call {
        SliceProcedure::Select => format!("CALL dyno_slice_select_{schema}(?, ?)"),
        SliceProcedure::Lookup => format!("CALL dyno_slice_lookup_{schema}(?)"),
        SliceProcedure::Scan => format!("CALL dyno_slice_scan_{schema}(?)"),
        SliceProcedure::Update => format!("CALL dyno_slice_update_{redo}_{schema}(?, ?, ?, ?, ?)"),
        SliceProcedure::Mixed => format!("CALL dyno_slice_mixed_{redo}_{schema}(?, ?, ?, ?, ?)"),
        SliceProcedure::Secondary => format!("CALL dyno_slice_secondary_{schema}(?)"),
        SliceProcedure::Any => format!("CALL dyno_slice_any_{redo}_{schema}(?, ?, ?, ?, ?, ?)"),
    }
}

/// The parameter types of a call: the list of operations, the work unit, and the parts of new values.
fn params(call: SliceProcedure) -> &'static [Type] {
    const ALL: [Type; 6] = [Type::Text, Type::Int, Type::Text, Type::Text, Type::Text, Type::Text];
    match call {
        SliceProcedure::Scan => &[Type::Int],
        SliceProcedure::Lookup | SliceProcedure::Secondary => &ALL[..1],
        SliceProcedure::Select => &ALL[..2],
        SliceProcedure::Update | SliceProcedure::Mixed => &ALL[..5],
        SliceProcedure::Any => &ALL,
    }
}

/// The prepared calls of one session on one schema, and the data that updates need in addition to the
/// operations.
#[derive(Debug)]
pub(super) struct MySqlSliceCalls {
    templates: Vec<(SliceProcedure, MySqlRequestTemplate)>,
    /// The part of every stamp that identifies the run and the session.
    prefix: String,
    column_bytes: usize,
    /// Nineteen columns, concatenated; the procedures replace their beginnings.
    columns: Vec<u8>,
    /// The pad of inserted rows: a column with a stamp, then whole columns. Empty if the workload inserts no
    /// rows.
    pad: Vec<u8>,
    pad_bytes: usize,
    list: String,
    work_unit: u32,
    extra: Extra,
}

impl MySqlSliceCalls {
    /// Prepares all calls that the workload needs.
    pub(super) fn prepare(
        connection: &mut MySqlConnection,
        blocks: &BlockSessionConfig,
        schema: u32,
    ) -> Result<Self, MySqlWireError> {
        let BlockSessionConfig { extra, redo, work_unit, .. } = *blocks;
        let MySqlRowShape { column_bytes, pad_bytes, .. } = MySqlRowShape::of(blocks.spec.block_size)
            .map_err(|_| MySqlWireError::protocol("no such page size"))?;
        let templates = SliceProcedure::of(extra)
            .map(|call| {
                let statement = connection.prepare(&sql(call, schema, redo))?;
                Ok((call, MySqlRequestTemplate::new(statement, params(call))))
            })
            .collect::<Result<_, MySqlWireError>>()?;
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

    /// Executes `ops` in one call.
    pub(super) fn run(
        &mut self,
        connection: &mut MySqlConnection,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, MySqlWireError> {
        let call = SliceProcedure::for_ops(ops, self.extra);
        self.fill_list(call, ops);
        let mut tails = Vec::new();
        if call.writes() {
            values.fill_columns(0, &mut self.columns);
            let other_columns = self.columns[self.column_bytes..].chunks_exact(self.column_bytes);
            tails.extend(other_columns.flat_map(|column| &column[HASH_BYTES..]));
        }
        if call == SliceProcedure::Any {
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
        let arguments = match call {
            SliceProcedure::Scan => &[Value::count(ops.len() as u64)],
            _ => &all[..params(call).len()],
        };
        let template = self.templates.iter_mut().find(|(prepared, _)| *prepared == call);
        let (_, template) =
            template.ok_or_else(|| MySqlWireError::protocol("a slice that was not prepared"))?;
        connection.line.send_bytes(template.bind(arguments).map_err(MySqlWireError::Undone)?)?;
        let mut numbers = Vec::new();
        MySqlReplyReader::expecting(MySqlColumnDef::default()).wait(connection, |part| {
            if let MySqlResultPart::Row(row) = part {
                numbers = numbers_of(row, call.results());
            }
        })?;
        done(&numbers).ok_or_else(|| MySqlWireError::protocol("a slice result of unexpected shape"))
    }

    /// Encodes the operations as the procedure of `call` expects them.
    fn fill_list(&mut self, call: SliceProcedure, ops: &[BlockOp]) {
        self.list.clear();
        for op in ops {
            let (kind, first, number) = parts(*op);
            // Writing to a String cannot fail.
            let _ = match call {
                SliceProcedure::Select | SliceProcedure::Lookup | SliceProcedure::Secondary => {
                    write!(self.list, "{first:020}")
                }
                SliceProcedure::Scan => Ok(()),
                SliceProcedure::Update => write!(self.list, "{first:020}{number:020}"),
                SliceProcedure::Mixed | SliceProcedure::Any => {
                    write!(self.list, "{kind}{first:020}{number:020}")
                }
            };
        }
    }
}

/// The 64-bit numbers of a row with `results` columns.
fn numbers_of(row: &[u8], results: usize) -> Vec<u64> {
    // One marker byte, then one NULL bit per column after two unused bits.
    let head = 1 + (results + 2).div_ceil(8);
    let (numbers, rest) = row.get(head..).unwrap_or_default().as_chunks::<8>();
    // A row of another shape has another number of values.
    let whole = numbers.iter().filter(|_| rest.is_empty() && numbers.len() == results);
    whole.map(|number| u64::from_le_bytes(*number)).collect()
}
