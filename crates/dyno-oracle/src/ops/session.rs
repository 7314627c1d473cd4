//! One session: a connection with its statements ready.

use std::fmt;
use std::sync::Arc;

use dyno_plan::Drive;
use oracledb::{Error, ToDbValue};

use super::changes::{Changes, change};
use super::slice::Slices;
use super::statements::Places;
use crate::connect::ConnectConfig;
use crate::connection::{Bind, Connection};
use crate::error::{OraError, op, target};
use crate::shelter::caught;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::error::{ErrorClass, OpError, Refusal as _, TargetError};
use dyno_engine::net::Breaker;
use dyno_engine::session::{Done, Interrupter, Op, Place, Session, SessionSetup, SliceDone};
use dyno_engine::slices::last_update;

/// A range of no keys.
const NO_KEYS: (i64, i64) = (0, -1);

/// One session on Oracle.
pub(crate) struct OraSession {
    config: ConnectConfig,
    setup: SessionSetup,
    texts: Places,
    connection: Connection,
    breaker: Arc<Breaker>,
    changes: Changes,
    slices: Slices,
    /// Where, first key and number of the last update whose commit was acknowledged.
    last_update: Option<(Place, u64, u64)>,
}

impl OraSession {
    /// Connects and prepares.
    ///
    /// # Errors
    /// As [`Connection::open`]; `Data` if the tables are not there.
    pub(crate) fn open(config: &ConnectConfig, setup: &SessionSetup) -> Result<Self, TargetError> {
        let SessionSetup { number, seed, run_stamp, .. } = *setup;
        let breaker = Arc::new(Breaker::default());
        let connection = connect(config, setup, &breaker)?;
        let session = Self {
            config: config.clone(),
            texts: Places::new(setup),
            connection,
            breaker,
            changes: Changes::new(setup),
            slices: Slices::new(setup.stamp(), CLASSIC_COLUMN_BYTES, seed ^ run_stamp ^ u64::from(number)),
            last_update: None,
            setup: setup.clone(),
        };
        session.prepare()?;
        Ok(session)
    }

    /// Makes the session's settings, and lets the database parse what will be executed, on no keys.
    fn prepare(&self) -> Result<(), TargetError> {
        if let Some(setting) = &self.texts.here().setting {
            self.connection.run(setting, &[])?;
        }
        match caught(|| self.parse()) {
            Ok(parsed) => parsed.map_err(|error| not_prepared(&error, &self.setup)),
            Err(reason) => {
                self.connection.spoil();
                Err(TargetError::database(reason))
            }
        }
    }

    fn parse(&self) -> Result<(), Error> {
        let driver = self.connection.driver();
        let (first, last) = NO_KEYS;
        for texts in self.texts.all() {
            if self.setup.drive == Drive::Server {
                self.slices.prepare(driver, texts, &self.setup)?;
                continue;
            }
            driver.query(&texts.select, &[&first, &last])?;
            driver.query(&texts.lookup, &[&first])?;
            if self.setup.extra.secondary {
                driver.query(&texts.secondary, &[&first])?;
            }
        }
        Ok(())
    }

    fn do_op(&mut self, op: Op) -> Result<Done, Error> {
        let (driver, texts) = (self.connection.driver(), self.texts.here());
        let rows = match op {
            Op::Select { first } => {
                count(driver.query(&texts.select, &[&first, &self.setup.last_key(first)])?)?
            }
            Op::Lookup { key } => {
                let mut rows = 0;
                for row in driver.query(&texts.lookup, &[&key])? {
                    row?;
                    rows += 1;
                }
                rows
            }
            Op::Scan => count(driver.query(&texts.scan, &[])?)?,
            Op::Secondary { value } => count(driver.query(&texts.secondary, &[&value])?)?,
            Op::Update { .. } | Op::Insert { .. } | Op::Delete { .. } => return self.write(op),
        };
        Ok(Done { rows, commit_began_ns: None })
    }

    fn write(&mut self, op: Op) -> Result<Done, Error> {
        let last = match op {
            Op::Update { first, .. } => self.setup.last_key(first),
            _ => 0,
        };
        let (texts, changes) = (self.texts.here(), &mut self.changes);
        let (sql, key, columns) = match &op {
            Op::Update { first, number } => (&texts.update, first, changes.update(*number)),
            Op::Insert { key, number } => (&texts.insert, key, changes.insert(*number)),
            Op::Delete { key } => (&texts.delete, key, Vec::new()),
            Op::Select { .. } | Op::Lookup { .. } | Op::Scan | Op::Secondary { .. } => {
                unreachable!("a read is no write")
            }
        };
        let columns = columns.iter().map(|column| column as &dyn ToDbValue);
        // In the order in which the statement names them.
        let binds: Vec<&dyn ToDbValue> = match op {
            Op::Update { .. } => columns.chain([key as &dyn ToDbValue, &last]).collect(),
            _ => std::iter::once(key as &dyn ToDbValue).chain(columns).collect(),
        };
        let done = change(&self.connection, self.setup.commit, self.setup.clock.as_ref(), sql, binds)?;
        if let Op::Update { first, number } = op {
            self.last_update = Some((self.texts.place, first, number));
        }
        Ok(done)
    }

    /// After an error that leaves the connection in place: an update that was not committed would hold its locks.
    fn tidy(&self, error: Box<OpError>) -> Box<OpError> {
        if error.class != ErrorClass::Connection {
            self.connection.rollback();
        }
        error
    }

    /// The driver has panicked: the session is over, and the database is told so at once.
    #[cold]
    fn panicked(&self, reason: String) -> Box<OpError> {
        self.connection.spoil();
        self.breaker.interrupt();
        Box::new(OpError { class: ErrorClass::Fatal, code: "panic".to_owned(), message: reason })
    }

    fn read_back(&self, place: Place, first: u64, number: u64) -> Result<(u64, u64), TargetError> {
        let session = self.setup.stamp();
        let stamp = format!("{session}{number:016x}");
        let run = UpdateValues::run_prefix(self.setup.run_stamp);
        let last = self.setup.last_key(first);
        let binds: [Bind<'_>; 5] = [
            ("stamp", &stamp),
            ("run_prefix", &run),
            ("session_prefix", &session),
            ("first_key", &first),
            ("last_key", &last),
        ];
        let rows = self.connection.rows(&self.texts.at(place).verify_update, &binds)?;
        let number = |index| rows.first().and_then(|row| row.parse(index));
        number(0).zip(number(1)).ok_or_else(|| TargetError::database("the database gave no row for a count"))
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

/// Why the statements could not be prepared.
fn not_prepared(error: &Error, setup: &SessionSetup) -> TargetError {
    let error = target(error);
    let Some(number) = OraError::of(&error).map(|server| server.number) else { return error };
    // No such table, alone or inside a block.
    setup.not_prepared(error, matches!(number, 942 | 6550), "SELECT, INSERT, UPDATE and DELETE on its tables")
}

impl Session for OraSession {
    fn execute(&mut self, wanted: Op) -> Result<Done, Box<OpError>> {
        match caught(|| self.do_op(wanted)) {
            Ok(done) => done.map_err(|error| self.tidy(op(&error))),
            Err(reason) => Err(self.panicked(reason)),
        }
    }

    fn turn_to(&mut self, place: Place) {
        self.texts.place = place;
    }

    fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        let (driver, texts, values) = (self.connection.driver(), self.texts.here(), &mut self.changes.values);
        let (slices, work_unit) = (&mut self.slices, self.setup.work_unit);
        let done = match caught(|| slices.run(driver, texts, ops, work_unit, values)) {
            Ok(done) => done.map_err(|error| self.tidy(op(&error)))?,
            Err(reason) => return Err(self.panicked(reason)),
        };
        let place = self.texts.place;
        let last = last_update(ops).map(|(first, number)| (place, first, number));
        self.last_update = last.or(self.last_update);
        Ok(done)
    }

    /// Nothing to do: a session's statistics are part of V$SYSSTAT when its call has ended. What a call that is under way
    /// has done may be in part.
    fn edge(&mut self) -> Result<(), Box<OpError>> {
        Ok(())
    }

    /// Nobody asks: each session has a thread of its own.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.breaker.release();
        self.connection = connect(&self.config, &self.setup, &self.breaker)?;
        self.prepare()
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((place, first, number)) = self.last_update else { return Ok(None) };
        self.read_back(place, first, number).map(Some).map_err(|error| {
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
