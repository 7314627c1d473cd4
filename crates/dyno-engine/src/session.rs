//! One session: the hot path's seam.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use dyno_plan::{Commit, DataSpec, Drive, Redo};

use crate::clock::Clock;
use crate::data::UpdateValues;
use crate::error::{OpError, TargetError, TargetErrorKind};

/// Everything a session needs to know before it starts.
#[derive(Clone)]
pub struct SessionSetup {
    /// The session's number over all schemas, from 0.
    pub number: u32,
    /// The schema that it works on, from 1.
    pub schema: u32,
    /// The data that is there.
    pub spec: DataSpec,
    /// Rows that a `select` or an `update` touches.
    pub work_unit: u32,
    /// How much an update writes.
    pub redo: Redo,
    /// What it may be asked for beside the common operations, so that it prepares what it needs and no more.
    pub extra: Extra,
    /// Where the loop runs; with [`Drive::Server`] only [`Session::slice`] is called.
    pub drive: Drive,
    /// How an update's commit waits; only engines whose sessions can choose are asked for more than [`Commit::Wait`].
    pub commit: Commit,
    /// Seed of everything the session draws itself, such as update values.
    pub seed: u64,
    /// A number unique to this run on this target, part of every update value, so that values of two runs always differ.
    pub run_stamp: u64,
    /// The clock for boundaries that only the session sees (where an update ends and its commit begins).
    pub clock: Arc<dyn Clock>,
}

impl SessionSetup {
    /// What every update value of this session begins with.
    pub fn stamp(&self) -> String {
        format!("{}{:08x}", UpdateValues::run_prefix(self.run_stamp), self.number)
    }

    /// The session's update values, for columns of `column_bytes`.
    pub fn update_values(&self, column_bytes: usize) -> UpdateValues {
        let Self { seed, run_stamp, number, ref spec, .. } = *self;
        UpdateValues::new(seed, run_stamp, number, column_bytes, spec.compressible)
    }

    /// Whether operations go to schema 1 from a session that is not at home there.
    pub fn also_first(&self) -> bool {
        self.extra.hot_schema && self.schema != 1
    }

    /// The last key of a range that begins with `first`.
    #[inline]
    pub fn last_key(&self, first: u64) -> u64 {
        first + u64::from(self.work_unit) - 1
    }

    /// The error of a session whose statements could not be prepared; `is_missing` where that is because what they name is not
    /// there, and `rights` are what they need.
    pub fn not_prepared(&self, error: TargetError, is_missing: bool, rights: &str) -> TargetError {
        let kind = if is_missing { TargetErrorKind::Data } else { error.kind };
        let doing = format!("the operations on schema {} could not be prepared", self.schema);
        let error = TargetError { kind, ..error.during(&doing) };
        match kind {
            TargetErrorKind::Data => error.hint("load the data first, as this user: dyno load"),
            TargetErrorKind::Privilege => {
                error.hint(format!("run as the user that loaded the data, or grant it {rights}"))
            }
            _ => error,
        }
    }
}

/// A setting that every session of an engine makes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSetting {
    /// The setting's name.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Why a run needs it.
    pub why: &'static str,
}

impl SessionSetting {
    /// `name` set to `value`, because of `why`.
    pub const fn new(name: &'static str, value: &'static str, why: &'static str) -> Self {
        Self { name, value, why }
    }
}

/// Operations that most plans do not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// Operations go to schema 1 too: [`Session::turn_to`] is called.
    pub hot_schema: bool,
    /// Inserts and deletes of rows of its own.
    pub churn: bool,
    /// Lookups by the secondary key.
    pub secondary: bool,
}

/// Where an operation goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// To the session's own schema.
    #[default]
    Own,
    /// To schema 1.
    First,
}

/// The number of a class of operations within a workload, after the two that every workload has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u8);

impl ClassId {
    /// Commits, each a part of an operation that writes.
    pub const COMMIT: Self = Self(0);
    /// Calls that run many operations inside the database.
    pub const SLICE: Self = Self(1);
    /// The class of [`Op::Select`].
    pub const SELECT: Self = Self::operation(0);
    /// The class of [`Op::Lookup`].
    pub const LOOKUP: Self = Self::operation(1);
    /// The class of [`Op::Secondary`].
    pub const SECONDARY: Self = Self::operation(2);
    /// The class of [`Op::Scan`].
    pub const SCAN: Self = Self::operation(3);
    /// The class of [`Op::Update`].
    pub const UPDATE: Self = Self::operation(4);
    /// The class of [`Op::Insert`].
    pub const INSERT: Self = Self::operation(5);
    /// The class of [`Op::Delete`].
    pub const DELETE: Self = Self::operation(6);

    /// The class at `place` among those of the workload.
    pub const fn operation(place: u8) -> Self {
        Self(place + 2)
    }

    /// Its place among those of the workload; none for commits and slices.
    #[inline]
    pub fn place(self) -> Option<usize> {
        usize::from(self.0).checked_sub(2)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Count the rows with keys `first .. first + work_unit`.
    Select {
        /// The first key.
        first: u64,
    },
    /// Read the row with this key.
    Lookup {
        /// The key.
        key: u64,
    },
    /// Count the rows of the table without an index.
    Scan,
    /// Give the rows with keys `first .. first + work_unit` new values, and commit.
    Update {
        /// The first key.
        first: u64,
        /// The operation's number within the session, which makes the new values unique.
        number: u64,
    },
    /// Read the rows with this value of the secondary key.
    Secondary {
        /// The value, from 1.
        value: u64,
    },
    /// Insert a row, and commit. Only with [`Extra::churn`], and only into the session's own schema.
    Insert {
        /// The key, above the loaded ones.
        key: u64,
        /// As in an update.
        number: u64,
    },
    /// Delete the row with this key, which this session has inserted, and commit.
    Delete {
        /// The key.
        key: u64,
    },
}

impl Op {
    /// Its class.
    #[inline]
    pub fn class(self) -> ClassId {
        match self {
            Self::Select { .. } => ClassId::SELECT,
            Self::Lookup { .. } => ClassId::LOOKUP,
            Self::Scan => ClassId::SCAN,
            Self::Update { .. } => ClassId::UPDATE,
            Self::Secondary { .. } => ClassId::SECONDARY,
            Self::Insert { .. } => ClassId::INSERT,
            Self::Delete { .. } => ClassId::DELETE,
        }
    }

    /// Whether it changes rows, and commits.
    pub fn writes(self) -> bool {
        matches!(self, Self::Update { .. } | Self::Insert { .. } | Self::Delete { .. })
    }
}

/// What a [`Duplex`] session can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// As [`Session::execute`].
    Op(Op),
    /// As [`Session::edge`].
    Edge,
}

/// An operation that ended well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows read, updated, inserted or deleted.
    pub rows: u64,
    /// When the commit began, on the setup's clock; absent for reads, and where the boundary was not seen.
    pub commit_began_ns: Option<u64>,
}

/// A slice that ended well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SliceDone {
    /// Rows read by `select`, `lookup`, `scan`, lookups by the secondary key in this order.
    pub rows_read: [u64; 4],
    /// Rows updated.
    pub rows_updated: u64,
    /// Rows inserted, and rows deleted.
    pub churned: (u64, u64),
    /// Commits done inside the database.
    pub commits: u64,
}

/// One connection that does operations, one after the other.
///
/// Used by one thread at a time. Statements are prepared when the session is opened, so that [`Session::execute`] does
/// nothing but send, wait and read.
pub trait Session: Send {
    /// Does one operation.
    ///
    /// # Errors
    /// [`OpError`] with its class; boxed, so that the good way stays small.
    fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>>;

    /// Sends the operations that follow to `place`. Only [`Place::Own`] unless [`Extra::hot_schema`] was asked for. Called
    /// between operations; costs nothing.
    fn turn_to(&mut self, place: Place);

    /// Does `ops` in their order inside the database, each write committed, in one call.
    ///
    /// # Errors
    /// As [`Session::execute`]; what was done of the slice is then unknown.
    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>>;

    /// Makes everything this session has done visible to observers, and nothing it does within the next second or so
    /// where the engine batches its statistics. Called between operations at both ends of the window.
    ///
    /// # Errors
    /// As [`Session::execute`].
    fn edge(&mut self) -> Result<(), Box<OpError>>;

    /// Transactions that the database counts for this session and that are not operations: opening the connection,
    /// settings, edges, reading back. Zero where the database counts only what operations commit.
    fn overhead_commits(&self) -> u64 {
        0
    }

    /// The session in two halves, so that one thread can lead several; `None` if it can only wait.
    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        None
    }

    /// The processor of this machine on which the server's side of this session last ran; `None` where that cannot be
    /// known, or the server runs elsewhere. A hint: nothing may depend on it but speed.
    fn server_processor(&self) -> Option<usize>;

    /// Opens the connection anew after it was lost, and prepares again.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn reconnect(&mut self) -> Result<(), TargetError>;

    /// Reads back the rows of the session's last acknowledged update: how many there are, and how many hold the value
    /// that this update, or a later one of any session, gave them. `None` if it has done no update.
    ///
    /// # Errors
    /// As [`Session::execute`].
    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>>;

    /// A handle that breaks off whatever the session is doing, from another thread.
    fn interrupter(&self) -> Arc<dyn Interrupter>;

    /// Ends the connection in the protocol's own way, so that the server books all it did.
    fn close(self: Box<Self>);
}

/// A session that can be asked, left alone, and heard later.
///
/// One request at a time: what was sent is received to its end before anything else is sent or any method of [`Session`]
/// is called. After an error of class [`Connection`](crate::ErrorClass::Connection) only [`Session::reconnect`] helps.
pub trait Duplex {
    /// What becomes readable when an answer, or a part of it, has arrived. Another one after [`Session::reconnect`].
    fn socket(&mut self) -> BorrowedFd<'_>;

    /// Sends `request`.
    ///
    /// # Errors
    /// As [`Session::execute`]; nothing is under way then.
    fn send(&mut self, request: Request) -> Result<(), Box<OpError>>;

    /// Takes in what has arrived; to be called when [`Duplex::socket`] is readable, and then it does not wait. `None` while
    /// the answer is not complete. An edge is done with nothing.
    ///
    /// # Errors
    /// As [`Session::execute`]; nothing is under way then.
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>>;
}

/// Breaks off a session's current operation from another thread.
pub trait Interrupter: Send + Sync {
    /// Ends the connection or the statement at once; the session then fails with
    /// [`Connection`](crate::ErrorClass::Connection) or ends. Safe to call at any time, any number of times.
    fn interrupt(&self);
}
