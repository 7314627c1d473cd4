//! The server drive: a batch of operations as one call of a stored procedure.

use dyno_plan::Redo;

use super::answer;
use super::encode::{array, int8, oid, put_int2, put_int8};
use crate::wire::{Connection, Fields, PgError, WireError, message};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, UpdateValues};
use dyno_engine::slices::{Call, done, parts};
use dyno_engine::{Extra, Op, Place, SliceDone};

/// Numbers that a procedure returns at most, each an `int8`.
const RESULTS_MAX: usize = 8;

/// The procedure of a call, and the prepared statement that calls it.
fn name(call: Call, place: Place) -> &'static str {
    match (place, call) {
        (Place::Own, Call::Select) => "slice_select",
        (Place::Own, Call::Lookup) => "slice_lookup",
        (Place::Own, Call::Scan) => "slice_scan",
        (Place::Own, Call::Update) => "slice_update",
        (Place::Own, Call::Mixed) => "slice_mixed",
        (Place::Own, Call::Secondary) => "slice_secondary",
        (Place::Own, Call::Any) => "slice_any",
        (Place::First, Call::Select) => "slice_select_first",
        (Place::First, Call::Lookup) => "slice_lookup_first",
        (Place::First, Call::Scan) => "slice_scan_first",
        (Place::First, Call::Update) => "slice_update_first",
        (Place::First, Call::Mixed) => "slice_mixed_first",
        (Place::First, Call::Secondary) => "slice_secondary_first",
        (Place::First, Call::Any) => "slice_any_first",
    }
}

fn types(call: Call) -> &'static [u32] {
    use oid::{INT2_ARRAY, INT8, INT8_ARRAY, TEXT, TEXT_ARRAY};
    match call {
        Call::Select => &[INT8_ARRAY, INT8],
        Call::Lookup | Call::Secondary => &[INT8_ARRAY],
        Call::Scan => &[INT8],
        Call::Update => &[INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
        Call::Mixed | Call::Any => &[INT2_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
    }
}

/// Appends the message that prepares a call.
pub(super) fn parse(call: Call, out: &mut Vec<u8>, schema: u32, redo: Redo, place: Place) {
    let redo = match redo {
        _ if !call.writes() => "",
        Redo::Lite => "_lite",
        Redo::Heavy => "_heavy",
    };
    let params: String = (1..=types(call).len()).map(|i| format!("${i}, ")).collect();
    let results = vec!["0"; call.results()].join(", ");
    let sql = format!("CALL dyno.{}{redo}_{schema}({params}{results})", name(call, Place::Own));
    message::parse(out, name(call, place), &sql, types(call));
}

/// Bytes that a procedure makes itself in front of a column other than `c2`: a hash that no other update has.
const HASH_BYTES: usize = 16;

/// What updates need beside the operations themselves.
#[derive(Debug)]
pub(super) struct Tails {
    /// The run's and session's part of every stamp.
    prefix: String,
    /// Nineteen columns, one after the other; the procedures replace their beginnings. Empty until the first slice with
    /// updates, which most sessions never have.
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

/// Does `ops` in one call.
pub(super) fn run(
    connection: &mut Connection,
    ops: &[Op],
    (work_unit, extra): (u32, Extra),
    place: Place,
    values: &mut UpdateValues,
    tails: &mut Tails,
) -> Result<SliceDone, WireError> {
    let call = Call::for_ops(ops, extra);
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

fn put_values(out: &mut Vec<u8>, call: Call, ops: &[Op], work_unit: u32, tails: &Tails) {
    let all = || ops.iter().map(|&op| parts(op));
    if call.has_kinds() {
        array(out, oid::INT2, all(), |out, (kind, ..)| put_int2(out, kind));
    }
    if call == Call::Scan {
        message::bytes(out, &int8(ops.len() as i64));
        return;
    }
    array(out, oid::INT8, all(), |out, (_, first, _)| put_int8(out, first));
    if call.writes() {
        array(out, oid::INT8, all(), |out, (_, _, number)| put_int8(out, number));
    }
    if !matches!(call, Call::Lookup | Call::Secondary) {
        message::bytes(out, &int8(i64::from(work_unit)));
    }
    if call.writes() {
        tails.put(out);
    }
}

fn read(connection: &mut Connection, results: usize) -> Result<SliceDone, WireError> {
    let mut said = None;
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'D' => said = Some(numbers(connection.line.body(body), results)?),
            b'E' => {
                let error = PgError::read(connection.line.body(body));
                return Err(answer::refused(connection, error));
            }
            b'Z' => return said.ok_or_else(|| WireError::protocol("no result of a slice")),
            _ => {}
        }
    }
}

fn numbers(body: &[u8], results: usize) -> Result<SliceDone, WireError> {
    let mut fields = Fields::new(body);
    let mut numbers = [0u64; RESULTS_MAX];
    let mut read = || {
        let columns = usize::from(fields.u16()?);
        for number in numbers.iter_mut().take(columns) {
            *number = u64::from_be_bytes(*fields.value()??.first_chunk()?);
        }
        (columns == results).then_some(())
    };
    let all = read().and_then(|()| done(&numbers[..results]));
    all.ok_or_else(|| WireError::protocol("a slice's result of another shape"))
}
