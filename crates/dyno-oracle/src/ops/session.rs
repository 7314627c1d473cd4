//! One session: a connection with its statements ready.

use std::fmt;
use std::sync::Arc;

use oracledb::{DB_TYPE_NUMBER, Error, ToDbValue};

use super::answer::{built, has_one_row, is_block, is_query, number, parsing, read};
use super::binds::{binds, texts};
use super::broken_call;
use super::loops::Loops;
use super::statements::setting;
use crate::connect::ConnectConfig;
use crate::connection::Connection;
use crate::error::{OraError, is_broken_off, op, target};
use crate::layout::filler::write;
use crate::shelter::caught;
use crate::sql;
use dyno_engine::data::UpdateValues;
use dyno_engine::net::Breaker;
use dyno_engine::statement::{no_pipeline, unknown};
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    Answer, Cancel, Commits, Done, Duplex, ErrorClass, Interrupter, Isolation, LastRow, Op, OpError, Place,
    Refusal as _, Request, Session, SessionSetup, SliceDone, Slices, Statement, StatementId, TargetError,
    Value,
};
use dyno_plan::Connect;

/// One session on Oracle.
pub(crate) struct OraSession {
    config: ConnectConfig,
    setup: SessionSetup,
    pub(super) connection: Connection,
    breaker: Arc<Breaker>,
    /// Whether a transaction has begun that only a request ends.
    begun: bool,
    loops: Option<Loops>,
    /// Of each statement whether it cannot have more than one row.
    single_row: Box<[bool]>,
    /// The columns that were read last.
    row: LastRow,
}

impl OraSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`Connection::open`]; `Data` if the tables are not there.
    pub(crate) fn open(config: &ConnectConfig, setup: &SessionSetup) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let config = config.for_sessions();
        let connection = connect(&config, setup, &breaker)?;
        let session = Self {
            config,
            connection,
            breaker,
            begun: false,
            row: LastRow::default(),
            loops: setup.blocks.as_ref().filter(|_| setup.slices).map(|blocks| Loops::new(blocks, setup)),
            single_row: setup.statements.iter().map(has_one_row).collect(),
            setup: setup.clone(),
        };
        session.prepare()?;
        Ok(session)
    }

    /// Makes the session's settings, and lets the database parse what will be executed.
    fn prepare(&self) -> Result<(), TargetError> {
        if let Some(setting) = setting(self.setup.commit) {
            self.connection.run(&setting, &[])?;
        }
        match caught(|| self.parse()) {
            Ok(parsed) => parsed,
            Err(reason) => {
                self.connection.spoil();
                Err(TargetError::database(reason))
            }
        }
    }

    /// Each is parsed and not run: what was run with NULL for its binds would leave a plan that was made for NULL.
    fn parse(&self) -> Result<(), TargetError> {
        let driver = self.connection.driver();
        for (statement, &single_row) in self.setup.statements.iter().zip(&self.single_row) {
            let keeps_cursor = single_row || !is_query(statement);
            let parsed = parsing(driver, &statement.sql, keeps_cursor, single_row);
            let parsed = parsed.and_then(|mut built| match built.is_ddl() {
                // The driver would run it.
                true => Ok(()),
                false => built.ensure_fully_parsed(),
            });
            parsed.map_err(|error| not_prepared(&error, &self.setup, &statement.name))?;
        }
        if let (Some(loops), Some(blocks)) = (&self.loops, &self.setup.blocks) {
            let parsed = loops.prepare(driver, blocks);
            parsed.map_err(|error| not_prepared(&error, &self.setup, "of a slice"))?;
        }
        Ok(())
    }

    fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<Done, Box<OpError>> {
        let Some(statement) = self.setup.statements.get(id.index()) else { return Err(unknown(id)) };
        if self.begun && statement.commits == Commits::Inside {
            let message =
                format!("statement {} commits by itself, so it is no step of a transaction", statement.name);
            return Err(OpError::fatal("statement", message));
        }
        if statement.answer == Answer::Columns && !is_query(statement) && !is_block(statement) {
            let message = format!("statement {} is no query, so no column of it can be read", statement.name);
            return Err(OpError::fatal("statement", message));
        }
        let texts = texts(&statement.params, values)?;
        let binds = binds(&statement.params, values, &texts);
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        let single_row = self.single_row[id.index()];
        let done = self.call(|session| session.run(statement, single_row, binds, &mut row));
        self.row = row;
        done
    }

    /// Runs a statement, and commits behind it where that is due.
    fn run(
        &self,
        statement: &Statement,
        single_row: bool,
        mut binds: Vec<&dyn ToDbValue>,
        row: &mut LastRow,
    ) -> Result<Done, Error> {
        let Statement { sql, answer, commits, .. } = statement;
        let driver = self.connection.driver();
        let tells = *commits == Commits::Inside || matches!(answer, Answer::Number | Answer::Columns);
        let rows = if is_query(statement) {
            read(built(driver, sql, single_row)?.query(&binds)?, *answer, single_row, row)?
        } else if tells {
            binds.push(&DB_TYPE_NUMBER);
            let told = number(&driver.execute(sql, &binds)?.out_bind_data())?;
            if *answer == Answer::Columns {
                row.push(Value::Int(told as i64));
                1
            } else {
                told
            }
        } else {
            driver.execute(sql, &binds)?.rows_affected()
        };
        let rows = match *answer {
            Answer::Changed { per_row } => rows / u64::from(per_row.max(1)),
            _ => rows,
        };
        let is_done = self.begun
            || match commits {
                Commits::Inside => true,
                Commits::Behind => false,
                // What changes rows and is left alone would keep its locks.
                Commits::Nothing => is_query(statement),
            };
        if is_done {
            return Ok(Done { rows, commit_began_ns: None });
        }
        let commit_began_ns = Some(self.setup.clock.now_ns());
        driver.commit()?;
        Ok(Done { rows, commit_began_ns })
    }

    fn begin(&mut self, isolation: Isolation) -> Result<Done, Box<OpError>> {
        if isolation == Isolation::RepeatableRead {
            let message =
                "Oracle has no isolation REPEATABLE READ: ask for serializable, or for read committed";
            return Err(OpError::fatal("isolation", message));
        }
        if let Some(level) = isolation.words() {
            let set = sql::ISOLATION.with(&[("level", level)]);
            self.call(|session| session.connection.driver().execute(&set, &[]).map(drop))?;
        }
        self.begun = true;
        Ok(Done::default())
    }

    /// Writes rows by arrays of them, and commits.
    #[cold]
    fn fill(&self, first: u64, rows: u64) -> Result<Done, Box<OpError>> {
        let Some(bulk) = &self.setup.bulk else { return Err(no_bulk()) };
        let part = bulk.part(first, rows);
        let written = write(&self.connection, &part, bulk.maker().as_mut(), &Cancel::default());
        bulk.sent(written.map_err(TargetError::into_op::<OraError>)?);
        Ok(Done { rows, commit_began_ns: None })
    }

    /// Ends the transaction that has begun.
    fn end(
        &mut self,
        end: impl FnOnce(&oracledb::Connection) -> Result<(), Error>,
    ) -> Result<Done, Box<OpError>> {
        self.call(|session| end(session.connection.driver()))?;
        self.begun = false;
        Ok(Done::default())
    }

    /// Calls the driver. After an error that leaves the connection in place, what is not committed and no step of a transaction
    /// would hold its locks.
    fn call<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Box<OpError>> {
        caught(|| call(self)).map_err(|reason| self.panicked(reason))?.map_err(|error| self.failed(&error))
    }

    #[cold]
    fn failed(&self, error: &Error) -> Box<OpError> {
        let failure = self.tidy(op(error));
        match self.connection.session_key().filter(|_| is_broken_off(error)) {
            Some(session) => broken_call::explain(failure, &self.config, session),
            None => failure,
        }
    }

    #[cold]
    fn tidy(&self, error: Box<OpError>) -> Box<OpError> {
        if error.class != ErrorClass::Connection && !self.begun {
            self.connection.rollback();
        }
        error
    }

    /// The driver has panicked: the session is over, and the database is told so at once.
    #[cold]
    fn panicked(&self, reason: String) -> Box<OpError> {
        self.connection.spoil();
        self.breaker.interrupt();
        OpError::fatal("panic", reason)
    }
}

fn connect(
    config: &ConnectConfig,
    setup: &SessionSetup,
    breaker: &Arc<Breaker>,
) -> Result<Connection, TargetError> {
    Connection::open_guarded(config, &format!("session {}", setup.number), breaker)
}

/// Why the statement `name` could not be prepared.
fn not_prepared(error: &Error, setup: &SessionSetup, name: &str) -> TargetError {
    let error = target(error);
    let Some(number) = OraError::of(&error).map(|server| server.number) else { return error };
    let error = if setup.blocks.is_some() { error } else { error.during(&format!("statement {name}")) };
    // No such table, alone or inside a block.
    setup.not_prepared(error, matches!(number, 942 | 6550), "SELECT, INSERT, UPDATE and DELETE on its tables")
}

impl Session for OraSession {
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        match request {
            Request::Execute(id, values) => self.execute(id, values),
            Request::Begin(isolation) => self.begin(isolation),
            Request::Queue(_) | Request::Flush => Err(no_pipeline()),
            Request::Fill { first, rows } => self.fill(first, rows),
            Request::Commit => self.end(oracledb::Connection::commit),
            Request::Rollback => self.end(oracledb::Connection::rollback),
            // Nothing to do: a session's statistics are part of V$SYSSTAT when its call has ended. What a call that is under
            // way has done may be in part.
            Request::Edge => Ok(Done::default()),
        }
    }

    fn queued(&self) -> &[u64] {
        &[]
    }

    fn answered(&self, column: usize) -> Option<Value<'_>> {
        self.row.get(column)
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        if self.loops.is_some() { Some(self) } else { None }
    }

    /// Only what operations commit is counted: a look changes nothing.
    fn overhead_commits(&self) -> i64 {
        0
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        None
    }

    /// Nobody asks: each session has a thread of its own.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    /// A session's statistics are part of `V$SYSSTAT` when its log-off has been answered.
    fn disconnect(&mut self) {
        self.connection.end();
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        self.connection = connect(&self.config, &self.setup, &self.breaker)?;
        self.begun = false;
        match self.setup.connect {
            Connect::Session => self.prepare(),
            // What is to be parsed was parsed by the first connection, and is in the library cache.
            Connect::Transaction => setting(self.setup.commit)
                .map_or(Ok(()), |setting| self.connection.run(&setting, &[]).map(drop)),
        }
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        self.breaker.clone()
    }

    fn close(self: Box<Self>) {
        let Self { connection, breaker, .. } = *self;
        connection.close();
        breaker.release();
    }
}

impl Slices for OraSession {
    fn slice(
        &mut self,
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let Some(mut loops) = self.loops.take() else {
            return Err(OpError::fatal("drive", "this session was opened without slices"));
        };
        let done = self.call(|session| loops.run(session.connection.driver(), place, ops, values));
        self.loops = Some(loops);
        done
    }
}

impl fmt::Debug for OraSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OraSession({})", self.setup.number)
    }
}
