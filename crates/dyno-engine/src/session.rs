//! The interface of one session: the hot path.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use dyno_plan::{Commit, Connect, StatementProtocol};

use crate::blocks::{BlockSessionConfig, Slices};
use crate::clock::Clock;
use crate::error::{OpError, TargetError, TargetErrorKind};
use crate::statement::{SessionRequest, Statement, StatementId, Value};
use crate::tables::Bulk;

/// Everything a session needs to know before it starts.
#[derive(Clone)]
pub struct SessionSetup {
    /// The session's number within the run, from 0.
    pub number: u32,
    /// Its statements, indexed by [`StatementId`]. The session prepares them when it connects and reconnects.
    pub statements: Arc<[Statement]>,
    /// A statement that finds no row with this number; it is executed once before anything counts.
    pub rehearsal: Option<(StatementId, i64)>,
    /// How commits wait. Values other than [`Commit::Wait`] only reach engines whose sessions can choose.
    pub commit: Commit,
    /// How statements are sent to the server. Values other than [`StatementProtocol::Prepared`] only reach
    /// engines that support them.
    pub protocol: StatementProtocol,
    /// How long a connection lasts. If it lasts one transaction, [`Session::disconnect`] and
    /// [`Session::reconnect`] are called around each. Statements are then prepared at their first use.
    pub connect: Connect,
    /// What the session knows about the block workload's data, if it works on that.
    pub blocks: Option<BlockSessionConfig>,
    /// The table that it fills on [`SessionRequest::Fill`], if any.
    pub bulk: Option<Arc<dyn Bulk>>,
    /// Whether the database refuses every write of this session: its workload does not say `writes = true`.
    pub read_only: bool,
    /// Whether loops run inside the database, through [`Session::slices`].
    pub slices: bool,
    /// The clock for boundaries that only the session sees, such as the end of an update before its commit.
    pub clock: Arc<dyn Clock>,
}

impl SessionSetup {
    /// The error of a session that could not prepare its statements. `is_missing` where an object that they
    /// name is missing; `rights` are the privileges of the block workload's statements.
    pub fn not_prepared(&self, error: TargetError, is_missing: bool, rights: &str) -> TargetError {
        let kind = if is_missing { TargetErrorKind::Data } else { error.kind };
        let Some(BlockSessionConfig { schema, .. }) = self.blocks else {
            return TargetError { kind, ..error.during("the statements could not be prepared") };
        };
        let error = TargetError {
            kind,
            ..error.during(&format!("the operations on schema {schema} could not be prepared"))
        };
        match kind {
            TargetErrorKind::Data => error.hint("load the data first, as this user: dyno load"),
            TargetErrorKind::Privilege => {
                error.hint(format!("connect as the user that loaded the data, or grant this user {rights}"))
            }
            _ => error,
        }
    }
}

/// A setting that every session of an engine sets for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSetting {
    /// The name of the setting.
    pub name: &'static str,
    /// The value that sessions set.
    pub value: &'static str,
    /// Why a run needs it.
    pub why: &'static str,
}

impl SessionSetting {
    /// The setting `name` with `value`; `why` is the reason.
    pub const fn new(name: &'static str, value: &'static str, why: &'static str) -> Self {
        Self { name, value, why }
    }
}

/// A request that ended without an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCompletion {
    /// The figure of the statement's [`ResultKind`](crate::ResultKind): the number, or the rows read or
    /// changed.
    pub rows: u64,
    /// When the commit began, on the setup's clock; absent without a commit or where the session did not see
    /// the boundary.
    pub commit_began_ns: Option<u64>,
}

/// One connection that executes requests one after the other.
///
/// One thread uses it at a time. Statements are prepared when the session is opened, so that a request only
/// binds, sends, waits and reads.
pub trait Session: Send {
    /// Executes one request.
    ///
    /// # Errors
    /// [`OpError`] with its class, boxed to keep the successful result small. After an error inside a
    /// transaction, [`SessionRequest::Rollback`] is due.
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>>;

    /// A column, from 0, of the last row that the last request returned, if the statement's answer is
    /// [`ResultKind::Columns`](crate::ResultKind::Columns). Absent where there is no row or no such column.
    fn answered(&self, column: usize) -> Option<Value<'_>>;

    /// The results of the [queued](SessionRequest::Queue) requests that were sent with the last one: the rows
    /// that each read or changed, in order. Empty where none were queued.
    fn queued(&self) -> &[u64];

    /// Loops of the block workload inside the database; `None` where the engine has none, or the setup does
    /// not ask for them.
    fn slices(&mut self) -> Option<&mut dyn Slices>;

    /// Transactions that the database counts for this session besides operations: connecting, settings,
    /// edges, sampling. Zero where the database counts only operations. Negative where it counts fewer, as
    /// for statements that use no table.
    fn overhead_commits(&self) -> i64;

    /// Whether [`Session::overhead_commits`] is exact by now, not an estimate. After a procedure that may
    /// have committed, only an edge makes it exact.
    fn knows_overhead(&self) -> bool;

    /// The session in two halves, so that one thread can run several; `None` if the session can only block.
    fn duplex(&mut self) -> Option<&mut dyn Duplex>;

    /// The processor of this machine on which the server process of this session last ran. `None` where that
    /// is unknown, or the server runs elsewhere. A hint: only speed may depend on it.
    fn server_processor(&self) -> Option<usize>;

    /// The name of the database instance that serves the connection, where a database may have several
    /// (Oracle RAC). `None` where it has one, where it is unknown, and without a connection.
    fn instance(&self) -> Option<String>;

    /// Closes the connection in the protocol's own way and waits until the server has counted its work. No
    /// request may follow before [`Session::reconnect`]; no transaction is open.
    fn disconnect(&mut self);

    /// Opens the connection again after it was lost or closed, and prepares the statements again. No
    /// transaction is open then.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn reconnect(&mut self) -> Result<(), TargetError>;

    /// A handle that interrupts the session from another thread.
    fn interrupter(&self) -> Arc<dyn Interrupter>;

    /// Closes the connection in the protocol's own way, so that the server counts all its work.
    fn close(self: Box<Self>);
}

impl dyn Session + '_ {
    /// Executes [`SessionRequest::Edge`].
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn edge(&mut self) -> Result<(), Box<OpError>> {
        self.ask(SessionRequest::Edge).map(|_| ())
    }

    /// Executes [`SessionRequest::Execute`].
    ///
    /// # Errors
    /// As [`Session::ask`].
    #[inline]
    pub fn execute(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
    ) -> Result<RequestCompletion, Box<OpError>> {
        self.ask(SessionRequest::Execute(statement, values))
    }
}

/// A session whose requests are sent and received separately.
///
/// One request at a time: a sent request must be received completely before another is sent, or another
/// method of [`Session`] queries the database.
pub trait Duplex {
    /// The socket that becomes readable when an answer, or part of it, has arrived. It changes with
    /// [`Session::reconnect`].
    fn socket(&mut self) -> BorrowedFd<'_>;

    /// Sends `request`.
    ///
    /// # Errors
    /// As [`Session::ask`]; no request is in progress then.
    fn send(&mut self, request: SessionRequest<'_>) -> Result<(), Box<OpError>>;

    /// Reads what has arrived. Call it when [`Duplex::socket`] is readable; then it does not wait. `None`
    /// while the answer is incomplete.
    ///
    /// # Errors
    /// As [`Session::ask`]; no request is in progress then.
    fn receive(&mut self) -> Result<Option<RequestCompletion>, Box<OpError>>;
}

/// Interrupts a session's current operation from another thread.
pub trait Interrupter: Send + Sync {
    /// Ends the connection or the statement at once. The session then fails with
    /// [`Connection`](crate::ErrorClass::Connection) or ends. Safe to call at any time and repeatedly.
    fn interrupt(&self);
}
