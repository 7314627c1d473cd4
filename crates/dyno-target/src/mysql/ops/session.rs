//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::Drive;

use super::answer::Reply;
use super::slice::Slices;
use super::template::{Parameter, Template};
use super::{settings_sql, statements};
use crate::data::UpdateValues;
use crate::error::{ErrorClass, OpError, TargetError, TargetErrorKind};
use crate::mysql::connect::ConnectConfig;
use crate::mysql::layout::Shape;
use crate::mysql::wire::message::command;
use crate::mysql::wire::{Connection, MyError, WireError};
use crate::net::Breaker;
use crate::session::{Done, Duplex, Interrupter, Op, Request, Session, SessionSetup, SliceDone};

/// The longest wait for the server to book what a session did when it ends.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// `COM_PING` as a packet: what an edge sends where an answer is waited for elsewhere.
const PING: [u8; 5] = [1, 0, 0, 0, command::PING];

/// What is told to whoever watches sessions: the numbers of their connections.
pub(in crate::mysql) type Sessions = Arc<std::sync::Mutex<std::collections::BTreeSet<u32>>>;

/// One session on MySQL or MariaDB.
pub struct MySession {
    config: ConnectConfig,
    setup: SessionSetup,
    ready: Ready,
    breaker: Arc<Breaker>,
    sessions: Sessions,
    values: UpdateValues,
    /// The new columns of one update, one after the other.
    fresh: Vec<u8>,
    column_bytes: usize,
    /// What was sent last, and what has arrived of its answer.
    asked: Request,
    reply: Reply,
    /// First key and number of the last update that the server acknowledged.
    last_update: Option<(u64, u64)>,
    overhead_commits: u64,
}

/// A connection, and the operations that are prepared on it.
struct Ready {
    connection: Connection,
    select: Template,
    lookup: Template,
    scan: Template,
    update: Template,
    slices: Option<Slices>,
}

impl MySession {
    /// Connects and prepares; the connection's number is among `sessions` while it is open.
    ///
    /// # Errors
    /// As [`Connection::open`]; [`TargetErrorKind::Data`] if the tables are not there.
    pub(in crate::mysql) fn open(
        config: &ConnectConfig,
        setup: &SessionSetup,
        sessions: Sessions,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let column_bytes = Shape::of(setup.spec.block_size)?.column_bytes;
        let SessionSetup { redo, number, seed, run_stamp, .. } = *setup;
        let values = UpdateValues::new(seed, run_stamp, number, column_bytes, setup.spec.compressible);
        let ready = prepare(config, setup, column_bytes, &breaker)?;
        note(&sessions, |ids| ids.insert(ready.connection.id()));
        Ok(Self {
            config: config.clone(),
            ready,
            breaker,
            sessions,
            values,
            fresh: vec![0; statements::updated_columns(redo).count() * column_bytes],
            column_bytes,
            asked: Request::Edge,
            reply: Reply::default(),
            last_update: None,
            overhead_commits: 0,
            setup: setup.clone(),
        })
    }

    fn last_key(&self, first: u64) -> u64 {
        first + u64::from(self.setup.work_unit) - 1
    }

    /// Sends `request` and notes what its answer will mean.
    #[inline]
    fn ask(&mut self, request: Request) -> Result<(), WireError> {
        self.asked = request;
        self.reply = Reply::default();
        if let Request::Op(Op::Update { first, number }) = request {
            self.write_update(first, number);
        }
        let last = |first| first + u64::from(self.setup.work_unit) - 1;
        let Ready { connection, select, lookup, scan, update, .. } = &mut self.ready;
        let bytes = match request {
            Request::Op(Op::Select { first }) => {
                select.set_number(0, first);
                select.set_number(1, last(first));
                select.bytes()
            }
            Request::Op(Op::Lookup { key }) => {
                lookup.set_number(0, key);
                lookup.bytes()
            }
            Request::Op(Op::Scan) => scan.bytes(),
            Request::Op(Op::Update { .. }) => update.bytes(),
            Request::Edge => &PING,
        };
        connection.send_bytes(bytes)
    }

    fn write_update(&mut self, first: u64, number: u64) {
        let last = self.last_key(first);
        self.values.fill_columns(number, &mut self.fresh);
        let update = &mut self.ready.update;
        let columns = self.fresh.chunks_exact(self.column_bytes);
        let count = columns.len();
        for (index, column) in columns.enumerate() {
            update.set_text(index, column);
        }
        update.set_number(count, first);
        update.set_number(count + 1, last);
    }

    /// What has arrived of the answer; `None` if that is not all of it.
    #[inline]
    fn heard(&mut self) -> Result<Option<Done>, WireError> {
        let Some(answer) = self.reply.take(&mut self.ready.connection)? else { return Ok(None) };
        let rows = match self.asked {
            Request::Op(Op::Select { .. } | Op::Scan) => answer.value,
            Request::Op(Op::Lookup { .. }) => answer.rows,
            Request::Op(Op::Update { first, number }) => {
                self.last_update = Some((first, number));
                answer.rows
            }
            Request::Edge => 0,
        };
        Ok(Some(Done { rows, commit_began_ns: None }))
    }

    /// Sends `request` and waits for all of its answer.
    #[inline]
    fn ask_and_wait(&mut self, request: Request) -> Result<Done, WireError> {
        self.ask(request)?;
        loop {
            if let Some(done) = self.heard()? {
                return Ok(done);
            }
            self.ready.connection.fill()?;
        }
    }

    fn read_back(&mut self, first: u64, number: u64) -> Result<(u64, u64), WireError> {
        let session = session_prefix(&self.setup);
        let stamp = format!("{session}{number:016x}");
        let run = UpdateValues::run_prefix(self.setup.run_stamp);
        let last = self.last_key(first);
        let sql = statements::verify(self.setup.schema, first, last, &stamp, &run, &session);
        let rows = self.ready.connection.ask(&sql)?;
        self.overhead_commits += 1;
        let number = |index| rows.first().and_then(|row| row.parse(index));
        number(0).zip(number(1)).ok_or_else(|| WireError::protocol("no row for a count"))
    }
}

fn note(sessions: &Sessions, change: impl FnOnce(&mut std::collections::BTreeSet<u32>) -> bool) {
    // A set of numbers is whole at every moment, so a panic elsewhere does not spoil it.
    change(&mut sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
}

/// What every update value of this session begins with.
fn session_prefix(setup: &SessionSetup) -> String {
    format!("{}{:08x}", UpdateValues::run_prefix(setup.run_stamp), setup.number)
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
    use Parameter::{Number, Text};
    let SessionSetup { schema, redo, .. } = *setup;
    let (mut select, mut lookup, mut scan, mut update) =
        (Template::default(), Template::default(), Template::default(), Template::default());
    let mut slices = None;
    match setup.drive {
        Drive::Client => {
            select = Template::new(connection.prepare(&statements::select(schema))?, &[Number, Number]);
            lookup = Template::new(connection.prepare(&statements::lookup(schema))?, &[Number]);
            let columns = statements::updated_columns(redo).map(|_| Text(column_bytes));
            let parameters: Vec<Parameter> = columns.chain([Number, Number]).collect();
            update = Template::new(connection.prepare(&statements::update(schema, redo))?, &parameters);
            if setup.spec.scan_rows > 0 {
                scan = Template::new(connection.prepare(&statements::scan(schema))?, &[]);
            }
        }
        Drive::Server => {
            let prefix = session_prefix(setup);
            slices = Some(Slices::prepare(&mut connection, schema, redo, prefix, column_bytes)?);
        }
    }
    if connection.marked && !connection.is_mariadb() {
        // Definitions of columns, told at the preparation, need not be told with every answer.
        connection.ask("SET SESSION resultset_metadata = NONE")?;
    }
    Ok(Ready { connection, select, lookup, scan, update, slices })
}

/// Why the statements could not be prepared.
fn not_prepared(error: WireError, setup: &SessionSetup) -> TargetError {
    let error = TargetError::from(error);
    let kind = match MyError::of(&error).map(|server| server.number) {
        // No such table, column, index or procedure.
        Some(1146 | 1054 | 1176 | 1305) => TargetErrorKind::Data,
        Some(_) => error.kind,
        None => return error,
    };
    let message =
        format!("the operations on schema {} could not be prepared: {}", setup.schema, error.message);
    let hint = match kind {
        TargetErrorKind::Data => "load the data first: dyno load".to_owned(),
        TargetErrorKind::Privilege => {
            "run as the user that loaded the data, or grant it SELECT, UPDATE and EXECUTE on the database"
                .to_owned()
        }
        _ => error.hint.clone(),
    };
    TargetError { kind, message, hint, source: error.source }
}

impl Session for MySession {
    #[inline]
    fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        self.ask_and_wait(Request::Op(op)).map_err(WireError::into_op)
    }

    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        let Ready { connection, slices, .. } = &mut self.ready;
        if ops.is_empty() {
            return Ok(SliceDone::default());
        }
        let slices = slices.as_mut().ok_or_else(|| {
            let message = "this session was opened for the client drive and prepared no slices".to_owned();
            Box::new(OpError { class: ErrorClass::Fatal, code: "drive".to_owned(), message })
        })?;
        let done = slices
            .run(connection, ops, self.setup.work_unit, &mut self.values)
            .map_err(WireError::into_op)?;
        let last = ops.iter().rev().find_map(|op| match *op {
            Op::Update { first, number } => Some((first, number)),
            _ => None,
        });
        self.last_update = last.or(self.last_update);
        Ok(done)
    }

    /// Nothing to do: the server adds up the counters of all sessions when it is asked for them, and those of a statement
    /// are complete before its answer is sent.
    fn edge(&mut self) -> Result<(), Box<OpError>> {
        Ok(())
    }

    fn overhead_commits(&self) -> u64 {
        self.overhead_commits
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        Some(self)
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        note(&self.sessions, |ids| ids.remove(&self.ready.connection.id()));
        self.ready = prepare(&self.config, &self.setup, self.column_bytes, &self.breaker)?;
        note(&self.sessions, |ids| ids.insert(self.ready.connection.id()));
        Ok(())
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((first, number)) = self.last_update else { return Ok(None) };
        self.read_back(first, number).map(Some).map_err(WireError::into_op)
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { ready, breaker, sessions, .. } = *self;
        note(&sessions, |ids| ids.remove(&ready.connection.id()));
        ready.connection.close_within(CLOSE_WAIT);
        breaker.release();
    }
}

impl Duplex for MySession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.ready.connection.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: Request) -> Result<(), Box<OpError>> {
        self.ask(request).map_err(WireError::into_op)
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        self.ready.connection.fill_arrived().and_then(|()| self.heard()).map_err(WireError::into_op)
    }
}

impl fmt::Debug for MySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySession({}, schema {})", self.setup.number, self.setup.schema)
    }
}
