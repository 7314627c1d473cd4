//! One database endpoint.

use dyno_plan::{Awr, Bytes, Commit, DataSpec, Plan};
use dyno_record::{Advice, Counter, Identity, Snapshot};

use crate::blocks::{Blocks, BlocksSql, Extra};
use crate::dialect::Dialect;
use crate::error::TargetError;
use crate::load::{Cancel, DataState, DropItem, LoadOptions, LoadReport, Progress};
use crate::lock::{Claim, Holder, Lock};
use crate::report::Reporter;
use crate::session::{Session, SessionSetup};
use crate::witness::{RowVersion, ServerLife};

/// What an engine can do beyond the common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Loops can run inside the database ([`Session::slices`]).
    pub server_drive: bool,
    /// Sessions come in two halves ([`Session::duplex`]), so that one thread can lead several.
    pub duplex: bool,
    /// The data lives no longer than this process, so a run loads it first.
    pub ephemeral: bool,
    /// Largest number of loading connections that is of use; 1 where there is one writer.
    pub load_parallel_max: u32,
}

/// What a target's counters are the counters of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The servers whose counters these are, each in words that no other has: one, or those that are added up.
    pub servers: Vec<String>,
    /// The part of it whose counters are its own, such as a database; empty where counters are the server's.
    pub scope: String,
    /// Counters that are the server's all the same.
    pub server_wide: &'static [Counter],
}

impl Instance {
    /// Whether some of the counters may be those of `other`.
    pub fn shares_server(&self, other: &Self) -> bool {
        self.servers.iter().any(|server| other.servers.contains(server))
    }
}

/// One database endpoint. Cheap to make: connections are opened by its methods.
pub trait Target: Send + Sync {
    /// The engine's name: `postgres`.
    fn engine(&self) -> &'static str;

    /// The URL, without secrets.
    fn url(&self) -> String;

    /// What the engine can do.
    fn capabilities(&self) -> Capabilities;

    /// Product, version, settings, paths.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn identify(&self) -> Result<Identity, TargetError>;

    /// The block size that data would be loaded with: the wish if the engine can choose, else its own.
    ///
    /// # Errors
    /// It cannot be reached, or the wish cannot be met.
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError>;

    /// Everything that would falsify or prevent a run of `plan`, each with its way out; what is well is said too.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn preflight(&self, plan: &Plan) -> Result<Vec<Advice>, TargetError>;

    /// Keeps every other Dyno off this target for as long as the lock lives, and off its server as `claim` says: see
    /// [`crate::lock`].
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Busy`] names who holds it; else it cannot be reached, or refuses.
    fn lock(&self, _holder: &Holder, _claim: Claim) -> Result<Lock, TargetError> {
        Ok(Lock::needless())
    }

    /// What it holds of Dyno's.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn survey(&self) -> Result<DataState, TargetError>;

    /// Whether the data of `spec`, which [`Target::survey`] found, is still what was loaded, or what Dyno's own updates
    /// made of it: by what can be seen without reading it all, and a sample of rows that `seed` chooses. What it costs
    /// does not grow with the data; what is wrong with a few rows only may be missed. What it returns is something that own
    /// updates made of the data, and that figures depend on.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Data`] says what is wrong; else it cannot be reached.
    fn spot_check(&self, _spec: &DataSpec, _seed: u64) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    /// Creates, fills and verifies the data. The same spec already there is recognised; a partial load of the same spec
    /// is resumed; another spec is refused unless `options.replace`.
    ///
    /// # Errors
    /// As [`crate::TargetErrorKind`] says; after `Cancelled` or any failure the next call finds [`DataState::Partial`].
    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError>;

    /// What [`Target::drop_all`] would remove.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn inventory(&self) -> Result<Vec<DropItem>, TargetError>;

    /// What lies where Dyno keeps its own and is not Dyno's: [`Target::drop_all`] leaves it, and users are told.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        Ok(Vec::new())
    }

    /// Removes exactly what Dyno created, as its own metadata lists it; returns what was removed.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Tells `visit` of every row that updates can go to, each table in one state of its own, in any order.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`] where rows carry no versions; else it cannot be reached, or refuses.
    fn versions(&self, _spec: &DataSpec, _visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        Err(TargetError::unsupported(format!("{} tells no versions of rows", self.engine())))
    }

    /// What tells this life of the server from another; `None` where the database runs inside this process.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        Ok(None)
    }

    /// Takes the first of the database's own snapshots around a run, where `awr` asks for them and there are any.
    ///
    /// # Errors
    /// It cannot be reached; or they must be and cannot be.
    fn reporter(&self, _awr: Awr) -> Result<Option<Box<dyn Reporter>>, TargetError> {
        Ok(None)
    }

    /// Why this target takes reads only, if it does, as a standby; asked as the user of the sessions.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    /// What its counters are the counters of; `None` where no other target can have the same.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn instance(&self) -> Result<Option<Instance>, TargetError> {
        Ok(None)
    }

    /// What the server says of Dyno's sessions that are in an operation which does not end; `None` where it says nothing. Asked
    /// before they are broken off.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn stuck(&self) -> Result<Option<Stuck>, TargetError>;

    /// What its sessions can do beside the common operations, on either drive.
    fn extras(&self) -> Extra {
        Extra::default()
    }

    /// Rows that sessions have inserted and not deleted: those above the keys of `spec`.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn own_rows(&self, _spec: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }

    /// The block of each of these rows, in words that are the same for the same block; `None` where a row's key decides where it
    /// lies, so that a row with the key of a deleted one takes its place.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn own_places(&self, spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError>;

    /// Deletes the rows that [`Target::own_rows`] counts; returns how many they were.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn sweep_up(&self, _spec: &DataSpec) -> Result<u64, TargetError> {
        Ok(0)
    }

    /// Runs `body`, which is all that a thread of one session does, in surroundings that the engine needs for it.
    fn within(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Notes that sessions of a run have deleted `rows` rows of their own, where [`Target::spot_check`] looks at what was
    /// deleted.
    ///
    /// # Errors
    /// It cannot be reached, or refuses; more is then looked at than need be.
    fn note_deletions(&self, _rows: u64) -> Result<(), TargetError> {
        Ok(())
    }

    /// How this engine writes SQL.
    fn dialect(&self) -> Dialect;

    /// The classic method in this engine's SQL, for the schema and the data of `blocks`, with this way to commit.
    ///
    /// # Errors
    /// The data cannot be on this target.
    fn blocks(&self, blocks: &Blocks, commit: Commit) -> Result<BlocksSql, TargetError>;

    /// Opens and prepares one session.
    ///
    /// # Errors
    /// It cannot be reached, refuses, or the data is not there.
    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError>;

    /// Opens an observer on a connection of its own, for data of `spec`.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError>;

    /// Opens a sampler of waits on a connection of its own.
    ///
    /// # Errors
    /// The inner error is the reason why this engine or this user cannot sample.
    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError>;
}

/// Where an observer is with those counters that are held against what sessions did: operations, rows, commits, blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// They are asked for next.
    Asked,
    /// They are there. Settings, shapes and times of devices may be read after it.
    Answered,
}

/// Reads cumulative counters.
pub trait Observer: Send {
    /// Reads all counters at one moment. `tell` hears of both ends of [`Counting`], which an engine keeps as close together as
    /// it can: what sessions do between them may be in the snapshot or not.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError>;

    /// The same for who does not hold it against sessions.
    ///
    /// # Errors
    /// As [`Observer::read`].
    fn snapshot(&mut self) -> Result<Snapshot, TargetError> {
        self.read(&mut |_| ())
    }

    /// Transactions and rows that observing itself has added to the target's counters since the observer was opened, by
    /// portable counter name; subtracted by the audit.
    fn own_commits(&self) -> u64;
}

/// Looks at what Dyno's sessions are doing right now.
pub trait Sampler: Send {
    /// One sample: every session of Dyno's that is active, with its wait, and every other session that is active anywhere on
    /// the server, if [`Sampler::sees_others`].
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError>;

    /// Why samples do not tell of other sessions, if they do not: the engine, or the user's privileges.
    ///
    /// # Errors
    /// The reason, in words that stand in the record.
    fn sees_others(&self) -> Result<(), String>;

    /// Transactions that sampling itself has added to the target's counters.
    fn own_commits(&self) -> u64;
}

/// What a server says of sessions in operations that do not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// What they wait for, with the server's own words about it.
    pub words: String,
    /// Whether the server has no space left on one of its disks.
    pub full: bool,
}

/// One active session in one sample.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitSample {
    /// The wait class: `IO`, `LWLock`; `CPU` where it waits for nothing.
    pub class: String,
    /// The event; `CPU` where it waits for nothing.
    pub event: String,
}

/// Another session that is active in one sample: of another program, or of another Dyno. Background processes are none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OtherSession {
    /// The database or schema that it is in.
    pub database: String,
    /// Its program, or else its user.
    pub program: String,
    /// Whether that is the database under test.
    pub here: bool,
}
