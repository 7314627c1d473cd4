//! The target of the scripted database.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use dyno_engine::data::CLASSIC_COLUMN_BYTES;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, Cancel, Capabilities,
    Claim, DataState, Dialect, DropItem, Holder, LoadOptions, LoadProgressSink, LoadReport, Lock, ObjectKind,
    Observer, ResultKind, RowCallback, Sampler, Session, SessionSetup, Slot, TableWords, Target, TargetError,
    TargetErrorKind, Type, WorkloadNeeds,
};
use dyno_plan::{Bytes, Commit, DataSpec, Plan};
use dyno_record::{Advice, CountingRules, Identity, ServerProcesses, Transactions};
use parking_lot::Mutex;

use super::counters::{DelayedCounters, ScriptedCounters, ScriptedObserver};
use super::ledger::Ledger;
use super::session::{PANIC, ScriptedSession, kinds};
use super::{OperationScript, Pass};

/// A target whose operations follow a script.
pub struct ScriptedTarget {
    script: Arc<OperationScript>,
    /// Advances the clock by an operation's time.
    pass: Arc<Pass>,
    /// Called while a snapshot is read.
    reading: Arc<dyn Fn() + Send + Sync>,
    /// Called when a session has published its work, before it continues.
    shown: Arc<dyn Fn() + Send + Sync>,
    /// Whether sessions can be split in two halves.
    duplex: bool,
    /// Whether the counters show a session's work at once, not only after it is published.
    live: bool,
    /// The session that panics when it is opened, and the one that panics when it is closed.
    panics: [Option<u32>; 2],
    counters: Arc<Mutex<ScriptedCounters>>,
    delayed: Arc<Mutex<DelayedCounters>>,
    ledger: Arc<Mutex<Ledger>>,
}

impl ScriptedTarget {
    /// A database whose operations follow `script`; `pass` lets an operation's time pass.
    pub fn new(script: Arc<OperationScript>, pass: Arc<Pass>) -> Self {
        Self {
            script,
            pass,
            reading: Arc::new(|| ()),
            shown: Arc::new(|| ()),
            duplex: false,
            live: false,
            panics: [None; 2],
            counters: Arc::default(),
            delayed: Arc::default(),
            ledger: Arc::default(),
        }
    }

    /// Delays the counters: they show the last work of closed sessions only after this many `looks`.
    #[must_use]
    pub fn late(self, looks: u32) -> Self {
        self.delayed.lock().remaining_reads = looks;
        self
    }

    /// Lets one thread run several sessions; none of them can hang then.
    #[must_use]
    pub fn duplex(mut self) -> Self {
        self.duplex = true;
        self
    }

    /// Lets the counters show a session's work at once.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Lets one session panic when it is `opened`, and one when it is `closed`.
    #[must_use]
    pub fn panicking(mut self, opened: Option<u32>, closed: Option<u32>) -> Self {
        self.panics = [opened, closed];
        self
    }

    /// Calls `reading` before each reading of the counters.
    #[must_use]
    pub fn reading(mut self, reading: Arc<dyn Fn() + Send + Sync>) -> Self {
        self.reading = reading;
        self
    }

    /// Calls `shown` whenever a session has published its work.
    #[must_use]
    pub fn shown(mut self, shown: Arc<dyn Fn() + Send + Sync>) -> Self {
        self.shown = shown;
        self
    }

    /// The sessions' work by their own account; complete after all of them have ended.
    pub fn ledger(&self) -> Ledger {
        self.ledger.lock().clone()
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
                empty_commits: Some(false),
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

    /// The scripted database reads no SQL.
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
            pending_op: None,
            took_ns: 0,
            live: self.live,
            kinds: kinds(&setup.statements),
            blocks: setup.blocks.clone().expect("the script is of the classic method"),
            ops: 0,
            script: Arc::clone(&self.script),
            pass: Arc::clone(&self.pass),
            shown: Arc::clone(&self.shown),
            clock: Arc::clone(&setup.clock),
            unpublished: ScriptedCounters::default(),
            counters: Arc::clone(&self.counters),
            delayed: Arc::clone(&self.delayed),
            log: Vec::new(),
            ledger: Arc::clone(&self.ledger),
            broken: Arc::default(),
        }))
    }

    fn observer(&self, _: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(ScriptedObserver {
            counters: Arc::clone(&self.counters),
            delayed: Arc::clone(&self.delayed),
            reading: Arc::clone(&self.reading),
        }))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Err(TargetError::new(TargetErrorKind::Unsupported, "the scripted database has no waits"))
    }

    fn lock(&self, _: &Holder, _: Claim) -> Result<Lock, TargetError> {
        Ok(Lock::needless())
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.block_size(None)
    }

    fn script(&self, _: &[&str], _: RowCallback<'_>) -> Result<(), TargetError> {
        unsupported()
    }

    fn table_words(&self) -> TableWords {
        TableWords {
            type_sql: |column| format!("{column:?}"),
            key_first: true,
            end: "",
            drop_end: "",
            unlogged: None,
            analyze: |name| format!("ANALYZE {name}"),
            settle: |_| Vec::new(),
        }
    }

    fn find(&self, _: ObjectKind, _: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    fn block_data(&self) -> Result<&dyn BlockData, TargetError> {
        Ok(self)
    }
}

impl BlockData for ScriptedTarget {
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
        _: &dyn LoadProgressSink,
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

    /// A statement's text is the name of its kind; its values are the key and the number.
    fn blocks(&self, _: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        let statement = |kind: BlockStatementKind| {
            let (sql, params, slots) = (kind.name().to_owned(), [Type::Int; 2], [Slot::KEY, Slot::Number]);
            match kind {
                BlockStatementKind::Found | BlockStatementKind::Fresh => {
                    BlocksStatement::look(kind, sql, &params, &slots)
                }
                BlockStatementKind::Update | BlockStatementKind::Insert | BlockStatementKind::Delete => {
                    BlocksStatement::write(kind, sql, &params, &slots)
                }
                _ => BlocksStatement::read(kind, sql, &params, &slots, ResultKind::Number),
            }
        };
        let statements = BlockStatementKind::ALL.into_iter().map(statement).collect();
        Ok(BlocksSql { column_bytes: CLASSIC_COLUMN_BYTES, pad_bytes: 0, statements })
    }

    fn spot_check(&self, _: &DataSpec, _: u64) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    fn leftover_rows(&self, _: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }

    fn delete_leftover_rows(&self, _: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }
}
