//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use super::READ_ONLY_TRANSACTION;
use super::answer::{self, PostgresReplyReader};
use super::batch::PostgresRequestBatch;
use super::columns::PostgresRowReader;
use super::inferred::{InferredTypes, Oids};
use super::opening::{blocks_in_loops, opening_commits, prepare, prepare_inferred};
use super::slice::{self, Tails};
use super::statements::{self, PostgresSessionMessages, PostgresStatementMode};
use crate::connections::{PostgresConnections, open_for_transaction};
use crate::layout::filler::copy;
use crate::pool::{PostgresPool, PostgresPoolMembership, PostgresPoolerStatements, PostgresRoute};
use crate::wire::{Breaker, PostgresConnection, PostgresError, PostgresWireError};
use dyno_engine::data::UpdateValues;
use dyno_engine::net::local;
use dyno_engine::statement::no_pipeline;
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    BlockOp, BlockOpSchema, Cancel, Clock, Commits, Duplex, ErrorClass, Interrupter, OpError,
    RequestCompletion, ResultKind, Session, SessionRequest, SessionSetup, SliceDone, Slices, TargetError,
    Value,
};
use dyno_plan::{Connect, StatementProtocol};

/// The longest time to wait at the end for the server to add a session's counts.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on PostgreSQL. The order of the fields keeps what an operation uses in few cache lines.
#[repr(C)]
pub struct PostgresSession {
    /// The last request, and what has arrived of its result.
    pending: PostgresPendingRequest,
    /// Transactions that the server counts for a window boundary.
    edge_commits: u64,
    overhead_commits: u64,
    reply: PostgresReplyReader,
    batch: PostgresRequestBatch,
    ready: PostgresSessionMessages,
    connection: PostgresConnection,
    setup: SessionSetup,
    columns: PostgresRowReader,
    connections: PostgresConnections,
    breaker: Arc<Breaker>,
    /// The server's types for the parameters of each statement.
    types: Vec<Oids>,
    /// Data for loops inside the database; absent if there are none.
    tails: Option<Tails>,
    /// Whether it responds as fast as a server on this machine.
    is_near: bool,
    /// The pooler of the session; absent for a direct connection.
    pooler: Option<PostgresPoolerLink>,
}

/// How to interpret a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PostgresPendingRequest {
    /// A statement: its kind of result, whether it commits after its end, and whether it belongs to the
    /// workload.
    Statement(ResultKind, bool, bool),
    /// A transaction has begun or was rolled back.
    Transaction,
    /// The transaction was committed.
    Commit,
    /// All statistics of the session are visible.
    Edge,
}

/// The connection of a session to its pooler.
struct PostgresPoolerLink {
    member: PostgresPoolMembership,
    statements: PostgresPoolerStatements,
}

impl PostgresSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`PostgresConnection::open`]; `Data` if the tables do not exist.
    pub(crate) fn open(
        connections: &PostgresConnections,
        setup: &SessionSetup,
        inferred: &InferredTypes,
    ) -> Result<Self, TargetError> {
        Self::open_as(connections, setup, inferred, None)
    }

    /// Like [`PostgresSession::open`], through a pooler.
    pub(crate) fn open_through(
        pool: &Arc<PostgresPool>,
        setup: &SessionSetup,
        inferred: &InferredTypes,
    ) -> Result<Self, TargetError> {
        let through = match pool.route()? {
            PostgresRoute::Direct => None,
            PostgresRoute::Pooled(statements) => {
                Some(PostgresPoolerLink { member: PostgresPoolMembership::join(pool), statements })
            }
        };
        Self::open_as(pool.sessions(), setup, inferred, through)
    }

    fn open_as(
        connections: &PostgresConnections,
        setup: &SessionSetup,
        inferred: &InferredTypes,
        through: Option<PostgresPoolerLink>,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let statements = through.as_ref().map(|through| through.statements);
        let form = match statements {
            None => PostgresStatementMode::direct(setup.protocol),
            Some(statements) => {
                let prepared = statements == PostgresPoolerStatements::Prepared
                    && setup.protocol == StatementProtocol::Prepared;
                PostgresStatementMode::pooled(prepared, setup)
            }
        };
        let (connection, types) = prepare_inferred(connections, setup, inferred, statements, &breaker)?;
        let flushes = statements::flushes(&connection);
        let mut session = Self {
            connections: connections.clone(),
            connection,
            breaker,
            ready: PostgresSessionMessages::new(setup, &form, &types, flushes),
            edge_commits: u64::from(flushes),
            tails: blocks_in_loops(setup).map(|blocks| Tails::new(blocks.stamp())),
            pending: PostgresPendingRequest::Edge,
            reply: PostgresReplyReader::default(),
            batch: PostgresRequestBatch::default(),
            columns: PostgresRowReader::default(),
            overhead_commits: opening_commits(statements),
            is_near: false,
            pooler: through,
            types,
            setup: setup.clone(),
        };
        session.warm_up()?;
        Ok(session)
    }

    /// Executes a lookup of a missing key and a window boundary before anything counts, so that the server
    /// loads and plans what it needs.
    ///
    /// Without it, 64 sessions on 2 processors began their first operations over 6 ms. With a thousand
    /// sessions the first window boundary took a fifth of a second and the second took no time, so the work
    /// between them was divided by too short a time.
    ///
    /// Nothing else is rehearsed. After five executions the server decides from the cost of their plans
    /// whether it keeps planning each execution (`plancache.c`, `choose_custom_plan`). A range without rows
    /// is so cheap that it would keep planning for ever. A unique key costs the same whether or not it
    /// exists.
    fn warm_up(&mut self) -> Result<(), TargetError> {
        if let Some((statement, number)) = self.setup.rehearsal {
            self.ask_and_wait(SessionRequest::Execute(statement, &[Value::Int(number)]))?;
            self.overhead_commits += 1;
        }
        let clock = Arc::clone(&self.setup.clock);
        self.is_near =
            local::is_near(clock.as_ref(), || self.ask_and_wait(SessionRequest::Edge).map(|_| ()))?;
        Ok(())
    }

    /// Opens a connection for one transaction. Nothing is prepared.
    fn connect(&mut self) -> Result<(), TargetError> {
        let commits;
        (self.connection, commits) = open_for_transaction(&self.connections, &self.setup, &self.breaker)?;
        self.ready.mark_unprepared();
        self.overhead_commits += commits;
        Ok(())
    }

    /// Converts the error of a request; its statement may not be prepared.
    #[cold]
    fn request_error(&mut self, error: PostgresWireError) -> Box<OpError> {
        self.ready.mark_unprepared();
        self.batch.clear();
        let error = error.into_op();
        match self.setup.read_only && error.code == READ_ONLY_TRANSACTION {
            true => error.write_in_read_only_session(),
            false => error,
        }
    }

    /// Sends `request` and remembers how to interpret its result.
    #[inline]
    fn send_request(&mut self, request: SessionRequest<'_>) -> Result<(), PostgresWireError> {
        if self.batch.requests() > 0 || matches!(request, SessionRequest::Queue(_) | SessionRequest::Flush) {
            return self.send_batch(request);
        }
        let is_text = self.ready.is_text && matches!(request, SessionRequest::Execute(..));
        self.reply = PostgresReplyReader::new(is_text);
        let (pending, bytes) = match request {
            SessionRequest::Execute(id, values) => {
                let bytes = self.ready.execute(id, values).map_err(PostgresWireError::Undone)?;
                let statement = &self.setup.statements[id.index()];
                let commits = statement.commits == Commits::Behind;
                if statement.answer == ResultKind::Columns {
                    self.columns.clear();
                }
                (PostgresPendingRequest::Statement(statement.answer, commits, statement.works), bytes)
            }
            SessionRequest::Begin(isolation) => {
                (PostgresPendingRequest::Transaction, self.ready.begin(isolation))
            }
            SessionRequest::Commit => (PostgresPendingRequest::Commit, self.ready.commit()),
            SessionRequest::Rollback => (PostgresPendingRequest::Transaction, self.ready.rollback()),
            SessionRequest::Edge => (PostgresPendingRequest::Edge, self.ready.edge()),
            SessionRequest::Queue(_) | SessionRequest::Flush => {
                return Err(PostgresWireError::Undone(no_pipeline()));
            }
            SessionRequest::Fill { .. } => return Err(PostgresWireError::Undone(no_bulk())),
        };
        self.pending = pending;
        self.connection.line.send_bytes(bytes)
    }

    /// Collects a request, or sends one after those that are collected.
    #[inline(never)]
    fn send_batch(&mut self, request: SessionRequest<'_>) -> Result<(), PostgresWireError> {
        let Self { batch, ready, setup, columns, .. } = self;
        if let SessionRequest::Queue(request) = request {
            return batch.queue(request, ready).map_err(PostgresWireError::Undone);
        }
        self.pending = match request {
            SessionRequest::Execute(id, values) => {
                batch.add(ready.execute(id, values).map_err(PostgresWireError::Undone)?);
                let statement = &setup.statements[id.index()];
                if statement.answer == ResultKind::Columns {
                    columns.clear();
                }
                PostgresPendingRequest::Statement(statement.answer, false, statement.works)
            }
            SessionRequest::Commit => batch.finish_with("COMMIT", PostgresPendingRequest::Commit),
            SessionRequest::Rollback => batch.finish_with("ROLLBACK", PostgresPendingRequest::Transaction),
            _ => batch.finish(PostgresPendingRequest::Transaction),
        };
        self.reply = PostgresReplyReader::after_requests(self.batch.requests());
        let sent = self.connection.line.send_bytes(self.batch.bytes());
        self.batch.clear();
        sent
    }

    /// Parses what has arrived of the result; returns `None` while it is incomplete.
    #[inline]
    fn receive_reply(&mut self) -> Result<Option<RequestCompletion>, PostgresWireError> {
        let commits = matches!(self.pending, PostgresPendingRequest::Statement(_, true, _));
        let clock = commits.then_some(&*self.setup.clock);
        let answer = match self.pending {
            PostgresPendingRequest::Statement(ResultKind::Columns, ..) => {
                columns(&mut self.reply, &mut self.connection, clock, &mut self.columns)?
            }
            _ => self.reply.take(&mut self.connection, clock, |_, _| ())?,
        };
        let Some(answer) = answer else { return Ok(None) };
        let rows = match self.pending {
            PostgresPendingRequest::Statement(answer_kind, _, works) => {
                self.overhead_commits += u64::from(!works);
                match answer_kind {
                    ResultKind::Number if answer.is_odd => {
                        return Err(PostgresWireError::Undone(no_integer()));
                    }
                    ResultKind::Number => answer.value,
                    ResultKind::Row | ResultKind::Rows => answer.rows,
                    ResultKind::Columns => answer.rows.max(self.columns.rows),
                    ResultKind::Changed { per_row } => answer.rows / u64::from(per_row),
                }
            }
            PostgresPendingRequest::Commit if answer.tag == b'R' => {
                return Err(PostgresWireError::Undone(rolled_back_error()));
            }
            PostgresPendingRequest::Commit | PostgresPendingRequest::Transaction => 0,
            PostgresPendingRequest::Edge => {
                self.overhead_commits += self.edge_commits;
                0
            }
        };
        Ok(Some(RequestCompletion { rows, commit_began_ns: answer.ended_ns }))
    }

    /// Writes rows with a separate COPY.
    #[cold]
    fn fill(&mut self, first: u64, rows: u64) -> Result<RequestCompletion, Box<OpError>> {
        let Some(bulk) = self.setup.bulk.clone() else { return Err(no_bulk()) };
        let part = bulk.part(first, rows);
        let copied = copy(&mut self.connection, &part, bulk.maker().as_mut(), &Cancel::default());
        bulk.sent(copied.map_err(TargetError::into_op::<PostgresError>)?);
        Ok(RequestCompletion { rows, commit_began_ns: None })
    }

    /// Sends `request` and waits for the complete result.
    #[inline]
    fn ask_and_wait(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, PostgresWireError> {
        self.send_request(request)?;
        if matches!(request, SessionRequest::Queue(_)) {
            return Ok(RequestCompletion::default());
        }
        loop {
            if let Some(done) = self.receive_reply()? {
                return Ok(done);
            }
            self.connection.line.fill()?;
        }
    }
}

/// Parses a result whose columns are used.
#[inline(never)]
fn columns(
    reply: &mut PostgresReplyReader,
    connection: &mut PostgresConnection,
    clock: Option<&dyn Clock>,
    columns: &mut PostgresRowReader,
) -> Result<Option<answer::PostgresStatementResult>, PostgresWireError> {
    reply.take(connection, clock, |tag, body| columns.read_message(tag, body))
}

/// The error if a transaction with a failed statement was to be committed: the server rolls it back.
#[cold]
fn rolled_back_error() -> Box<OpError> {
    let message = "the transaction was rolled back because a statement in it failed".to_owned();
    Box::new(OpError { class: ErrorClass::Retryable, code: "25P02".to_owned(), message })
}

#[cold]
fn no_integer() -> Box<OpError> {
    let message = "the first column that the statement returns is not an integer: cast it (::int8)";
    OpError::fatal("answer", message.to_owned())
}

impl Session for PostgresSession {
    /// A window boundary is `pg_stat_force_next_flush()`, from version 15 on.
    ///
    /// When its ReadyForQuery arrives, the views include everything that this session has done, exactly, and
    /// the transaction of the boundary itself. The views are `pg_stat_database`, `pg_stat_user_tables`,
    /// `pg_statio_user_tables`, `pg_stat_wal` and (18) `pg_stat_io`; measured on 15.20 and 18.4. The server's
    /// next own flush is at least a second later. A snapshot within that second therefore includes nothing
    /// that came after the boundary.
    ///
    /// Before version 15 a session's statistics reach the views only when it ends, or when it is idle between
    /// transactions and half a second has passed since the last time. A flush cannot be forced there.
    /// Counters of a window may therefore lack or include up to half a second of each session at either end,
    /// and a window boundary is an empty Sync.
    #[inline]
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        if let SessionRequest::Fill { first, rows } = request {
            return self.fill(first, rows);
        }
        self.ask_and_wait(request).map_err(|error| self.request_error(error))
    }

    fn queued(&self) -> &[u64] {
        self.reply.earlier_rows()
    }

    fn answered(&self, column: usize) -> Option<Value<'_>> {
        self.columns.row.get(column)
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        self.tails.is_some().then_some(self as &mut dyn Slices)
    }

    fn overhead_commits(&self) -> i64 {
        self.overhead_commits.cast_signed()
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        Some(self)
    }

    fn server_processor(&self) -> Option<usize> {
        if !self.is_near || self.pooler.is_some() {
            return None;
        }
        let pid = u32::try_from(self.connection.backend_pid()).ok()?;
        local::last_processor(pid, |title| title.starts_with(b"postgres: "))
    }

    fn instance(&self) -> Option<String> {
        None
    }

    /// The server closes the connection after its process has reported its statistics and exits.
    fn disconnect(&mut self) {
        self.connection.end_within(CLOSE_WAIT);
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        if self.setup.connect == Connect::Transaction {
            return self.connect();
        }
        let statements = self.pooler.as_ref().map(|through| through.statements);
        self.connection = prepare(&self.connections, &self.setup, &self.types, statements, &self.breaker)?;
        self.overhead_commits += opening_commits(statements);
        self.warm_up()
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { connection, breaker, pooler: through, .. } = *self;
        connection.close_within(CLOSE_WAIT);
        breaker.release();
        if let Some(through) = through {
            through.member.leave();
        }
    }
}

impl Slices for PostgresSession {
    fn slice(
        &mut self,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let (Some(blocks), Some(tails)) = (&self.setup.blocks, &mut self.tails) else {
            return Err(OpError::fatal("drive", "this session was opened without loops inside the database"));
        };
        let place = if blocks.uses_hot_schema() { place } else { BlockOpSchema::Own };
        let kind = (blocks.work_unit, blocks.extra);
        slice::run(&mut self.connection, ops, kind, place, values, tails).map_err(PostgresWireError::into_op)
    }
}

impl Duplex for PostgresSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: SessionRequest<'_>) -> Result<(), Box<OpError>> {
        self.send_request(request).map_err(|error| self.request_error(error))
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<RequestCompletion>, Box<OpError>> {
        let arrived = self.connection.line.fill_arrived();
        arrived.and_then(|()| self.receive_reply()).map_err(|error| self.request_error(error))
    }
}

impl fmt::Debug for PostgresSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgSession({})", self.setup.number)
    }
}
