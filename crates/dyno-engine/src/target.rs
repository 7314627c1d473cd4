//! The interface of a target: one database endpoint.

use std::collections::BTreeSet;

use dyno_plan::{AwrObserveMode, Bytes, DataSpec, Plan};
use dyno_record::{Advice, Counter, Identity};

use crate::block_data::BlockData;
use crate::column_statistics::{ColumnName, ColumnStatistics};
use crate::database_report::Reporter;
use crate::dialect::Dialect;
use crate::error::TargetError;
use crate::executed_statements::{ObservedStatements, ParameterTypes, StatementQuery};
use crate::explain;
use crate::load::DropItem;
use crate::lock::{Claim, Holder, Lock};
use crate::needs::WorkloadNeeds;
use crate::observer::{Observer, PassiveObserver, Sampler};
use crate::roles::{BulkLoad, DurabilityProof, no_role};
use crate::row::TextRow;
use crate::session::{Session, SessionSetup};
use crate::setting_control::SettingControl;
use crate::statement::Value;
use crate::statement_limit::StatementLimit;
use crate::tables::{ObjectKind, RequiredKey, TableWords};
use crate::witness::ServerLife;

/// Receives the rows of each statement of a script; an error stops the script.
pub type RowCallback<'a> = &'a mut dyn FnMut(Vec<TextRow>) -> Result<(), TargetError>;

/// The optional features of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Loops can run inside the database ([`Session::slices`]).
    pub server_drive: bool,
    /// Sessions can be split in two halves ([`Session::duplex`]), so that one thread can run several.
    pub duplex: bool,
    /// Sessions can send several requests together ([`SessionRequest::Queue`](crate::SessionRequest::Queue)).
    pub pipelines: bool,
    /// Sessions can ask the database to refuse their writes ([`SessionSetup::read_only`]).
    pub read_only_sessions: bool,
    /// The data exists only as long as this process, so a run loads it first.
    pub ephemeral: bool,
    /// The most loading connections that are useful; 1 where the database has one writer.
    pub load_parallel_max: u32,
}

/// What a target's counters cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterScope {
    /// Unique names of the servers whose counters these are; several where counters are added up.
    pub servers: Vec<String>,
    /// The part of the server that the counters cover, such as a database; empty where they cover the whole
    /// server.
    pub scope: String,
    /// Counters that cover the whole server nevertheless.
    pub server_wide: &'static [Counter],
}

impl CounterScope {
    /// Whether some of the counters may also count for `other`.
    pub fn shares_server(&self, other: &Self) -> bool {
        self.servers.iter().any(|server| other.servers.contains(server))
    }
}

/// The server's report about sessions whose operations do not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HungSessionReport {
    /// What the sessions wait for, in the server's own words.
    pub words: String,
    /// Whether the server has no space left on one of its disks.
    pub full: bool,
}

/// One database endpoint, as runs use it: everything that a workload of SQL statements needs, and the roles that
/// only some targets have. Cheap to create: its methods open connections. Default methods stand for engines
/// without the feature; only [`ServerTarget`](crate::ServerTarget) wraps targets, and a test of it lists all
/// methods.
pub trait Target: Send + Sync {
    /// The name of the engine: `postgres`.
    fn engine(&self) -> &'static str;

    /// The target's URL, without its secrets.
    fn url(&self) -> String;

    /// The optional features of the engine.
    fn capabilities(&self) -> Capabilities;

    /// Identifies the server: product, version, settings, paths.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn identify(&self) -> Result<Identity, TargetError>;

    /// Checks everything that would falsify or prevent a run of `plan` with these `needs`; each finding has a
    /// hint. Passed checks are included. Only `needs` describes the workload: the plan's block keys do not
    /// apply to others.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError>;

    /// Excludes every other Dyno from this target as long as the lock lives, and from its server as `claim`
    /// says: see [`crate::lock`].
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Busy`] names the holder; else the target cannot be reached, or refuses.
    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError>;

    /// Takes the first of the database's own snapshots around a run, where `awr` asks for them and the
    /// database has them.
    ///
    /// # Errors
    /// The target cannot be reached; or snapshots are required and cannot be taken.
    fn reporter(&self, _awr: AwrObserveMode) -> Result<Option<Box<dyn Reporter>>, TargetError> {
        Ok(None)
    }

    /// Why this target accepts only reads, as a standby does; absent if it accepts writes. Asked as the
    /// sessions' user.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    /// What its counters cover; `None` where no other target can share them.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn instance(&self) -> Result<Option<CounterScope>, TargetError> {
        Ok(None)
    }

    /// The server's limit on open prepared statements; `None` where it has none, or does not report it.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        Ok(None)
    }

    /// The server's report about Dyno's sessions whose operation does not end; `None` where it has none. Dyno
    /// asks before it interrupts them.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        Ok(None)
    }

    /// The statements that the database has executed, from its own statistics.
    ///
    /// # Errors
    /// The database keeps none, they are off, or this user may not read them, with a hint; else it cannot be
    /// reached.
    fn observed_statements(&self, _asked: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        Err(TargetError::unsupported(format!("{} keeps no statistics of statements", self.url())).hint(
            "write the statements into a workload folder yourself; `dyno init --workload shop` creates an \
            example",
        ))
    }

    /// The types of the parameters of each of `statements`, which came from [`Target::observed_statements`].
    /// None of them is executed.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn parameter_types(&self, statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError> {
        Ok(vec![None; statements.len()])
    }

    /// What the database knows about each of `columns`: its statistics, the ends of its indexes, and up to
    /// [`column_statistics::SAMPLE_ROWS`](crate::column_statistics::SAMPLE_ROWS) rows. `schema` holds the tables
    /// whose schema a statement does not name; `None` is the target's own. `None` for columns that Dyno does not
    /// find or may not read.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn column_statistics(
        &self,
        _schema: Option<&str>,
        columns: &[ColumnName],
    ) -> Result<Vec<Option<ColumnStatistics>>, TargetError> {
        Ok(vec![None; columns.len()])
    }

    /// Runs `body`, the whole work of one session's thread, in the environment that the engine needs for it.
    fn within(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Says whether sessions of other processes take part in the next run. The engine then omits figures that
    /// it derives from its own connections alone, with the reason. It also does not count unknown connections
    /// as foreign.
    fn set_sessions_elsewhere(&self, _elsewhere: bool) {}

    /// How this engine writes SQL.
    fn dialect(&self) -> Dialect;

    /// Opens one session and prepares its statements.
    ///
    /// # Errors
    /// The target cannot be reached, refuses, or lacks the data.
    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError>;

    /// Opens an observer on a connection of its own, for data of `spec`.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError>;

    /// As [`Target::observer`] for custom workloads; `names` are the identifiers of their statements. The
    /// observer also watches the tables, views and routines among them for changes, where the engine can
    /// separate them from others'.
    ///
    /// # Errors
    /// As [`Target::observer`].
    fn observer_of_names(
        &self,
        spec: &DataSpec,
        _names: &BTreeSet<String>,
    ) -> Result<Box<dyn Observer>, TargetError> {
        self.observer(spec)
    }

    /// Opens a sampler of waits on a connection of its own.
    ///
    /// # Errors
    /// The inner error is the reason why this engine or this user cannot sample.
    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError>;

    /// Opens an observer of foreign activity on connections of its own. It needs no data and no table of
    /// Dyno's.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses; or nothing is visible from outside.
    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        Err(TargetError::unsupported(format!(
            "{} cannot be watched: this engine runs inside the process that uses it and exposes no \
            counters to other processes",
            self.url()
        ))
        .hint("monitor the program that uses it; `dyno run` measures a load that Dyno generates"))
    }

    /// The block size of the database's reads, whether or not test data can have such blocks. For a database
    /// that does not exist yet, it is the size at creation.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn native_block_size(&self) -> Result<Bytes, TargetError>;

    /// Executes the user's `statements` in order on a connection of their own with the platform's settings.
    /// Each commits on its own; `on_rows` receives the rows of each. A database in a file, or in memory, is
    /// created where it does not exist.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses a statement: the one after the last whose rows `on_rows`
    /// received. Or the error of `on_rows`, which ends the script.
    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError>;

    /// The database's plan for `sql`, line by line, with its values written out; `sql` is not executed.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses `sql`.
    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        explain::lines(self, &[&format!("EXPLAIN {sql}")], |row| row.text(0).to_owned())
    }

    /// `value` as SQL text of this engine.
    fn literal(&self, value: Value<'_>) -> String {
        explain::literal(value)
    }

    /// How the engine writes the DDL of user-defined tables.
    fn table_words(&self) -> TableWords;

    /// The key that the server requires of tables without a primary key; `None` where it requires none.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn required_key(&self) -> Result<Option<RequiredKey>, TargetError> {
        Ok(None)
    }

    /// The existing objects among `names`, as [`Target::script`] would resolve them, in the order of
    /// `names`.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError>;

    /// Identifies the server's present start and statistics period; `None` where the database runs inside
    /// this process.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        Ok(None)
    }

    /// The block workload's test data on this target.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`]: it cannot hold one row per block.
    fn block_data(&self) -> Result<&dyn BlockData, TargetError> {
        Err(no_role(&self.url(), "hold test data of one row per block"))
    }

    /// Fills tables by the engine's bulk path.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`]: it has none.
    fn bulk_load(&self) -> Result<&dyn BulkLoad, TargetError> {
        Err(no_role(&self.url(), "load described tables"))
    }

    /// Changes settings of the server.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`]: no statement changes them.
    fn setting_control(&self) -> Result<&dyn SettingControl, TargetError> {
        Err(TargetError::unsupported(format!("Dyno cannot change settings of the server at {}", self.url()))
            .hint("write a study, whose commands change them (docs/guides/studies.md)"))
    }

    /// Reads what a durability proof compares.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`]: its rows have no versions.
    fn durability_proof(&self) -> Result<&dyn DurabilityProof, TargetError> {
        Err(no_role(&self.url(), "prove the durability of commits"))
    }
}

/// Implements methods of [`Target`] by calling the same methods of another target.
macro_rules! pass_on {
    ($this:ident to $target:expr; $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&$this, $($argument: $type),*) $(-> $result)? { $target.$name($($argument),*) })*
    };
}
pub(crate) use pass_on;
