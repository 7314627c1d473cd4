//! Runs sessions through a connection pooler while everything else connects to the server.
//!
//! A pooler may assign its server connections for one transaction each (PgBouncer's `pool_mode = transaction`
//! and similar). A session then loses three properties of its own connection.
//!
//! - Settings do not last. Each operation makes its settings with `set_config(…, true)` in its own
//!   transaction.
//! - Prepared statements may be lost. Some poolers keep them (PgBouncer from 1.21 on, under its own names).
//!   With others, statements are sent unnamed each time.
//! - A session cannot make the server report its statistics: the request applies to whichever server
//!   connection receives it.
//!
//! Server processes report statistics within a second while they work, and idle ones within ten seconds
//! (`PGSTAT_IDLE_INTERVAL`). When the last session has closed, Dyno therefore holds every connection of the
//! pooler at once and flushes its statistics. The counts of the whole run are then exact.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dyno_record::Identity;
use parking_lot::Mutex;

use super::connections::PostgresConnections;
use super::counters::{FLUSH, SHARED_STATISTICS};
use super::identity::counting::through_pooler;
use super::wire::{PostgresConnection, message};
use dyno_engine::{ConnectionPurpose, TargetError};

/// The application name of sessions through a pooler.
pub(super) const POOLED_NAME: &str = "dyno session pooled";

/// The setting in identities that states what a pooler does to sessions, as in [`PostgresPoolerStatements::words`].
const SETTING: &str = "pooler";

/// The longest time to wait for a pooler to assign a connection for the last flush.
const HAND_OUT: Duration = Duration::from_secs(2);

/// How a session sends statements through a pooler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostgresPoolerStatements {
    /// Prepared: the pooler keeps them and prepares them on the assigned server connection.
    Prepared,
    /// Unnamed: parsed, bound and executed each time.
    Unnamed,
}

impl PostgresPoolerStatements {
    /// The description stored in records.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Prepared => "in between, prepared statements",
            Self::Unnamed => "in between, unnamed statements",
        }
    }
}

/// The endpoint that sessions connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostgresRoute {
    /// The PostgreSQL server, without a pooler.
    Direct,
    /// A pooler, and how it handles prepared statements.
    Pooled(PostgresPoolerStatements),
}

/// The connections of a target's sessions, directly or through a pooler.
#[derive(Debug)]
pub(super) struct PostgresPool {
    sessions: PostgresConnections,
    server: PostgresConnections,
    route: Mutex<Option<PostgresRoute>>,
    /// Number of sessions that are open.
    open: AtomicU32,
    /// Transactions that Dyno added outside the sessions.
    commits: AtomicU64,
}

impl PostgresPool {
    /// Creates the pool: sessions connect with `sessions`, everything else with `server`.
    pub(super) fn new(sessions: PostgresConnections, server: PostgresConnections) -> Self {
        Self {
            sessions,
            server,
            route: Mutex::new(None),
            open: AtomicU32::new(0),
            commits: AtomicU64::new(0),
        }
    }

    /// The connections of the sessions.
    pub(super) fn sessions(&self) -> &PostgresConnections {
        &self.sessions
    }

    /// Transactions that the pool has added to the target's counters.
    pub(super) fn own_commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// What the sessions connect to; determined once.
    ///
    /// # Errors
    /// It cannot be reached, or the two URLs do not lead to the same database.
    pub(super) fn route(&self) -> Result<PostgresRoute, TargetError> {
        let mut cached_route = self.route.lock();
        if let Some(route) = *cached_route {
            return Ok(route);
        }
        let detected = self.detect_route()?;
        *cached_route = Some(detected);
        Ok(detected)
    }

    /// Whether sessions use a pooler that keeps prepared statements.
    ///
    /// # Errors
    /// As [`PostgresPool::route`].
    pub(super) fn carries_statements(&self) -> Result<bool, TargetError> {
        Ok(self.route()? == PostgresRoute::Pooled(PostgresPoolerStatements::Prepared))
    }

    fn detect_route(&self) -> Result<PostgresRoute, TargetError> {
        let mut server = self.server.plain("dyno check")?;
        if serving_pid(&mut server)? != server.backend_pid() {
            return Err(TargetError::unsupported("target.observe_url also leads to a connection pooler")
                .hint("set target.observe_url to the host and port of the PostgreSQL server itself"));
        }
        let mut session = self.sessions.plain("dyno check")?;
        let (here, there) = (database(&mut server)?, database(&mut session)?);
        if here != there {
            return Err(TargetError::unsupported(format!(
                "target.url leads to {there}, but target.observe_url to {here}"
            ))
            .hint("both must lead to one database of one server"));
        }
        let way = match serving_pid(&mut session)? == session.backend_pid() {
            true => PostgresRoute::Direct,
            false => PostgresRoute::Pooled(statements(&mut session)),
        };
        server.close();
        session.close();
        Ok(way)
    }

    /// Adds to `identity` what a pooler changes.
    ///
    /// # Errors
    /// As [`PostgresPool::route`].
    pub(super) fn describe(&self, identity: &mut Identity) -> Result<(), TargetError> {
        if let PostgresRoute::Pooled(statements) = self.route()? {
            identity.settings.insert(SETTING.to_owned(), statements.words().to_owned());
            through_pooler(&mut identity.counting);
        }
        Ok(())
    }

    /// Flushes the statistics of every server connection that sessions used.
    ///
    /// Holds all connections at once, so that each is a different one. Returns true if all were reached.
    fn flush_statistics(&self) -> Result<bool, TargetError> {
        let mut server = self.server.open_for(ConnectionPurpose::Observe)?;
        let rows = server.simple(&format!(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^{POOLED_NAME}( |$)'"
        ))?;
        let mut left: BTreeSet<i32> = rows.iter().filter_map(|row| row.parse(0)).collect();
        self.add_commits(3);
        let books = server.server_version_num() >= SHARED_STATISTICS;
        let mut held = Vec::new();
        while books && held.len() < rows.len() && !left.is_empty() {
            let mut connection = self.sessions.plain(POOLED_NAME)?;
            let deadline = Some(Instant::now() + HAND_OUT);
            connection
                .line
                .stream
                .socket()
                .set_deadline(deadline)
                .map_err(super::wire::PostgresWireError::Io)?;
            connection.simple("BEGIN")?;
            self.add_commits(1);
            left.remove(&serving_pid(&mut connection)?);
            connection.simple(FLUSH)?;
            held.push(connection);
        }
        for connection in &mut held {
            connection.simple("COMMIT")?;
        }
        held.into_iter().for_each(PostgresConnection::close);
        server.close_within(HAND_OUT);
        Ok(books && left.is_empty())
    }

    fn add_commits(&self, commits: u64) {
        self.commits.fetch_add(commits, Ordering::AcqRel);
    }
}

/// The membership of one open session behind a pooler.
#[derive(Debug)]
pub(super) struct PostgresPoolMembership(Option<Arc<PostgresPool>>);

impl PostgresPoolMembership {
    /// Counts one more open session.
    pub(super) fn join(pool: &Arc<PostgresPool>) -> Self {
        pool.open.fetch_add(1, Ordering::AcqRel);
        Self(Some(Arc::clone(pool)))
    }

    /// Counts one session less after a regular close; the last one flushes all statistics.
    pub(super) fn leave(mut self) {
        let Some(pool) = self.0.take() else { return };
        if pool.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Statistics that cannot be flushed now are reported by the server later, or are missing in the
            // audit.
            let _ = pool.flush_statistics();
        }
    }
}

impl Drop for PostgresPoolMembership {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The server process that currently serves a connection.
fn serving_pid(connection: &mut PostgresConnection) -> Result<i32, TargetError> {
    let rows = connection.simple("SELECT pg_catalog.pg_backend_pid()")?;
    rows.last()
        .and_then(|row| row.parse(0))
        .ok_or_else(|| TargetError::database("the server does not report its process ID"))
}

/// A unique description of the database and its server.
fn database(connection: &mut PostgresConnection) -> Result<String, TargetError> {
    let rows = connection.simple(
        "SELECT pg_catalog.format('database %s of the server with system identifier %s, started %s', \
         pg_catalog.current_database(), s.system_identifier, \
         pg_catalog.to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')) \
         FROM pg_catalog.pg_control_system() s",
    )?;
    Ok(rows.first().and_then(|row| row.get(0)).unwrap_or("an unknown database").to_owned())
}

/// Whether the pooler keeps prepared statements. If it does, they have its own names on the server. If our
/// name exists there, or the server returns an error, the pooler only forwards messages, and the next
/// transaction may use another connection.
fn statements(connection: &mut PostgresConnection) -> PostgresPoolerStatements {
    const NAME: &str = "dyno_probe";
    const TEXT: &str = "SELECT 1 AS dyno_probe";
    let ask = format!(
        "SELECT count(*) FILTER (WHERE name = '{NAME}'), count(*) FROM pg_catalog.pg_prepared_statements \
         WHERE statement = '{TEXT}'"
    );
    let out = &mut connection.line.out;
    message::parse(out, NAME, TEXT, &[]);
    message::bind_text(out, NAME, &[]);
    message::execute(out);
    message::parse(out, "", &ask, &[]);
    message::bind_text(out, "", &[]);
    message::execute(out);
    message::forget(out, NAME);
    message::sync(out);
    let rows = connection.line.send().and_then(|()| connection.read_results()).unwrap_or_default();
    let number = |index| rows.last().filter(|row| row.len() == 2).and_then(|row| row.parse::<u64>(index));
    match (number(0), number(1)) {
        (Some(0), Some(1..)) => PostgresPoolerStatements::Prepared,
        _ => PostgresPoolerStatements::Unnamed,
    }
}
