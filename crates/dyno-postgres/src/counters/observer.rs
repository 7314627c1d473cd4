//! The observer: one connection, one statement per snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dyno_plan::DataSpec;
use dyno_record::{RELOADED, Snapshot};

use super::super::connections::PostgresConnections;
use super::super::identity::shown;
use super::super::pool::PostgresPool;
use super::super::wire::{PostgresConnection, PostgresError, TextRow};
use super::company::PostgresForeignActivity;
use super::flush_sql;
use super::observer_reads::{OBSERVER, PostgresObserverReads};
use super::portable::{PostgresCounterFacts, fill};
use super::shape::PostgresWatchedObjects;
use super::source::PostgresCounterSource;
use super::sources::{ROLE_SETTINGS, sources, statement};
use super::statements::PostgresStatementReader;
use super::tables;
use dyno_engine::table_counts::TableSnapshot;
use dyno_engine::{
    ConnectionPurpose, Counting, Observer, Refusal as _, StatementDescription, StatementSnapshot,
    TargetError, TargetErrorKind,
};

/// The source of settings, and the row with the time when the server loaded them.
const SETTINGS: &str = "settings";
const LOADED: &str = "loaded";

/// Reads the counters of one database.
pub(crate) struct PostgresObserver {
    connection: PostgresConnection,
    sources: Vec<PostgresCounterSource>,
    /// Sources that cannot be read, each with the reason.
    missing: BTreeMap<&'static str, String>,
    /// The statement without the settings, and the statement with them.
    sql: [String; 2],
    /// The settings as last read, and the time when the server had loaded them.
    settings: Option<(String, Vec<TextRow>)>,
    foreign_activity: PostgresForeignActivity,
    reads: PostgresObserverReads,
    /// Reads the counts of statements, once prepared; else why it cannot, and what to do about it.
    statements: Result<PostgresStatementReader, (String, String)>,
    /// Why the counts of tables cannot be read, if they cannot.
    no_tables: Option<String>,
    commits: u64,
    /// Whether sessions use Dyno's own test tables.
    on_test_tables: bool,
    /// The pool of the sessions, and the pool's own transactions before this observer.
    pool: Option<(Arc<PostgresPool>, u64)>,
}

impl PostgresObserver {
    /// Connects and determines which statistics can be read.
    pub(crate) fn open(
        connections: &PostgresConnections,
        pool: Option<Arc<PostgresPool>>,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Self, TargetError> {
        let mut connection = connections.open_for(ConnectionPurpose::Observe)?;
        let mut commits = 2;
        let watched = PostgresWatchedObjects::find(&mut connection, names, &mut commits)?;
        let sources = sources(connection.server_version_num(), spec, &watched);
        // The server runs one transaction to open a connection; the settings are the second.
        let pool = pool.map(|pool| (Arc::clone(&pool), pool.own_commits()));
        let mut observer = Self {
            connection,
            sources,
            missing: BTreeMap::new(),
            sql: Default::default(),
            settings: None,
            foreign_activity: PostgresForeignActivity::default(),
            reads: PostgresObserverReads::new(),
            statements: Err(Default::default()),
            no_tables: None,
            commits,
            on_test_tables: !spec.is_none(),
            pool,
        };
        observer.probe()?;
        Ok(observer)
    }

    /// Tries each source separately and joins the readable ones into the snapshot statement.
    fn probe(&mut self) -> Result<(), TargetError> {
        self.missing.clear();
        for source in &self.sources {
            match self.connection.simple(&source.sql) {
                Ok(_) => self.commits += 1,
                Err(error) => match PostgresError::of(&error) {
                    // The server returned an error for this source; the connection remains usable. It counts
                    // as a rollback and not as a commit.
                    Some(server) if !server.is_fatal() => {
                        let grant = if server.code == "42501" {
                            "; GRANT pg_monitor, or SELECT on it, to this user"
                        } else {
                            ""
                        };
                        let why = format!("{} cannot be read: {}{grant}", source.name, server.message);
                        self.missing.insert(source.name, why);
                    }
                    _ => return Err(error),
                },
            }
        }
        self.settings = None;
        self.prepare()
    }

    /// Prepares the snapshot statements so that none is planned inside the window.
    fn prepare(&mut self) -> Result<(), TargetError> {
        let readable = |source: &&PostgresCounterSource| !self.missing.contains_key(source.name);
        let all = statement(self.sources.iter().filter(readable));
        let most = statement(self.sources.iter().filter(readable).filter(|source| source.name != SETTINGS));
        // Flushed before the first snapshot; otherwise the first would lack it and the second contain it.
        self.connection
            .simple(&format!("DEALLOCATE ALL; PREPARE dyno_most AS {most}; PREPARE dyno_all AS {all}"))?;
        self.commits += 1;
        self.statements = match PostgresStatementReader::open(&mut self.connection, &mut self.commits) {
            Ok(reader) => Ok(reader),
            Err(error) if error.kind == TargetErrorKind::Unreachable => return Err(error),
            Err(error) => Err((error.message, error.hint)),
        };
        self.prepare_tables()?;
        self.flush()?;
        let flush = flush_sql(self.connection.server_version_num());
        let separator = if flush.is_empty() { "" } else { "; " };
        self.sql = ["dyno_most", "dyno_all"].map(|name| format!("{flush}{separator}EXECUTE {name}"));
        Ok(())
    }

    /// Prepares reading the counts of tables, and reads them once, so that no later reading fills caches.
    fn prepare_tables(&mut self) -> Result<(), TargetError> {
        let read = tables::read_sql(self.connection.server_version_num());
        for sql in [tables::prepare_sql(), read] {
            match self.connection.simple(&sql) {
                Ok(_) => self.commits += 1,
                Err(error) if error.kind == TargetErrorKind::Unreachable => return Err(error),
                Err(error) => {
                    self.no_tables = Some(error.message);
                    return Ok(());
                }
            }
        }
        self.no_tables = None;
        Ok(())
    }

    /// Reads statistics of statements in one transaction.
    fn read_statements<T>(
        &mut self,
        read: impl FnOnce(&PostgresStatementReader, &mut PostgresConnection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        match &self.statements {
            Ok(reader) => {
                let answer = read(reader, &mut self.connection);
                // A statement that the server refused is counted as a rollback.
                self.commits += u64::from(answer.is_ok());
                answer
            }
            Err((message, hint)) => Err(TargetError::unsupported(message.as_str()).hint(hint.as_str())),
        }
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        let flush = flush_sql(self.connection.server_version_num());
        if !flush.is_empty() {
            self.connection.simple(flush)?;
            self.commits += 1;
        }
        Ok(())
    }

    /// All rows of a snapshot. Settings change only when the server reloads them, so they are read again only
    /// then.
    fn rows(&mut self) -> Result<Vec<TextRow>, TargetError> {
        if let Some((loaded, settings)) = &self.settings {
            let mut rows = self.connection.simple(&self.sql[0])?;
            self.commits += 1;
            self.reads.note(&rows);
            if loaded_at(&rows).as_deref() == Some(loaded) {
                rows.extend(settings.iter().cloned());
                return Ok(rows);
            }
        }
        let rows = self.connection.simple(&self.sql[1])?;
        self.commits += 1;
        self.reads.note(&rows);
        let settings = rows.iter().filter(|row| row.get(0) == Some("setting")).cloned().collect();
        self.settings = loaded_at(&rows).map(|loaded| (loaded, settings));
        Ok(rows)
    }
}

impl Observer for PostgresObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        tell(Counting::Asked);
        let rows = match self.rows() {
            Ok(rows) => rows,
            // A privilege was revoked or an object dropped since the sources were tried: determine again
            // which can be read.
            Err(error) if PostgresError::of(&error).is_some_and(|server| !server.is_fatal()) => {
                self.probe()?;
                self.reads.mark_lost();
                self.rows()?
            }
            Err(error) => return Err(error),
        };
        tell(Counting::Answered);
        let mut facts = PostgresCounterFacts::new(self.connection.server_version_num(), self.missing.clone());
        facts.on_test_tables = self.on_test_tables;
        let mut snapshot = Snapshot::default();
        for row in &rows {
            if let (Some(source), Some(key)) = (row.get(0), row.get(1))
                && source != OBSERVER
                && !self.foreign_activity.accept_cell(source, key, row.get(2))
            {
                note(&mut snapshot, &mut facts, source, key, row.get(2));
            }
        }
        snapshot.unread =
            self.missing.iter().map(|(&source, reason)| (source.to_owned(), reason.clone())).collect();
        fill(&mut snapshot, &facts);
        self.foreign_activity.fill(&mut snapshot);
        self.reads.fill(&mut snapshot, facts.block_size());
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        let of_pool = self.pool.as_ref().map_or(0, |(pool, before)| pool.own_commits() - before);
        self.commits + of_pool
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        self.read_statements(|reader, connection| reader.read(connection))
    }

    fn describe_statements(&mut self, keys: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        self.read_statements(|reader, connection| reader.describe(connection, keys))
    }

    fn tables(&mut self) -> Result<Option<TableSnapshot>, TargetError> {
        if let Some(reason) = &self.no_tables {
            return Err(TargetError::unsupported(reason.as_str()));
        }
        let version_num = self.connection.server_version_num();
        let rows = self.connection.simple(&tables::read_sql(version_num)).map_err(tables::not_read)?;
        self.commits += 1;
        tables::snapshot(&rows, version_num).map(Some)
    }
}

/// The time when the server last loaded its settings.
fn loaded_at(rows: &[TextRow]) -> Option<String> {
    let row = rows.iter().find(|row| (row.get(0), row.get(1)) == (Some("server"), Some(LOADED)))?;
    row.get(2).map(str::to_owned)
}

/// Stores one cell: a counter as `source.column`, a reset time as an epoch, a setting as a setting.
fn note(
    snapshot: &mut Snapshot,
    facts: &mut PostgresCounterFacts,
    source: &str,
    key: &str,
    value: Option<&str>,
) {
    let text = || value.unwrap_or("none").to_owned();
    match (source, key) {
        ("setting", _) => {
            let value = shown(key, value.unwrap_or_default()).to_owned();
            facts.settings.insert(format!("setting.{key}"), value.clone());
            snapshot.settings.insert(key.to_owned(), value);
            return;
        }
        (ROLE_SETTINGS, _) => {
            snapshot.settings.insert(key.to_owned(), text());
            return;
        }
        ("shape", _) => {
            snapshot.shape.insert(key.to_owned(), text());
            return;
        }
        ("server", "wal_bytes") => {}
        ("server", LOADED) => {
            snapshot.settings.insert(RELOADED.to_owned(), text());
            return;
        }
        ("server", _) => {
            facts.settings.insert(key.to_owned(), text());
            snapshot.epochs.insert(format!("server.{key}"), text());
            return;
        }
        (_, "stats_reset") => {
            // All rows of pg_stat_io are reset together; one epoch is enough.
            let view = source.split('.').next().filter(|&view| view == "pg_stat_io").unwrap_or(source);
            snapshot.epochs.insert(format!("{view}.stats_reset"), value.unwrap_or("never").to_owned());
            return;
        }
        _ => {}
    }
    if let Some(number) = value.and_then(|value| value.parse().ok()) {
        snapshot.native.insert(format!("{source}.{key}"), number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observer_cells_are_stored_by_type() {
        let (mut snapshot, mut facts) =
            (Snapshot::default(), PostgresCounterFacts::new(180_000, BTreeMap::new()));
        note(&mut snapshot, &mut facts, "pg_stat_database", "blks_hit", Some("17"));
        note(&mut snapshot, &mut facts, "pg_stat_database", "stats_reset", None);
        note(&mut snapshot, &mut facts, "pg_stat_database", "checksum_last_failure", Some("2026-01-01"));
        note(
            &mut snapshot,
            &mut facts,
            "pg_stat_io.client_backend.relation.normal",
            "stats_reset",
            Some("now"),
        );
        note(&mut snapshot, &mut facts, "server", "wal_bytes", Some("4096"));
        note(&mut snapshot, &mut facts, "setting", "fsync", Some("off"));
        note(&mut snapshot, &mut facts, "setting", "primary_conninfo", Some("host=a password=b"));
        note(&mut snapshot, &mut facts, "shape", "index mine on rows_1", Some("16388 16390 t"));
        assert_eq!(snapshot.native["pg_stat_database.blks_hit"], 17.0);
        assert_eq!(snapshot.native["server.wal_bytes"], 4096.0);
        assert_eq!(snapshot.native.len(), 2);
        assert_eq!(snapshot.epochs["pg_stat_database.stats_reset"], "never");
        assert_eq!(snapshot.epochs["pg_stat_io.stats_reset"], "now");
        assert_eq!((&*snapshot.settings["fsync"], &*facts.settings["setting.fsync"]), ("off", "off"));
        assert_eq!(snapshot.settings["primary_conninfo"], "***");
        assert_eq!(snapshot.shape["index mine on rows_1"], "16388 16390 t");
    }
}
