//! One session: a connection with its statements prepared.

use std::fmt;
use std::sync::Arc;

use oracledb::{DB_TYPE_NUMBER, Error, ToDbValue};

use super::answer::{build_for_parse, build_statement, has_one_row, is_block, is_query, number, read};
use super::binds::{binds, texts};
use super::broken_call;
use super::loops::OracleSliceLoops;
use super::statements::setting;
use crate::connect::OracleConnectConfig;
use crate::connection::OracleConnection;
use crate::driver_panics::catch_driver_panic;
use crate::error::{OracleError, is_call_timeout, to_op_error, to_target_error};
use crate::layout::filler::write;
use crate::sql;
use dyno_engine::data::UpdateValues;
use dyno_engine::net::Breaker;
use dyno_engine::statement::{no_pipeline, unknown};
use dyno_engine::tables::no_bulk;
use dyno_engine::{
    BlockOp, BlockOpSchema, Cancel, Commits, Duplex, ErrorClass, Interrupter, Isolation, LastRow, OpError,
    Refusal as _, RequestCompletion, ResultKind, Session, SessionRequest, SessionSetup, SliceDone, Slices,
    Statement, StatementId, TargetError, Value,
};
use dyno_plan::Connect;

/// One session on Oracle with its prepared statements.
pub(crate) struct OracleSession {
    config: OracleConnectConfig,
    setup: SessionSetup,
    pub(super) connection: OracleConnection,
    breaker: Arc<Breaker>,
    /// Whether a transaction is open that only a request can end.
    in_transaction: bool,
    loops: Option<OracleSliceLoops>,
    /// Whether each statement returns at most one row.
    single_row: Box<[bool]>,
    /// The columns of the last result.
    row: LastRow,
}

impl OracleSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`OracleConnection::open`]; `Data` if the tables do not exist.
    pub(crate) fn open(config: &OracleConnectConfig, setup: &SessionSetup) -> Result<Self, TargetError> {
        let breaker = Arc::new(Breaker::default());
        let config = config.for_sessions();
        let connection = connect(&config, setup, &breaker)?;
        let session = Self {
            config,
            connection,
            breaker,
            in_transaction: false,
            row: LastRow::default(),
            loops: setup
                .blocks
                .as_ref()
                .filter(|_| setup.slices)
                .map(|blocks| OracleSliceLoops::new(blocks, setup)),
            single_row: setup.statements.iter().map(has_one_row).collect(),
            setup: setup.clone(),
        };
        session.prepare()?;
        Ok(session)
    }

    /// Makes the session's settings and lets the database parse the statements.
    fn prepare(&self) -> Result<(), TargetError> {
        if let Some(setting) = setting(self.setup.commit) {
            self.connection.run(&setting, &[])?;
        }
        match catch_driver_panic(|| self.parse()) {
            Ok(parsed) => parsed,
            Err(reason) => {
                self.connection.mark_panicked();
                Err(TargetError::database(reason))
            }
        }
    }

    /// Each statement is parsed but not executed: an execution with NULL binds would leave a plan for NULL.
    fn parse(&self) -> Result<(), TargetError> {
        let driver = self.connection.driver();
        for (statement, &single_row) in self.setup.statements.iter().zip(&self.single_row) {
            let keeps_cursor = single_row || !is_query(statement);
            let parsed = build_for_parse(driver, &statement.sql, keeps_cursor, single_row);
            let parsed = parsed.and_then(|mut built| match built.is_ddl() {
                // The driver would execute it.
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

    fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<RequestCompletion, Box<OpError>> {
        let Some(statement) = self.setup.statements.get(id.index()) else { return Err(unknown(id)) };
        if self.in_transaction && statement.commits == Commits::Inside {
            let message = format!(
                "statement {} commits by itself, so it cannot be a step of a transaction",
                statement.name
            );
            return Err(OpError::fatal("statement", message));
        }
        if statement.answer == ResultKind::Columns && !is_query(statement) && !is_block(statement) {
            let message = format!("statement {} is not a query, so it returns no column", statement.name);
            return Err(OpError::fatal("statement", message));
        }
        let texts = texts(&statement.params, values)?;
        let binds = binds(&statement.params, values, &texts);
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        let single_row = self.single_row[id.index()];
        let result = self.call(|session| session.run(statement, single_row, binds, &mut row));
        self.row = row;
        result
    }

    /// Executes a statement, and commits afterwards if required.
    fn run(
        &self,
        statement: &Statement,
        single_row: bool,
        mut binds: Vec<&dyn ToDbValue>,
        row: &mut LastRow,
    ) -> Result<RequestCompletion, Error> {
        let Statement { sql, answer, commits, .. } = statement;
        let driver = self.connection.driver();
        let tells = *commits == Commits::Inside || matches!(answer, ResultKind::Number | ResultKind::Columns);
        let rows = if is_query(statement) {
            read(build_statement(driver, sql, single_row)?.query(&binds)?, *answer, single_row, row)?
        } else if tells {
            binds.push(&DB_TYPE_NUMBER);
            let out_value = number(&driver.execute(sql, &binds)?.out_bind_data())?;
            if *answer == ResultKind::Columns {
                row.push(Value::Int(out_value as i64));
                1
            } else {
                out_value
            }
        } else {
            driver.execute(sql, &binds)?.rows_affected()
        };
        let rows = match *answer {
            ResultKind::Changed { per_row } => rows / u64::from(per_row.max(1)),
            _ => rows,
        };
        let is_done = self.in_transaction
            || match commits {
                Commits::Inside => true,
                Commits::Behind => false,
                // A statement that changed rows without a commit would keep its locks.
                Commits::Nothing => is_query(statement),
            };
        if is_done {
            return Ok(RequestCompletion { rows, commit_began_ns: None });
        }
        let commit_began_ns = Some(self.setup.clock.now_ns());
        driver.commit()?;
        Ok(RequestCompletion { rows, commit_began_ns })
    }

    fn begin(&mut self, isolation: Isolation) -> Result<RequestCompletion, Box<OpError>> {
        if isolation == Isolation::RepeatableRead {
            let message = "Oracle has no isolation REPEATABLE READ: use serializable or read committed";
            return Err(OpError::fatal("isolation", message));
        }
        if let Some(level) = isolation.words() {
            let set = sql::ISOLATION.with(&[("level", level)]);
            self.call(|session| session.connection.driver().execute(&set, &[]).map(drop))?;
        }
        self.in_transaction = true;
        Ok(RequestCompletion::default())
    }

    /// Writes rows with array inserts, and commits.
    #[cold]
    fn fill(&self, first: u64, rows: u64) -> Result<RequestCompletion, Box<OpError>> {
        let Some(bulk) = &self.setup.bulk else { return Err(no_bulk()) };
        let part = bulk.part(first, rows);
        let written = write(&self.connection, &part, bulk.maker().as_mut(), &Cancel::default());
        bulk.sent(written.map_err(TargetError::into_op::<OracleError>)?);
        Ok(RequestCompletion { rows, commit_began_ns: None })
    }

    /// Ends the open transaction.
    fn end(
        &mut self,
        end: impl FnOnce(&oracledb::Connection) -> Result<(), Error>,
    ) -> Result<RequestCompletion, Box<OpError>> {
        self.call(|session| end(session.connection.driver()))?;
        self.in_transaction = false;
        Ok(RequestCompletion::default())
    }

    /// Calls the driver. After an error that leaves the connection open, uncommitted work outside a
    /// transaction is rolled back, because it would hold locks.
    fn call<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Box<OpError>> {
        catch_driver_panic(|| call(self))
            .map_err(|reason| self.panicked(reason))?
            .map_err(|error| self.call_error(&error))
    }

    #[cold]
    fn call_error(&self, error: &Error) -> Box<OpError> {
        let failure = self.rollback_after_error(to_op_error(error));
        match self.connection.session_key().filter(|_| is_call_timeout(error)) {
            Some(session) => broken_call::explain(failure, &self.config, session),
            None => failure,
        }
    }

    #[cold]
    fn rollback_after_error(&self, error: Box<OpError>) -> Box<OpError> {
        if error.class != ErrorClass::Connection && !self.in_transaction {
            self.connection.rollback();
        }
        error
    }

    /// Ends the session after a panic of the driver, and closes its connection to the database at once.
    #[cold]
    fn panicked(&self, reason: String) -> Box<OpError> {
        self.connection.mark_panicked();
        self.breaker.interrupt();
        OpError::fatal("panic", reason)
    }
}

fn connect(
    config: &OracleConnectConfig,
    setup: &SessionSetup,
    breaker: &Arc<Breaker>,
) -> Result<OracleConnection, TargetError> {
    OracleConnection::open_guarded(config, &format!("session {}", setup.number), breaker)
}

/// The error if the statement `name` could not be prepared.
fn not_prepared(error: &Error, setup: &SessionSetup, name: &str) -> TargetError {
    let error = to_target_error(error);
    let Some(number) = OracleError::of(&error).map(|server| server.number) else { return error };
    let error = if setup.blocks.is_some() { error } else { error.during(&format!("statement {name}")) };
    // The table does not exist, in a statement or inside a block.
    setup.not_prepared(error, matches!(number, 942 | 6550), "SELECT, INSERT, UPDATE and DELETE on its tables")
}

impl Session for OracleSession {
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        match request {
            SessionRequest::Execute(id, values) => self.execute(id, values),
            SessionRequest::Begin(isolation) => self.begin(isolation),
            SessionRequest::Queue(_) | SessionRequest::Flush => Err(no_pipeline()),
            SessionRequest::Fill { first, rows } => self.fill(first, rows),
            SessionRequest::Commit => self.end(oracledb::Connection::commit),
            SessionRequest::Rollback => self.end(oracledb::Connection::rollback),
            // Nothing to do: V$SYSSTAT includes a session's statistics when its call has ended. It may
            // include part of a call that is still running.
            SessionRequest::Edge => Ok(RequestCompletion::default()),
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

    /// Only commits of operations are counted: an internal query changes nothing.
    fn overhead_commits(&self) -> i64 {
        0
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        None
    }

    /// Not needed: each session has its own thread.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn instance(&self) -> Option<String> {
        self.connection.instance()
    }

    /// `V$SYSSTAT` includes a session's statistics when its log-off has been answered.
    fn disconnect(&mut self) {
        self.connection.end();
        self.breaker.release();
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        self.connection = connect(&self.config, &self.setup, &self.breaker)?;
        self.in_transaction = false;
        match self.setup.connect {
            Connect::Session => self.prepare(),
            // The first connection has parsed the statements, and they are in the library cache.
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

impl Slices for OracleSession {
    fn slice(
        &mut self,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>> {
        let Some(mut loops) = self.loops.take() else {
            return Err(OpError::fatal("drive", "this session was opened without slices"));
        };
        let result = self.call(|session| loops.run(session.connection.driver(), place, ops, values));
        self.loops = Some(loops);
        result
    }
}

impl fmt::Debug for OracleSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OraSession({})", self.setup.number)
    }
}
