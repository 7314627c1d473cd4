//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use super::READ_ONLY_TRANSACTION;
use super::answer::{MySqlReplyReader, MySqlStatementResult};
use super::columns::MySqlRowReader;
use super::packets::MySqlControlPackets;
use super::ready::{MySqlPreparedSession, open_session_connection, prepare};
use super::thread;
use super::transaction_counts::MySqlAckLedger;
use crate::connections::MySqlConnections;
use crate::layout::{MySqlLoadMethod, filler::write};
use crate::own_connections::{self, MySqlSessionStatusReply, SharedSessionRegistry};
use crate::wire::{MySqlColumnDef, MySqlConnection, MySqlError, MySqlWireError};
use dyno_engine::data::UpdateValues;
use dyno_engine::net::{Breaker, local};
use dyno_engine::statement::{no_pipeline, unknown};
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    BlockOp, BlockOpSchema, Cancel, ConnectionPurpose, Duplex, Interrupter, OpError, RequestCompletion,
    ResultKind, Session, SessionRequest, SessionSetup, SliceDone, Slices, Statement, TargetError, Value,
};
use dyno_plan::Connect;

/// The longest time to wait at the end for the server to add a session's counts.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on MySQL or MariaDB.
pub struct MySqlSession {
    connections: MySqlConnections,
    setup: SessionSetup,
    ready: MySqlPreparedSession,
    breaker: Arc<Breaker>,
    sessions: SharedSessionRegistry,
    control_packets: MySqlControlPackets,
    /// The last request, and what has arrived of its result.
    pending: MySqlPendingRequest,
    reply: MySqlReplyReader,
    share: MySqlSessionStatusReply,
    ledger: MySqlAckLedger,
    /// The server's thread for this connection; `None` if the server runs on another machine.
    thread: Option<u32>,
    /// The method of writing rows in bulk; `None` if the session does not do that.
    load_method: Option<MySqlLoadMethod>,
}

/// A request without its values, to interpret its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MySqlPendingRequest {
    Statement(usize),
    /// A statement whose columns are used.
    Columns(usize),
    Begin,
    Commit,
    Rollback,
    Edge,
}

impl MySqlSession {
    /// Connects and prepares; the connection is registered in `sessions` while it is open.
    ///
    /// # Errors
    /// As [`MySqlConnection::open`]; `Data` if the tables do not exist.
    pub(crate) fn open(
        connections: &MySqlConnections,
        setup: &SessionSetup,
        sessions: SharedSessionRegistry,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let mut ready = prepare(connections, setup, &breaker, &sessions)?;
        let mut books = MySqlAckLedger::default();
        let way = setup.bulk.as_ref().map(|_| MySqlLoadMethod::choose(&mut ready.connection)).transpose()?;
        let thread = open_ledger(&mut ready.connection, &mut books, &sessions, setup)?;
        Ok(Self {
            connections: connections.clone(),
            ready,
            breaker,
            sessions,
            control_packets: MySqlControlPackets::new(),
            pending: MySqlPendingRequest::Edge,
            reply: MySqlReplyReader::default(),
            share: MySqlSessionStatusReply::default(),
            ledger: books,
            thread,
            load_method: way,
            setup: setup.clone(),
        })
    }

    /// Opens a connection for one transaction. Nothing is prepared, and only what the transaction needs is
    /// sent. The share of the previous connection is not read, because that would cost more than the
    /// transaction.
    fn connect(&mut self) -> Result<(), TargetError> {
        let before = self.ready.connection.id();
        let connection =
            open_session_connection(&self.connections, &self.setup, &self.breaker, &self.sessions)?;
        self.ready.replace_connection(connection);
        let connection = &mut self.ready.connection;
        self.ledger.open(connection, &self.sessions);
        self.sessions.lock().remove_session(before, None);
        self.connections.settle(connection, ConnectionPurpose::Session(&self.setup)).map(drop)
    }

    /// Sends `request` and remembers how to interpret its result.
    #[inline]
    fn send_request(&mut self, request: SessionRequest<'_>) -> Result<(), MySqlWireError> {
        if let SessionRequest::Execute(id, _) = request
            && self.setup.connect == Connect::Transaction
            && let Some(statement) = self.setup.statements.get(id.index())
        {
            self.ready.ensure_prepared(id.index(), &statement.sql)?;
        }
        let Self {
            ready: MySqlPreparedSession { connection, statements, is_text, columns, .. },
            control_packets: texts,
            setup,
            ..
        } = self;
        let mut awaited = MySqlColumnDef::default();
        let (pending, bytes) = match request {
            SessionRequest::Execute(id, values) => {
                let Some((message, column)) = statements.get_mut(id.index()) else {
                    return Err(MySqlWireError::Undone(unknown(id)));
                };
                awaited = *column;
                let pending_statement = match setup.statements[id.index()].answer {
                    ResultKind::Columns => {
                        columns.row.clear();
                        MySqlPendingRequest::Columns(id.index())
                    }
                    _ => MySqlPendingRequest::Statement(id.index()),
                };
                (pending_statement, message.bind(values).map_err(MySqlWireError::Undone)?)
            }
            SessionRequest::Begin(isolation) => (MySqlPendingRequest::Begin, texts.begin(isolation)),
            SessionRequest::Queue(_) | SessionRequest::Flush => {
                return Err(MySqlWireError::Undone(no_pipeline()));
            }
            SessionRequest::Fill { .. } => return Err(MySqlWireError::Undone(no_bulk())),
            SessionRequest::Commit => (MySqlPendingRequest::Commit, &texts.commit[..]),
            SessionRequest::Rollback => (MySqlPendingRequest::Rollback, &texts.rollback[..]),
            SessionRequest::Edge => {
                self.share = MySqlSessionStatusReply::default();
                (MySqlPendingRequest::Edge, &texts.edge[..])
            }
        };
        self.pending = pending;
        self.reply = MySqlReplyReader::expecting(awaited).with_text_rows(*is_text);
        connection.line.send_bytes(bytes)
    }

    /// Parses what has arrived of the result; returns `None` while it is incomplete.
    #[inline]
    fn receive_reply(&mut self) -> Result<Option<RequestCompletion>, MySqlWireError> {
        let connection = &mut self.ready.connection;
        if self.pending == MySqlPendingRequest::Edge {
            return Ok(self.share.take(connection)?.map(|share| {
                self.ledger.record_status(connection.id(), share, &self.setup.statements, &self.sessions);
                RequestCompletion::default()
            }));
        }
        let result = match self.pending {
            MySqlPendingRequest::Columns(index) => {
                columns(&mut self.reply, connection, &mut self.ready.columns, index)?
            }
            _ => self.reply.take(connection, |_| ())?,
        };
        let Some(answer) = result else { return Ok(None) };
        let mut rows = 0;
        match self.pending {
            MySqlPendingRequest::Statement(index) | MySqlPendingRequest::Columns(index) => {
                self.ready.statements[index].1 = self.reply.column;
                let statement = &self.setup.statements[index];
                rows = row_count_of(statement, answer)?;
                let (rows_read, rows_written) = match statement.answer {
                    ResultKind::Changed { .. } => (0, rows),
                    // In the block workload a number is a count of rows; in other statements it may be
                    // anything.
                    ResultKind::Number if self.setup.blocks.is_none() => (1, 0),
                    _ => (rows, 0),
                };
                self.ledger.record_statement(index, statement.works, rows_read, rows_written);
            }
            MySqlPendingRequest::Begin => self.ledger.begin_transaction(),
            MySqlPendingRequest::Commit => self.ledger.end_transaction(true),
            // The result of a window boundary request is parsed above.
            MySqlPendingRequest::Rollback | MySqlPendingRequest::Edge => self.ledger.end_transaction(false),
        }
        Ok(Some(RequestCompletion { rows, commit_began_ns: None }))
    }

    /// Writes rows in bulk with the method that the server accepts.
    #[cold]
    fn fill(&mut self, first: u64, rows: u64) -> Result<RequestCompletion, Box<OpError>> {
        let (Some(bulk), Some(way)) = (self.setup.bulk.clone(), self.load_method) else {
            return Err(no_bulk());
        };
        let part = bulk.part(first, rows);
        self.ledger.begin_transaction();
        let written =
            write(&mut self.ready.connection, way, &part, bulk.maker().as_mut(), &Cancel::default());
        if written.is_ok() {
            self.ledger.record_slice(own_connections::MySqlAckCounts {
                operations: 1,
                extra_transactions: 0,
                rows_read: 0,
                rows_written: rows,
            });
        }
        self.ledger.end_transaction(written.is_ok());
        bulk.sent(written.map_err(TargetError::into_op::<MySqlError>)?);
        Ok(RequestCompletion { rows, commit_began_ns: None })
    }

    /// Converts the error of a request.
    #[cold]
    fn request_error(&self, error: MySqlWireError) -> Box<OpError> {
        let error = error.into_op();
        match self.setup.read_only && error.code == READ_ONLY_TRANSACTION.to_string() {
            true => error.write_in_read_only_session(),
            false => error,
        }
    }

    /// Sends `request` and waits for the complete result.
    #[inline]
    fn ask_and_wait(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, MySqlWireError> {
        self.send_request(request)?;
        loop {
            if let Some(done) = self.receive_reply()? {
                return Ok(done);
            }
            self.ready.connection.line.fill()?;
        }
    }
}

/// Parses a result of statement `index`, whose columns are used.
#[inline(never)]
fn columns(
    reply: &mut MySqlReplyReader,
    connection: &mut MySqlConnection,
    columns: &mut MySqlRowReader,
    index: usize,
) -> Result<Option<MySqlStatementResult>, MySqlWireError> {
    reply.take(connection, |part| columns.read_part(index, part))
}

/// The number that is read from the result of `statement`.
#[inline]
fn row_count_of(statement: &Statement, result: MySqlStatementResult) -> Result<u64, MySqlWireError> {
    match statement.answer {
        ResultKind::Number => result.number.ok_or_else(|| MySqlWireError::Undone(no_number(statement))),
        ResultKind::Row | ResultKind::Rows => Ok(result.rows),
        ResultKind::Columns => Ok(if result.rows > 0 { result.rows } else { result.changed }),
        ResultKind::Changed { per_row } => Ok(result.changed / u64::from(per_row.max(1))),
    }
}

#[cold]
fn no_number(statement: &Statement) -> Box<OpError> {
    let message = format!("the first column that statement {} returns is not an integer", statement.name);
    OpError::fatal("answer", message)
}

/// Starts the counts of a new connection. Returns the server's thread for it if that is on this machine and
/// useful.
fn open_ledger(
    connection: &mut MySqlConnection,
    books: &mut MySqlAckLedger,
    sessions: &SharedSessionRegistry,
    setup: &SessionSetup,
) -> Result<Option<u32>, TargetError> {
    // With the server drive each session has its own thread in Dyno.
    let thread = if setup.slices { None } else { thread::ask(connection)? };
    books.open(connection, sessions);
    if setup.blocks.is_none() {
        books.load_costs(&setup.statements, sessions);
    }
    if thread.is_none() {
        books.refresh(connection, sessions)?;
        return Ok(None);
    }
    let is_near = local::is_near(setup.clock.as_ref(), || books.refresh(connection, sessions))?;
    Ok(thread.filter(|_| is_near))
}

/// The error of a slice, with a hint if its procedure does not exist. A call of a missing procedure can be
/// prepared, and older loads have not created all procedures.
fn slice_error(mut error: Box<OpError>) -> Box<OpError> {
    if error.code == "1305" {
        error.message.push_str(": load the data again; `dyno load` adds the missing procedures");
    }
    error
}

impl Session for MySqlSession {
    /// A window boundary reports what this session has done. Nothing needs flushing: the server sums the
    /// counters of all sessions when they are read, and counts a statement before it sends the result.
    #[inline]
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        if let SessionRequest::Fill { first, rows } = request {
            return self.fill(first, rows);
        }
        self.ask_and_wait(request).map_err(|error| self.request_error(error))
    }

    fn queued(&self) -> &[u64] {
        &[]
    }

    fn answered(&self, column: usize) -> Option<Value<'_>> {
        self.ready.columns.row.get(column)
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        if self.ready.calls.is_some() { Some(self) } else { None }
    }

    fn overhead_commits(&self) -> i64 {
        self.ledger.overhead()
    }

    fn knows_overhead(&self) -> bool {
        !self.ledger.has_unknown_cost()
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        Some(self)
    }

    fn server_processor(&self) -> Option<usize> {
        self.thread.and_then(thread::processor)
    }

    fn instance(&self) -> Option<String> {
        None
    }

    /// The server's counters include the connection's work as soon as each result has arrived, and keep it.
    /// Its counts stay open until the next connection is open, because the server may list it a moment
    /// longer.
    fn disconnect(&mut self) {
        if self.ledger.has_unknown_cost() {
            // The transaction's time does not include this.
            let _ = self.ledger.refresh(&mut self.ready.connection, &self.sessions);
        }
        self.ready.connection.end_within(CLOSE_WAIT);
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        if self.setup.connect == Connect::Transaction {
            return self.connect();
        }
        self.sessions.lock().remove_session(self.ready.connection.id(), None);
        self.ready = prepare(&self.connections, &self.setup, &self.breaker, &self.sessions)?;
        let connection = &mut self.ready.connection;
        self.thread = open_ledger(connection, &mut self.ledger, &self.sessions, &self.setup)?;
        Ok(())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { mut ready, breaker, sessions, .. } = *self;
        let share = own_connections::read_session_status(&mut ready.connection).ok();
        sessions.lock().remove_session(ready.connection.id(), share);
        ready.connection.close_within(CLOSE_WAIT);
        breaker.release();
    }
}

impl Slices for MySqlSession {
    fn slice(
        &mut self,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let MySqlPreparedSession { connection, calls, .. } = &mut self.ready;
        let calls = match (place, calls) {
            (BlockOpSchema::First, Some((_, Some(first)))) => first,
            (_, Some((schema_calls, _))) => schema_calls,
            (_, None) => return Err(OpError::fatal("drive", "this session was opened without slices")),
        };
        let result = calls.run(connection, ops, values).map_err(|error| slice_error(error.into_op()))?;
        let rows_written = result.rows_updated + result.churned.0 + result.churned.1;
        let (operations, rows_read) = (ops.len() as u64, result.rows_read.iter().sum());
        self.ledger.record_slice(own_connections::MySqlAckCounts {
            operations,
            extra_transactions: 0,
            rows_read,
            rows_written,
        });
        Ok(result)
    }
}

impl Duplex for MySqlSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.ready.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: SessionRequest<'_>) -> Result<(), Box<OpError>> {
        self.send_request(request).map_err(|error| self.request_error(error))
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<RequestCompletion>, Box<OpError>> {
        let arrived = self.ready.connection.line.fill_arrived();
        arrived.and_then(|()| self.receive_reply()).map_err(|error| self.request_error(error))
    }
}

impl fmt::Debug for MySqlSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySession({})", self.setup.number)
    }
}
