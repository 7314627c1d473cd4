//! The observer: one connection that runs the same queries for each snapshot.

use std::collections::{BTreeMap, BTreeSet};

use dyno_plan::DataSpec;
use dyno_record::{Counter, CounterReading, RELOADED, SETTINGS, SHAPE, Snapshot};

use super::super::connections::MySqlConnections;
use super::super::identity::{shown, started};
use super::super::own_connections::{self, MySqlSessionStatus, SharedSessionRegistry};
use super::super::wire::{MySqlConnection, MySqlError, TextRow};
use super::company;
use super::histogram;
use super::portable::{MySqlCounterFacts, fill};
use super::shape;
use super::sources::{
    ALL, MySqlCounterSource, OF_PERFORMANCE_SCHEMA, RESTLESS, SESSION_VARIABLES, STATES, STATUS, TABLES,
    variables_set,
};
use super::statements::MySqlStatementReader;
use super::tables::MySqlTableReader;
use dyno_engine::table_counts::TableSnapshot;
use dyno_engine::{
    ConnectionPurpose, Counting, Observer, Refusal as _, StatementDescription, StatementSnapshot,
    TargetError, TargetErrorKind,
};

/// Reads the counters of one server.
pub(crate) struct MySqlObserver {
    connection: MySqlConnection,
    /// Sources that cannot be read, each with the reason.
    missing: BTreeMap<&'static str, String>,
    histogram: bool,
    /// The work that the sessions have reported.
    sessions: SharedSessionRegistry,
    /// The query for the definitions of the watched tables; `None` if none are watched.
    shape: Option<String>,
    /// The definitions as first read, and the number of statements that can change them, at that time.
    shape_seen: Option<(f64, BTreeMap<String, String>)>,
    /// Whether it has read the dictionary since then; blocks of the dictionary are not attributed to any
    /// user.
    has_read_dictionary: bool,
    /// The query for the time of the last change of a variable.
    variables_set: Option<String>,
    /// Reads the counts of statements; else why it cannot, and what to do about it.
    statements: Result<MySqlStatementReader, (String, String)>,
    /// Reads the counts of tables; else why it cannot, and what to do about it.
    tables: Result<MySqlTableReader, (String, String)>,
    /// Transactions of this connection; reading the dictionary's tables counts too.
    commits: u64,
}

impl MySqlObserver {
    /// Connects and determines which counters can be read; `sessions` separates their work from that of
    /// others.
    pub(crate) fn open(
        connections: &MySqlConnections,
        spec: &DataSpec,
        names: &BTreeSet<String>,
        sessions: SharedSessionRegistry,
    ) -> Result<Self, TargetError> {
        let mut connection = connections.open_for(ConnectionPurpose::Observe)?;
        let variables_set = variables_set_sql(&mut connection)?;
        let mut missing = BTreeMap::new();
        for source in ALL {
            if let Err(error) = connection.simple(source.sql) {
                record_missing(&mut missing, &source, error)?;
            }
        }
        if let Some(why) = performance_schema_is_off(&mut connection)? {
            for source in &OF_PERFORMANCE_SCHEMA {
                missing.insert(source.name, why.clone());
            }
        }
        let watched = shape::MySqlWatchedObjects::find(&mut connection, spec, names)?;
        let histogram = !missing.contains_key("statements") && histogram::read(&mut connection)?.is_some();
        let statements = optional(MySqlStatementReader::open(&mut connection, sessions.clone()))?;
        let tables = optional(MySqlTableReader::open(&mut connection))?;
        sessions.lock().add_observer(connection.id());
        Ok(Self {
            connection,
            missing,
            histogram,
            sessions,
            shape: watched.sql(),
            shape_seen: None,
            has_read_dictionary: false,
            variables_set,
            statements,
            tables,
            commits: 0,
        })
    }
}

/// A reader, or the reason and the hint if the server refuses it. A lost connection is an error.
fn optional<T>(opened: Result<T, TargetError>) -> Result<Result<T, (String, String)>, TargetError> {
    match opened {
        Err(error) if error.kind == TargetErrorKind::Unreachable => Err(error),
        opened => Ok(opened.map_err(|error| (error.message, error.hint))),
    }
}

/// Records an error of the server as the reason why a source is missing. Any other error is returned.
fn record_missing(
    missing: &mut BTreeMap<&'static str, String>,
    source: &MySqlCounterSource,
    error: TargetError,
) -> Result<(), TargetError> {
    match MySqlError::of(&error) {
        Some(server) => {
            // No privilege on the table, or on any table of its database.
            let grant = if matches!(server.number, 1142 | 1044) {
                "; GRANT SELECT ON performance_schema.* to this user"
            } else {
                ""
            };
            missing.insert(source.name, format!("{}{grant}", server.message));
            Ok(())
        }
        None => Err(error),
    }
}

/// The reason if `performance_schema` is off. Its tables are then readable but empty, and would give 0 for
/// figures that were not counted.
fn performance_schema_is_off(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple("SELECT @@performance_schema")?;
    let off = rows.first().and_then(|row| row.get(0)) == Some("0");
    let why = "performance_schema is off on the server; set performance_schema = ON in its option file and restart it";
    Ok(off.then(|| why.to_owned()))
}

impl MySqlObserver {
    /// Records the definitions of the watched tables. Reading the dictionary counts as reading blocks, so it
    /// is read only if the server has begun a statement that can change a definition. After that it is read
    /// with every snapshot, because the server counts such statements when they begin and not when they end.
    fn read_schema_marks(&mut self, snapshot: &mut Snapshot) -> Result<(), TargetError> {
        let changing = shape::changing_statements(&snapshot.native);
        if let Some((_, marks)) = self.shape_seen.as_ref().filter(|(then, _)| Some(*then) == changing) {
            snapshot.shape.clone_from(marks);
            return Ok(());
        }
        let Some(shape) = &self.shape else { return Ok(()) };
        self.has_read_dictionary |= self.shape_seen.is_some();
        match self.connection.simple(shape) {
            Ok(rows) => {
                let marks =
                    rows.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.get(1)?.to_owned())));
                snapshot.shape.extend(marks);
                if self.shape_seen.is_none() {
                    self.shape_seen = changing.map(|changing| (changing, snapshot.shape.clone()));
                }
            }
            Err(error) => match MySqlError::of(&error) {
                Some(server) => {
                    snapshot.unread.insert(SHAPE.to_owned(), server.message.clone());
                }
                None => return Err(error),
            },
        }
        Ok(())
    }
}

impl MySqlObserver {
    /// The time when a variable was last changed, if the server records it.
    fn variables_set(&mut self) -> Result<Option<String>, TargetError> {
        let Some(sql) = &self.variables_set else { return Ok(None) };
        match self.connection.simple(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| row.get(0)).map(str::to_owned)),
            Err(error) if MySqlError::of(&error).is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl MySqlObserver {
    fn read_statements<T>(
        &mut self,
        read: impl FnOnce(&mut MySqlStatementReader, &mut MySqlConnection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        read(available(&mut self.statements)?, &mut self.connection)
    }
}

fn available<T>(reader: &mut Result<T, (String, String)>) -> Result<&mut T, TargetError> {
    reader.as_mut().map_err(|(message, hint)| TargetError::unsupported(message.as_str()).hint(hint.as_str()))
}

/// The query for the time when a variable was last changed; `None` if the server does not record it.
fn variables_set_sql(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    if connection.is_mariadb() {
        return Ok(None);
    }
    match connection.simple(SESSION_VARIABLES) {
        Ok(rows) => {
            let names: Vec<String> = rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect();
            Ok(Some(variables_set(&names)))
        }
        Err(error) if MySqlError::of(&error).is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Observer for MySqlObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        let mut facts = MySqlCounterFacts::new(self.connection.is_mariadb(), self.missing.clone());
        let mut snapshot = Snapshot::default();
        // The observer's own share so far, read just before the server's counters, so that both contain the
        // same work.
        let (mut own, mut sessions) = (MySqlSessionStatus::default(), None);
        for source in ALL.iter().filter(|source| !self.missing.contains_key(source.name)) {
            let counts = source.name == STATUS.name;
            if counts {
                own = own_connections::read_session_status(&mut self.connection)?;
                self.commits = own.transactions();
                tell(Counting::Asked);
            }
            let answer = self.connection.simple(source.sql);
            // Table counts are read last. Work that follows a count is not attributed to others.
            if counts || source.name == TABLES.name {
                sessions = self.sessions.lock().sum();
            }
            if counts {
                tell(Counting::Answered);
            }
            match answer {
                Ok(rows) => rows.iter().for_each(|row| note(&mut snapshot, &mut facts, source.name, row)),
                Err(error) => record_missing(&mut facts.missing, source, error)?,
            }
        }
        if self.histogram
            && let Some(histogram) = histogram::read(&mut self.connection)?
        {
            snapshot.latencies.insert("statements".to_owned(), histogram);
        }
        self.read_schema_marks(&mut snapshot)?;
        if let Some(reason) = facts.missing.get("setting") {
            snapshot.unread.insert(SETTINGS.to_owned(), reason.clone());
        }
        if let Some(when) = self.variables_set()? {
            snapshot.settings.insert(RELOADED.to_owned(), when);
        }
        // This counter grows with the clock and says nothing about the run.
        snapshot.native.remove("status.Uptime");
        snapshot.epochs.insert("server.start".to_owned(), started(&mut self.connection)?);
        fill(&mut snapshot, &facts);
        if !self.has_read_dictionary {
            zero_observer_reads(&mut snapshot);
        }
        if let Some(sessions) = sessions {
            company::fill(&mut snapshot, &facts, sessions, own);
        }
        Ok(snapshot)
    }

    /// `SHOW` and `performance_schema` do not use transactions of an engine; queries of the dictionary do.
    fn own_commits(&self) -> u64 {
        self.commits
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        self.read_statements(MySqlStatementReader::read)
    }

    fn describe_statements(&mut self, keys: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        self.read_statements(|reader, connection| reader.describe(connection, keys))
    }

    fn tables(&mut self) -> Result<Option<TableSnapshot>, TargetError> {
        available(&mut self.tables)?.read(&mut self.connection).map(Some)
    }
}

/// Records that the observer has read no blocks. `SHOW` and `performance_schema` read memory and no table of
/// a storage engine. Measured on MariaDB 10.11 and MySQL 9.7 for each statement.
fn zero_observer_reads(snapshot: &mut Snapshot) {
    for counter in [Counter::LogicalReads, Counter::PhysicalReads, Counter::PhysicalReadBytes] {
        if matches!(snapshot.portable.get(&counter), Some(CounterReading::Value(_))) {
            snapshot.observer.insert(counter, 0);
        }
    }
}

/// Stores one row: a setting as a fact of the snapshot, a number as a counter.
fn note(snapshot: &mut Snapshot, facts: &mut MySqlCounterFacts, source: &str, row: &TextRow) {
    let (Some(name), Some(value)) = (row.get(0), row.get(1)) else { return };
    if source == "setting" {
        let name = name.to_ascii_lowercase();
        let value = shown(&name, value);
        if !RESTLESS.iter().any(|start| name.starts_with(start)) {
            snapshot.settings.insert(name.clone(), value.to_owned());
        }
        facts.settings.insert(name, value.to_owned());
    } else if STATES.contains(&name) {
        let name = name.to_ascii_lowercase();
        snapshot.settings.insert(name.clone(), value.to_owned());
        facts.settings.insert(name, value.to_owned());
    } else if let Ok(number) = value.parse() {
        snapshot.native.insert(format!("{source}.{name}"), number);
    }
}
