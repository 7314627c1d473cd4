//! A session of the scripted database.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::data::UpdateValues;
use dyno_engine::{
    Blocks, Clock, Done, Duplex, Interrupter, Kind, Op, OpError, Place, Request, Session, SliceDone, Slices,
    Statement, TargetError, Value,
};
use dyno_workload::ClassId;

use super::books::{Books, Late, REDO_BYTES_PER_ROW};
use super::ledger::{Entry, Ledger, Step};
use super::{Act, Pass, Script};

/// What a scripted panic says.
pub(super) const PANIC: &str = "as scripted";

/// Whether a session was broken off.
#[derive(Default)]
pub(super) struct Broken(Mutex<bool>, std::sync::Condvar);

impl Interrupter for Broken {
    fn interrupt(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.1.notify_all();
    }
}

impl Broken {
    fn wait(&self) {
        let mut broken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*broken {
            broken = self.1.wait(broken).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An operation of a session in two halves that takes longer is waited for on a thread of its own.
const ELSEWHERE_NS: u64 = 1_000_000;

pub(super) struct ScriptedSession {
    pub(super) number: u32,
    pub(super) panics_closed: bool,
    /// Both ends of what tells that an answer has come, and what was asked.
    pub(super) wire: Option<(UnixStream, UnixStream)>,
    /// The operation, or an edge, and when it was asked for.
    pub(super) asked: Option<(Option<Op>, u64)>,
    pub(super) took_ns: u64,
    pub(super) live: bool,
    /// What each statement does.
    pub(super) kinds: Vec<Kind>,
    pub(super) blocks: Blocks,
    pub(super) ops: u64,
    pub(super) script: Arc<Script>,
    pub(super) pass: Arc<Pass>,
    pub(super) shown: Arc<dyn Fn() + Send + Sync>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) own: Books,
    pub(super) books: Arc<Mutex<Books>>,
    pub(super) late: Arc<Mutex<Late>>,
    pub(super) log: Vec<Entry>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) broken: Arc<Broken>,
}

impl ScriptedSession {
    fn publish(&mut self) {
        let own = std::mem::take(&mut self.own);
        self.books.lock().unwrap_or_else(PoisonError::into_inner).add(own);
        let log = std::mem::take(&mut self.log);
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner).absorb(self.number, log);
    }

    fn act(&mut self, op: Op) -> Act {
        let act = (self.script)(self.number, self.ops, op);
        self.ops += 1;
        act
    }

    /// An operation that ends well begins: what of its time goes by before its commit.
    fn begin(&self, op: Op, ns: u64) -> Option<u64> {
        if !op.writes() {
            (self.pass)(ns);
            return None;
        }
        (self.pass)(ns / 2);
        let commit_began_ns = self.clock.now_ns();
        (self.pass)(ns - ns / 2);
        Some(commit_began_ns)
    }

    /// Books an operation that has ended well.
    fn end(&mut self, op: Op, ns: u64, steps: &mut Vec<Step>) -> u64 {
        let rows = match op {
            Op::Select { .. } | Op::Update { .. } => u64::from(self.blocks.work_unit),
            Op::Lookup { .. } | Op::Insert { .. } | Op::Delete { .. } => 1,
            Op::Secondary { value } => self.blocks.spec.group_rows(value),
            Op::Scan => self.blocks.spec.scan_rows,
        };
        self.own.logical_reads += rows;
        steps.push(Step { class: ClassId::of(op), rows, ns });
        if op.writes() {
            steps.push(Step { class: ClassId::COMMIT, rows: 0, ns: ns - ns / 2 });
            self.own.commits += 1;
            self.own.rows_written += rows;
            self.own.redo_bytes += rows * REDO_BYTES_PER_ROW;
        }
        rows
    }

    /// Logs a call that has ended well.
    fn called(&mut self, began_ns: u64, steps: Vec<Step>) {
        self.log.push(Entry::Call { began_ns, ended_ns: self.clock.now_ns(), steps });
        if self.live {
            self.publish();
        }
    }

    fn failed(&mut self, op: Op, error: OpError) -> Box<OpError> {
        let code = error.code.clone();
        let ended_ns = self.clock.now_ns();
        self.log.push(Entry::Failed { class: ClassId::of(op), error: error.class, code, ended_ns });
        Box::new(error)
    }

    fn one(&mut self, op: Op, steps: &mut Vec<Step>) -> Result<Done, Box<OpError>> {
        match self.act(op) {
            Act::Take(ns) => {
                let commit_began_ns = self.begin(op, ns);
                Ok(Done { rows: self.end(op, ns, steps), commit_began_ns })
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

/// What each of `statements` does.
pub(super) fn kinds(statements: &[Statement]) -> Vec<Kind> {
    let of = |statement: &Statement| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == statement.sql);
        kind.expect("the script knows its own statements")
    };
    statements.iter().map(of).collect()
}

/// What a request is to the script.
enum Wish {
    Operation(Op),
    /// A look at the rows of the last update.
    Look,
    Edge,
    /// It has no transactions of several steps.
    Nothing,
}

impl ScriptedSession {
    fn wish(&self, request: Request<'_>) -> Wish {
        match request {
            Request::Execute(id, &[Value::Int(key), Value::Int(number)]) => {
                let op = self.kinds[id.index()].op(key.unsigned_abs(), number.unsigned_abs());
                op.map_or(Wish::Look, Wish::Operation)
            }
            Request::Edge => Wish::Edge,
            _ => Wish::Nothing,
        }
    }

    fn look(&self) -> Done {
        Done { rows: u64::from(self.blocks.work_unit), commit_began_ns: None }
    }

    fn show(&mut self) {
        self.log.push(Entry::Edge { at_ns: self.clock.now_ns() });
        self.publish();
        (self.shown)();
    }
}

impl Session for ScriptedSession {
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        let op = match self.wish(request) {
            Wish::Operation(op) => op,
            Wish::Look => return Ok(self.look()),
            Wish::Edge => {
                self.show();
                return Ok(Done::default());
            }
            Wish::Nothing => return Ok(Done::default()),
        };
        let (began_ns, mut steps) = (self.clock.now_ns(), Vec::new());
        let done = self.one(op, &mut steps)?;
        self.called(began_ns, steps);
        Ok(done)
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
        self.log.push(Entry::Reconnected);
        Ok(())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        Arc::clone(&self.broken) as Arc<dyn Interrupter>
    }

    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        self.wire.is_some().then_some(self as &mut dyn Duplex)
    }

    fn close(mut self: Box<Self>) {
        assert!(!self.panics_closed, "{PANIC}");
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late.looks > 0 {
            late.books.add(std::mem::take(&mut self.own));
        }
        drop(late);
        self.publish();
    }
}

impl Slices for ScriptedSession {
    fn slice(&mut self, _: Place, ops: &[Op], _: &mut UpdateValues) -> Result<SliceDone, Box<OpError>> {
        let mut slice = SliceDone::default();
        let (began_ns, mut steps) = (self.clock.now_ns(), Vec::new());
        for &op in ops {
            let done = self.one(op, &mut steps)?;
            match op {
                Op::Select { .. } => slice.rows_read[0] += done.rows,
                Op::Lookup { .. } => slice.rows_read[1] += done.rows,
                Op::Scan => slice.rows_read[2] += done.rows,
                Op::Secondary { .. } => slice.rows_read[3] += done.rows,
                Op::Update { .. } => slice.rows_updated += done.rows,
                Op::Insert { .. } => slice.churned.0 += done.rows,
                Op::Delete { .. } => slice.churned.1 += done.rows,
            }
            slice.commits += u64::from(op.writes());
        }
        steps.push(Step { class: ClassId::SLICE, rows: 0, ns: self.clock.now_ns() - began_ns });
        self.called(began_ns, steps);
        Ok(slice)
    }
}

impl ScriptedSession {
    fn wire(&mut self) -> &mut (UnixStream, UnixStream) {
        self.wire.as_mut().expect("a session in two halves has a wire")
    }
}

/// What was asked takes its time elsewhere, so that one session's long operation stops no other on the same thread.
impl Duplex for ScriptedSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.wire().0.as_fd()
    }

    fn send(&mut self, request: Request<'_>) -> Result<(), Box<OpError>> {
        let began_ns = self.clock.now_ns();
        let Wish::Operation(op) = self.wish(request) else {
            self.asked = Some((None, began_ns));
            self.wire().1.write_all(&[0]).expect("one byte has room in an empty socket");
            return Ok(());
        };
        let ns = match self.act(op) {
            Act::Take(ns) => ns,
            Act::Panic => panic!("{PANIC}"),
            Act::Fail(error) => return Err(self.failed(op, error)),
            Act::Hang => return Ok(()),
        };
        (self.asked, self.took_ns) = (Some((Some(op), began_ns)), ns);
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

    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        let Some((op, began_ns)) = self.asked.take() else { return Ok(None) };
        self.wire().0.read_exact(&mut [0]).expect("the byte was sent with the answer");
        let Some(op) = op else {
            self.show();
            return Ok(Some(Done::default()));
        };
        let (ns, mut steps) = (self.took_ns, Vec::new());
        let rows = self.end(op, ns, &mut steps);
        self.called(began_ns, steps);
        Ok(Some(Done { rows, commit_began_ns: op.writes().then(|| self.clock.now_ns()) }))
    }
}
