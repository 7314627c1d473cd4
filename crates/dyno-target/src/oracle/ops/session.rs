//! One session: a connection with its statements ready.

use std::fmt;
use std::sync::Arc;

use dyno_plan::{Commit, Drive};
use oracledb::{DB_TYPE_NUMBER, Error, ToDbValue};

use super::slice::Slices;
use super::statements::{Texts, updated_columns};
use crate::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use crate::error::{ErrorClass, OpError, TargetError, TargetErrorKind};
use crate::net::Breaker;
use crate::oracle::connect::ConnectConfig;
use crate::oracle::connection::{Bind, Connection};
use crate::oracle::error::{OraError, op, target};
use crate::session::{Done, Interrupter, Op, Place, Session, SessionSetup, SliceDone, unfit};

/// A range of no keys.
const NO_KEYS: (i64, i64) = (0, -1);

/// One session on Oracle.
pub(in crate::oracle) struct OraSession {
    config: ConnectConfig,
    setup: SessionSetup,
    texts: Texts,
    connection: Connection,
    breaker: Arc<Breaker>,
    values: UpdateValues,
    /// The new columns of one update, one after the other.
    fresh: Vec<u8>,
    slices: Slices,
    /// First key and number of the last update whose commit was acknowledged.
    last_update: Option<(u64, u64)>,
}

impl OraSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`Connection::open`]; [`TargetErrorKind::Data`] if the tables are not there.
    pub(in crate::oracle) fn open(config: &ConnectConfig, setup: &SessionSetup) -> Result<Self, TargetError> {
        let SessionSetup { schema, redo, commit, number, seed, run_stamp, .. } = *setup;
        let breaker = Arc::new(Breaker::default());
        let texts = Texts::new(schema, redo, commit, setup.spec.scan_rows > 0);
        let connection = connect(config, setup, &breaker)?;
        let values =
            UpdateValues::new(seed, run_stamp, number, CLASSIC_COLUMN_BYTES, setup.spec.compressible);
        let mut session = Self {
            config: config.clone(),
            texts,
            connection,
            breaker,
            values,
            fresh: vec![0; updated_columns(redo).count() * CLASSIC_COLUMN_BYTES],
            slices: Slices::new(
                session_prefix(setup),
                CLASSIC_COLUMN_BYTES,
                seed ^ run_stamp ^ u64::from(number),
            ),
            last_update: None,
            setup: setup.clone(),
        };
        session.prepare()?;
        Ok(session)
    }

    /// Makes the session's settings, and lets the database parse what will be executed, on no keys.
    fn prepare(&mut self) -> Result<(), TargetError> {
        if let Some(setting) = &self.texts.setting {
            self.connection.run(setting, &[])?;
        }
        let driver = self.connection.driver();
        let (first, last) = NO_KEYS;
        let prepared = match self.setup.drive {
            Drive::Client => driver
                .query(&self.texts.select, &[&first, &last])
                .and_then(|_| driver.query(&self.texts.lookup, &[&first]))
                .map(|_| ()),
            Drive::Server => self.slices.prepare(driver, &self.texts, self.setup.spec.scan_rows > 0),
        };
        prepared.map_err(|error| not_prepared(&error, &self.setup))
    }

    fn last_key(&self, first: u64) -> u64 {
        first + u64::from(self.setup.work_unit) - 1
    }

    fn do_op(&mut self, op: Op) -> Result<Done, Error> {
        let driver = self.connection.driver();
        let rows = match op {
            Op::Select { first } => {
                count(driver.query(&self.texts.select, &[&first, &self.last_key(first)])?)?
            }
            Op::Lookup { key } => {
                let mut rows = 0;
                for row in driver.query(&self.texts.lookup, &[&key])? {
                    row?;
                    rows += 1;
                }
                rows
            }
            Op::Scan => count(driver.query(&self.texts.scan, &[])?)?,
            Op::Update { first, number } => return self.update(first, number),
            Op::Secondary { .. } | Op::Insert { .. } | Op::Delete { .. } => {
                unreachable!("refused by `execute`")
            }
        };
        Ok(Done { rows, commit_began_ns: None })
    }

    fn update(&mut self, first: u64, number: u64) -> Result<Done, Error> {
        let last = self.last_key(first);
        self.values.fill_columns(number, &mut self.fresh);
        let text = std::str::from_utf8(&self.fresh).expect("update values are ASCII");
        let columns: Vec<&str> = (0..text.len())
            .step_by(CLASSIC_COLUMN_BYTES)
            .map(|at| &text[at..at + CLASSIC_COLUMN_BYTES])
            .collect();
        let mut binds: Vec<&dyn ToDbValue> = columns.iter().map(|column| column as &dyn ToDbValue).collect();
        binds.extend([&first as &dyn ToDbValue, &last]);
        let driver = self.connection.driver();
        let done = if self.setup.commit == Commit::Plsql {
            binds.push(&DB_TYPE_NUMBER);
            let mut result = driver.execute(&self.texts.update, &binds)?;
            Done { rows: result.out_bind_data().get(0)?, commit_began_ns: None }
        } else {
            let rows = driver.execute(&self.texts.update, &binds)?.rows_affected();
            let commit_began_ns = Some(self.setup.clock.now_ns());
            driver.commit()?;
            Done { rows, commit_began_ns }
        };
        self.last_update = Some((first, number));
        Ok(done)
    }

    /// After an error that leaves the connection in place: an update that was not committed would hold its locks.
    fn tidy(&self, error: Box<OpError>) -> Box<OpError> {
        if error.class != ErrorClass::Connection {
            self.connection.rollback();
        }
        error
    }

    fn read_back(&self, first: u64, number: u64) -> Result<(u64, u64), TargetError> {
        let session = session_prefix(&self.setup);
        let stamp = format!("{session}{number:016x}");
        let run = UpdateValues::run_prefix(self.setup.run_stamp);
        let last = self.last_key(first);
        let binds: [Bind<'_>; 5] = [
            ("stamp", &stamp),
            ("run_prefix", &run),
            ("session_prefix", &session),
            ("first_key", &first),
            ("last_key", &last),
        ];
        let rows = self.connection.rows(&self.texts.verify_update, &binds)?;
        let number = |index| rows.first().and_then(|row| row.parse(index));
        number(0).zip(number(1)).ok_or_else(|| {
            TargetError::new(TargetErrorKind::Database, "the database gave no row for a count")
        })
    }
}

/// The number in the only row of a query.
fn count(mut cursor: oracledb::Cursor) -> Result<u64, Error> {
    match cursor.next() {
        Some(row) => row?.get(0),
        None => Ok(0),
    }
}

fn connect(
    config: &ConnectConfig,
    setup: &SessionSetup,
    breaker: &Arc<Breaker>,
) -> Result<Connection, TargetError> {
    Connection::open_guarded(config, &format!("session {}", setup.number), breaker)
}

/// What every update value of this session begins with.
fn session_prefix(setup: &SessionSetup) -> String {
    format!("{}{:08x}", UpdateValues::run_prefix(setup.run_stamp), setup.number)
}

/// Why the statements could not be prepared.
fn not_prepared(error: &Error, setup: &SessionSetup) -> TargetError {
    let error = target(error);
    let kind = match OraError::of(&error).map(|server| server.number) {
        // No such table, alone or inside a block.
        Some(942 | 6550) => TargetErrorKind::Data,
        Some(_) => error.kind,
        None => return error,
    };
    let hint =
        if kind == TargetErrorKind::Data { "load the data first, as this user: dyno load" } else { "" };
    let message =
        format!("the operations on schema {} could not be prepared: {}", setup.schema, error.message);
    TargetError { kind, message, hint: hint.to_owned(), source: error.source }
}

impl Session for OraSession {
    fn execute(&mut self, wanted: Op) -> Result<Done, Box<OpError>> {
        unfit(&[wanted])?;
        self.do_op(wanted).map_err(|error| self.tidy(op(&error)))
    }

    // Never asked for: `Target::extras` says that there is none of it here yet.
    fn turn_to(&mut self, _: Place) {}

    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        unfit(ops)?;
        let driver = self.connection.driver();
        let done = self.slices.run(driver, &self.texts, ops, self.setup.work_unit, &mut self.values);
        let done = done.map_err(|error| self.tidy(op(&error)))?;
        let last = ops.iter().rev().find_map(|op| match *op {
            Op::Update { first, number } => Some((first, number)),
            _ => None,
        });
        self.last_update = last.or(self.last_update);
        Ok(done)
    }

    /// Nothing to do: a session's statistics are part of V$SYSSTAT when its call has ended. What a call that is under way
    /// has done may be in part.
    fn edge(&mut self) -> Result<(), Box<OpError>> {
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        self.connection = connect(&self.config, &self.setup, &self.breaker)?;
        self.prepare()
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((first, number)) = self.last_update else { return Ok(None) };
        self.read_back(first, number).map(Some).map_err(|error| {
            let code = OraError::of(&error).map_or("driver".to_owned(), |e| format!("ORA-{:05}", e.number));
            let class = OraError::of(&error).map_or(ErrorClass::Connection, OraError::class);
            Box::new(OpError { class, code, message: error.message })
        })
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

impl fmt::Debug for OraSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OraSession({}, schema {})", self.setup.number, self.setup.schema)
    }
}
