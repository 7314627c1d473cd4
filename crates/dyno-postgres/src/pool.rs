//! Sessions through a connection pooler, while all else goes to the server.
//!
//! A pooler that hands out its server connections for one transaction each (PgBouncer's `pool_mode = transaction`, and its
//! like) takes away what a session's connection is to a run. Settings do not last, so each operation makes its own with
//! `set_config(…, true)` in its own transaction. Prepared statements are carried by some (PgBouncer from 1.21 on, under names
//! of its own) and lost by others, where statements are sent unnamed each time. And a session cannot ask the server to book
//! its statistics: whichever connection hears it books its own. Server processes book theirs within a second while they
//! work, and a process that falls idle ten seconds later (`PGSTAT_IDLE_INTERVAL`); so when the last session has gone, every
//! connection that the pooler has is held at once and asked to, and the counts of the whole run are exact all the same.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_record::Identity;

use super::connect::ConnectConfig;
use super::counters::{FLUSH, OBSERVER_SETTINGS, SHARED_STATISTICS};
use super::identity::counting::through_pooler;
use super::wire::{Connection, message};
use dyno_engine::TargetError;

/// What sessions through a pooler call themselves.
pub(super) const POOLED_NAME: &str = "dyno session pooled";

/// The name under which identities hold what a pooler does to sessions, as [`Statements::words`].
const SETTING: &str = "pooler";

/// The longest wait for a pooler to hand out one of its connections for the last booking.
const HAND_OUT: Duration = Duration::from_secs(2);

/// How statements go through a pooler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statements {
    /// Prepared: the pooler keeps them, and prepares them on the connection that it hands out.
    Prepared,
    /// Unnamed: parsed, bound and executed each time.
    Unnamed,
}

impl Statements {
    /// As records have it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Prepared => "in between, prepared statements",
            Self::Unnamed => "in between, unnamed statements",
        }
    }
}

/// Where sessions arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// At the server itself.
    Straight,
    /// At a pooler.
    Pooled(Statements),
}

/// The way of a target's sessions.
#[derive(Debug)]
pub(super) struct Pool {
    sessions: ConnectConfig,
    server: ConnectConfig,
    way: Mutex<Option<Way>>,
    /// Sessions that are open.
    open: AtomicU32,
    /// Transactions that are not the sessions'.
    commits: AtomicU64,
}

impl Pool {
    /// Sessions connect by `sessions` and arrive at the server that `server` leads to.
    pub(super) fn new(sessions: ConnectConfig, server: ConnectConfig) -> Self {
        Self { sessions, server, way: Mutex::new(None), open: AtomicU32::new(0), commits: AtomicU64::new(0) }
    }

    /// How sessions connect.
    pub(super) fn sessions(&self) -> &ConnectConfig {
        &self.sessions
    }

    /// Transactions that this has added to the target's counters.
    pub(super) fn own_commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// What is at the end of the sessions' way; found out once.
    ///
    /// # Errors
    /// It cannot be reached; or both ways do not lead to one database.
    pub(super) fn way(&self) -> Result<Way, TargetError> {
        let mut known = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(way) = *known {
            return Ok(way);
        }
        let way = self.look()?;
        *known = Some(way);
        Ok(way)
    }

    /// Whether a pooler is in between that carries prepared statements.
    ///
    /// # Errors
    /// As [`Pool::way`].
    pub(super) fn carries_statements(&self) -> Result<bool, TargetError> {
        Ok(self.way()? == Way::Pooled(Statements::Prepared))
    }

    fn look(&self) -> Result<Way, TargetError> {
        let mut server = Connection::open(&self.server, "dyno check")?;
        if served_by(&mut server)? != server.backend_pid() {
            return Err(TargetError::unsupported("target.observe_url leads to a connection pooler, too")
                .hint("give target.observe_url the host and port of the PostgreSQL server itself"));
        }
        let mut session = Connection::open(&self.sessions, "dyno check")?;
        let (here, there) = (database(&mut server)?, database(&mut session)?);
        if here != there {
            return Err(TargetError::unsupported(format!(
                "target.url leads to {there}, and target.observe_url to {here}"
            ))
            .hint("both have to lead to the same database of the same server"));
        }
        let way = match served_by(&mut session)? == session.backend_pid() {
            true => Way::Straight,
            false => Way::Pooled(statements(&mut session)),
        };
        server.close();
        session.close();
        Ok(way)
    }

    /// Adds to `identity` what the way of the sessions changes.
    ///
    /// # Errors
    /// As [`Pool::way`].
    pub(super) fn describe(&self, identity: &mut Identity) -> Result<(), TargetError> {
        if let Way::Pooled(statements) = self.way()? {
            identity.settings.insert(SETTING.to_owned(), statements.words().to_owned());
            through_pooler(&mut identity.counting);
        }
        Ok(())
    }

    /// Has every connection of the pooler that sessions used book its statistics.
    ///
    /// Held all at once, so that each is another one; true if all were reached.
    fn book(&self) -> Result<bool, TargetError> {
        let mut server = Connection::open(&self.server, "dyno check")?;
        server.simple(OBSERVER_SETTINGS)?;
        let rows = server.simple(&format!(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^{POOLED_NAME}( |$)'"
        ))?;
        let mut left: BTreeSet<i32> = rows.iter().filter_map(|row| row.parse(0)).collect();
        self.add_commits(3);
        let books = server.server_version_num() >= SHARED_STATISTICS;
        let mut held = Vec::new();
        while books && held.len() < rows.len() && !left.is_empty() {
            let mut connection = Connection::open(&self.sessions, POOLED_NAME)?;
            let deadline = Some(Instant::now() + HAND_OUT);
            connection.line.stream.socket().set_deadline(deadline).map_err(super::wire::WireError::Io)?;
            connection.simple("BEGIN")?;
            self.add_commits(1);
            left.remove(&served_by(&mut connection)?);
            connection.simple(FLUSH)?;
            held.push(connection);
        }
        for connection in &mut held {
            connection.simple("COMMIT")?;
        }
        held.into_iter().for_each(Connection::close);
        server.close_within(HAND_OUT);
        Ok(books && left.is_empty())
    }

    fn add_commits(&self, commits: u64) {
        self.commits.fetch_add(commits, Ordering::AcqRel);
    }
}

/// One of the sessions that are open behind a pooler.
#[derive(Debug)]
pub(super) struct Member(Option<Arc<Pool>>);

impl Member {
    /// One more.
    pub(super) fn join(pool: &Arc<Pool>) -> Self {
        pool.open.fetch_add(1, Ordering::AcqRel);
        Self(Some(Arc::clone(pool)))
    }

    /// One less, in order; the last one sees to it that all is booked.
    pub(super) fn leave(mut self) {
        let Some(pool) = self.0.take() else { return };
        if pool.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            // What cannot be booked now is booked by the server in its own time, or is missed by the audit.
            let _ = pool.book();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The process that serves a connection at this moment.
fn served_by(connection: &mut Connection) -> Result<i32, TargetError> {
    let rows = connection.simple("SELECT pg_catalog.pg_backend_pid()")?;
    rows.last()
        .and_then(|row| row.parse(0))
        .ok_or_else(|| TargetError::database("the server does not tell the number of its process"))
}

/// Which database of which server this is, in words that no other has.
fn database(connection: &mut Connection) -> Result<String, TargetError> {
    let rows = connection.simple(
        "SELECT pg_catalog.format('database %s of the server with system identifier %s, started %s', \
         pg_catalog.current_database(), s.system_identifier, \
         pg_catalog.to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')) \
         FROM pg_catalog.pg_control_system() s",
    )?;
    Ok(rows.first().and_then(|row| row.get(0)).unwrap_or("an unknown database").to_owned())
}

/// Whether the pooler carries prepared statements: then they have names of its own on the server. A name of ours there, or
/// a refusal, means that it passes on what it gets, and the next transaction may be another connection's.
fn statements(connection: &mut Connection) -> Statements {
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
        (Some(0), Some(1..)) => Statements::Prepared,
        _ => Statements::Unnamed,
    }
}
