//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::Drive;

use super::answer::Reply;
use super::slice::Slices;
use super::templates::Templates;
use super::{settings_sql, statements, thread};
use crate::connect::ConnectConfig;
use crate::layout::Shape;
use crate::own::{self, Acknowledged, OWN_STATUS, Sessions, Share, ShareReply, open_books};
use crate::wire::message::{self, command};
use crate::wire::{Connection, MyError, WireError};
use dyno_engine::data::UpdateValues;
use dyno_engine::error::{ErrorClass, OpError, Refusal as _, TargetError};
use dyno_engine::net::Breaker;
use dyno_engine::net::local;
use dyno_engine::session::{Done, Duplex, Interrupter, Op, Place, Request, Session, SessionSetup, SliceDone};
use dyno_engine::slices::last_update;

/// The longest wait for the server to book what a session did when it ends.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on MySQL or MariaDB.
pub struct MySession {
    config: ConnectConfig,
    setup: SessionSetup,
    ready: Ready,
    breaker: Arc<Breaker>,
    sessions: Sessions,
    /// What an edge sends: the question for this connection's own share of the server's counters.
    edge: Vec<u8>,
    values: UpdateValues,
    column_bytes: usize,
    /// Records that a row is with its spacers.
    records: u64,
    place: Place,
    /// What was sent last, and what has arrived of its answer.
    asked: Request,
    reply: Reply,
    share: ShareReply,
    /// Schema, first key and number of the last update that the server acknowledged.
    last_update: Option<(u32, u64, u64)>,
    books: Books,
    /// The server's thread for this connection, where it runs on this machine.
    thread: Option<u32>,
}

/// This session's transactions, as it acknowledges them and as the server counts them for its connection.
#[derive(Debug, Default)]
struct Books {
    acknowledged: Arc<Acknowledged>,
    /// Transactions that were no operations: on the connections before this one, and on this one. A procedure or a table that
    /// is met for the first time is looked up in the dictionary, in transactions of its own.
    before: u64,
    overhead: u64,
}

impl Books {
    /// Opens those of a new connection, whose number is among `sessions` while it is open.
    fn open(&mut self, connection: &mut Connection, sessions: &Sessions) -> Result<(), WireError> {
        let before = self.before + self.overhead;
        *self = Self { before, ..Self::default() };
        open_books(sessions).opened(connection.id(), Arc::clone(&self.acknowledged));
        let share = own::ask(connection)?;
        self.told(connection.id(), share, sessions);
        Ok(())
    }

    /// The server has counted `share` for this connection.
    fn told(&mut self, id: u32, share: Share, sessions: &Sessions) {
        let operations = self.acknowledged.so_far().operations;
        self.overhead = self.overhead.max(share.transactions().saturating_sub(operations));
        open_books(sessions).told(id, share);
    }
}

/// A connection, and the operations that are prepared on it.
struct Ready {
    connection: Connection,
    templates: Templates,
    /// Those for schema 1, where operations go there too.
    first: Option<Box<Templates>>,
    slices: Option<Slices>,
    slices_first: Option<Slices>,
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
        let shape = Shape::of(setup.spec.block_size)?;
        let column_bytes = shape.column_bytes;
        let values = setup.update_values(column_bytes);
        let mut ready = prepare(config, setup, column_bytes, &breaker)?;
        let mut books = Books::default();
        let thread = open_books_near(&mut ready.connection, &mut books, &sessions, setup)?;
        let mut edge = Vec::new();
        message::command(&mut edge, command::QUERY, OWN_STATUS);
        Ok(Self {
            config: config.clone(),
            ready,
            breaker,
            sessions,
            edge,
            values,
            column_bytes,
            records: shape.records(),
            place: Place::Own,
            asked: Request::Edge,
            reply: Reply::default(),
            share: ShareReply::default(),
            last_update: None,
            books,
            thread,
            setup: setup.clone(),
        })
    }

    /// Sends `request` and notes what its answer will mean.
    #[inline]
    fn ask(&mut self, request: Request) -> Result<(), WireError> {
        self.asked = request;
        self.reply = Reply::default();
        let Ready { connection, templates, first, .. } = &mut self.ready;
        let bytes = match request {
            Request::Op(op) => {
                let templates = match (self.place, first) {
                    (Place::First, Some(first)) => first.as_mut(),
                    _ => templates,
                };
                templates.fill(op, &mut self.values)
            }
            Request::Edge => {
                self.share = ShareReply::default();
                &self.edge
            }
        };
        connection.line.send_bytes(bytes)
    }

    /// The schema that operations go to.
    fn schema(&self) -> u32 {
        if self.place == Place::First { 1 } else { self.setup.schema }
    }

    /// What has arrived of the answer; `None` if that is not all of it.
    #[inline]
    fn heard(&mut self) -> Result<Option<Done>, WireError> {
        if self.asked == Request::Edge {
            return self.heard_share();
        }
        let Some(answer) = self.reply.take(&mut self.ready.connection)? else { return Ok(None) };
        let rows = match self.asked {
            Request::Op(Op::Select { .. } | Op::Secondary { .. } | Op::Scan) => answer.value,
            Request::Op(Op::Lookup { .. }) => answer.rows,
            // A row and its spacers.
            Request::Op(Op::Insert { .. } | Op::Delete { .. }) => answer.rows / self.records,
            Request::Op(Op::Update { first, number }) => {
                self.last_update = Some((self.schema(), first, number));
                answer.rows
            }
            // Its answer is another, and was taken before.
            Request::Edge => 0,
        };
        let writes = matches!(self.asked, Request::Op(op) if op.writes());
        let (rows_read, rows_written) = if writes { (0, rows) } else { (rows, 0) };
        self.books.acknowledged.add(own::Done { operations: 1, rows_read, rows_written });
        Ok(Some(Done { rows, commit_began_ns: None }))
    }

    /// What has arrived of this connection's own share; told to the books when it is all.
    fn heard_share(&mut self) -> Result<Option<Done>, WireError> {
        let Some(share) = self.share.take(&mut self.ready.connection)? else { return Ok(None) };
        self.books.told(self.ready.connection.id(), share, &self.sessions);
        Ok(Some(Done::default()))
    }

    /// Sends `request` and waits for all of its answer.
    #[inline]
    fn ask_and_wait(&mut self, request: Request) -> Result<Done, WireError> {
        self.ask(request)?;
        loop {
            if let Some(done) = self.heard()? {
                return Ok(done);
            }
            self.ready.connection.line.fill()?;
        }
    }

    fn read_back(&mut self, schema: u32, first: u64, number: u64) -> Result<(u64, u64), WireError> {
        let session = self.setup.stamp();
        let stamp = format!("{session}{number:016x}");
        let run = UpdateValues::run_prefix(self.setup.run_stamp);
        let last = self.setup.last_key(first);
        let sql = statements::verify(schema, first, last, &stamp, &run, &session);
        let rows = self.ready.connection.ask(&sql)?;
        self.books.overhead += 1;
        let number = |index| rows.first().and_then(|row| row.parse(index));
        number(0).zip(number(1)).ok_or_else(|| WireError::protocol("no row for a count"))
    }
}

/// A connection on which everything is prepared.
fn prepare(
    config: &ConnectConfig,
    setup: &SessionSetup,
    column_bytes: usize,
    breaker: &Breaker,
) -> Result<Ready, TargetError> {
    let name = format!("dyno session {}", setup.number);
    let mut connection = Connection::open_guarded(config, &name, breaker)?;
    connection.simple(&settings_sql(connection.is_mariadb()))?;
    operations(connection, setup, column_bytes).map_err(|error| not_prepared(error, setup))
}

fn operations(
    mut connection: Connection,
    setup: &SessionSetup,
    column_bytes: usize,
) -> Result<Ready, WireError> {
    let schema = setup.schema;
    let also_first = setup.also_first();
    let (mut templates, mut first) = (Templates::default(), None);
    let (mut slices, mut slices_first) = (None, None);
    match setup.drive {
        Drive::Client => {
            templates = Templates::prepare(&mut connection, setup, schema, column_bytes)?;
            if also_first {
                first = Some(Box::new(Templates::prepare(&mut connection, setup, 1, column_bytes)?));
            }
        }
        Drive::Server => {
            let mut prepare = |schema| Slices::prepare(&mut connection, setup, schema, setup.stamp());
            slices = Some(prepare(schema)?);
            slices_first = also_first.then(|| prepare(1)).transpose()?;
        }
    }
    if connection.marked && !connection.is_mariadb() {
        // Definitions of columns, told at the preparation, need not be told with every answer. MariaDB leaves them out by
        // itself where a client keeps them.
        connection.ask("SET SESSION resultset_metadata = NONE")?;
    }
    Ok(Ready { connection, templates, first, slices, slices_first })
}

/// Opens the books of a new connection; returns the server's thread for it, if it is on this machine and may be of use.
fn open_books_near(
    connection: &mut Connection,
    books: &mut Books,
    sessions: &Sessions,
    setup: &SessionSetup,
) -> Result<Option<u32>, TargetError> {
    // On the server drive each session has a thread of Dyno's for itself.
    let thread = match setup.drive {
        Drive::Client => thread::ask(connection)?,
        Drive::Server => None,
    };
    let asked_ns = setup.clock.now_ns();
    books.open(connection, sessions)?;
    let took_ns = u128::from(setup.clock.now_ns() - asked_ns);
    Ok(thread.filter(|_| took_ns < local::NEAR.as_nanos()))
}

/// Why the statements could not be prepared.
fn not_prepared(error: WireError, setup: &SessionSetup) -> TargetError {
    let error = TargetError::from(error);
    let Some(number) = MyError::of(&error).map(|server| server.number) else { return error };
    // No such table, column, index or procedure.
    let is_missing = matches!(number, 1146 | 1054 | 1176 | 1305);
    setup.not_prepared(error, is_missing, "SELECT, INSERT, UPDATE, DELETE and EXECUTE on the database")
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
    #[inline]
    fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        self.ask_and_wait(Request::Op(op)).map_err(WireError::into_op)
    }

    #[inline]
    fn turn_to(&mut self, place: Place) {
        self.place = place;
    }

    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        let schema = self.schema();
        let Ready { connection, slices, slices_first, .. } = &mut self.ready;
        if ops.is_empty() {
            return Ok(SliceDone::default());
        }
        let slices = match (self.place, slices_first) {
            (Place::First, Some(first)) => Some(first),
            _ => slices.as_mut(),
        };
        let slices = slices.ok_or_else(|| {
            let message = "this session was opened for the client drive and prepared no slices".to_owned();
            Box::new(OpError { class: ErrorClass::Fatal, code: "drive".to_owned(), message })
        })?;
        let done =
            slices.run(connection, ops, &mut self.values).map_err(|error| not_called(error.into_op()))?;
        let last = last_update(ops).map(|(first, number)| (schema, first, number));
        self.last_update = last.or(self.last_update);
        self.books.acknowledged.add(own::Done {
            operations: ops.len() as u64,
            rows_read: done.rows_read.iter().sum(),
            rows_written: done.rows_updated + done.churned.0 + done.churned.1,
        });
        Ok(done)
    }

    /// Tells what this session has done. There is nothing to flush: the server adds up the counters of all sessions when it
    /// is asked for them, and those of a statement are complete before its answer is sent.
    fn edge(&mut self) -> Result<(), Box<OpError>> {
        self.ask_and_wait(Request::Edge).map(|_| ()).map_err(WireError::into_op)
    }

    fn overhead_commits(&self) -> u64 {
        self.books.before + self.books.overhead
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        Some(self)
    }

    fn server_processor(&self) -> Option<usize> {
        self.thread.and_then(thread::processor)
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        open_books(&self.sessions).closed(self.ready.connection.id(), None);
        self.ready = prepare(&self.config, &self.setup, self.column_bytes, &self.breaker)?;
        let connection = &mut self.ready.connection;
        self.thread = open_books_near(connection, &mut self.books, &self.sessions, &self.setup)?;
        Ok(())
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((schema, first, number)) = self.last_update else { return Ok(None) };
        self.read_back(schema, first, number).map(Some).map_err(WireError::into_op)
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

impl Duplex for MySession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.ready.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: Request) -> Result<(), Box<OpError>> {
        self.ask(request).map_err(WireError::into_op)
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        self.ready.connection.line.fill_arrived().and_then(|()| self.heard()).map_err(WireError::into_op)
    }
}

impl fmt::Debug for MySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySession({}, schema {})", self.setup.number, self.setup.schema)
    }
}
