//! Observes a target while sessions work: counters and waits.

use dyno_record::Snapshot;

use crate::error::TargetError;
use crate::lock_waits::LockWaits;
use crate::statement_counts::{StatementDescription, StatementSnapshot};
use crate::table_counts::TableSnapshot;

/// The begin and the end of reading the counters that are compared with the sessions' own counts: operations,
/// rows, commits, blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The observer is about to request them.
    Asked,
    /// The observer has received them. Settings, shapes and device times may be read afterwards.
    Answered,
}

/// Reads a target's cumulative counters.
pub trait Observer: Send {
    /// Reads all counters at one moment. `tell` receives both values of [`Counting`]; the engine keeps them
    /// as close together as it can. The snapshot may or may not include what sessions do between them.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError>;

    /// As [`Observer::read`], for callers that do not compare counters with sessions.
    ///
    /// # Errors
    /// As [`Observer::read`].
    fn snapshot(&mut self) -> Result<Snapshot, TargetError> {
        self.read(&mut |_| ())
    }

    /// Transactions and rows that observing itself added to the target's counters since the observer was
    /// opened, by portable counter name. The audit subtracts them.
    fn own_commits(&self) -> u64;

    /// Reads the counts of all statements that the server has executed. What this adds to the counters is in
    /// [`Observer::own_commits`] and in the next snapshot.
    ///
    /// # Errors
    /// The server keeps no such counts, or this user may not read them, with a hint; or the connection is lost.
    fn statements(&mut self) -> Result<StatementSnapshot, TargetError>;

    /// Describes the statements `keys` of a snapshot, and all by which Dyno observes the server. A statement
    /// that the server has discarded meanwhile is left out.
    ///
    /// # Errors
    /// As [`Observer::statements`].
    fn describe_statements(&mut self, keys: &[&str]) -> Result<Vec<StatementDescription>, TargetError>;

    /// Reads the counts of tables and indexes; `None` if the database keeps none. What this adds to the counters is in
    /// [`Observer::own_commits`].
    ///
    /// # Errors
    /// The counts cannot be read; or the connection is lost.
    fn tables(&mut self) -> Result<Option<TableSnapshot>, TargetError> {
        Ok(None)
    }
}

/// The error of an observer whose target keeps no counts of statements.
pub fn no_statements(engine: &str) -> TargetError {
    TargetError::unsupported(format!("{engine} keeps no statistics of statements"))
}

/// The error of a sampler that does not read lock waits of its target.
pub fn unread_lock_waits(engine: &str) -> TargetError {
    TargetError::unsupported(format!("Dyno does not read which sessions wait for locks on {engine}"))
}

/// Samples what Dyno's sessions are doing at a moment.
pub trait Sampler: Send {
    /// Takes one sample: every active session of Dyno with its wait. If [`Sampler::can_see_others`], also
    /// every other active session anywhere on the server.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn sample(
        &mut self,
        into: &mut Vec<WaitSample>,
        others: &mut Vec<OtherSession>,
    ) -> Result<(), TargetError>;

    /// Why samples do not include other sessions, if they do not: the engine, or the user's privileges.
    ///
    /// # Errors
    /// The reason, in the words of the record.
    fn can_see_others(&self) -> Result<(), String>;

    /// Reads which sessions of the server wait for locks of which others, and the oldest open transactions.
    ///
    /// # Errors
    /// The connection is lost, the database refuses, or Dyno does not read them there.
    fn lock_waits(&mut self) -> Result<LockWaits, TargetError>;

    /// Transactions that sampling itself added to the target's counters.
    fn own_commits(&self) -> u64;
}

/// Observes a target under its own workload, without load from Dyno. It only reads, and declares that to the
/// database where the engine supports it.
pub struct PassiveObserver {
    /// Reads the counters of the whole database.
    pub observer: Box<dyn Observer>,
    /// Samples active sessions of all users except the observer's own: each once with its wait and once with
    /// its program. Or the reason why they are not visible.
    pub sampler: Result<Box<dyn Sampler>, TargetError>,
}

/// One active session in one sample.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitSample {
    /// The wait class, such as `IO` or `LWLock`; `CPU` where it does not wait.
    pub class: String,
    /// The wait event; `CPU` where it does not wait.
    pub event: String,
}

/// Another active session in one sample: of another program, or of another Dyno. Background processes are not
/// included.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OtherSession {
    /// The database or schema that it uses.
    pub database: String,
    /// Its program, or else its user.
    pub program: String,
    /// Whether it uses the database under test.
    pub is_target_database: bool,
}
