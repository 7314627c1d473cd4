//! Records what a database acknowledged to its sessions, row by row.
//!
//! It wraps sessions without changing what they do, so the run is the one that the plan describes. Each
//! update ends in one of three ways. The database reports it committed, or reports it undone, or does not
//! answer: the connection was lost, or the session never returned. An update without an answer may or may not
//! be in the table, and the ledger records that. Memory is bounded: 4 bytes for each row, and one entry for
//! each update of unknown outcome. A session has at most one of these for each connection that it loses.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dyno_engine::data::UpdateValues;
use dyno_engine::{
    BlockOp, BlockOpSchema, BlockStatementKind, Duplex, ErrorClass, Interrupter, OpError, RequestCompletion,
    Session, SessionRequest, SessionSetup, SliceDone, Slices, Slot, Target, TargetError, Value,
};
use dyno_plan::{DataSpec, DriveMode};
use dyno_workload::blocks::{BlockStatementBinding, PreparedBlockStatements};
use parking_lot::Mutex;

/// The first row of an update: its index among all rows of all schemas.
type Row = usize;

/// The acknowledgements that a run's sessions received from the database.
#[derive(Debug)]
pub struct AckLedger {
    rows_per_schema: u64,
    work_unit: u64,
    /// Acknowledged updates of each row: schema by schema, by key.
    acknowledged: Vec<AtomicU32>,
    commits: AtomicU64,
    /// Row counts by which acknowledged updates differed from the plan's work unit, summed.
    missing_rows: AtomicU64,
    lost_connections: AtomicU64,
    /// Updates in progress, by session.
    under_way: Mutex<BTreeMap<u32, Arc<Mutex<Vec<Row>>>>>,
    /// Updates whose outcome is unknown.
    unknown: Mutex<Vec<Row>>,
}

impl AckLedger {
    /// An empty ledger for data of `spec` and updates of `work_unit` rows.
    pub fn new(spec: &DataSpec, work_unit: u32) -> Self {
        let rows = spec.rows * u64::from(spec.schemas);
        let rows =
            usize::try_from(rows).expect("the starting versions of as many rows are in memory already");
        Self {
            rows_per_schema: spec.rows,
            work_unit: u64::from(work_unit),
            acknowledged: (0..rows).map(|_| AtomicU32::new(0)).collect(),
            commits: AtomicU64::new(0),
            missing_rows: AtomicU64::new(0),
            lost_connections: AtomicU64::new(0),
            under_way: Mutex::default(),
            unknown: Mutex::default(),
        }
    }

    /// Rows that one update touches.
    pub fn work_unit(&self) -> u64 {
        self.work_unit
    }

    /// Number of updates, each one commit, that the database acknowledged.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Difference between the rows of acknowledged updates and the plan's work unit, summed.
    pub fn short_rows(&self) -> u64 {
        self.missing_rows.load(Ordering::Acquire)
    }

    /// Connections that sessions have lost so far.
    pub fn lost_connections(&self) -> u64 {
        self.lost_connections.load(Ordering::Acquire)
    }

    /// Number of acknowledged updates of the row at `place`.
    pub fn acknowledged_of(&self, place: Row) -> u64 {
        u64::from(self.acknowledged[place].load(Ordering::Acquire))
    }

    /// Closes the ledger after the run: updates still in progress have an unknown outcome, even if one is
    /// reported later. Returns the unknown updates by row.
    pub fn close(&self) -> (u64, BTreeMap<Row, u64>) {
        let mut unknown = self.unknown.lock();
        for session in self.under_way.lock().values() {
            unknown.append(&mut session.lock());
        }
        let mut by_row = BTreeMap::new();
        for &first in unknown.iter() {
            for place in first..first + self.work_unit as usize {
                *by_row.entry(place).or_default() += 1;
            }
        }
        (unknown.len() as u64, by_row)
    }

    /// Wraps `session`, which was opened on `target` by `setup`, and records its acknowledgements here.
    ///
    /// # Errors
    /// As [`PreparedBlockStatements::new`].
    pub(crate) fn witnessed(
        self: &Arc<Self>,
        session: Box<dyn Session>,
        target: &dyn Target,
        setup: &SessionSetup,
    ) -> Result<Box<dyn Session>, TargetError> {
        let under_way: Arc<Mutex<Vec<Row>>> = Arc::default();
        self.under_way.lock().insert(setup.number, Arc::clone(&under_way));
        let blocks = setup.blocks.as_ref().expect("what is proved is the classic method");
        let drive = if setup.slices { DriveMode::Server } else { DriveMode::Client };
        Ok(Box::new(WitnessedSession {
            inner: session,
            prepared: PreparedBlockStatements::new(target, blocks, drive, setup.commit)?,
            own_schema: blocks.schema,
            ledger: Arc::clone(self),
            under_way,
        }))
    }

    fn place(&self, schema: u32, first: u64) -> Row {
        (u64::from(schema - 1) * self.rows_per_schema + first - 1) as usize
    }

    fn acknowledge(&self, first: Row) {
        for row in &self.acknowledged[first..first + self.work_unit as usize] {
            row.fetch_add(1, Ordering::AcqRel);
        }
        self.commits.fetch_add(1, Ordering::AcqRel);
    }
}

/// The outcomes that updates can have.
enum End {
    /// The database acknowledged the commits, and their number of rows.
    Committed { rows: u64 },
    /// The database reported that they were undone.
    Undone,
    /// The database did not answer.
    Unknown,
}

struct WitnessedSession {
    inner: Box<dyn Session>,
    /// The session's statements by kind.
    prepared: PreparedBlockStatements,
    /// The number of the session's own schema.
    own_schema: u32,
    ledger: Arc<AckLedger>,
    under_way: Arc<Mutex<Vec<Row>>>,
}

impl WitnessedSession {
    fn begin(&self, place: BlockOpSchema, firsts: impl Iterator<Item = u64>) {
        let schema = if place == BlockOpSchema::First { 1 } else { self.own_schema };
        self.under_way.lock().extend(firsts.map(|first| self.ledger.place(schema, first)));
    }

    fn end(&self, end: &End) {
        // Empty if the ledger was closed meanwhile: the outcome of what it contained stays unknown.
        let firsts = std::mem::take(&mut *self.under_way.lock());
        match *end {
            End::Committed { rows } => {
                firsts.iter().for_each(|&first| self.ledger.acknowledge(first));
                let expected = firsts.len() as u64 * self.ledger.work_unit;
                if !firsts.is_empty() && rows != expected {
                    self.ledger.missing_rows.fetch_add(expected.abs_diff(rows), Ordering::AcqRel);
                }
            }
            End::Undone => {}
            End::Unknown => self.ledger.unknown.lock().extend(firsts),
        }
    }

    fn note_error(&self, error: &OpError) {
        if error.class == ErrorClass::Connection {
            self.ledger.lost_connections.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl WitnessedSession {
    fn note_request(&self, request: SessionRequest<'_>) {
        let SessionRequest::Execute(id, values) = request else { return };
        let BlockStatementBinding { kind, place, slots } = self.prepared.bound(id);
        if *kind != BlockStatementKind::Update {
            return;
        }
        let first = slots.iter().position(|slot| *slot == Slot::KEY).map(|at| values[at]);
        if let Some(Value::Int(first)) = first {
            self.begin(*place, std::iter::once(first.unsigned_abs()));
        }
    }

    /// No update is in progress after a read, so its answer does not change the ledger.
    fn note_outcome(&self, outcome: Result<RequestCompletion, &OpError>) {
        match outcome {
            Ok(done) => self.end(&End::Committed { rows: done.rows }),
            // A database that asks for a retry reports that it has undone this attempt.
            Err(error) if error.class == ErrorClass::Retryable => self.end(&End::Undone),
            Err(error) => {
                self.end(&End::Unknown);
                self.note_error(error);
            }
        }
    }
}

impl Session for WitnessedSession {
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        self.note_request(request);
        let outcome = self.inner.ask(request);
        if !matches!(request, SessionRequest::Edge) {
            self.note_outcome(outcome.as_ref().copied().map_err(AsRef::as_ref));
        } else if let Err(error) = &outcome {
            self.note_error(error);
        }
        outcome
    }

    fn queued(&self) -> &[u64] {
        self.inner.queued()
    }

    fn answered(&self, column: usize) -> Option<Value<'_>> {
        self.inner.answered(column)
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        self.inner.slices().is_some().then_some(self as &mut dyn Slices)
    }

    fn overhead_commits(&self) -> i64 {
        self.inner.overhead_commits()
    }

    fn knows_overhead(&self) -> bool {
        self.inner.knows_overhead()
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        self.inner.duplex().is_some().then_some(self)
    }

    fn server_processor(&self) -> Option<usize> {
        self.inner.server_processor()
    }

    fn instance(&self) -> Option<String> {
        self.inner.instance()
    }

    fn disconnect(&mut self) {
        self.inner.disconnect();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.inner.reconnect()
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.inner.interrupter()
    }

    fn close(self: Box<Self>) {
        self.inner.close();
    }
}

impl Slices for WitnessedSession {
    fn slice(
        &mut self,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let firsts = ops.iter().filter_map(|op| match *op {
            BlockOp::Update { first, .. } => Some(first),
            _ => None,
        });
        self.begin(place, firsts);
        let slices = self.inner.slices().expect("it has been asked whether it has loops");
        let outcome = slices.slice(place, ops, values);
        match &outcome {
            Ok(done) => self.end(&End::Committed { rows: done.rows_updated }),
            // Updates of a slice commit one by one, so the work before the error is unknown.
            Err(error) => {
                self.end(&End::Unknown);
                self.note_error(error);
            }
        }
        outcome
    }
}

impl WitnessedSession {
    fn halves(&mut self) -> &mut dyn Duplex {
        self.inner.duplex().expect("it has been asked whether it has halves")
    }
}

impl Duplex for WitnessedSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.halves().socket()
    }

    fn send(&mut self, request: SessionRequest<'_>) -> Result<(), Box<OpError>> {
        self.note_request(request);
        self.halves().send(request).inspect_err(|error| self.note_outcome(Err(error)))
    }

    fn receive(&mut self) -> Result<Option<RequestCompletion>, Box<OpError>> {
        let outcome = self.halves().receive();
        match &outcome {
            Ok(None) => {}
            Ok(Some(done)) => self.note_outcome(Ok(*done)),
            Err(error) => self.note_outcome(Err(error)),
        }
        outcome
    }
}
