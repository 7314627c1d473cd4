//! The server drive: a batch of operations as one call of a stored procedure.

use dyno_plan::Redo;

use super::answer;
use super::encode::{array, int8, oid, put_int2, put_int8};
use crate::wire::{Connection, Fields, PgError, WireError, message};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, UpdateValues};
use dyno_engine::session::{Extra, Op, Place, SliceDone};

/// Columns that a procedure returns, each an `int8`: those of the common operations, and those of all.
const RESULTS: usize = 5;
const RESULTS_MAX: usize = 8;

/// The procedures, and the name of the prepared statement that calls each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Select,
    Lookup,
    Scan,
    Update,
    Mixed,
    Secondary,
    Any,
}

impl Call {
    /// Those that a session with `extra` may need.
    pub(super) fn of(extra: Extra) -> impl Iterator<Item = Self> {
        let common = [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed];
        let secondary = extra.secondary.then_some(Self::Secondary);
        common.into_iter().chain(secondary).chain(goes_beyond(extra).then_some(Self::Any))
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

    fn name(self) -> &'static str {
        match self {
            Self::Select => "slice_select",
            Self::Lookup => "slice_lookup",
            Self::Scan => "slice_scan",
            Self::Update => "slice_update",
            Self::Mixed => "slice_mixed",
            Self::Secondary => "slice_secondary",
            Self::Any => "slice_any",
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
            (Place::First, Self::Secondary) => "slice_secondary_first",
            (Place::First, Self::Any) => "slice_any_first",
        }
    }

    fn types(self) -> &'static [u32] {
        use oid::{INT2_ARRAY, INT8, INT8_ARRAY, TEXT, TEXT_ARRAY};
        match self {
            Self::Select => &[INT8_ARRAY, INT8],
            Self::Lookup | Self::Secondary => &[INT8_ARRAY],
            Self::Scan => &[INT8],
            Self::Update => &[INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
            Self::Mixed | Self::Any => &[INT2_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8, TEXT, TEXT_ARRAY],
        }
    }

    /// Whether its operations are of several classes, each with its kind.
    fn has_kinds(self) -> bool {
        matches!(self, Self::Mixed | Self::Any)
    }

    /// Whether its operations may write new values.
    fn writes(self) -> bool {
        matches!(self, Self::Update | Self::Mixed | Self::Any)
    }

    /// Columns that it returns.
    fn results(self) -> usize {
        if matches!(self, Self::Secondary | Self::Any) { RESULTS_MAX } else { RESULTS }
    }

    /// Appends the message that prepares the call.
    pub(super) fn parse(self, out: &mut Vec<u8>, schema: u32, redo: Redo, place: Place) {
        let redo = match (self, redo) {
            (call, Redo::Lite) if call.writes() => "_lite",
            (call, Redo::Heavy) if call.writes() => "_heavy",
            _ => "",
        };
        let params: String = (1..=self.types().len()).map(|i| format!("${i}, ")).collect();
        let results = vec!["0"; self.results()].join(", ");
        let sql = format!("CALL dyno.{}{redo}_{schema}({params}{results})", self.name());
        message::parse(out, self.statement(place), &sql, self.types());
    }
}

/// Whether a session does more than the common operations.
fn goes_beyond(extra: Extra) -> bool {
    extra.churn || extra.secondary
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

/// The kind, the key and the number of an operation as the procedures of several classes take them.
fn parts(op: Op) -> (u16, u64, u64) {
    match op {
        Op::Select { first } => (0, first, 0),
        Op::Lookup { key } => (1, key, 0),
        Op::Scan => (2, 0, 0),
        Op::Update { first, number } => (3, first, number),
        Op::Secondary { value } => (4, value, 0),
        Op::Insert { key, number } => (5, key, number),
        Op::Delete { key } => (6, key, 0),
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
    connection.line.send()?;
    read(connection, call.results())
}

fn put_values(out: &mut Vec<u8>, call: Call, ops: &[Op], work_unit: u64, tails: &Tails) {
    let all = || ops.iter().map(|&op| parts(op));
    if call.has_kinds() {
        array(out, oid::INT2, all(), |out, (kind, ..)| put_int2(out, kind));
    }
    if call == Call::Scan {
        message::bytes(out, &int8(ops.len() as u64));
        return;
    }
    array(out, oid::INT8, all(), |out, (_, first, _)| put_int8(out, first));
    if call.writes() {
        array(out, oid::INT8, all(), |out, (_, _, number)| put_int8(out, number));
    }
    if !matches!(call, Call::Lookup | Call::Secondary) {
        message::bytes(out, &int8(work_unit));
    }
    if call.writes() {
        tails.put(out);
    }
}

fn read(connection: &mut Connection, results: usize) -> Result<SliceDone, WireError> {
    let mut done = None;
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'D' => done = Some(numbers(connection.line.body(body), results)?),
            b'E' => {
                let error = PgError::read(connection.line.body(body));
                return Err(answer::refused(connection, error));
            }
            b'Z' => return done.ok_or_else(|| WireError::protocol("no result of a slice")),
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
    read().ok_or_else(|| WireError::protocol("a slice's result of another shape"))?;
    let (secondary, rows_updated, churned, commits) = match numbers {
        [_, _, _, updated, commits, ..] if results == RESULTS => (0, updated, (0, 0), commits),
        [_, _, _, secondary, updated, inserted, deleted, commits] => {
            (secondary, updated, (inserted, deleted), commits)
        }
    };
    let [selected, looked_up, scanned, ..] = numbers;
    Ok(SliceDone { rows_read: [selected, looked_up, scanned, secondary], rows_updated, churned, commits })
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
        assert_eq!((Call::of(Extra::default()).count(), Call::of(extra).count()), (5, 7));
        let churn = Extra { secondary: false, ..extra };
        assert!(Call::of(churn).any(|call| call == Call::Any));
        assert!(Call::of(churn).all(|call| call != Call::Secondary));
    }
}
