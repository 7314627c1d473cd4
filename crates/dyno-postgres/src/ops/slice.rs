//! The server drive: sends a batch of operations as one call of a stored procedure.

use dyno_plan::Redo;

use super::answer;
use super::encode::{array, int8, oid, put_int2, put_int8};
use crate::wire::{PostgresConnection, PostgresError, PostgresFieldReader, PostgresWireError, message};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, UpdateValues};
use dyno_engine::slices::{SliceProcedure, done, parts};
use dyno_engine::{BlockOp, BlockOpSchema, Extra, SliceDone};

/// The most numbers that a procedure returns, each an `int8`.
const RESULTS_MAX: usize = 8;

/// The procedure of a call, and the prepared statement that calls it.
fn name(call: SliceProcedure, place: BlockOpSchema) -> &'static str {
    match (place, call) {
        (BlockOpSchema::Own, SliceProcedure::Select) => "slice_select",
        (BlockOpSchema::Own, SliceProcedure::Lookup) => "slice_lookup",
        (BlockOpSchema::Own, SliceProcedure::Scan) => "slice_scan",
        (BlockOpSchema::Own, SliceProcedure::Update) => "slice_update",
        (BlockOpSchema::Own, SliceProcedure::Mixed) => "slice_mixed",
        (BlockOpSchema::Own, SliceProcedure::Secondary) => "slice_secondary",
        (BlockOpSchema::Own, SliceProcedure::Any) => "slice_any",
        (BlockOpSchema::First, SliceProcedure::Select) => "slice_select_first",
        (BlockOpSchema::First, SliceProcedure::Lookup) => "slice_lookup_first",
        (BlockOpSchema::First, SliceProcedure::Scan) => "slice_scan_first",
        (BlockOpSchema::First, SliceProcedure::Update) => "slice_update_first",
        (BlockOpSchema::First, SliceProcedure::Mixed) => "slice_mixed_first",
        (BlockOpSchema::First, SliceProcedure::Secondary) => "slice_secondary_first",
        (BlockOpSchema::First, SliceProcedure::Any) => "slice_any_first",
    }
}

fn types(call: SliceProcedure) -> &'static [u32] {
    use oid::{INT2_ARRAY, INT8, INT8_ARRAY, TEXT, TEXT_ARRAY};
    match call {
        SliceProcedure::Select => &[INT8_ARRAY, INT8],
        SliceProcedure::Lookup | SliceProcedure::Secondary => &[INT8_ARRAY],
        SliceProcedure::Scan => &[INT8],
        SliceProcedure::Update => &[INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
        SliceProcedure::Mixed | SliceProcedure::Any => {
            &[INT2_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY]
        }
    }
}

/// Appends the message that prepares a call.
pub(super) fn parse(call: SliceProcedure, out: &mut Vec<u8>, schema: u32, redo: Redo, place: BlockOpSchema) {
    let redo = match redo {
        _ if !call.writes() => "",
        Redo::Lite => "_lite",
        Redo::Heavy => "_heavy",
    };
    let params: String = (1..=types(call).len()).map(|i| format!("${i}, ")).collect();
    let results = vec!["0"; call.results()].join(", ");
    let sql = format!("CALL dyno.{}{redo}_{schema}({params}{results})", name(call, BlockOpSchema::Own));
    message::parse(out, name(call, place), &sql, types(call));
}

/// Bytes that a procedure prepends to a column other than `c2`: a hash that no other update has.
const HASH_BYTES: usize = 16;

/// The data that updates need in addition to the operations.
#[derive(Debug)]
pub(super) struct Tails {
    /// The part of every stamp that identifies the run and the session.
    prefix: String,
    /// Nineteen columns, concatenated; the procedures replace their beginnings. Empty until the first slice
    /// with updates, which most sessions never have.
    columns: Vec<u8>,
}

impl Tails {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix, columns: Vec::new() }
    }

    fn refresh(&mut self, values: &mut UpdateValues) {
        self.columns.resize(TEXT_COLUMNS * CLASSIC_COLUMN_BYTES, 0);
        values.fill_columns(0, &mut self.columns);
    }

    fn put(&self, out: &mut Vec<u8>) {
        message::bytes(out, self.prefix.as_bytes());
        let tails = self.columns.chunks_exact(CLASSIC_COLUMN_BYTES).enumerate();
        array(out, oid::TEXT, tails, |out, (index, column)| {
            let replaced = if index == 0 { UpdateValues::STAMP_BYTES } else { HASH_BYTES };
            message::bytes(out, &column[replaced..]);
        });
    }
}

/// Executes `ops` in one call.
pub(super) fn run(
    connection: &mut PostgresConnection,
    ops: &[BlockOp],
    (work_unit, extra): (u32, Extra),
    place: BlockOpSchema,
    values: &mut UpdateValues,
    tails: &mut Tails,
) -> Result<SliceDone, PostgresWireError> {
    let call = SliceProcedure::for_ops(ops, extra);
    if call.writes() {
        tails.refresh(values);
    }
    let out = &mut connection.line.out;
    message::message(out, b'B', |out| {
        out.push(0);
        message::text(out, name(call, place));
        message::count(out, 1);
        message::count(out, 1);
        message::count(out, types(call).len());
        put_values(out, call, ops, work_unit, tails);
        message::count(out, 1);
        message::count(out, 1);
    });
    message::execute(out);
    message::sync(out);
    connection.line.send()?;
    read(connection, call.results())
}

fn put_values(out: &mut Vec<u8>, call: SliceProcedure, ops: &[BlockOp], work_unit: u32, tails: &Tails) {
    let all = || ops.iter().map(|&op| parts(op));
    if call.has_kinds() {
        array(out, oid::INT2, all(), |out, (kind, ..)| put_int2(out, kind));
    }
    if call == SliceProcedure::Scan {
        message::bytes(out, &int8(ops.len() as i64));
        return;
    }
    array(out, oid::INT8, all(), |out, (_, first, _)| put_int8(out, first));
    if call.writes() {
        array(out, oid::INT8, all(), |out, (_, _, number)| put_int8(out, number));
    }
    if !matches!(call, SliceProcedure::Lookup | SliceProcedure::Secondary) {
        message::bytes(out, &int8(i64::from(work_unit)));
    }
    if call.writes() {
        tails.put(out);
    }
}

fn read(connection: &mut PostgresConnection, results: usize) -> Result<SliceDone, PostgresWireError> {
    let mut slice_counts = None;
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'D' => slice_counts = Some(numbers(connection.line.body(body), results)?),
            b'E' => {
                let error = PostgresError::read(connection.line.body(body));
                return Err(answer::refused(connection, error));
            }
            b'Z' => return slice_counts.ok_or_else(|| PostgresWireError::protocol("no slice result")),
            _ => {}
        }
    }
}

fn numbers(body: &[u8], results: usize) -> Result<SliceDone, PostgresWireError> {
    let mut fields = PostgresFieldReader::new(body);
    let mut numbers = [0u64; RESULTS_MAX];
    let mut read = || {
        let columns = usize::from(fields.u16()?);
        for number in numbers.iter_mut().take(columns) {
            *number = u64::from_be_bytes(*fields.value()??.first_chunk()?);
        }
        (columns == results).then_some(())
    };
    let all = read().and_then(|()| done(&numbers[..results]));
    all.ok_or_else(|| PostgresWireError::protocol("a slice result of unexpected shape"))
}
