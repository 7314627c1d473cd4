//! The scripted database.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::data::CLASSIC_COLUMN_BYTES;
use dyno_engine::pool::BreakOff;
use dyno_engine::{
    Answer, Blocks, BlocksSql, BlocksStatement, Cancel, Capabilities, Claim, DataState, Dataset, Dialect,
    DropItem, Fill, Holder, Kind, LoadOptions, LoadReport, Lock, ObjectKind, Observer, Progress, Proof,
    RowVersion, Sampler, Session, SessionSetup, Slot, TableWords, Target, TargetError, TargetErrorKind, Told,
    Type, WorkloadNeeds,
};
use dyno_plan::{Bytes, Commit, DataSpec, Plan};
use dyno_record::{Advice, CountingRules, Identity, ServerProcesses, Transactions};

use super::books::{Books, Late, ScriptedObserver};
use super::ledger::Ledger;
use super::session::{PANIC, ScriptedSession, kinds};
use super::{Pass, Script};

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
    late: Arc<Mutex<Late>>,
    ledger: Arc<Mutex<Ledger>>,
}

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
            late: Arc::default(),
            ledger: Arc::default(),
        }
    }

    /// The same, where the counters show what sessions did last only so many `looks` after these have closed.
    #[must_use]
    pub fn late(self, looks: u32) -> Self {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).looks = looks;
        self
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
        Capabilities {
            server_drive: true,
            duplex: self.duplex,
            pipelines: false,
            read_only_sessions: false,
            ephemeral: true,
            load_parallel_max: 1,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        Ok(Identity {
            product: "scripted".into(),
            same_host: true,
            counting: CountingRules {
                at_edges: !self.live,
                transactions: Transactions::Commits,
                ..CountingRules::default()
            },
            block_size: 8192,
            processes: ServerProcesses::This,
            ..Identity::default()
        })
    }

    fn preflight(&self, _: &Plan, _: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        Ok(Vec::new())
    }

    /// It reads no SQL.
    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |_| String::new(),
            from_nothing: "",
            bytes_length: "",
            snapshot: &[],
            call: None,
            prefix: "",
        }
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
            late: Arc::clone(&self.late),
            log: Vec::new(),
            ledger: Arc::clone(&self.ledger),
            broken: Arc::default(),
        }))
    }

    fn observer(&self, _: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(ScriptedObserver {
            books: Arc::clone(&self.books),
            late: Arc::clone(&self.late),
            reading: Arc::clone(&self.reading),
        }))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Err(TargetError::new(TargetErrorKind::Unsupported, "the scripted database has no waits"))
    }

    fn lock(&self, _: &Holder, _: Claim) -> Result<Lock, TargetError> {
        Ok(Lock::needless())
    }
}

impl Dataset for ScriptedTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        Ok(wish.unwrap_or(Bytes(8192)))
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.block_size(None)
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

    fn script(&self, _: &[&str], _: Told<'_>) -> Result<(), TargetError> {
        unsupported()
    }

    fn table_words(&self) -> TableWords {
        TableWords {
            of: |column| format!("{column:?}"),
            key_first: true,
            end: "",
            drop_end: "",
            unlogged: None,
            analyze: |name| format!("ANALYZE {name}"),
            settle: |_| Vec::new(),
        }
    }

    fn filler(&self) -> Result<(Box<dyn Fill + '_>, BreakOff), TargetError> {
        unsupported()
    }

    fn find(&self, _: ObjectKind, _: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }
}

impl Proof for ScriptedTarget {
    fn versions(&self, _: &DataSpec, _: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        Err(TargetError::unsupported(format!("{} tells no versions of rows", self.engine())))
    }
}
