//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use super::answer::{self, Reply};
use super::batch::Batch;
use super::columns::Columns;
use super::inferred::{InferredTypes, Oids};
use super::opening::{blocks_in_loops, name_of, opening_commits, prepare, prepare_inferred};
use super::slice::{self, Tails};
use super::statements::{self, Form, Ready};
use super::{READ_ONLY, READ_ONLY_TRANSACTION, commit_setting};
use crate::connect::ConnectConfig;
use crate::layout::filler::copy;
use crate::pool::{Member, Pool, Statements, Way};
use crate::wire::{Breaker, Connection, PgError, WireError};
use dyno_engine::data::UpdateValues;
use dyno_engine::net::local;
use dyno_engine::statement::no_pipeline;
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    Answer, Cancel, Clock, Commits, Done, Duplex, ErrorClass, Interrupter, Op, OpError, Place, Request,
    Session, SessionSetup, SliceDone, Slices, TargetError, Value,
};
use dyno_plan::{Connect, Protocol};

/// The longest wait for the server to book what a session did when it ends.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on PostgreSQL; in this order, so that what an operation touches is in few lines of the processor's cache.
#[repr(C)]
pub struct PgSession {
    /// What was sent last, and what has arrived of its answer.
    asked: Asked,
    /// Transactions that the server counts for an edge.
    edge_commits: u64,
    overhead_commits: u64,
    reply: Reply,
    batch: Batch,
    ready: Ready,
    connection: Connection,
    setup: SessionSetup,
    columns: Columns,
    config: ConnectConfig,
    breaker: Arc<Breaker>,
    /// The server's types for the parameters of each statement.
    types: Vec<Oids>,
    /// What loops inside the database need; absent where there are none.
    tails: Option<Tails>,
    /// Whether it answers as a server on this machine does.
    is_near: bool,
    /// The pooler that it goes through.
    through: Option<Through>,
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// What was done, as this kind of answer tells; whether it commits behind its end, and whether it is work.
    Statement(Answer, bool, bool),
    /// That a transaction has begun or is taken back.
    Transaction,
    /// That it is committed.
    Commit,
    /// That everything is visible.
    Edge,
}

/// A place among the sessions behind a pooler.
struct Through {
    member: Member,
    statements: Statements,
}

impl PgSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`Connection::open`]; `Data` if the tables are not there.
    pub(crate) fn open(
        config: &ConnectConfig,
        setup: &SessionSetup,
        inferred: &InferredTypes,
    ) -> Result<Self, TargetError> {
        Self::open_as(config, setup, inferred, None)
    }

    /// As [`PgSession::open`], through a pooler.
    pub(crate) fn open_through(
        pool: &Arc<Pool>,
        setup: &SessionSetup,
        inferred: &InferredTypes,
    ) -> Result<Self, TargetError> {
        let through = match pool.way()? {
            Way::Straight => None,
            Way::Pooled(statements) => Some(Through { member: Member::join(pool), statements }),
        };
        Self::open_as(pool.sessions(), setup, inferred, through)
    }

    fn open_as(
        config: &ConnectConfig,
        setup: &SessionSetup,
        inferred: &InferredTypes,
        through: Option<Through>,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let statements = through.as_ref().map(|through| through.statements);
        let form = match statements {
            None => Form::direct(setup.protocol),
            Some(statements) => {
                let prepared = statements == Statements::Prepared && setup.protocol == Protocol::Prepared;
                Form::pooled(prepared, setup)
            }
        };
        let (connection, types) = prepare_inferred(config, setup, inferred, statements, &breaker)?;
        let flushes = statements::flushes(&connection);
        let mut session = Self {
            config: config.clone(),
            connection,
            breaker,
            ready: Ready::new(setup, &form, &types, flushes),
            edge_commits: u64::from(flushes),
            tails: blocks_in_loops(setup).map(|blocks| Tails::new(blocks.stamp())),
            asked: Asked::Edge,
            reply: Reply::default(),
            batch: Batch::default(),
            columns: Columns::default(),
            overhead_commits: opening_commits(statements),
            is_near: false,
            through,
            types,
            setup: setup.clone(),
        };
        session.rehearse()?;
        Ok(session)
    }

    /// Does a lookup of a key that is not there and an edge before anything counts: what the server loads and plans at first
    /// took 64 sessions on 2 processors 6 ms from the first one's first operation to the last one's, and a thousand
    /// sessions a fifth of a second for their first edge and nothing for the second, so that what they did in between was
    /// divided by too short a time.
    ///
    /// Nothing else is rehearsed. The server decides after five executions whether it goes on planning each (`plancache.c`,
    /// `choose_custom_plan`), by the cost of these plans; a range without rows is so cheap that it would plan for ever, while
    /// a unique key costs the same whether it is there or not.
    fn rehearse(&mut self) -> Result<(), TargetError> {
        if let Some((statement, number)) = self.setup.rehearsal {
            self.ask_and_wait(Request::Execute(statement, &[Value::Int(number)]))?;
            self.overhead_commits += 1;
        }
        let clock = Arc::clone(&self.setup.clock);
        self.is_near = local::is_near(clock.as_ref(), || self.ask_and_wait(Request::Edge).map(|_| ()))?;
        Ok(())
    }

    /// Opens a connection for one transaction: nothing is prepared, and no more is asked than the transaction needs.
    fn connect(&mut self) -> Result<(), TargetError> {
        self.connection = Connection::open_guarded(&self.config, &name_of(&self.setup), &self.breaker)?;
        self.ready.forget();
        // The start of the server's process is one.
        self.overhead_commits += 1;
        let read_only = self.setup.read_only.then_some(READ_ONLY);
        let settings = commit_setting(self.setup.commit).into_iter().chain(read_only);
        let sql: String = settings.map(|(name, value)| format!("SET {name} = {value};")).collect();
        if !sql.is_empty() {
            self.connection.simple(&sql)?;
            self.overhead_commits += 1;
        }
        Ok(())
    }

    /// The error of a request. What it was to prepare may not be.
    #[cold]
    fn failed(&mut self, error: WireError) -> Box<OpError> {
        self.ready.forget();
        self.batch.clear();
        let error = error.into_op();
        match self.setup.read_only && error.code == READ_ONLY_TRANSACTION {
            true => error.write_in_read_only_session(),
            false => error,
        }
    }

    /// Sends `request` and notes what its answer will mean.
    #[inline]
    fn send_request(&mut self, request: Request<'_>) -> Result<(), WireError> {
        if self.batch.requests() > 0 || matches!(request, Request::Queue(_) | Request::Flush) {
            return self.send_batch(request);
        }
        let is_text = self.ready.is_text && matches!(request, Request::Execute(..));
        self.reply = Reply::new(is_text);
        let (asked, bytes) = match request {
            Request::Execute(id, values) => {
                let bytes = self.ready.execute(id, values).map_err(WireError::Undone)?;
                let statement = &self.setup.statements[id.index()];
                let commits = statement.commits == Commits::Behind;
                if statement.answer == Answer::Columns {
                    self.columns.clear();
                }
                (Asked::Statement(statement.answer, commits, statement.works), bytes)
            }
            Request::Begin(isolation) => (Asked::Transaction, self.ready.begin(isolation)),
            Request::Commit => (Asked::Commit, self.ready.commit()),
            Request::Rollback => (Asked::Transaction, self.ready.rollback()),
            Request::Edge => (Asked::Edge, self.ready.edge()),
            Request::Queue(_) | Request::Flush => return Err(WireError::Undone(no_pipeline())),
            Request::Fill { .. } => return Err(WireError::Undone(no_bulk())),
        };
        self.asked = asked;
        self.connection.line.send_bytes(bytes)
    }

    /// Keeps a request, or sends one behind those that are kept.
    #[inline(never)]
    fn send_batch(&mut self, request: Request<'_>) -> Result<(), WireError> {
        let Self { batch, ready, setup, columns, .. } = self;
        if let Request::Queue(request) = request {
            return batch.keep(request, ready).map_err(WireError::Undone);
        }
        self.asked = match request {
            Request::Execute(id, values) => {
                batch.add(ready.execute(id, values).map_err(WireError::Undone)?);
                let statement = &setup.statements[id.index()];
                if statement.answer == Answer::Columns {
                    columns.clear();
                }
                Asked::Statement(statement.answer, false, statement.works)
            }
            Request::Commit => batch.text("COMMIT", Asked::Commit),
            Request::Rollback => batch.text("ROLLBACK", Asked::Transaction),
            _ => batch.wait(Asked::Transaction),
        };
        self.reply = Reply::behind(self.batch.requests());
        let sent = self.connection.line.send_bytes(self.batch.bytes());
        self.batch.clear();
        sent
    }

    /// What has arrived of the answer; `None` if that is not all of it.
    #[inline]
    fn heard(&mut self) -> Result<Option<Done>, WireError> {
        let commits = matches!(self.asked, Asked::Statement(_, true, _));
        let clock = commits.then_some(&*self.setup.clock);
        let answer = match self.asked {
            Asked::Statement(Answer::Columns, ..) => {
                columns(&mut self.reply, &mut self.connection, clock, &mut self.columns)?
            }
            _ => self.reply.take(&mut self.connection, clock, |_, _| ())?,
        };
        let Some(answer) = answer else { return Ok(None) };
        let rows = match self.asked {
            Asked::Statement(of, _, works) => {
                self.overhead_commits += u64::from(!works);
                match of {
                    Answer::Number if answer.is_odd => return Err(WireError::Undone(no_integer())),
                    Answer::Number => answer.value,
                    Answer::Row | Answer::Rows => answer.rows,
                    Answer::Columns => answer.rows.max(self.columns.rows),
                    Answer::Changed { per_row } => answer.rows / u64::from(per_row),
                }
            }
            Asked::Commit if answer.tag == b'R' => return Err(WireError::Undone(undone())),
            Asked::Commit | Asked::Transaction => 0,
            Asked::Edge => {
                self.overhead_commits += self.edge_commits;
                0
            }
        };
        Ok(Some(Done { rows, commit_began_ns: answer.ended_ns }))
    }

    /// Writes rows by a COPY of their own.
    #[cold]
    fn fill(&mut self, first: u64, rows: u64) -> Result<Done, Box<OpError>> {
        let Some(bulk) = self.setup.bulk.clone() else { return Err(no_bulk()) };
        let part = bulk.part(first, rows);
        let copied = copy(&mut self.connection, &part, bulk.maker().as_mut(), &Cancel::default());
        bulk.sent(copied.map_err(TargetError::into_op::<PgError>)?);
        Ok(Done { rows, commit_began_ns: None })
    }

    /// Sends `request` and waits for all of its answer.
    #[inline]
    fn ask_and_wait(&mut self, request: Request<'_>) -> Result<Done, WireError> {
        self.send_request(request)?;
        if matches!(request, Request::Queue(_)) {
            return Ok(Done::default());
        }
        loop {
            if let Some(done) = self.heard()? {
                return Ok(done);
            }
            self.connection.line.fill()?;
        }
    }
}

/// Takes in an answer whose columns are read.
#[inline(never)]
fn columns(
    reply: &mut Reply,
    connection: &mut Connection,
    clock: Option<&dyn Clock>,
    columns: &mut Columns,
) -> Result<Option<answer::Answer>, WireError> {
    reply.take(connection, clock, |tag, body| columns.heard(tag, body))
}

/// A transaction in which a statement has failed ends with its rollback, also where it is asked to commit.
#[cold]
fn undone() -> Box<OpError> {
    let message = "the transaction was taken back, for a statement in it had failed".to_owned();
    Box::new(OpError { class: ErrorClass::Retryable, code: "25P02".to_owned(), message })
}

#[cold]
fn no_integer() -> Box<OpError> {
    let message = "the first column that the statement returns is no integer: cast it (::int8)";
    OpError::fatal("answer", message.to_owned())
}

impl Session for PgSession {
    /// An edge is `pg_stat_force_next_flush()`, from version 15 on.
    ///
    /// Found by experiment on 15.20 and 18.4: when its ReadyForQuery arrives, `pg_stat_database`, `pg_stat_user_tables`,
    /// `pg_statio_user_tables`, `pg_stat_wal` and (18) `pg_stat_io` count everything this session has done to the unit,
    /// the transaction of the edge itself among them. The next flush on the server's own account is a second away or
    /// more, so a snapshot within the second after an edge counts nothing that came after it.
    ///
    /// Before version 15 a session's statistics reach the views only when it is idle between transactions and half a
    /// second or more has passed since the last time, or when it ends. Nothing can be forced there, so counters of a
    /// window may miss, or have too much, up to that half second of each session at either end; `edge` is an empty Sync.
    #[inline]
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        if let Request::Fill { first, rows } = request {
            return self.fill(first, rows);
        }
        self.ask_and_wait(request).map_err(|error| self.failed(error))
    }

    fn queued(&self) -> &[u64] {
        self.reply.before()
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
        if !self.is_near || self.through.is_some() {
            return None;
        }
        let pid = u32::try_from(self.connection.backend_pid()).ok()?;
        local::last_processor(pid, |title| title.starts_with(b"postgres: "))
    }

    /// The server ends the connection when its process has booked its statistics and exits.
    fn disconnect(&mut self) {
        self.connection.end_within(CLOSE_WAIT);
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        if self.setup.connect == Connect::Transaction {
            return self.connect();
        }
        let statements = self.through.as_ref().map(|through| through.statements);
        self.connection = prepare(&self.config, &self.setup, &self.types, statements, &self.breaker)?;
        self.overhead_commits += opening_commits(statements);
        self.rehearse()
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { connection, breaker, through, .. } = *self;
        connection.close_within(CLOSE_WAIT);
        breaker.release();
        if let Some(through) = through {
            through.member.leave();
        }
    }
}

impl Slices for PgSession {
    fn slice(
        &mut self,
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let (Some(blocks), Some(tails)) = (&self.setup.blocks, &mut self.tails) else {
            return Err(OpError::fatal("drive", "this session was opened without loops inside the database"));
        };
        let place = if blocks.also_first() { place } else { Place::Own };
        let kind = (blocks.work_unit, blocks.extra);
        slice::run(&mut self.connection, ops, kind, place, values, tails).map_err(WireError::into_op)
    }
}

impl Duplex for PgSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: Request<'_>) -> Result<(), Box<OpError>> {
        self.send_request(request).map_err(|error| self.failed(error))
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        let arrived = self.connection.line.fill_arrived();
        arrived.and_then(|()| self.heard()).map_err(|error| self.failed(error))
    }
}

impl fmt::Debug for PgSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgSession({})", self.setup.number)
    }
}
