//! The hot path: one connection and statements that are prepared once; a request only binds values and calls
//! SQLite.

mod hooks;
mod interrupt;
mod method;
mod publish_timing;
mod statements;

use std::sync::Arc;

use rusqlite::{Connection, ffi};

use super::connect::{SqliteConnection, pragma};
use super::counters::{Publisher, SqliteSessionCounts};
use super::fault::{SqliteError, SqliteErrorContext as _, code_name};
use super::raw;
use crate::filler::write;
use crate::shared::SqliteSharedState;
use dyno_engine::statement::no_pipeline;
use dyno_engine::tables::{all_taken, no_bulk};
use dyno_engine::{
    Cancel, Duplex, ErrorClass, Interrupter, OpError, RequestCompletion, Session, SessionRequest,
    SessionSetup, Slices, TargetError, TargetErrorKind, Value,
};
use dyno_plan::Connect;
use hooks::SqliteSessionHooks;
use interrupt::SqliteInterrupter;
pub(crate) use method::blocks;
pub(crate) use publish_timing::QUIET_NS;
use publish_timing::SqlitePublishTimer;
use statements::SqliteSessionStatements;

/// A connection with its statements, declared in the order in which they must be dropped.
struct SqlitePreparedConnection {
    statements: SqliteSessionStatements,
    link: SqliteConnection,
    /// Rows changed on this connection that were already published.
    changes_published: u64,
}

/// One session of the SQLite engine.
pub(super) struct SqliteSession {
    connected: Option<SqlitePreparedConnection>,
    /// Declared after the connection, which calls them until it is closed.
    hooks: Box<SqliteSessionHooks>,
    publisher: Publisher,
    publish_timer: SqlitePublishTimer,
    interrupter: Arc<SqliteInterrupter>,
    setup: SessionSetup,
    shared: Arc<SqliteSharedState>,
    /// Whether any of its statements writes.
    writes: bool,
}

/// The error if the statements could not be prepared. SQLite has one code for everything that is wrong with a
/// statement.
fn not_prepared(fault: SqliteError) -> TargetError {
    let is_missing = fault.message.starts_with("no such ");
    let error = fault.into_target("prepare the session's statements");
    if is_missing { TargetError { kind: TargetErrorKind::Data, ..error } } else { error }
}

fn interrupted() -> Box<OpError> {
    SqliteError::bare(ffi::SQLITE_INTERRUPT).into_op()
}

impl SqlitePreparedConnection {
    /// Opens the file and prepares all statements; prepares nothing yet if it is already known whether some
    /// statements write.
    fn open(
        shared: &SqliteSharedState,
        setup: &SessionSetup,
        stop: &Arc<std::sync::atomic::AtomicBool>,
        at_first_use: Option<bool>,
    ) -> Result<Self, TargetError> {
        let spec = setup.blocks.as_ref().map(|blocks| &blocks.spec);
        let link = shared.open_for_work(spec, stop)?;
        if setup.read_only {
            pragma(&link.conn, "query_only", "1").doing("make the session read-only")?;
        }
        let statements = match at_first_use {
            None => SqliteSessionStatements::prepare(&link.conn, &setup.statements),
            Some(writes) => SqliteSessionStatements::at_first_use(&link.conn, &setup.statements, writes),
        };
        let statements = statements.map_err(|fault| not_prepared(*fault))?;
        Ok(Self { statements, link, changes_published: 0 })
    }

    /// The counts of this connection since the last call.
    fn take_counts(&mut self, hooks: &SqliteSessionHooks) -> SqliteSessionCounts {
        let conn = &self.link.conn;
        let (commits, rollbacks) = hooks.take(conn);
        let total_changes = raw::total_changes(conn);
        let changes = total_changes - self.changes_published;
        self.changes_published = total_changes;
        SqliteSessionCounts {
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
    pub(super) fn open(shared: Arc<SqliteSharedState>, setup: &SessionSetup) -> Result<Self, TargetError> {
        if setup.connect == Connect::Transaction && shared.params.in_memory() {
            let message = "a database in memory has no file to reopen for each transaction";
            return Err(TargetError::unsupported(message).hint("name a file, or leave workload.connect out"));
        }
        let stop = Arc::default();
        let connected = SqlitePreparedConnection::open(&shared, setup, &stop, None)?;
        let publisher = shared.registry.register();
        let hooks = SqliteSessionHooks::new(shared.params.checkpoint, publisher.committed());
        hooks.install(&connected.link.conn, shared.params.journal == "wal");
        let interrupter = SqliteInterrupter::new(&connected.link.conn, stop);
        Ok(Self {
            writes: connected.statements.writes,
            connected: Some(connected),
            hooks,
            publisher,
            publish_timer: SqlitePublishTimer::default(),
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

    /// Executes one request.
    #[inline]
    fn attempt(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        let Self { connected, setup, .. } = self;
        let Some(SqlitePreparedConnection { statements, link, .. }) = connected else {
            return Err(interrupted());
        };
        let result = match request {
            SessionRequest::Execute(id, values) => {
                return statements.execute(&link.conn, id, values, || setup.clock.now_ns());
            }
            // Transactions are serializable here, whatever lower level is requested.
            SessionRequest::Begin(_) => statements.begin(),
            SessionRequest::Queue(_) | SessionRequest::Flush => return Err(no_pipeline()),
            SessionRequest::Commit => statements.commit(),
            SessionRequest::Rollback => statements.rollback(&link.conn),
            SessionRequest::Fill { first, rows } => return fill(&link.conn, setup, first, rows),
            SessionRequest::Edge => {
                self.publish();
                self.publish_timer.delay_after_edge(self.setup.clock.now_ns());
                Ok(())
            }
        };
        result.map(|()| RequestCompletion::default()).map_err(|fault| fault.into_op())
    }
}

/// Writes rows of the setup's bulk table as one transaction.
#[cold]
fn fill(
    conn: &Connection,
    setup: &SessionSetup,
    first: u64,
    rows: u64,
) -> Result<RequestCompletion, Box<OpError>> {
    let Some(bulk) = &setup.bulk else { return Err(no_bulk()) };
    let part = bulk.part(first, rows);
    let written = write(conn, &part, bulk.maker().as_mut(), &Cancel::default());
    let (taken, bytes) = written.map_err(SqliteError::into_op)?.unwrap_or_default();
    all_taken(&part, taken).map_err(|error| OpError::fatal("fill", error.message))?;
    bulk.sent(bytes);
    Ok(RequestCompletion { rows, commit_began_ns: None })
}

impl Session for SqliteSession {
    #[inline]
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        if self.interrupter.is_requested() {
            return Err(interrupted());
        }
        let completed = self.attempt(request).map_err(|mut error| {
            if let Some(SqlitePreparedConnection { link, .. }) = &self.connected {
                self.hooks.refresh_changed(&link.conn);
            }
            if self.setup.read_only && error.code == code_name(ffi::SQLITE_READONLY) {
                error = error.write_in_read_only_session();
            }
            if self.interrupter.is_requested() {
                // Whatever SQLite's code is (an abandoned wait is a busy database), this session was
                // interrupted.
                error.class = ErrorClass::Connection;
            }
            error
        })?;
        if let Some(SqlitePreparedConnection { link, .. }) = &self.connected {
            self.hooks.settle(&link.conn);
        }
        if matches!(request, SessionRequest::Execute(..) | SessionRequest::Fill { .. })
            && self.publish_timer.should_check_clock(completed.rows)
            && self.publish_timer.is_due(self.setup.clock.now_ns())
        {
            self.publish();
        }
        Ok(completed)
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

    /// Operations that changed rows but wrote nothing committed for the client, but not for SQLite.
    fn overhead_commits(&self) -> i64 {
        -self.hooks.unwritten().cast_signed()
    }

    fn knows_overhead(&self) -> bool {
        true
    }

    fn duplex(&mut self) -> Option<&mut dyn Duplex> {
        None
    }

    /// `None`: SQLite has no server process.
    fn server_processor(&self) -> Option<usize> {
        None
    }

    fn instance(&self) -> Option<String> {
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
        let connected =
            SqlitePreparedConnection::open(&self.shared, &self.setup, self.interrupter.flag(), at_first_use)?;
        self.hooks.install(&connected.link.conn, self.shared.params.journal == "wal");
        self.interrupter.set_connection(&connected.link.conn);
        self.connected = Some(connected);
        Ok(())
    }

    fn interrupter(&self) -> Arc<dyn Interrupter> {
        Arc::clone(&self.interrupter) as Arc<dyn Interrupter>
    }

    fn close(self: Box<Self>) {
        // Dropping publishes the counters, closes the connection, and returns the slot.
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.publish();
    }
}
