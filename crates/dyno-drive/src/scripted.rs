//! A scripted database in memory: every operation's time and every counter is known beforehand.
//!
//! It is how gate, pacing, window, series and audit are proved right without a database, on a clock that the script moves.
//! Like real servers, it shows what a session did only when the session publishes it (at its edges and its end).

mod ledger;

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::{
    Answer, Blocks, BlocksSql, BlocksStatement, Cancel, Capabilities, Claim, Clock, Counting, DataState,
    Dataset, Dialect, Done, DropItem, Duplex, Extra, Holder, Instance, Interrupter, Kind, LoadOptions,
    LoadReport, Lock, Observer, Op, OpError, Place, Progress, Proof, Reporter, Request, RowVersion, Sampler,
    ServerLife, Session, SessionSetup, SliceDone, Slices, Slot, Statement, Target, TargetError,
    TargetErrorKind, Type, Value,
};
use dyno_plan::{Awr, Bytes, Commit, DataSpec, Plan};
use dyno_record::{Advice, Counter, CountingRules, Identity, ServerProcesses, Snapshot};
use dyno_workload::ClassId;

use ledger::{Entry, Part};

pub use ledger::{Account, ClassAccount, Ledger, Span};

/// A clock that moves only when a script moves it, or when somebody sleeps on it.
#[derive(Debug, Default)]
pub struct ScriptedClock(AtomicU64);

impl ScriptedClock {
    /// Moves time on by `ns`.
    pub fn advance(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::AcqRel);
    }
}

impl Clock for ScriptedClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    fn park_until(&self, deadline_ns: u64) {
        self.0.fetch_max(deadline_ns, Ordering::AcqRel);
    }
}

/// What the next operation of a session will do: its number (from 0 over the session's life) and itself come in.
pub type Script = dyn Fn(u32, u64, Op) -> Act + Send + Sync;

/// Lets so many nanoseconds go by.
pub type Pass = dyn Fn(u64) + Send + Sync;

/// How one operation ends.
#[derive(Debug, Clone)]
pub enum Act {
    /// Well, after so many nanoseconds.
    Take(u64),
    /// With an error.
    Fail(OpError),
    /// Never, until it is broken off.
    Hang,
    /// With a panic of the engine.
    Panic,
}

#[derive(Debug, Default, Clone, Copy)]
struct Books {
    logical_reads: u64,
    commits: u64,
    rows_written: u64,
    redo_bytes: u64,
}

/// The scripted database.
pub struct ScriptedTarget {
    script: Arc<Script>,
    /// Moves the clock on by an operation's time.
    pass: Arc<Pass>,
    /// What goes on while a snapshot is read.
    reading: Arc<dyn Fn() + Send + Sync>,
    /// What goes on when a session has made visible what it did, before it goes on.
    shown: Arc<dyn Fn() + Send + Sync>,
    /// Whether sessions come in two halves.
    duplex: bool,
    /// Whether what a session did shows at once, and not only when it makes it visible.
    live: bool,
    /// The session that panics when it is opened, and the one that does when it is closed.
    panics: [Option<u32>; 2],
    books: Arc<Mutex<Books>>,
    ledger: Arc<Mutex<Ledger>>,
}

/// Bytes of redo that the script books for each updated row.
pub const REDO_BYTES_PER_ROW: u64 = 300;

impl ScriptedTarget {
    /// A database whose operations do what `script` says; `pass` lets an operation's time go by.
    pub fn new(script: Arc<Script>, pass: Arc<Pass>) -> Self {
        Self {
            script,
            pass,
            reading: Arc::new(|| ()),
            shown: Arc::new(|| ()),
            duplex: false,
            live: false,
            panics: [None; 2],
            books: Arc::default(),
            ledger: Arc::default(),
        }
    }

    /// The same with sessions of which one thread can lead several. None of them can hang.
    #[must_use]
    pub fn duplex(mut self) -> Self {
        self.duplex = true;
        self
    }

    /// The same, where the counters show at once what a session did.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// The same, where one session panics when it is `opened`, and one when it is `closed`.
    #[must_use]
    pub fn panicking(mut self, opened: Option<u32>, closed: Option<u32>) -> Self {
        self.panics = [opened, closed];
        self
    }

    /// The same, calling `reading` before each look at the counters.
    #[must_use]
    pub fn reading(mut self, reading: Arc<dyn Fn() + Send + Sync>) -> Self {
        self.reading = reading;
        self
    }

    /// The same, calling `shown` whenever a session has made visible what it did.
    #[must_use]
    pub fn shown(mut self, shown: Arc<dyn Fn() + Send + Sync>) -> Self {
        self.shown = shown;
        self
    }

    /// What the sessions have done, by their own account; whole when all of them have ended.
    pub fn ledger(&self) -> Ledger {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn unsupported<T>() -> Result<T, TargetError> {
    Err(TargetError::new(TargetErrorKind::Unsupported, "the scripted database holds no data"))
}

impl Target for ScriptedTarget {
    fn engine(&self) -> &'static str {
        "scripted"
    }

    fn url(&self) -> String {
        "scripted:".to_owned()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { server_drive: true, duplex: self.duplex, ephemeral: true, load_parallel_max: 1 }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        Ok(Identity {
            product: "scripted".into(),
            same_host: true,
            counting: CountingRules { at_edges: !self.live, ..CountingRules::default() },
            block_size: 8192,
            processes: ServerProcesses::This,
            ..Identity::default()
        })
    }

    fn preflight(&self, _: &Plan) -> Result<Vec<Advice>, TargetError> {
        Ok(Vec::new())
    }

    /// It reads no SQL.
    fn dialect(&self) -> Dialect {
        Dialect { mark: |_| String::new(), from_nothing: "", bytes_length: "", prefix: "" }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        let [panics_opened, panics_closed] = self.panics.map(|number| number == Some(setup.number));
        assert!(!panics_opened, "{PANIC}");
        let wire = self.duplex.then(UnixStream::pair).transpose();
        let wire = wire.map_err(|error| TargetError::new(TargetErrorKind::Unreachable, error.to_string()))?;
        Ok(Box::new(ScriptedSession {
            number: setup.number,
            panics_closed,
            wire,
            asked: None,
            took_ns: 0,
            live: self.live,
            kinds: kinds(&setup.statements),
            blocks: setup.blocks.clone().expect("the script is of the classic method"),
            ops: 0,
            script: Arc::clone(&self.script),
            pass: Arc::clone(&self.pass),
            shown: Arc::clone(&self.shown),
            clock: Arc::clone(&setup.clock),
            own: Books::default(),
            books: Arc::clone(&self.books),
            log: Vec::new(),
            ledger: Arc::clone(&self.ledger),
            broken: Arc::default(),
        }))
    }

    fn observer(&self, _: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(ScriptedObserver { books: Arc::clone(&self.books), reading: Arc::clone(&self.reading) }))
    }

    fn stuck(&self) -> Result<Option<dyno_engine::target::Stuck>, TargetError> {
        Ok(None)
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Err(TargetError::new(TargetErrorKind::Unsupported, "the scripted database has no waits"))
    }

    fn lock(&self, _: &Holder, _: Claim) -> Result<Lock, TargetError> {
        Ok(Lock::needless())
    }

    fn reporter(&self, _: Awr) -> Result<Option<Box<dyn Reporter>>, TargetError> {
        Ok(None)
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    fn instance(&self) -> Result<Option<Instance>, TargetError> {
        Ok(None)
    }

    fn within(&self, body: &mut dyn FnMut()) {
        body();
    }
}

impl Dataset for ScriptedTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        Ok(wish.unwrap_or(Bytes(8192)))
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        Ok(DataState::Empty)
    }

    fn load(
        &self,
        _: &DataSpec,
        _: &LoadOptions,
        _: &dyn Progress,
        _: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        unsupported()
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    /// A statement's text is the name of what it does; its values are the key and the number.
    fn blocks(&self, _: &Blocks, _: Commit) -> Result<BlocksSql, TargetError> {
        let statement = |kind: Kind| {
            let (sql, params, slots) = (kind.name().to_owned(), [Type::Int; 2], [Slot::KEY, Slot::Number]);
            match kind {
                Kind::Found | Kind::Fresh => BlocksStatement::look(kind, sql, &params, &slots),
                Kind::Update | Kind::Insert | Kind::Delete => {
                    BlocksStatement::write(kind, sql, &params, &slots)
                }
                _ => BlocksStatement::read(kind, sql, &params, &slots, Answer::Number),
            }
        };
        let statements = Kind::ALL.into_iter().map(statement).collect();
        Ok(BlocksSql { column_bytes: CLASSIC_COLUMN_BYTES, pad_bytes: 0, statements })
    }

    fn own_places(&self, _: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        Ok(None)
    }

    fn extras(&self) -> Extra {
        Extra { hot_schema: true, churn: true, secondary: true }
    }

    fn spot_check(&self, _: &DataSpec, _: u64) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    fn own_rows(&self, _: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }

    fn sweep_up(&self, _: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }

    fn note_deletions(&self, _: u64) -> Result<(), TargetError> {
        Ok(())
    }
}

impl Proof for ScriptedTarget {
    fn versions(&self, _: &DataSpec, _: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        Err(TargetError::unsupported(format!("{} tells no versions of rows", self.engine())))
    }

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        Ok(None)
    }
}

struct ScriptedObserver {
    books: Arc<Mutex<Books>>,
    reading: Arc<dyn Fn() + Send + Sync>,
}

impl Observer for ScriptedObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        tell(Counting::Asked);
        (self.reading)();
        let books = *self.books.lock().unwrap_or_else(PoisonError::into_inner);
        tell(Counting::Answered);
        let mut snapshot = Snapshot::default();
        for counter in Counter::ALL {
            snapshot.set_absent(counter, "the scripted database does not keep it");
        }
        snapshot.set(Counter::LogicalReads, books.logical_reads);
        snapshot.set(Counter::PhysicalReads, 0);
        snapshot.set(Counter::Commits, books.commits);
        snapshot.set(Counter::RowsWritten, books.rows_written);
        snapshot.set(Counter::RedoBytes, books.redo_bytes);
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        0
    }
}

/// Whether a session was broken off.
#[derive(Default)]
struct Broken(Mutex<bool>, std::sync::Condvar);

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

/// What a scripted panic says.
const PANIC: &str = "as scripted";

struct ScriptedSession {
    number: u32,
    panics_closed: bool,
    /// Both ends of what tells that an answer has come, and what was asked.
    wire: Option<(UnixStream, UnixStream)>,
    /// The operation, or an edge, and when it was asked for.
    asked: Option<(Option<Op>, u64)>,
    took_ns: u64,
    live: bool,
    /// What each statement does.
    kinds: Vec<Kind>,
    blocks: Blocks,
    ops: u64,
    script: Arc<Script>,
    pass: Arc<Pass>,
    shown: Arc<dyn Fn() + Send + Sync>,
    clock: Arc<dyn Clock>,
    own: Books,
    books: Arc<Mutex<Books>>,
    log: Vec<Entry>,
    ledger: Arc<Mutex<Ledger>>,
    broken: Arc<Broken>,
}

impl ScriptedSession {
    fn publish(&mut self) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let own = std::mem::take(&mut self.own);
        books.logical_reads += own.logical_reads;
        books.commits += own.commits;
        books.rows_written += own.rows_written;
        books.redo_bytes += own.redo_bytes;
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
    fn end(&mut self, op: Op, ns: u64, parts: &mut Vec<Part>) -> u64 {
        let rows = match op {
            Op::Select { .. } | Op::Update { .. } => u64::from(self.blocks.work_unit),
            Op::Lookup { .. } | Op::Insert { .. } | Op::Delete { .. } => 1,
            Op::Secondary { value } => self.blocks.spec.group_rows(value),
            Op::Scan => self.blocks.spec.scan_rows,
        };
        self.own.logical_reads += rows;
        parts.push(Part { class: ClassId::of(op), rows, ns });
        if op.writes() {
            parts.push(Part { class: ClassId::COMMIT, rows: 0, ns: ns - ns / 2 });
            self.own.commits += 1;
            self.own.rows_written += rows;
            self.own.redo_bytes += rows * REDO_BYTES_PER_ROW;
        }
        rows
    }

    /// Logs a call that has ended well.
    fn called(&mut self, began_ns: u64, parts: Vec<Part>) {
        self.log.push(Entry::Call { began_ns, ended_ns: self.clock.now_ns(), parts });
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

    fn one(&mut self, op: Op, parts: &mut Vec<Part>) -> Result<Done, Box<OpError>> {
        match self.act(op) {
            Act::Take(ns) => {
                let commit_began_ns = self.begin(op, ns);
                Ok(Done { rows: self.end(op, ns, parts), commit_began_ns })
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
fn kinds(statements: &[Statement]) -> Vec<Kind> {
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
        let (began_ns, mut parts) = (self.clock.now_ns(), Vec::new());
        let done = self.one(op, &mut parts)?;
        self.called(began_ns, parts);
        Ok(done)
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        Some(self)
    }

    fn overhead_commits(&self) -> u64 {
        0
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
        self.publish();
    }
}

impl Slices for ScriptedSession {
    fn slice(&mut self, _: Place, ops: &[Op], _: &mut UpdateValues) -> Result<SliceDone, Box<OpError>> {
        let mut slice = SliceDone::default();
        let (began_ns, mut parts) = (self.clock.now_ns(), Vec::new());
        for &op in ops {
            let done = self.one(op, &mut parts)?;
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
        parts.push(Part { class: ClassId::SLICE, rows: 0, ns: self.clock.now_ns() - began_ns });
        self.called(began_ns, parts);
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
        let (ns, mut parts) = (self.took_ns, Vec::new());
        let rows = self.end(op, ns, &mut parts);
        self.called(began_ns, parts);
        Ok(Some(Done { rows, commit_began_ns: op.writes().then(|| self.clock.now_ns()) }))
    }
}
