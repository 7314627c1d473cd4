//! Turns the operations of one session of the block workload into statements with values.

use dyno_engine::data::{TEXT_COLUMNS, UpdateValues};
use dyno_engine::layout::updated_columns;
use dyno_engine::{
    BlockOp, BlockOpSchema, BlockSessionConfig, BlockStatementKind, ErrorClass, OpError, RequestCompletion,
    Session, SessionRequest, SliceDone, Slot, Value,
};

use super::prepared::PreparedBlockStatements;

/// The largest number of parameters in a statement: spacers, keys, the text columns, and the pad.
const PARAMS_MAX: usize = TEXT_COLUMNS + 8;
/// The largest number of parameters in a statement that writes no columns.
const PARAMS_FEW: usize = 4;

/// Builds the requests of one session.
pub struct Operator {
    prepared: PreparedBlockStatements,
    update_values: UpdateValues,
    /// The new text columns of one operation, one after another.
    fresh: Vec<u8>,
    /// Number of columns that an update sets.
    updated: usize,
    /// Fills the rest of an inserted row, after a column that is left out.
    pad: Vec<u8>,
    stamp: String,
    run_prefix: String,
    /// Schema, first key and number of the last acknowledged update.
    last_update: Option<(BlockOpSchema, u64, u64)>,
}

impl Operator {
    /// An operator for a session of `blocks` with the statements `prepared`.
    pub fn new(prepared: &PreparedBlockStatements, blocks: &BlockSessionConfig) -> Self {
        let PreparedBlockStatements { column_bytes, pad_bytes, .. } = *prepared;
        let has = |kind| prepared.id(kind, BlockOpSchema::Own).is_some();
        let updated = updated_columns(blocks.redo).count();
        let columns = match (has(BlockStatementKind::Insert), has(BlockStatementKind::Update)) {
            (true, _) => TEXT_COLUMNS,
            (false, true) => updated,
            (false, false) => 0,
        };
        // Whole columns; the first holds a stamp and is left out.
        let pad = if has(BlockStatementKind::Insert) && pad_bytes > 0 {
            1 + pad_bytes.div_ceil(column_bytes)
        } else {
            0
        };
        Self {
            update_values: blocks.update_values(column_bytes),
            fresh: vec![0; columns * column_bytes],
            updated: updated * column_bytes,
            pad: vec![0; pad * column_bytes],
            stamp: blocks.stamp(),
            run_prefix: UpdateValues::run_prefix(blocks.run_stamp),
            last_update: None,
            prepared: prepared.clone(),
        }
    }

    /// Passes the request of `op` at `place` to `ask`.
    ///
    /// # Errors
    /// Errors of `ask`, or the session has no such statement.
    #[inline]
    pub fn request<T>(
        &mut self,
        op: BlockOp,
        place: BlockOpSchema,
        ask: impl FnOnce(SessionRequest<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<T, Box<OpError>> {
        if let Some(number) = op.number() {
            self.fill(op, number);
        }
        self.bind(op.kind(), place, op.key(), op.number().unwrap_or_default(), ask)
    }

    /// Creates the new values of `op`.
    #[inline]
    fn fill(&mut self, op: BlockOp, number: u64) {
        let whole = matches!(op, BlockOp::Insert { .. });
        let columns = if whole { self.fresh.len() } else { self.updated };
        self.update_values.fill_columns(number, &mut self.fresh[..columns]);
        if whole && !self.pad.is_empty() {
            self.update_values.fill_columns(number, &mut self.pad);
        }
    }

    #[inline]
    fn bind<T>(
        &self,
        kind: BlockStatementKind,
        place: BlockOpSchema,
        key: u64,
        number: u64,
        ask: impl FnOnce(SessionRequest<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<T, Box<OpError>> {
        let Some(id) = self.prepared.id(kind, place) else { return Err(not_prepared(kind)) };
        let slots = &self.prepared.bound[id.index()].slots[..];
        let stamp = if kind == BlockStatementKind::Fresh {
            format!("{}{number:016x}", self.stamp)
        } else {
            String::new()
        };
        let drawn = (key, number, stamp.as_str());
        let ask = |values: &[Value<'_>]| ask(SessionRequest::Execute(id, values));
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

    /// Records that the database acknowledged `op` at `place`.
    #[inline]
    pub fn acknowledged(&mut self, op: BlockOp, place: BlockOpSchema) {
        if let BlockOp::Update { first, number } = op {
            self.last_update = Some((place, first, number));
        }
    }

    /// Executes `op` at `place`.
    ///
    /// # Errors
    /// The same as for [`Session::ask`].
    pub fn execute(
        &mut self,
        session: &mut dyn Session,
        op: BlockOp,
        place: BlockOpSchema,
    ) -> Result<RequestCompletion, Box<OpError>> {
        let outcome = self.request(op, place, |request| session.ask(request))?;
        self.acknowledged(op, place);
        Ok(outcome)
    }

    /// Executes `ops` at `place` in one call inside the database.
    ///
    /// # Errors
    /// The same as for [`Slices::slice`](dyno_engine::Slices::slice); or the session has no loops in the database.
    pub fn slice(
        &mut self,
        session: &mut dyn Session,
        ops: &[BlockOp],
        place: BlockOpSchema,
    ) -> Result<SliceDone, Box<OpError>> {
        if ops.is_empty() {
            return Ok(SliceDone::default());
        }
        let Some(slices) = session.slices() else { return Err(no_slices()) };
        let outcome = slices.slice(place, ops, &mut self.update_values)?;
        ops.iter().for_each(|&op| self.acknowledged(op, place));
        Ok(outcome)
    }

    /// Reads back the rows of the session's last acknowledged update. Returns their number, and how many contain the value of this
    /// update or of a later one by any session. `None` if the session made no update.
    ///
    /// # Errors
    /// The same as for [`Session::ask`].
    pub fn verify_last_update(&self, session: &mut dyn Session) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((place, first, number)) = self.last_update else { return Ok(None) };
        let mut count = |kind| {
            let outcome = self.bind(kind, place, first, number, |request| session.ask(request));
            outcome.map(|done| done.rows)
        };
        Ok(Some((count(BlockStatementKind::Found)?, count(BlockStatementKind::Fresh)?)))
    }
}

#[cold]
fn not_prepared(kind: BlockStatementKind) -> Box<OpError> {
    let message = format!("this session was not opened for the operation {}", kind.name());
    Box::new(OpError { class: ErrorClass::Fatal, code: "unprepared".to_owned(), message })
}

#[cold]
fn no_slices() -> Box<OpError> {
    let message = "this session runs no loops inside the database: set workload.drive to client".to_owned();
    Box::new(OpError { class: ErrorClass::Fatal, code: "drive".to_owned(), message })
}
