//! One session of the method: operations become statements with values.

use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::layout::updated_columns;
use dyno_engine::{
    Blocks, Done, ErrorClass, Kind, Op, OpError, Place, Request, Session, SliceDone, Slot, Value,
};

use super::prepared::Prepared;

/// Parameters of a statement of the method at most: spacers, keys, the text columns, and the pad.
const PARAMS_MAX: usize = TEXT_COLUMNS + 8;
/// Those of a statement that writes no columns.
const PARAMS_FEW: usize = 4;

/// What makes the requests of one session.
pub struct Operator {
    prepared: Prepared,
    made: UpdateValues,
    /// The new text columns of one operation, one after the other.
    fresh: Vec<u8>,
    /// How many of them an update sets.
    updated: usize,
    /// What fills the rest of an inserted row, behind a column that is left out.
    pad: Vec<u8>,
    stamp: String,
    run_prefix: String,
    /// Where, first key and number of the last update that was acknowledged.
    last_update: Option<(Place, u64, u64)>,
}

impl Operator {
    /// For a session of `blocks` that has prepared `prepared`.
    pub fn new(prepared: &Prepared, blocks: &Blocks) -> Self {
        let Prepared { column_bytes, pad_bytes, .. } = *prepared;
        let has = |kind| prepared.id(kind, Place::Own).is_some();
        let updated = updated_columns(blocks.redo).count();
        let columns = match (has(Kind::Insert), has(Kind::Update)) {
            (true, _) => TEXT_COLUMNS,
            (false, true) => updated,
            (false, false) => 0,
        };
        // Whole columns, of which the first holds a stamp and is left out.
        let pad = if has(Kind::Insert) && pad_bytes > 0 { 1 + pad_bytes.div_ceil(column_bytes) } else { 0 };
        Self {
            made: blocks.update_values(column_bytes),
            fresh: vec![0; columns * column_bytes],
            updated: updated * column_bytes,
            pad: vec![0; pad * column_bytes],
            stamp: blocks.stamp(),
            run_prefix: UpdateValues::run_prefix(blocks.run_stamp),
            last_update: None,
            prepared: prepared.clone(),
        }
    }

    /// The request that does `op` at `place`, given to `ask`.
    ///
    /// # Errors
    /// Those of `ask`; or the session has no such statement.
    #[inline]
    pub fn request<T>(
        &mut self,
        op: Op,
        place: Place,
        ask: impl FnOnce(Request<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<T, Box<OpError>> {
        if let Some(number) = op.number() {
            self.fill(op, number);
        }
        self.bind(op.kind(), place, op.key(), op.number().unwrap_or_default(), ask)
    }

    /// Makes the new values of `op`.
    #[inline]
    fn fill(&mut self, op: Op, number: u64) {
        let whole = matches!(op, Op::Insert { .. });
        let columns = if whole { self.fresh.len() } else { self.updated };
        self.made.fill_columns(number, &mut self.fresh[..columns]);
        if whole && !self.pad.is_empty() {
            self.made.fill_columns(number, &mut self.pad);
        }
    }

    #[inline]
    fn bind<T>(
        &self,
        kind: Kind,
        place: Place,
        key: u64,
        number: u64,
        ask: impl FnOnce(Request<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<T, Box<OpError>> {
        let Some(id) = self.prepared.id(kind, place) else { return Err(not_prepared(kind)) };
        let slots = &self.prepared.bound[id.index()].slots[..];
        let stamp = if kind == Kind::Fresh { format!("{}{number:016x}", self.stamp) } else { String::new() };
        let drawn = (key, number, stamp.as_str());
        let ask = |values: &[Value<'_>]| ask(Request::Execute(id, values));
        if slots.len() <= PARAMS_FEW {
            ask(&self.values::<PARAMS_FEW>(slots, drawn)[..slots.len()])
        } else {
            ask(&self.values::<PARAMS_MAX>(slots, drawn)[..slots.len()])
        }
    }

    /// The values of `slots` for this key, number and stamp.
    #[inline]
    fn values<'a, const N: usize>(
        &'a self,
        slots: &[Slot],
        (key, number, stamp): (u64, u64, &'a str),
    ) -> [Value<'a>; N] {
        let width = self.prepared.column_bytes;
        let mut values = [Value::Null; N];
        for (value, slot) in values.iter_mut().zip(slots) {
            *value = match *slot {
                // Keys are far below 2^62.
                Slot::Key { times, plus } => Value::Int(key as i64 * times + plus),
                Slot::Number => Value::count(number),
                Slot::Column(column) => Value::Text(&self.fresh[column * width..][..width]),
                Slot::Pad => Value::Text(&self.pad[width..][..self.prepared.pad_bytes]),
                Slot::Stamp => Value::Text(stamp.as_bytes()),
                Slot::RunPrefix => Value::Text(self.run_prefix.as_bytes()),
                Slot::SessionPrefix => Value::Text(self.stamp.as_bytes()),
            };
        }
        values
    }

    /// The database has acknowledged `op` at `place`.
    #[inline]
    pub fn acknowledged(&mut self, op: Op, place: Place) {
        if let Op::Update { first, number } = op {
            self.last_update = Some((place, first, number));
        }
    }

    /// Does `op` at `place`.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn execute(&mut self, session: &mut dyn Session, op: Op, place: Place) -> Result<Done, Box<OpError>> {
        let done = self.request(op, place, |request| session.ask(request))?;
        self.acknowledged(op, place);
        Ok(done)
    }

    /// Does `ops` at `place` in one call, inside the database.
    ///
    /// # Errors
    /// As [`Slices::slice`](dyno_engine::Slices::slice); or the session has no such loops.
    pub fn slice(
        &mut self,
        session: &mut dyn Session,
        ops: &[Op],
        place: Place,
    ) -> Result<SliceDone, Box<OpError>> {
        if ops.is_empty() {
            return Ok(SliceDone::default());
        }
        let Some(slices) = session.slices() else { return Err(no_slices()) };
        let done = slices.slice(place, ops, &mut self.made)?;
        ops.iter().for_each(|&op| self.acknowledged(op, place));
        Ok(done)
    }

    /// Reads back the rows of the session's last acknowledged update: how many there are, and how many hold the value that this
    /// update, or a later one of any session, gave them. `None` if it has done no update.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn verify_last_update(&self, session: &mut dyn Session) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((place, first, number)) = self.last_update else { return Ok(None) };
        let mut count = |kind| {
            let done = self.bind(kind, place, first, number, |request| session.ask(request));
            done.map(|done| done.rows)
        };
        Ok(Some((count(Kind::Found)?, count(Kind::Fresh)?)))
    }
}

#[cold]
fn not_prepared(kind: Kind) -> Box<OpError> {
    let message = format!("this session was not opened for the operation {}", kind.name());
    Box::new(OpError { class: ErrorClass::Fatal, code: "unprepared".to_owned(), message })
}

#[cold]
fn no_slices() -> Box<OpError> {
    let message = "this session runs no loops inside the database: set workload.drive to client".to_owned();
    Box::new(OpError { class: ErrorClass::Fatal, code: "drive".to_owned(), message })
}
