//! The hot path: one connection, statements prepared once, and nothing between an operation and SQLite but binding two
//! numbers.

mod hooks;
mod interrupt;
mod pulse;
mod statements;

use std::sync::Arc;

use rusqlite::ffi;

use super::connect::Link;
use super::counters::{Counts, Publisher};
use super::fault::Fault;
use super::layout::{Table, column_bytes};
use super::raw::{self, Statement};
use crate::shared::Shared;
use dyno_engine::data::{TEXT_COLUMNS, TableKind, UpdateValues};
use dyno_engine::error::{ErrorClass, OpError, TargetError};
use dyno_engine::session::{Done, Interrupter, Op, Place, Session, SessionSetup, SliceDone};
use hooks::Hooks;
use interrupt::Break;
use pulse::Pulse;
pub(crate) use pulse::QUIET_NS;
use statements::Statements;

/// A connection with its statements; declared in the order in which they must go.
struct Connected {
    statements: Statements,
    /// Those for schema 1, where operations go there too.
    first: Option<Box<Statements>>,
    link: Link,
    /// Rows changed on this connection that have been published.
    changes_published: u64,
}

/// One session.
pub(super) struct SqliteSession {
    connected: Option<Connected>,
    /// After the connection, which calls them until it is closed.
    hooks: Box<Hooks>,
    publisher: Publisher,
    pulse: Pulse,
    values: UpdateValues,
    interrupter: Arc<Break>,
    place: Place,
    /// Schema and first key of the last acknowledged update.
    last_update: Option<(u32, u64)>,
    setup: SessionSetup,
    shared: Arc<Shared>,
}

fn fatal(code: &str, message: &str) -> Box<OpError> {
    Box::new(OpError { class: ErrorClass::Fatal, code: code.to_owned(), message: message.to_owned() })
}

fn no_rows_of_its_own() -> Box<OpError> {
    fatal("no rows of its own", "this session was opened for neither inserts nor deletes")
}

fn interrupted() -> Box<OpError> {
    Fault::bare(ffi::SQLITE_INTERRUPT).into_op()
}

impl Connected {
    fn open(
        shared: &Shared,
        setup: &SessionSetup,
        stop: &Arc<std::sync::atomic::AtomicBool>,
    ) -> Result<Self, TargetError> {
        let link = shared.work(&setup.spec, stop)?;
        let prepare = |schema| {
            Statements::prepare(&link.conn, setup, schema)
                .map_err(|fault| fault.into_target("prepare the session's statements"))
        };
        let statements = prepare(setup.schema)?;
        let also_first = setup.extra.hot_schema && setup.schema != 1;
        let first = also_first.then(|| prepare(1).map(Box::new)).transpose()?;
        Ok(Self { statements, first, link, changes_published: 0 })
    }

    /// The statements for operations that go to `place`.
    #[inline]
    fn at(&mut self, place: Place) -> &mut Statements {
        match (place, &mut self.first) {
            (Place::First, Some(first)) => first,
            _ => &mut self.statements,
        }
    }

    /// What this connection has counted since this was last asked.
    fn take_counts(&mut self, hooks: &Hooks) -> Counts {
        let conn = &self.link.conn;
        let (commits, rollbacks) = hooks.take();
        let total_changes = raw::total_changes(conn);
        let changes = total_changes - self.changes_published;
        self.changes_published = total_changes;
        Counts {
            hits: raw::take_status(conn, ffi::SQLITE_DBSTATUS_CACHE_HIT),
            misses: raw::take_status(conn, ffi::SQLITE_DBSTATUS_CACHE_MISS),
            writes: raw::take_status(conn, ffi::SQLITE_DBSTATUS_CACHE_WRITE),
            spills: raw::take_status(conn, ffi::SQLITE_DBSTATUS_CACHE_SPILL),
            commits,
            rollbacks,
            runs: self.statements.take_runs() + self.first.as_mut().map_or(0, |first| first.take_runs()),
            changes,
        }
    }
}

impl SqliteSession {
    /// Opens and prepares a session.
    pub(super) fn open(shared: Arc<Shared>, setup: &SessionSetup) -> Result<Self, TargetError> {
        let stop = Arc::default();
        let connected = Connected::open(&shared, setup, &stop)?;
        let publisher = shared.registry.check_in();
        let hooks = Hooks::new(shared.params.checkpoint, publisher.committed());
        hooks.install(&connected.link.conn, shared.params.journal == "wal");
        let interrupter = Break::new(&connected.link.conn, stop);
        let spec = &setup.spec;
        let values = UpdateValues::new(
            setup.seed,
            setup.run_stamp,
            setup.number,
            column_bytes(spec.block_size),
            spec.compressible,
        );
        Ok(Self {
            connected: Some(connected),
            hooks,
            publisher,
            pulse: Pulse::default(),
            values,
            interrupter,
            place: Place::Own,
            last_update: None,
            setup: setup.clone(),
            shared,
        })
    }

    fn connected(&mut self) -> Result<&mut Connected, Box<OpError>> {
        self.connected.as_mut().ok_or_else(|| {
            let mut lost = fatal("closed", "the session has no connection");
            lost.class = ErrorClass::Connection;
            lost
        })
    }

    fn publish(&mut self) {
        if let Some(connected) = &mut self.connected {
            self.publisher.add(connected.take_counts(&self.hooks));
        }
    }

    /// The keys of the range that begins with `first`, both ends included.
    fn range(&self, first: u64) -> [i64; 2] {
        [first as i64, (first + u64::from(self.setup.work_unit)) as i64 - 1]
    }

    /// The schema that operations go to.
    fn schema(&self) -> u32 {
        if self.place == Place::First { 1 } else { self.setup.schema }
    }

    /// Does an operation that changes rows, and commits.
    fn write(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        let range = if let Op::Update { first, .. } = op { self.range(first) } else { [0; 2] };
        let Self { connected, values, setup, place, .. } = self;
        let Some(connected) = connected else { return Err(interrupted()) };
        let statements = match (*place, &mut connected.first) {
            (Place::First, Some(first)) => first.as_mut(),
            _ => &mut connected.statements,
        };
        let conn = &connected.link.conn;
        // The values are made before the lock is taken: others wait for it.
        let (statement, parameter, numbers): (&mut Statement, usize, &[i64]) = match op {
            Op::Update { number, .. } => {
                values.fill_columns(number, statements.update.texts());
                (&mut statements.update, statements.update_columns + 1, &range)
            }
            Op::Insert { key, number } => {
                let insert = &mut statements.churn.as_mut().ok_or_else(no_rows_of_its_own)?.insert;
                values.fill_columns(number, insert.texts());
                (insert, TEXT_COLUMNS + 1, &[key as i64])
            }
            Op::Delete { key } => {
                (&mut statements.churn.as_mut().ok_or_else(no_rows_of_its_own)?.delete, 1, &[key as i64])
            }
            Op::Select { .. } | Op::Lookup { .. } | Op::Secondary { .. } | Op::Scan => {
                return Err(fatal("read", "a read is no write"));
            }
        };
        statements.begin.run(1, &[]).map_err(|fault| fault.into_op())?;
        let changed = statement.run(parameter, numbers).map(|_| raw::changes(conn));
        let commit_began_ns = setup.clock.now_ns();
        let committed = changed.and_then(|rows| statements.commit.run(1, &[]).map(|_| rows));
        match committed {
            Ok(rows) => {
                if let Op::Update { first, .. } = op {
                    self.last_update = Some((self.schema(), first));
                }
                Ok(Done { rows, commit_began_ns: Some(commit_began_ns) })
            }
            Err(fault) => {
                // Some errors have rolled back already; a second failure would hide the first.
                if !conn.is_autocommit() {
                    let _ = statements.rollback.run(1, &[]);
                }
                Err(fault.into_op())
            }
        }
    }

    /// Does one operation.
    fn attempt(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        let read = |rows| Done { rows, commit_began_ns: None };
        let place = self.place;
        match op {
            Op::Lookup { key } => {
                let found = self
                    .connected()?
                    .at(place)
                    .lookup
                    .fetch_text(key as i64)
                    .map_err(|fault| fault.into_op())?;
                Ok(read(u64::from(found)))
            }
            Op::Select { first } => {
                let range = self.range(first);
                let outcome =
                    self.connected()?.at(place).select.run(1, &range).map_err(|fault| fault.into_op())?;
                Ok(read(outcome.value.unsigned_abs()))
            }
            Op::Scan => {
                let Some(scan) = &mut self.connected()?.at(place).scan else {
                    return Err(fatal(
                        "no scan table",
                        "the data has no table for scans: set data.scan_scale",
                    ));
                };
                Ok(read(scan.run(1, &[]).map_err(|fault| fault.into_op())?.value.unsigned_abs()))
            }
            Op::Secondary { value } => {
                let Some(secondary) = &mut self.connected()?.at(place).secondary else {
                    return Err(fatal("no secondary key", "this session was opened without it"));
                };
                let outcome = secondary.run(1, &[value as i64]).map_err(|fault| fault.into_op())?;
                Ok(read(outcome.value.unsigned_abs()))
            }
            Op::Update { .. } | Op::Insert { .. } | Op::Delete { .. } => self.write(op),
        }
    }
}

impl Session for SqliteSession {
    #[inline]
    fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        if self.interrupter.asked() {
            return Err(interrupted());
        }
        let done = self.attempt(op).map_err(|mut error| {
            if self.interrupter.asked() {
                // Whatever SQLite called it (a wait given up is a busy database): this session was broken off.
                error.class = ErrorClass::Connection;
            }
            error
        })?;
        if self.pulse.beat(done.rows) && self.pulse.due(self.setup.clock.now_ns()) {
            self.publish();
        }
        Ok(done)
    }

    #[inline]
    fn turn_to(&mut self, place: Place) {
        self.place = place;
    }

    fn slice(&mut self, _: &[Op]) -> Result<SliceDone, Box<OpError>> {
        Err(fatal("unsupported", "SQLite has no stored procedures: set workload.drive to client"))
    }

    fn edge(&mut self) -> Result<(), Box<OpError>> {
        self.publish();
        self.pulse.edge(self.setup.clock.now_ns());
        Ok(())
    }

    /// There is no server.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.publish();
        self.connected = None;
        self.interrupter.release();
        let connected = Connected::open(&self.shared, &self.setup, self.interrupter.flag())?;
        self.hooks.install(&connected.link.conn, self.shared.params.journal == "wal");
        self.interrupter.follow(&connected.link.conn);
        self.connected = Some(connected);
        Ok(())
    }

    fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        let Some((schema, first)) = self.last_update else { return Ok(None) };
        let range = self.range(first);
        let prefix = UpdateValues::run_prefix(self.setup.run_stamp);
        let table = Table { schema, kind: TableKind::Rows, rows: 0 }.name();
        let sql = format!(
            "SELECT COUNT(*), COALESCE(SUM(substr(c2, 1, {}) = ?1), 0) FROM {table} WHERE custid BETWEEN ?2 AND ?3",
            prefix.len()
        );
        let conn = &self.connected()?.link.conn;
        let counted =
            conn.query_row(&sql, (prefix, range[0], range[1]), |row| Ok((row.get(0)?, row.get(1)?)));
        counted.map(Some).map_err(|error| Fault::from(error).into_op())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        Arc::clone(&self.interrupter) as Arc<dyn Interrupter>
    }

    fn close(self: Box<Self>) {
        // Dropping publishes, closes, and gives the slot back.
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.publish();
    }
}
