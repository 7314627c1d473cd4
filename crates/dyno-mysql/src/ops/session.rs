//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use super::answer::{Reply, Told};
use super::books::Books;
use super::columns::Columns;
use super::ready::{Ready, connected, prepare};
use super::texts::Texts;
use super::thread;
use super::{READ_ONLY_TRANSACTION, settings_sql};
use crate::connect::ConnectConfig;
use crate::layout::{Way, filler::write};
use crate::own::{self, Sessions, ShareReply, open_books};
use crate::wire::{Column, Connection, MyError, WireError};
use dyno_engine::data::UpdateValues;
use dyno_engine::net::{Breaker, local};
use dyno_engine::statement::{no_pipeline, unknown};
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    Answer, Cancel, Done, Duplex, Interrupter, Op, OpError, Place, Request, Session, SessionSetup, SliceDone,
    Slices, Statement, TargetError, Value,
};
use dyno_plan::Connect;

/// The longest wait for the server to book what a session did when it ends.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on MySQL or MariaDB.
pub struct MySession {
    config: ConnectConfig,
    setup: SessionSetup,
    ready: Ready,
    breaker: Arc<Breaker>,
    sessions: Sessions,
    texts: Texts,
    /// What was sent last, and what has arrived of its answer.
    asked: Asked,
    reply: Reply,
    share: ShareReply,
    books: Books,
    /// The server's thread for this connection, where it runs on this machine.
    thread: Option<u32>,
    /// How rows are written in bulk, where the session is asked to.
    way: Option<Way>,
}

/// A request without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Statement(usize),
    /// The same, where its columns are read.
    Columns(usize),
    Begin,
    Commit,
    Rollback,
    Edge,
}

impl MySession {
    /// Connects and prepares; the connection's number is among `sessions` while it is open.
    ///
    /// # Errors
    /// As [`Connection::open`]; `Data` if the tables are not there.
    pub(crate) fn open(
        config: &ConnectConfig,
        setup: &SessionSetup,
        sessions: Sessions,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let mut ready = prepare(config, setup, &breaker, &sessions)?;
        let mut books = Books::default();
        let way = setup.bulk.as_ref().map(|_| Way::choose(&mut ready.connection)).transpose()?;
        let thread = open_books_near(&mut ready.connection, &mut books, &sessions, setup)?;
        Ok(Self {
            config: config.clone(),
            ready,
            breaker,
            sessions,
            texts: Texts::new(),
            asked: Asked::Edge,
            reply: Reply::default(),
            share: ShareReply::default(),
            books,
            thread,
            way,
            setup: setup.clone(),
        })
    }

    /// Opens a connection for one transaction: nothing is prepared, and no more is asked than the transaction needs. What the one
    /// before has done is not asked for either: that would cost more than it.
    fn connect(&mut self) -> Result<(), TargetError> {
        let before = self.ready.connection.id();
        let connection = connected(&self.config, &self.setup, &self.breaker, &self.sessions)?;
        self.ready.renew(connection);
        let connection = &mut self.ready.connection;
        self.books.open(connection, &self.sessions);
        open_books(&self.sessions).closed(before, None);
        connection.simple(&settings_sql(connection, &self.setup))?;
        Ok(())
    }

    /// Sends `request` and notes what its answer will mean.
    #[inline]
    fn put(&mut self, request: Request<'_>) -> Result<(), WireError> {
        if let Request::Execute(id, _) = request
            && self.setup.connect == Connect::Transaction
            && let Some(statement) = self.setup.statements.get(id.index())
        {
            self.ready.prepared(id.index(), &statement.sql)?;
        }
        let Self { ready: Ready { connection, statements, is_text, columns, .. }, texts, setup, .. } = self;
        let mut awaited = Column::default();
        let (asked, bytes) = match request {
            Request::Execute(id, values) => {
                let Some((message, column)) = statements.get_mut(id.index()) else {
                    return Err(WireError::Undone(unknown(id)));
                };
                awaited = *column;
                let asked = match setup.statements[id.index()].answer {
                    Answer::Columns => {
                        columns.row.clear();
                        Asked::Columns(id.index())
                    }
                    _ => Asked::Statement(id.index()),
                };
                (asked, message.bind(values).map_err(WireError::Undone)?)
            }
            Request::Begin(isolation) => (Asked::Begin, texts.begin(isolation)),
            Request::Queue(_) | Request::Flush => return Err(WireError::Undone(no_pipeline())),
            Request::Fill { .. } => return Err(WireError::Undone(no_bulk())),
            Request::Commit => (Asked::Commit, &texts.commit[..]),
            Request::Rollback => (Asked::Rollback, &texts.rollback[..]),
            Request::Edge => {
                self.share = ShareReply::default();
                (Asked::Edge, &texts.edge[..])
            }
        };
        self.asked = asked;
        self.reply = Reply::to(awaited).written(*is_text);
        connection.line.send_bytes(bytes)
    }

    /// What has arrived of the answer; `None` if that is not all of it.
    #[inline]
    fn heard(&mut self) -> Result<Option<Done>, WireError> {
        let connection = &mut self.ready.connection;
        if self.asked == Asked::Edge {
            return Ok(self.share.take(connection)?.map(|share| {
                self.books.told(connection.id(), share, &self.setup.statements, &self.sessions);
                Done::default()
            }));
        }
        let told = match self.asked {
            Asked::Columns(index) => columns(&mut self.reply, connection, &mut self.ready.columns, index)?,
            _ => self.reply.take(connection, |_| ())?,
        };
        let Some(told) = told else { return Ok(None) };
        let mut rows = 0;
        match self.asked {
            Asked::Statement(index) | Asked::Columns(index) => {
                self.ready.statements[index].1 = self.reply.column;
                let statement = &self.setup.statements[index];
                rows = counted(statement, told)?;
                let (rows_read, rows_written) = match statement.answer {
                    Answer::Changed { .. } => (0, rows),
                    // What the method's numbers count are rows; another statement's may be anything.
                    Answer::Number if self.setup.blocks.is_none() => (1, 0),
                    _ => (rows, 0),
                };
                self.books.executed(index, statement.works, rows_read, rows_written);
            }
            Asked::Begin => self.books.begun(),
            Asked::Commit => self.books.ended(true),
            // An edge's answer is another, and was taken before.
            Asked::Rollback | Asked::Edge => self.books.ended(false),
        }
        Ok(Some(Done { rows, commit_began_ns: None }))
    }

    /// Writes rows as the server takes them.
    #[cold]
    fn fill(&mut self, first: u64, rows: u64) -> Result<Done, Box<OpError>> {
        let (Some(bulk), Some(way)) = (self.setup.bulk.clone(), self.way) else { return Err(no_bulk()) };
        let part = bulk.part(first, rows);
        self.books.begun();
        let written =
            write(&mut self.ready.connection, way, &part, bulk.maker().as_mut(), &Cancel::default());
        if written.is_ok() {
            self.books.ran(own::Done { operations: 1, beside: 0, rows_read: 0, rows_written: rows });
        }
        self.books.ended(written.is_ok());
        bulk.sent(written.map_err(TargetError::into_op::<MyError>)?);
        Ok(Done { rows, commit_began_ns: None })
    }

    /// The error of a request.
    #[cold]
    fn failed(&self, error: WireError) -> Box<OpError> {
        let error = error.into_op();
        match self.setup.read_only && error.code == READ_ONLY_TRANSACTION.to_string() {
            true => error.write_in_read_only_session(),
            false => error,
        }
    }

    /// Sends `request` and waits for all of its answer.
    #[inline]
    fn ask_and_wait(&mut self, request: Request<'_>) -> Result<Done, WireError> {
        self.put(request)?;
        loop {
            if let Some(done) = self.heard()? {
                return Ok(done);
            }
            self.ready.connection.line.fill()?;
        }
    }
}

/// Takes in an answer to statement `index`, whose columns are read.
#[inline(never)]
fn columns(
    reply: &mut Reply,
    connection: &mut Connection,
    columns: &mut Columns,
    index: usize,
) -> Result<Option<Told>, WireError> {
    reply.take(connection, |part| columns.heard(index, part))
}

/// What is read of the answer to `statement`.
#[inline]
fn counted(statement: &Statement, told: Told) -> Result<u64, WireError> {
    match statement.answer {
        Answer::Number => told.number.ok_or_else(|| WireError::Undone(no_number(statement))),
        Answer::Row | Answer::Rows => Ok(told.rows),
        Answer::Columns => Ok(if told.rows > 0 { told.rows } else { told.changed }),
        Answer::Changed { per_row } => Ok(told.changed / u64::from(per_row.max(1))),
    }
}

#[cold]
fn no_number(statement: &Statement) -> Box<OpError> {
    let message = format!("the first column that statement {} returns is no integer", statement.name);
    OpError::fatal("answer", message)
}

/// Opens the books of a new connection; returns the server's thread for it, if it is on this machine and may be of use.
fn open_books_near(
    connection: &mut Connection,
    books: &mut Books,
    sessions: &Sessions,
    setup: &SessionSetup,
) -> Result<Option<u32>, TargetError> {
    // On the server drive each session has a thread of Dyno's for itself.
    let thread = if setup.slices { None } else { thread::ask(connection)? };
    books.open(connection, sessions);
    if setup.blocks.is_none() {
        books.know(&setup.statements, sessions);
    }
    if thread.is_none() {
        books.ask(connection, sessions)?;
        return Ok(None);
    }
    let is_near = local::is_near(setup.clock.as_ref(), || books.ask(connection, sessions))?;
    Ok(thread.filter(|_| is_near))
}

/// The error of a slice, with the way out where its procedure is not there: a call can be prepared of what is not there, and
/// older loads have not made all of them.
fn not_called(mut error: Box<OpError>) -> Box<OpError> {
    if error.code == "1305" {
        error.message.push_str(": load the data again, `dyno load` adds the procedures that are missing");
    }
    error
}

impl Session for MySession {
    /// An edge tells what this session has done. There is nothing to flush: the server adds up the counters of all sessions
    /// when it is asked for them, and those of a statement are complete before its answer is sent.
    #[inline]
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        if let Request::Fill { first, rows } = request {
            return self.fill(first, rows);
        }
        self.ask_and_wait(request).map_err(|error| self.failed(error))
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
        self.books.overhead()
    }

    fn knows_overhead(&self) -> bool {
        !self.books.is_unsure()
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        Some(self)
    }

    fn server_processor(&self) -> Option<usize> {
        self.thread.and_then(thread::processor)
    }

    /// The server's counters hold what the connection did as soon as each answer is there, and keep it. Its books stay open until
    /// the next one is there: the server may show it for a moment longer.
    fn disconnect(&mut self) {
        if self.books.is_unsure() {
            // Nothing of it is counted in the transaction's time.
            let _ = self.books.ask(&mut self.ready.connection, &self.sessions);
        }
        self.ready.connection.end_within(CLOSE_WAIT);
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        if self.setup.connect == Connect::Transaction {
            return self.connect();
        }
        open_books(&self.sessions).closed(self.ready.connection.id(), None);
        self.ready = prepare(&self.config, &self.setup, &self.breaker, &self.sessions)?;
        let connection = &mut self.ready.connection;
        self.thread = open_books_near(connection, &mut self.books, &self.sessions, &self.setup)?;
        Ok(())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { mut ready, breaker, sessions, .. } = *self;
        let share = own::ask(&mut ready.connection).ok();
        open_books(&sessions).closed(ready.connection.id(), share);
        ready.connection.close_within(CLOSE_WAIT);
        breaker.release();
    }
}

impl Slices for MySession {
    fn slice(
        &mut self,
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let Ready { connection, calls, .. } = &mut self.ready;
        let calls = match (place, calls) {
            (Place::First, Some((_, Some(first)))) => first,
            (_, Some((own, _))) => own,
            (_, None) => return Err(OpError::fatal("drive", "this session was opened without slices")),
        };
        let done = calls.run(connection, ops, values).map_err(|error| not_called(error.into_op()))?;
        let rows_written = done.rows_updated + done.churned.0 + done.churned.1;
        let (operations, rows_read) = (ops.len() as u64, done.rows_read.iter().sum());
        self.books.ran(own::Done { operations, beside: 0, rows_read, rows_written });
        Ok(done)
    }
}

impl Duplex for MySession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.ready.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: Request<'_>) -> Result<(), Box<OpError>> {
        self.put(request).map_err(|error| self.failed(error))
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        let arrived = self.ready.connection.line.fill_arrived();
        arrived.and_then(|()| self.heard()).map_err(|error| self.failed(error))
    }
}

impl fmt::Debug for MySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySession({})", self.setup.number)
    }
}
