//! One session: the hot path's seam.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use dyno_plan::{Commit, Connect, Protocol};

use crate::blocks::{Blocks, Slices};
use crate::clock::Clock;
use crate::error::{OpError, TargetError, TargetErrorKind};
use crate::statement::{Request, Statement, StatementId, Value};
use crate::tables::Bulk;

/// Everything a session needs to know before it starts.
#[derive(Clone)]
pub struct SessionSetup {
    /// The session's number within the run, from 0.
    pub number: u32,
    /// What it executes, by [`StatementId`]; prepared when it is opened, and whenever it is opened anew.
    pub statements: Arc<[Statement]>,
    /// A statement that reads nothing with this number, and is done once before anything counts.
    pub rehearsal: Option<(StatementId, i64)>,
    /// How commits wait; only engines whose sessions can choose are asked for more than [`Commit::Wait`].
    pub commit: Commit,
    /// How statements come to the server; only engines that know more than one are asked for another than
    /// [`Protocol::Prepared`].
    pub protocol: Protocol,
    /// How long a connection lasts. Where it is one transaction, [`Session::disconnect`] and [`Session::reconnect`] are called around
    /// each, and what is prepared there is prepared at its first use.
    pub connect: Connect,
    /// What it is told of the classic method's data, where it works on that.
    pub blocks: Option<Blocks>,
    /// The table that it fills, where it is asked to ([`Request::Fill`]).
    pub bulk: Option<Arc<dyn Bulk>>,
    /// Whether the database refuses every write of this session: of a workload that does not say `writes = true`.
    pub read_only: bool,
    /// Whether loops run inside the database, so that [`Session::slices`] is called.
    pub slices: bool,
    /// The clock for boundaries that only the session sees (where an update ends and its commit begins).
    pub clock: Arc<dyn Clock>,
}

impl SessionSetup {
    /// The error of a session whose statements could not be prepared; `is_missing` where that is because what they name is not
    /// there, and `rights` are what the method's statements need.
    pub fn not_prepared(&self, error: TargetError, is_missing: bool, rights: &str) -> TargetError {
        let kind = if is_missing { TargetErrorKind::Data } else { error.kind };
        let Some(Blocks { schema, .. }) = self.blocks else {
            return TargetError { kind, ..error.during("the statements could not be prepared") };
        };
        let error = TargetError {
            kind,
            ..error.during(&format!("the operations on schema {schema} could not be prepared"))
        };
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

/// A request that ended well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// What the statement's [`Answer`](crate::Answer) asks for: the number, or how many rows were read or changed.
    pub rows: u64,
    /// When the commit began, on the setup's clock; absent where there is none, and where the boundary was not seen.
    pub commit_began_ns: Option<u64>,
}

/// One connection that does what it is asked, one request after the other.
///
/// Used by one thread at a time. Statements are prepared when the session is opened, so that a request does nothing but bind,
/// send, wait and read.
pub trait Session: Send {
    /// Does one request.
    ///
    /// # Errors
    /// [`OpError`] with its class; boxed, so that the good way stays small. After an error inside a transaction
    /// [`Request::Rollback`] is due.
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>>;

    /// A column of the last row, from 0, that the last request has brought, where its statement's answer is
    /// [`Answer::Columns`](crate::Answer::Columns); absent where there is no row, or no such column.
    fn answered(&self, column: usize) -> Option<Value<'_>>;

    /// What came of the requests that were [kept](Request::Queue) and sent with the last one: for each the rows that it has read or
    /// changed, in their order. None where none were.
    fn queued(&self) -> &[u64];

    /// Loops of the classic method inside the database; `None` where there are none, or the setup does not ask for them.
    fn slices(&mut self) -> Option<&mut dyn Slices>;

    /// Transactions that the database counts for this session and that are not operations: opening the connection,
    /// settings, edges, looking. Zero where the database counts only what operations commit; below that where it counts fewer
    /// than there were operations, as of statements that touch no table.
    fn overhead_commits(&self) -> i64;

    /// Whether [`Session::overhead_commits`] is what the database counts by now, and no estimate: an edge tells of a procedure that
    /// may have done anything.
    fn knows_overhead(&self) -> bool;

    /// The session in two halves, so that one thread can lead several; `None` if it can only wait.
    fn duplex(&mut self) -> Option<&mut dyn Duplex>;

    /// The processor of this machine on which the server's side of this session last ran; `None` where that cannot be
    /// known, or the server runs elsewhere. A hint: nothing may depend on it but speed.
    fn server_processor(&self) -> Option<usize>;

    /// Ends the connection in the protocol's own way, and waits until the server has booked what was done on it. Nothing is asked
    /// until [`Session::reconnect`]; no transaction is open.
    fn disconnect(&mut self);

    /// Opens the connection anew after it was lost or ended, and prepares again. No transaction is open then.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn reconnect(&mut self) -> Result<(), TargetError>;

    /// A handle that breaks off whatever the session is doing, from another thread.
    fn interrupter(&self) -> Arc<dyn Interrupter>;

    /// Ends the connection in the protocol's own way, so that the server books all it did.
    fn close(self: Box<Self>);
}

impl dyn Session + '_ {
    /// As [`Request::Edge`].
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn edge(&mut self) -> Result<(), Box<OpError>> {
        self.ask(Request::Edge).map(|_| ())
    }

    /// As [`Request::Execute`].
    ///
    /// # Errors
    /// As [`Session::ask`].
    #[inline]
    pub fn execute(&mut self, statement: StatementId, values: &[Value<'_>]) -> Result<Done, Box<OpError>> {
        self.ask(Request::Execute(statement, values))
    }
}

/// A session that can be asked, left alone, and heard later.
///
/// One request at a time: what was sent is received to its end before anything else is sent or any method of [`Session`]
/// that asks the database is called.
pub trait Duplex {
    /// What becomes readable when an answer, or a part of it, has arrived. Another one after [`Session::reconnect`].
    fn socket(&mut self) -> BorrowedFd<'_>;

    /// Sends `request`.
    ///
    /// # Errors
    /// As [`Session::ask`]; nothing is under way then.
    fn send(&mut self, request: Request<'_>) -> Result<(), Box<OpError>>;

    /// Takes in what has arrived; to be called when [`Duplex::socket`] is readable, and then it does not wait. `None` while
    /// the answer is not complete.
    ///
    /// # Errors
    /// As [`Session::ask`]; nothing is under way then.
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>>;
}

/// Breaks off a session's current operation from another thread.
pub trait Interrupter: Send + Sync {
    /// Ends the connection or the statement at once; the session then fails with
    /// [`Connection`](crate::ErrorClass::Connection) or ends. Safe to call at any time, any number of times.
    fn interrupt(&self);
}
