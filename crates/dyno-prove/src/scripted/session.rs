//! A session of the scripted database.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use dyno_engine::data::UpdateValues;
use dyno_engine::{
    BlockOp, BlockOpSchema, BlockSessionConfig, BlockStatementKind, Clock, Duplex, Interrupter, OpError,
    RequestCompletion, Session, SessionRequest, SliceDone, Slices, Statement, TargetError, Value,
};
use dyno_workload::ClassId;
use parking_lot::Mutex;

use super::counters::{DelayedCounters, REDO_BYTES_PER_ROW, ScriptedCounters};
use super::ledger::{Ledger, LedgerEntry, LedgerStep};
use super::{Act, OperationScript, Pass};

/// The message of a scripted panic.
pub(super) const PANIC: &str = "as scripted";

/// Whether a session was interrupted.
#[derive(Default)]
pub(super) struct ScriptedInterrupter(Mutex<bool>, parking_lot::Condvar);

impl Interrupter for ScriptedInterrupter {
    fn interrupt(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }
}

impl ScriptedInterrupter {
    fn wait(&self) {
        let mut broken = self.0.lock();
        while !*broken {
            self.1.wait(&mut broken);
        }
    }
}

/// A longer operation of a session in two halves waits on a thread of its own.
const ELSEWHERE_NS: u64 = 1_000_000;

pub(super) struct ScriptedSession {
    pub(super) number: u32,
    pub(super) panics_closed: bool,
    /// Both ends of a socket pair that signals an answer.
    pub(super) wire: Option<(UnixStream, UnixStream)>,
    /// The operation, or an edge, and when it was requested.
    pub(super) pending_op: Option<(Option<BlockOp>, u64)>,
    pub(super) took_ns: u64,
    pub(super) live: bool,
    /// The kind of each statement.
    pub(super) kinds: Vec<BlockStatementKind>,
    pub(super) blocks: BlockSessionConfig,
    pub(super) ops: u64,
    pub(super) script: Arc<OperationScript>,
    pub(super) pass: Arc<Pass>,
    pub(super) shown: Arc<dyn Fn() + Send + Sync>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) unpublished: ScriptedCounters,
    pub(super) counters: Arc<Mutex<ScriptedCounters>>,
    pub(super) delayed: Arc<Mutex<DelayedCounters>>,
    pub(super) log: Vec<LedgerEntry>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) broken: Arc<ScriptedInterrupter>,
}

impl ScriptedSession {
    fn publish(&mut self) {
        let counters = std::mem::take(&mut self.unpublished);
        self.counters.lock().add(counters);
        let log = std::mem::take(&mut self.log);
        self.ledger.lock().absorb(self.number, log);
    }

    fn act(&mut self, op: BlockOp) -> Act {
        let act = (self.script)(self.number, self.ops, op);
        self.ops += 1;
        act
    }

    /// Begins an operation that will succeed: the part of its time before its commit passes.
    fn begin(&self, op: BlockOp, ns: u64) -> Option<u64> {
        if !op.writes() {
            (self.pass)(ns);
            return None;
        }
        (self.pass)(ns / 2);
        let commit_began_ns = self.clock.now_ns();
        (self.pass)(ns - ns / 2);
        Some(commit_began_ns)
    }

    /// Counts an operation that succeeded.
    fn end(&mut self, op: BlockOp, ns: u64, steps: &mut Vec<LedgerStep>) -> u64 {
        let rows = match op {
            BlockOp::Select { .. } | BlockOp::Update { .. } => u64::from(self.blocks.work_unit),
            BlockOp::Lookup { .. } | BlockOp::Insert { .. } | BlockOp::Delete { .. } => 1,
            BlockOp::Secondary { value } => self.blocks.spec.group_rows(value),
            BlockOp::Scan => self.blocks.spec.scan_rows,
        };
        self.unpublished.logical_reads += rows;
        steps.push(LedgerStep { class: ClassId::of(op), rows, ns });
        if op.writes() {
            steps.push(LedgerStep { class: ClassId::COMMIT, rows: 0, ns: ns - ns / 2 });
            self.unpublished.commits += 1;
            self.unpublished.rows_written += rows;
            self.unpublished.redo_bytes += rows * REDO_BYTES_PER_ROW;
        }
        rows
    }

    /// Logs a call that succeeded.
    fn called(&mut self, began_ns: u64, steps: Vec<LedgerStep>) {
        self.log.push(LedgerEntry::Call { began_ns, ended_ns: self.clock.now_ns(), steps });
        if self.live {
            self.publish();
        }
    }

    fn failed(&mut self, op: BlockOp, error: OpError) -> Box<OpError> {
        let code = error.code.clone();
        let ended_ns = self.clock.now_ns();
        self.log.push(LedgerEntry::Failed { class: ClassId::of(op), error: error.class, code, ended_ns });
        Box::new(error)
    }

    fn run_op(
        &mut self,
        op: BlockOp,
        steps: &mut Vec<LedgerStep>,
    ) -> Result<RequestCompletion, Box<OpError>> {
        match self.act(op) {
            Act::Take(ns) => {
                let commit_began_ns = self.begin(op, ns);
                Ok(RequestCompletion { rows: self.end(op, ns, steps), commit_began_ns })
            }
            Act::Fail(error) => Err(self.failed(op, error)),
            Act::Panic => panic!("{PANIC}"),
            Act::Hang => {
                self.broken.wait();
                Err(Box::new(OpError {
                    class: dyno_engine::ErrorClass::Connection,
                    code: "io".into(),
                    message: "broken off".into(),
                }))
            }
        }
    }
}

/// The kind of each of `statements`.
pub(super) fn kinds(statements: &[Statement]) -> Vec<BlockStatementKind> {
    let kind_of = |statement: &Statement| {
        let kind = BlockStatementKind::ALL.into_iter().find(|kind| kind.name() == statement.sql);
        kind.expect("the script knows its own statements")
    };
    statements.iter().map(kind_of).collect()
}

/// The meaning of a request for the script.
enum ScriptedRequest {
    Operation(BlockOp),
    /// A check of the rows of the last update.
    Look,
    Edge,
    /// It has no transactions with several steps.
    Nothing,
}

impl ScriptedSession {
    fn classify(&self, request: SessionRequest<'_>) -> ScriptedRequest {
        match request {
            SessionRequest::Execute(id, &[Value::Int(key), Value::Int(number)]) => {
                let op = self.kinds[id.index()].op(key.unsigned_abs(), number.unsigned_abs());
                op.map_or(ScriptedRequest::Look, ScriptedRequest::Operation)
            }
            SessionRequest::Edge => ScriptedRequest::Edge,
            _ => ScriptedRequest::Nothing,
        }
    }

    fn read_back(&self) -> RequestCompletion {
        RequestCompletion { rows: u64::from(self.blocks.work_unit), commit_began_ns: None }
    }

    fn make_visible(&mut self) {
        self.log.push(LedgerEntry::Edge { at_ns: self.clock.now_ns() });
        self.publish();
        (self.shown)();
    }
}

impl Session for ScriptedSession {
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        let op = match self.classify(request) {
            ScriptedRequest::Operation(op) => op,
            ScriptedRequest::Look => return Ok(self.read_back()),
            ScriptedRequest::Edge => {
                self.make_visible();
                return Ok(RequestCompletion::default());
            }
            ScriptedRequest::Nothing => return Ok(RequestCompletion::default()),
        };
        let (began_ns, mut steps) = (self.clock.now_ns(), Vec::new());
        let completion = self.run_op(op, &mut steps)?;
        self.called(began_ns, steps);
        Ok(completion)
    }

    fn queued(&self) -> &[u64] {
        &[]
    }

    fn answered(&self, _: usize) -> Option<Value<'_>> {
        None
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        Some(self)
    }

    fn overhead_commits(&self) -> i64 {
        0
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn disconnect(&mut self) {
        self.publish();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.log.push(LedgerEntry::Reconnected);
        Ok(())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        Arc::clone(&self.broken) as Arc<dyn Interrupter>
    }

    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn instance(&self) -> Option<String> {
        None
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        self.wire.is_some().then_some(self as &mut dyn Duplex)
    }

    fn close(mut self: Box<Self>) {
        assert!(!self.panics_closed, "{PANIC}");
        let mut late = self.delayed.lock();
        if late.remaining_reads > 0 {
            late.counters.add(std::mem::take(&mut self.unpublished));
        }
        drop(late);
        self.publish();
    }
}

impl Slices for ScriptedSession {
    fn slice(
        &mut self,
        _: BlockOpSchema,
        ops: &[BlockOp],
        _: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let mut slice = SliceDone::default();
        let (began_ns, mut steps) = (self.clock.now_ns(), Vec::new());
        for &op in ops {
            let completion = self.run_op(op, &mut steps)?;
            match op {
                BlockOp::Select { .. } => slice.rows_read[0] += completion.rows,
                BlockOp::Lookup { .. } => slice.rows_read[1] += completion.rows,
                BlockOp::Scan => slice.rows_read[2] += completion.rows,
                BlockOp::Secondary { .. } => slice.rows_read[3] += completion.rows,
                BlockOp::Update { .. } => slice.rows_updated += completion.rows,
                BlockOp::Insert { .. } => slice.churned.0 += completion.rows,
                BlockOp::Delete { .. } => slice.churned.1 += completion.rows,
            }
            slice.commits += u64::from(op.writes());
        }
        steps.push(LedgerStep { class: ClassId::SLICE, rows: 0, ns: self.clock.now_ns() - began_ns });
        self.called(began_ns, steps);
        Ok(slice)
    }
}

impl ScriptedSession {
    fn wire(&mut self) -> &mut (UnixStream, UnixStream) {
        self.wire.as_mut().expect("a session in two halves has a wire")
    }
}

/// A request takes its time on another thread, so that a long operation blocks no other session of its
/// thread.
impl Duplex for ScriptedSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.wire().0.as_fd()
    }

    fn send(&mut self, request: SessionRequest<'_>) -> Result<(), Box<OpError>> {
        let began_ns = self.clock.now_ns();
        let ScriptedRequest::Operation(op) = self.classify(request) else {
            self.pending_op = Some((None, began_ns));
            self.wire().1.write_all(&[0]).expect("one byte has room in an empty socket");
            return Ok(());
        };
        let ns = match self.act(op) {
            Act::Take(ns) => ns,
            Act::Panic => panic!("{PANIC}"),
            Act::Fail(error) => return Err(self.failed(op, error)),
            Act::Hang => return Ok(()),
        };
        (self.pending_op, self.took_ns) = (Some((Some(op), began_ns)), ns);
        let mut far = self.wire().1.try_clone().expect("a socket of this process can be doubled");
        let pass = Arc::clone(&self.pass);
        let mut answer = move || {
            pass(ns);
            far.write_all(&[0]).expect("one byte has room in an empty socket");
        };
        if ns < ELSEWHERE_NS {
            answer();
        } else {
            std::thread::spawn(answer);
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<RequestCompletion>, Box<OpError>> {
        let Some((op, began_ns)) = self.pending_op.take() else { return Ok(None) };
        self.wire().0.read_exact(&mut [0]).expect("the byte was sent with the answer");
        let Some(op) = op else {
            self.make_visible();
            return Ok(Some(RequestCompletion::default()));
        };
        let (ns, mut steps) = (self.took_ns, Vec::new());
        let rows = self.end(op, ns, &mut steps);
        self.called(began_ns, steps);
        Ok(Some(RequestCompletion { rows, commit_began_ns: op.writes().then(|| self.clock.now_ns()) }))
    }
}
