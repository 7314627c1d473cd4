//! What looks at a target while sessions work: counters and waits.

use dyno_record::Snapshot;

use crate::error::TargetError;

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

/// What looks at a target from outside, while it does its own work and none of Dyno's. It only reads, and says so to the database
/// where that has a word for it.
pub struct Onlooker {
    /// Counters of the whole database.
    pub observer: Box<dyn Observer>,
    /// Sessions at work, whoever's they are, but those that look on: each once with its wait and once with its program. Or why
    /// they cannot be seen.
    pub sampler: Result<Box<dyn Sampler>, TargetError>,
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
