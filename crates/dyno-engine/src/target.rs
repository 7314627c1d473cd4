//! One database endpoint.

use std::collections::BTreeSet;

use dyno_plan::{Awr, DataSpec, Plan};
use dyno_record::{Advice, Counter, Identity};

use crate::dataset::Dataset;
use crate::dialect::Dialect;
use crate::error::TargetError;
use crate::lock::{Claim, Holder, Lock};
use crate::needs::WorkloadNeeds;
use crate::observer::{Observer, Onlooker, Sampler};
use crate::own_report::Reporter;
use crate::proof::Proof;
use crate::seen::{Asked, ParameterTypes, Seen};
use crate::session::{Session, SessionSetup};
use crate::statement_limit::StatementLimit;

/// What an engine can do beyond the common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Loops can run inside the database ([`Session::slices`]).
    pub server_drive: bool,
    /// Sessions come in two halves ([`Session::duplex`]), so that one thread can lead several.
    pub duplex: bool,
    /// Sessions send several requests together ([`Request::Queue`](crate::Request::Queue)).
    pub pipelines: bool,
    /// The database refuses writes of sessions that ask for it ([`SessionSetup::read_only`]).
    pub read_only_sessions: bool,
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

/// What a server says of sessions in operations that do not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// What they wait for, with the server's own words about it.
    pub words: String,
    /// Whether the server has no space left on one of its disks.
    pub full: bool,
}

/// One database endpoint, as runs use it. Cheap to make: connections are opened by its methods. What an engine has
/// nothing of, it does not say: nothing wraps a target, so a default cannot hide what one has.
pub trait Target: Dataset + Proof {
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

    /// Everything that would falsify or prevent a run of `plan` whose workload has these `needs`, each with its way out. Includes
    /// what is well. What the workload does is in `needs` alone: keys of the block workload describe no other.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError>;

    /// Keeps every other Dyno off this target for as long as the lock lives, and off its server as `claim` says: see
    /// [`crate::lock`].
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Busy`] names who holds it; else it cannot be reached, or refuses.
    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError>;

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

    /// The server's limit on prepared statements that are open at the same time; `None` where it has none, or does not tell.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        Ok(None)
    }

    /// What the server says of Dyno's sessions that are in an operation which does not end; `None` where it says nothing. Asked
    /// before they are broken off.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn stuck(&self) -> Result<Option<Stuck>, TargetError> {
        Ok(None)
    }

    /// The statements that the database has seen, as its own statistics tell of them.
    ///
    /// # Errors
    /// It keeps none, or they are off, or this user may not read them: with the way out; else it cannot be reached.
    fn seen(&self, _asked: &Asked) -> Result<Seen, TargetError> {
        Err(TargetError::unsupported(format!("{} keeps no statistics of statements", self.url())).hint(
            "write the statements into a folder yourself: `dyno init --workload shop` writes an example to begin with",
        ))
    }

    /// The types of the parameters of each of `statements`, which [`Target::seen`] has told; none of them is executed.
    ///
    /// # Errors
    /// It cannot be reached.
    fn parameter_types(&self, statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError> {
        Ok(vec![None; statements.len()])
    }

    /// Runs `body`, which is all that a thread of one session does, in surroundings that the engine needs for it.
    fn within(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Says whether sessions of other processes do the work of the next run, beside this one's or in their place: what an engine
    /// would know of its own connections alone it leaves out then, with the reason, and never takes theirs for a stranger's.
    fn driven_elsewhere(&self, _elsewhere: bool) {}

    /// How this engine writes SQL.
    fn dialect(&self) -> Dialect;

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

    /// The same for custom workloads: `names` are the identifiers of their statements. The observer also watches the tables,
    /// views and routines among them for changes, where the engine can tell them from those of others.
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

    /// Opens what looks at the target from outside, on connections of its own. Needs no data and no table of Dyno's.
    ///
    /// # Errors
    /// It cannot be reached, or refuses; or there is nothing to be seen from outside.
    fn onlooker(&self) -> Result<Onlooker, TargetError> {
        Err(TargetError::unsupported(format!(
            "{} cannot be watched: this engine lives in the process that uses it, and keeps no counters that another one could read",
            self.url()
        ))
        .hint("watch the program that uses it; `dyno run` measures a load of its own"))
    }
}
