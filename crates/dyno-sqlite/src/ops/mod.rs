//! The hot path: one connection, statements prepared once, and nothing between a request and SQLite but binding values.

mod hooks;
mod interrupt;
mod method;
mod pulse;
mod statements;

use std::sync::Arc;

use rusqlite::{Connection, ffi};

use super::connect::{Link, pragma};
use super::counters::{Counts, Publisher};
use super::fault::{Doing as _, Fault, code_name};
use super::raw;
use crate::filler::write;
use crate::shared::Shared;
use dyno_engine::statement::no_pipeline;
use dyno_engine::tables::{all_taken, no_bulk};
use dyno_engine::{
    Cancel, Done, Duplex, ErrorClass, Interrupter, OpError, Request, Session, SessionSetup, Slices,
    TargetError, TargetErrorKind, Value,
};
use dyno_plan::Connect;
use hooks::Hooks;
use interrupt::Break;
pub(crate) use method::blocks;
use pulse::Pulse;
pub(crate) use pulse::QUIET_NS;
use statements::Statements;

/// A connection with its statements; declared in the order in which they must go.
struct Connected {
    statements: Statements,
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
    interrupter: Arc<Break>,
    setup: SessionSetup,
    shared: Arc<Shared>,
    /// Whether some of its statements write.
    writes: bool,
}

/// Why the statements could not be prepared. SQLite has one code for all that is wrong with a statement.
fn not_prepared(fault: Fault) -> TargetError {
    let is_missing = fault.message.starts_with("no such ");
    let error = fault.into_target("prepare the session's statements");
    if is_missing { TargetError { kind: TargetErrorKind::Data, ..error } } else { error }
}

fn interrupted() -> Box<OpError> {
    Fault::bare(ffi::SQLITE_INTERRUPT).into_op()
}

impl Connected {
    /// Opens the file, and prepares everything; or nothing yet, where it is known whether some statements write.
    fn open(
        shared: &Shared,
        setup: &SessionSetup,
        stop: &Arc<std::sync::atomic::AtomicBool>,
        at_first_use: Option<bool>,
    ) -> Result<Self, TargetError> {
        let spec = setup.blocks.as_ref().map(|blocks| &blocks.spec);
        let link = shared.work(spec, stop)?;
        if setup.read_only {
            pragma(&link.conn, "query_only", "1").doing("make the session read-only")?;
        }
        let statements = match at_first_use {
            None => Statements::prepare(&link.conn, &setup.statements),
            Some(writes) => Statements::at_first_use(&link.conn, &setup.statements, writes),
        };
        let statements = statements.map_err(|fault| not_prepared(*fault))?;
        Ok(Self { statements, link, changes_published: 0 })
    }

    /// What this connection has counted since this was last asked.
    fn take_counts(&mut self, hooks: &Hooks) -> Counts {
        let conn = &self.link.conn;
        let (commits, rollbacks) = hooks.take(conn);
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
            runs: self.statements.take_runs(),
            changes,
        }
    }
}

impl SqliteSession {
    /// Opens and prepares a session.
    pub(super) fn open(shared: Arc<Shared>, setup: &SessionSetup) -> Result<Self, TargetError> {
        if setup.connect == Connect::Transaction && shared.params.in_memory() {
            let message = "a database in memory has no file to open anew for each transaction";
            return Err(TargetError::unsupported(message).hint("name a file, or leave workload.connect out"));
        }
        let stop = Arc::default();
        let connected = Connected::open(&shared, setup, &stop, None)?;
        let publisher = shared.registry.check_in();
        let hooks = Hooks::new(shared.params.checkpoint, publisher.committed());
        hooks.install(&connected.link.conn, shared.params.journal == "wal");
        let interrupter = Break::new(&connected.link.conn, stop);
        Ok(Self {
            writes: connected.statements.writes,
            connected: Some(connected),
            hooks,
            publisher,
            pulse: Pulse::default(),
            interrupter,
            setup: setup.clone(),
            shared,
        })
    }

    fn publish(&mut self) {
        if let Some(connected) = &mut self.connected {
            self.publisher.add(connected.take_counts(&self.hooks));
        }
    }

    /// Does one request.
    #[inline]
    fn attempt(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        let Self { connected, setup, .. } = self;
        let Some(Connected { statements, link, .. }) = connected else { return Err(interrupted()) };
        let ended = match request {
            Request::Execute(id, values) => {
                return statements.execute(&link.conn, id, values, || setup.clock.now_ns());
            }
            // Transactions are serialisable here, whatever less is asked for.
            Request::Begin(_) => statements.begin(),
            Request::Queue(_) | Request::Flush => return Err(no_pipeline()),
            Request::Commit => statements.commit(),
            Request::Rollback => statements.rollback(&link.conn),
            Request::Fill { first, rows } => return fill(&link.conn, setup, first, rows),
            Request::Edge => {
                self.publish();
                self.pulse.edge(self.setup.clock.now_ns());
                Ok(())
            }
        };
        ended.map(|()| Done::default()).map_err(|fault| fault.into_op())
    }
}

/// Writes rows of the table that the setup tells of, as one transaction.
#[cold]
fn fill(conn: &Connection, setup: &SessionSetup, first: u64, rows: u64) -> Result<Done, Box<OpError>> {
    let Some(bulk) = &setup.bulk else { return Err(no_bulk()) };
    let part = bulk.part(first, rows);
    let written = write(conn, &part, bulk.maker().as_mut(), &Cancel::default());
    let (taken, bytes) = written.map_err(Fault::into_op)?.unwrap_or_default();
    all_taken(&part, taken).map_err(|error| OpError::fatal("fill", error.message))?;
    bulk.sent(bytes);
    Ok(Done { rows, commit_began_ns: None })
}

impl Session for SqliteSession {
    #[inline]
    fn ask(&mut self, request: Request<'_>) -> Result<Done, Box<OpError>> {
        if self.interrupter.asked() {
            return Err(interrupted());
        }
        let done = self.attempt(request).map_err(|mut error| {
            if let Some(Connected { link, .. }) = &self.connected {
                self.hooks.look(&link.conn);
            }
            if self.setup.read_only && error.code == code_name(ffi::SQLITE_READONLY) {
                error = error.write_in_read_only_session();
            }
            if self.interrupter.asked() {
                // Whatever SQLite called it (a wait given up is a busy database): this session was broken off.
                error.class = ErrorClass::Connection;
            }
            error
        })?;
        if let Some(Connected { link, .. }) = &self.connected {
            self.hooks.settle(&link.conn);
        }
        if matches!(request, Request::Execute(..) | Request::Fill { .. })
            && self.pulse.beat(done.rows)
            && self.pulse.due(self.setup.clock.now_ns())
        {
            self.publish();
        }
        Ok(done)
    }

    fn queued(&self) -> &[u64] {
        &[]
    }

    fn answered(&self, column: usize) -> Option<Value<'_>> {
        self.connected.as_ref()?.statements.row.get(column)
    }

    /// SQLite has no stored procedures.
    fn slices(&mut self) -> Option<&mut dyn Slices> {
        None
    }

    /// What changed rows and was not written is an operation's commit, and none to SQLite.
    fn overhead_commits(&self) -> i64 {
        -self.hooks.unwritten().cast_signed()
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        None
    }

    /// There is no server.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn disconnect(&mut self) {
        self.publish();
        self.connected = None;
    }

    fn reconnect(&mut self) -> Result<(), TargetError> {
        self.disconnect();
        self.interrupter.release();
        let at_first_use = (self.setup.connect == Connect::Transaction).then_some(self.writes);
        let connected = Connected::open(&self.shared, &self.setup, self.interrupter.flag(), at_first_use)?;
        self.hooks.install(&connected.link.conn, self.shared.params.journal == "wal");
        self.interrupter.follow(&connected.link.conn);
        self.connected = Some(connected);
        Ok(())
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
