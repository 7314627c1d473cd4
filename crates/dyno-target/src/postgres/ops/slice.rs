//! The server drive: a batch of operations as one call of a stored procedure.

use dyno_plan::Redo;

use super::answer;
use super::encode::{array, int8, oid, put_int2, put_int8};
use crate::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, UpdateValues};
use crate::postgres::wire::{Connection, Fields, PgError, WireError, message};
use crate::session::{Op, Place, SliceDone};

/// Columns that a procedure returns, each an `int8`.
const RESULTS: usize = 5;

/// The procedures, and the name of the prepared statement that calls each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Select,
    Lookup,
    Scan,
    Update,
    Mixed,
}

impl Call {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed];

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

    fn name(self) -> &'static str {
        match self {
            Self::Select => "slice_select",
            Self::Lookup => "slice_lookup",
            Self::Scan => "slice_scan",
            Self::Update => "slice_update",
            Self::Mixed => "slice_mixed",
        }
    }

    /// The prepared statement that calls it.
    fn statement(self, place: Place) -> &'static str {
        match (place, self) {
            (Place::Own, call) => call.name(),
            (Place::First, Self::Select) => "slice_select_first",
            (Place::First, Self::Lookup) => "slice_lookup_first",
            (Place::First, Self::Scan) => "slice_scan_first",
            (Place::First, Self::Update) => "slice_update_first",
            (Place::First, Self::Mixed) => "slice_mixed_first",
        }
    }

    fn types(self) -> &'static [u32] {
        use oid::{INT2_ARRAY, INT8, INT8_ARRAY, TEXT, TEXT_ARRAY};
        match self {
            Self::Select => &[INT8_ARRAY, INT8],
            Self::Lookup => &[INT8_ARRAY],
            Self::Scan => &[INT8],
            Self::Update => &[INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
            Self::Mixed => &[INT2_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
        }
    }

    /// Appends the message that prepares the call.
    pub(super) fn parse(self, out: &mut Vec<u8>, schema: u32, redo: Redo, place: Place) {
        let redo = match (self, redo) {
            (Self::Update | Self::Mixed, Redo::Lite) => "_lite",
            (Self::Update | Self::Mixed, Redo::Heavy) => "_heavy",
            _ => "",
        };
        let params: String = (1..=self.types().len()).map(|i| format!("${i}, ")).collect();
        let sql = format!("CALL dyno.{}{redo}_{schema}({params}0, 0, 0, 0, 0)", self.name());
        message::parse(out, self.statement(place), &sql, self.types());
    }
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

/// The kind, the key and the number of an operation as the mixed procedure takes them.
fn parts(op: Op) -> (u16, u64, u64) {
    match op {
        Op::Select { first } => (0, first, 0),
        Op::Lookup { key } => (1, key, 0),
        Op::Scan => (2, 0, 0),
        Op::Update { first, number } => (3, first, number),
        Op::Secondary { .. } | Op::Insert { .. } | Op::Delete { .. } => {
            unreachable!("a slice is refused if it holds one of these")
        }
    }
}

/// Does `ops` in one call.
pub(super) fn run(
    connection: &mut Connection,
    ops: &[Op],
    work_unit: u32,
    place: Place,
    values: &mut UpdateValues,
    tails: &mut Tails,
) -> Result<SliceDone, WireError> {
    let call = Call::for_ops(ops);
    if matches!(call, Call::Update | Call::Mixed) {
        tails.refresh(values);
    }
    let out = &mut connection.out;
    message::message(out, b'B', |out| {
        out.push(0);
        message::text(out, call.statement(place));
        message::count(out, 1);
        message::count(out, 1);
        message::count(out, call.types().len());
        put_values(out, call, ops, u64::from(work_unit), tails);
        message::count(out, 1);
        message::count(out, 1);
    });
    message::execute(out);
    message::sync(out);
    connection.send()?;
    read(connection)
}

fn put_values(out: &mut Vec<u8>, call: Call, ops: &[Op], work_unit: u64, tails: &Tails) {
    let all = || ops.iter().map(|&op| parts(op));
    if call == Call::Mixed {
        array(out, oid::INT2, all(), |out, (kind, ..)| put_int2(out, kind));
    }
    if call == Call::Scan {
        message::bytes(out, &int8(ops.len() as u64));
        return;
    }
    array(out, oid::INT8, all(), |out, (_, first, _)| put_int8(out, first));
    if matches!(call, Call::Update | Call::Mixed) {
        array(out, oid::INT8, all(), |out, (_, _, number)| put_int8(out, number));
    }
    if call != Call::Lookup {
        message::bytes(out, &int8(work_unit));
    }
    if matches!(call, Call::Update | Call::Mixed) {
        tails.put(out);
    }
}

fn read(connection: &mut Connection) -> Result<SliceDone, WireError> {
    let mut done = None;
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'D' => done = Some(results(connection.body(body))?),
            b'E' => {
                let error = PgError::read(connection.body(body));
                return Err(answer::refused(connection, error));
            }
            b'Z' => return done.ok_or_else(|| WireError::protocol("no result of a slice")),
            _ => {}
        }
    }
}

fn results(body: &[u8]) -> Result<SliceDone, WireError> {
    let mut fields = Fields::new(body);
    let mut numbers = [0u64; RESULTS];
    let mut read = || {
        let columns = usize::from(fields.u16()?);
        for number in numbers.iter_mut().take(columns) {
            *number = u64::from_be_bytes(*fields.value()??.first_chunk()?);
        }
        (columns == RESULTS).then_some(())
    };
    read().ok_or_else(|| WireError::protocol("a slice's result of another shape"))?;
    let [selected, looked_up, scanned, rows_updated, commits] = numbers;
    Ok(SliceDone { rows_read: [selected, looked_up, scanned, 0], rows_updated, churned: (0, 0), commits })
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
