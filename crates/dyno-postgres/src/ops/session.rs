//! One session: a connection with its statements prepared.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::Drive;

use super::answer::Reply;
use super::settings_sql;
use super::slice::{self, Tails};
use super::statements::{self, Form};
use super::template::{Ending, Template};
use super::templates::{self, Templates};
use crate::connect::ConnectConfig;
use crate::counters::SHARED_STATISTICS;
use crate::pool::{Member, POOLED_NAME, Pool, Statements, Way};
use crate::wire::{Breaker, Connection, PgError, Row, WireError, message};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::error::{OpError, Refusal as _, TargetError};
use dyno_engine::net::local;
use dyno_engine::session::{Done, Duplex, Interrupter, Op, Place, Request, Session, SessionSetup, SliceDone};
use dyno_engine::slices::{Call, last_update};

/// The longest wait for the server to book what a session did when it ends.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// One session on PostgreSQL.
pub struct PgSession {
    config: ConnectConfig,
    setup: SessionSetup,
    connection: Connection,
    breaker: Arc<Breaker>,
    templates: Templates,
    /// Those for schema 1, where operations go there too.
    first: Option<Box<Templates>>,
    place: Place,
    edge: Template,
    /// Transactions that the server counts for an edge.
    edge_commits: u64,
    values: UpdateValues,
    tails: Tails,
    /// What was sent last, and what has arrived of its answer.
    asked: Request,
    reply: Reply,
    /// Schema, first key and number of the last update that the server acknowledged.
    last_update: Option<(u32, u64, u64)>,
    overhead_commits: u64,
    /// Whether it answers as a server on this machine does.
    is_near: bool,
    /// The pooler that it goes through.
    through: Option<Through>,
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
    pub fn open(config: &ConnectConfig, setup: &SessionSetup) -> Result<Self, TargetError> {
        Self::open_as(config, setup, None)
    }

    /// As [`PgSession::open`], through a pooler.
    pub(crate) fn open_through(pool: &Arc<Pool>, setup: &SessionSetup) -> Result<Self, TargetError> {
        let through = match pool.way()? {
            Way::Straight => None,
            Way::Pooled(statements) => Some(Through { member: Member::join(pool), statements }),
        };
        Self::open_as(pool.sessions(), setup, through)
    }

    fn open_as(
        config: &ConnectConfig,
        setup: &SessionSetup,
        through: Option<Through>,
    ) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let values = setup.update_values(CLASSIC_COLUMN_BYTES);
        let statements = through.as_ref().map(|through| through.statements);
        let form = match statements {
            None => Form::DIRECT,
            Some(statements) => Form::pooled(statements == Statements::Prepared, setup.commit),
        };
        // An edge needs no settings.
        let edge = Form { before: Vec::new(), prepared: form.prepared };
        let connection = prepare(config, setup, statements, &breaker)?;
        let flushes = connection.server_version_num() >= SHARED_STATISTICS;
        let mut session = Self {
            config: config.clone(),
            connection,
            breaker,
            templates: Templates::new(setup, setup.schema, &form),
            first: setup.also_first().then(|| Box::new(Templates::new(setup, 1, &form))),
            place: Place::Own,
            edge: if flushes { statements::edge().template(&edge, Ending::Sync) } else { Template::sync() },
            edge_commits: u64::from(flushes),
            values,
            tails: Tails::new(setup.stamp()),
            asked: Request::Edge,
            reply: Reply::default(),
            last_update: None,
            overhead_commits: opening_commits(statements),
            is_near: false,
            through,
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
        if self.setup.drive == Drive::Client {
            let beyond = self.setup.spec.rows + 1;
            self.ask_and_wait(Request::Op(Op::Lookup { key: beyond }))?;
            self.overhead_commits += 1;
        }
        let asked_ns = self.setup.clock.now_ns();
        self.ask_and_wait(Request::Edge)?;
        self.is_near = u128::from(self.setup.clock.now_ns() - asked_ns) < local::NEAR.as_nanos();
        Ok(())
    }

    /// Sends `request` and notes what its answer will mean.
    #[inline]
    fn ask(&mut self, request: Request) -> Result<(), WireError> {
        self.asked = request;
        self.reply = Reply::default();
        let template = match request {
            Request::Op(op) => {
                let templates = match (self.place, &mut self.first) {
                    (Place::First, Some(first)) => first.as_mut(),
                    _ => &mut self.templates,
                };
                templates.fill(op, &mut self.values)
            }
            Request::Edge => &self.edge,
        };
        self.connection.line.send_bytes(template.bytes())
    }

    /// The schema that operations go to.
    fn schema(&self) -> u32 {
        if self.place == Place::First { 1 } else { self.setup.schema }
    }

    /// What has arrived of the answer; `None` if that is not all of it.
    #[inline]
    fn heard(&mut self) -> Result<Option<Done>, WireError> {
        let writes = matches!(self.asked, Request::Op(op) if op.writes());
        let clock = writes.then_some(&*self.setup.clock);
        let Some(answer) = self.reply.take(&mut self.connection, clock)? else { return Ok(None) };
        let rows = match self.asked {
            Request::Op(Op::Select { .. } | Op::Secondary { .. } | Op::Scan) => answer.value,
            Request::Op(Op::Lookup { .. } | Op::Insert { .. } | Op::Delete { .. }) => answer.rows,
            Request::Op(Op::Update { first, number }) => {
                self.last_update = Some((self.schema(), first, number));
                answer.rows
            }
            Request::Edge => {
                self.overhead_commits += self.edge_commits;
                0
            }
        };
        Ok(Some(Done { rows, commit_began_ns: answer.ended_ns }))
    }

    /// Sends `request` and waits for all of its answer.
    #[inline]
    fn ask_and_wait(&mut self, request: Request) -> Result<Done, WireError> {
        self.ask(request)?;
        loop {
            if let Some(done) = self.heard()? {
                return Ok(done);
            }
            self.connection.line.fill()?;
        }
    }

    fn read_back(&mut self, schema: u32, first: u64, number: u64) -> Result<(u64, u64), WireError> {
        let session = self.setup.stamp();
        let params = [
            first.to_string(),
            self.setup.last_key(first).to_string(),
            format!("{session}{number:016x}"),
            UpdateValues::run_prefix(self.setup.run_stamp),
            session,
        ];
        let sql = statements::verify(schema);
        let rows = self.connection.ask(&sql, &params.each_ref().map(String::as_str))?;
        self.overhead_commits += 1;
        let number = |index| rows.first().and_then(|row| row.parse(index));
        number(0).zip(number(1)).ok_or_else(|| WireError::protocol("no row for a count"))
    }
}

/// Transactions that opening a session adds to `xact_commit` (counted on 15.20 and 18.4): the start of its process, the
/// settings, the preparation.
const OPENING_COMMITS: u64 = 3;

/// Those of a session through a pooler: one that asks who serves it, and the preparation, where the pooler carries it. What
/// the pooler does to its own connections is not the session's.
fn opening_commits(statements: Option<Statements>) -> u64 {
    match statements {
        None => OPENING_COMMITS,
        Some(Statements::Prepared) => 2,
        Some(Statements::Unnamed) => 1,
    }
}

/// A connection on which everything is prepared.
fn prepare(
    config: &ConnectConfig,
    setup: &SessionSetup,
    through: Option<Statements>,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    if let Some(statements) = through {
        return prepare_through(config, setup, statements, breaker);
    }
    let name = format!("dyno session {}", setup.number);
    let mut connection = Connection::open_guarded(config, &name, breaker)?;
    let rows = connection.simple(&settings_sql(setup.commit))?;
    refuse_pooler(&connection, rows.last())?;
    let flush = connection.server_version_num() >= SHARED_STATISTICS;
    let out = &mut connection.line.out;
    match setup.drive {
        Drive::Client => {
            let mut prepared = templates::statements_of(setup, setup.schema);
            if setup.also_first() {
                prepared.extend(templates::statements_of(setup, 1));
            }
            prepared.iter().for_each(|statement| statement.parse(out));
        }
        Drive::Server => {
            let calls = || Call::of(setup.extra);
            calls().for_each(|call| slice::parse(call, out, setup.schema, setup.redo, Place::Own));
            if setup.also_first() {
                calls().for_each(|call| slice::parse(call, out, 1, setup.redo, Place::First));
            }
        }
    }
    if flush {
        statements::edge().parse(out);
    }
    finish_preparing(connection, setup)
}

/// Ends what was written with Sync, and takes in the answers.
fn finish_preparing(mut connection: Connection, setup: &SessionSetup) -> Result<Connection, TargetError> {
    message::sync(&mut connection.line.out);
    let prepared = connection.line.send().and_then(|()| connection.read_results().map(|_| ()));
    prepared.map_err(|error| not_prepared(error, setup))?;
    Ok(connection)
}

/// A connection through a pooler; prepared, where the pooler carries that to whichever server connection is free.
fn prepare_through(
    config: &ConnectConfig,
    setup: &SessionSetup,
    through: Statements,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    // One name for all: a pooler sets the name of the client on a server connection whenever another one gets it, which
    // costs a round trip and a transaction.
    let mut connection = Connection::open_guarded(config, POOLED_NAME, breaker)?;
    // Also tells at once where the pooler has no server to give.
    connection.simple("SELECT pg_catalog.pg_backend_pid()")?;
    if through == Statements::Unnamed {
        return Ok(connection);
    }
    let flush = connection.server_version_num() >= SHARED_STATISTICS;
    let mut prepared = templates::statements_of(setup, setup.schema);
    if setup.also_first() {
        prepared.extend(templates::statements_of(setup, 1));
    }
    prepared.push(statements::settings(setup.commit));
    prepared.extend(flush.then(statements::edge));
    prepared.iter().for_each(|statement| statement.parse(&mut connection.line.out));
    finish_preparing(connection, setup)
}

/// Refuses to measure through a pooler without knowing of it: its statements are lost, and its counters are another
/// connection's.
fn refuse_pooler(connection: &Connection, row: Option<&Row>) -> Result<(), TargetError> {
    match row.and_then(|row| row.parse::<i32>(0)) {
        Some(pid) if pid != connection.backend_pid() => Err(TargetError::unsupported(format!(
                "a connection pooler is in between: the session was opened as process {} and is served by process {pid}",
                connection.backend_pid()
            ),
        )
        .hint(
            "give target.observe_url the server's own address beside it, and sessions go through the pooler; or give \
             target.url the server's own",
        )),
        _ => Ok(()),
    }
}

/// Why the statements could not be prepared.
fn not_prepared(error: WireError, setup: &SessionSetup) -> TargetError {
    let error = TargetError::from(error);
    let Some(server) = PgError::of(&error) else { return error };
    // No such table, schema, column, function or procedure.
    let is_missing = matches!(server.code.as_str(), "42P01" | "3F000" | "42703" | "42883");
    setup.not_prepared(error, is_missing, "USAGE on schema dyno, SELECT and UPDATE on its tables")
}

impl Session for PgSession {
    #[inline]
    fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        self.ask_and_wait(Request::Op(op)).map_err(WireError::into_op)
    }

    #[inline]
    fn turn_to(&mut self, place: Place) {
        self.place = place;
    }

    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        if ops.is_empty() {
            return Ok(SliceDone::default());
        }
        let kind = (self.setup.work_unit, self.setup.extra);
        let place = if self.first.is_some() { self.place } else { Place::Own };
        let done = slice::run(&mut self.connection, ops, kind, place, &mut self.values, &mut self.tails)
            .map_err(WireError::into_op)?;
        let schema = self.schema();
        let last = last_update(ops).map(|(first, number)| (schema, first, number));
        self.last_update = last.or(self.last_update);
        Ok(done)
    }

    /// `pg_stat_force_next_flush()`, from version 15 on.
    ///
    /// Found by experiment on 15.20 and 18.4: when its ReadyForQuery arrives, `pg_stat_database`, `pg_stat_user_tables`,
    /// `pg_statio_user_tables`, `pg_stat_wal` and (18) `pg_stat_io` count everything this session has done to the unit,
    /// the transaction of the edge itself among them. The next flush on the server's own account is a second away or
    /// more, so a snapshot within the second after an edge counts nothing that came after it.
    ///
    /// Before version 15 a session's statistics reach the views only when it is idle between transactions and half a
    /// second or more has passed since the last time, or when it ends. Nothing can be forced there, so counters of a
    /// window may miss, or have too much, up to that half second of each session at either end; `edge` is an empty Sync.
    fn edge(&mut self) -> Result<(), Box<OpError>> {
        self.ask_and_wait(Request::Edge).map(|_| ()).map_err(WireError::into_op)
    }

    fn overhead_commits(&self) -> u64 {
        self.overhead_commits
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

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        let statements = self.through.as_ref().map(|through| through.statements);
        self.connection = prepare(&self.config, &self.setup, statements, &self.breaker)?;
        self.overhead_commits += opening_commits(statements);
        self.rehearse()
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((schema, first, number)) = self.last_update else { return Ok(None) };
        self.read_back(schema, first, number).map(Some).map_err(WireError::into_op)
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

impl Duplex for PgSession {
    fn socket(&mut self) -> BorrowedFd<'_> {
        self.connection.line.stream.socket_ref().as_fd()
    }

    #[inline]
    fn send(&mut self, request: Request) -> Result<(), Box<OpError>> {
        self.ask(request).map_err(WireError::into_op)
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Done>, Box<OpError>> {
        self.connection.line.fill_arrived().and_then(|()| self.heard()).map_err(WireError::into_op)
    }
}

impl fmt::Debug for PgSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgSession({}, schema {})", self.setup.number, self.setup.schema)
    }
}
