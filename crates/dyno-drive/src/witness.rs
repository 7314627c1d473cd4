//! A witness between a session and its database: notes what was acknowledged, row by row.
//!
//! It wraps sessions and changes nothing of what they do, so the run is the one that the plan describes. Each
//! update ends in one of three ways: the database said that it is done, the database said that it is undone, or nobody
//! said anything (the connection was lost, or the session never came back): then it may be in the table or not, and the
//! account says so instead of guessing. Memory is bounded: 4 bytes for each row, and one entry for each update of unknown
//! end, of which a session has at most one for each connection that it loses.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_engine::data::UpdateValues;
use dyno_engine::{
    Done, Duplex, ErrorClass, Interrupter, Kind, Op, OpError, Place, Request, Session, SessionSetup,
    SliceDone, Slices, Slot, Target, TargetError, Value,
};
use dyno_plan::{DataSpec, Drive};
use dyno_workload::blocks::{Bound, Prepared};

/// The first row of an update: its place among all rows of all schemas.
type Row = usize;

/// What a run's sessions were told by the database.
#[derive(Debug)]
pub struct Book {
    rows_per_schema: u64,
    work_unit: u64,
    /// Acknowledged updates of each row: schema after schema, by key.
    acknowledged: Vec<AtomicU32>,
    commits: AtomicU64,
    /// Rows that acknowledged updates did not have though the plan's data has them.
    short: AtomicU64,
    lost_connections: AtomicU64,
    /// Updates under way, by session.
    under_way: Mutex<BTreeMap<u32, Arc<Mutex<Vec<Row>>>>>,
    /// Updates of unknown end.
    unknown: Mutex<Vec<Row>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while it held one of these locks left a list behind that stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// An empty book for data of `spec` and updates of `work_unit` rows.
    pub fn new(spec: &DataSpec, work_unit: u32) -> Self {
        let rows = spec.rows * u64::from(spec.schemas);
        let rows =
            usize::try_from(rows).expect("the starting versions of as many rows are in memory already");
        Self {
            rows_per_schema: spec.rows,
            work_unit: u64::from(work_unit),
            acknowledged: (0..rows).map(|_| AtomicU32::new(0)).collect(),
            commits: AtomicU64::new(0),
            short: AtomicU64::new(0),
            lost_connections: AtomicU64::new(0),
            under_way: Mutex::default(),
            unknown: Mutex::default(),
        }
    }

    /// Rows that one update touches.
    pub fn work_unit(&self) -> u64 {
        self.work_unit
    }

    /// Updates, each one commit, that the database acknowledged.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Rows missing from what acknowledged updates said that they had updated.
    pub fn short_rows(&self) -> u64 {
        self.short.load(Ordering::Acquire)
    }

    /// Connections that sessions have lost so far.
    pub fn lost_connections(&self) -> u64 {
        self.lost_connections.load(Ordering::Acquire)
    }

    /// Acknowledged updates of the row at `place`.
    pub(crate) fn acknowledged_of(&self, place: Row) -> u64 {
        u64::from(self.acknowledged[place].load(Ordering::Acquire))
    }

    /// Ends the account when the run has ended: what is still under way has an unknown end, whatever is said later.
    /// Returns the unknown updates by row.
    pub(crate) fn close(&self) -> (u64, BTreeMap<Row, u64>) {
        let mut unknown = lock(&self.unknown);
        for session in lock(&self.under_way).values() {
            unknown.append(&mut lock(session));
        }
        let mut by_row = BTreeMap::new();
        for &first in unknown.iter() {
            for place in first..first + self.work_unit as usize {
                *by_row.entry(place).or_default() += 1;
            }
        }
        (unknown.len() as u64, by_row)
    }

    /// `session`, which was opened on `target` by `setup`, with what it is told noted here.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub(crate) fn witnessed(
        self: &Arc<Self>,
        session: Box<dyn Session>,
        target: &dyn Target,
        setup: &SessionSetup,
    ) -> Result<Box<dyn Session>, TargetError> {
        let under_way: Arc<Mutex<Vec<Row>>> = Arc::default();
        lock(&self.under_way).insert(setup.number, Arc::clone(&under_way));
        let blocks = setup.blocks.as_ref().expect("what is proved is the classic method");
        let drive = if setup.slices { Drive::Server } else { Drive::Client };
        Ok(Box::new(WitnessedSession {
            inner: session,
            prepared: Prepared::new(target, blocks, drive, setup.commit)?,
            home: blocks.schema,
            book: Arc::clone(self),
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

/// How updates ended.
enum End {
    /// The database said that they are committed, and how many rows they had.
    Committed { rows: u64 },
    /// The database said that they are undone.
    Undone,
    /// Nobody said anything.
    Unknown,
}

struct WitnessedSession {
    inner: Box<dyn Session>,
    /// Which statement is which.
    prepared: Prepared,
    /// The session's own schema.
    home: u32,
    book: Arc<Book>,
    under_way: Arc<Mutex<Vec<Row>>>,
}

impl WitnessedSession {
    fn begin(&self, place: Place, firsts: impl Iterator<Item = u64>) {
        let schema = if place == Place::First { 1 } else { self.home };
        lock(&self.under_way).extend(firsts.map(|first| self.book.place(schema, first)));
    }

    fn end(&self, end: &End) {
        // Empty where the book was closed meanwhile: the end of what it held is unknown for good.
        let firsts = std::mem::take(&mut *lock(&self.under_way));
        match *end {
            End::Committed { rows } => {
                firsts.iter().for_each(|&first| self.book.acknowledge(first));
                let expected = firsts.len() as u64 * self.book.work_unit;
                if !firsts.is_empty() && rows != expected {
                    self.book.short.fetch_add(expected.abs_diff(rows), Ordering::AcqRel);
                }
            }
            End::Undone => {}
            End::Unknown => lock(&self.book.unknown).extend(firsts),
        }
    }

    fn note_error(&self, error: &OpError) {
        if error.class == ErrorClass::Connection {
            self.book.lost_connections.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl WitnessedSession {
    fn asked(&self, request: Request<'_>) {
        let Request::Execute(id, values) = request else { return };
        let Bound { kind, place, slots } = self.prepared.bound(id);
        if *kind != Kind::Update {
            return;
        }
        let first = slots.iter().position(|slot| *slot == Slot::KEY).map(|at| values[at]);
        if let Some(Value::Int(first)) = first {
            self.begin(*place, std::iter::once(first.unsigned_abs()));
        }
    }

    /// Nothing is under way after a read, so its answer changes nothing in the book.
    fn answered(&self, outcome: Result<Done, &OpError>) {
        match outcome {
            Ok(done) => self.end(&End::Committed { rows: done.rows }),
            // A database that asks for another try says that it has undone this one.
            Err(error) if error.class == ErrorClass::Retryable => self.end(&End::Undone),
            Err(error) => {
                self.end(&End::Unknown);
                self.note_error(error);
            }
        }
    }
}

impl Session for WitnessedSession {
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        self.asked(request);
        let outcome = self.inner.ask(request);
        if !matches!(request, Request::Edge) {
            self.answered(outcome.as_ref().copied().map_err(AsRef::as_ref));
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
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let firsts = ops.iter().filter_map(|op| match *op {
            Op::Update { first, .. } => Some(first),
            _ => None,
        });
        self.begin(place, firsts);
        let slices = self.inner.slices().expect("it has been asked whether it has loops");
        let outcome = slices.slice(place, ops, values);
        match &outcome {
            Ok(done) => self.end(&End::Committed { rows: done.rows_updated }),
            // Updates of a slice commit one by one, so what was done before the error is unknown.
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

    fn send(&mut self, request: Request<'_>) -> Result<(), Box<OpError>> {
        self.asked(request);
        self.halves().send(request).inspect_err(|error| self.answered(Err(error)))
    }

    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        let outcome = self.halves().receive();
        match &outcome {
            Ok(None) => {}
            Ok(Some(done)) => self.answered(Ok(*done)),
            Err(error) => self.answered(Err(error)),
        }
        outcome
    }
}
