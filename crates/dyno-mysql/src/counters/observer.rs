//! The observer: one connection, one round of questions per snapshot.

use std::collections::{BTreeMap, BTreeSet};

use dyno_plan::DataSpec;
use dyno_record::{Counter, RELOADED, Reading, SETTINGS, SHAPE, Snapshot};

use super::super::connect::ConnectConfig;
use super::super::identity::{shown, started};
use super::super::layout::{READ_ONLY, settle};
use super::super::own::{self, Sessions, Share, open_books};
use super::super::wire::{Connection, MyError, Row};
use super::company;
use super::histogram;
use super::portable::{Facts, fill};
use super::shape;
use super::sources::{
    ALL, OF_PERFORMANCE_SCHEMA, RESTLESS, SESSION_VARIABLES, STATES, STATUS, Source, TABLES, variables_set,
};
use dyno_engine::{Counting, Observer, Refusal as _, TargetError};

/// Reads counters of one server.
pub(crate) struct MyObserver {
    connection: Connection,
    /// Sources that cannot be read, with the reason.
    missing: BTreeMap<&'static str, String>,
    histogram: bool,
    /// What the sessions have done.
    sessions: Sessions,
    /// What asks for the shape of the tables; `None` where none is watched.
    shape: Option<String>,
    /// The shape as first read, and how many statements that can change one the server had begun by then.
    shape_seen: Option<(f64, BTreeMap<String, String>)>,
    /// Whether it has read the dictionary since, whose blocks count as those of everybody.
    has_read_dictionary: bool,
    /// What asks when a variable was last set.
    variables_set: Option<String>,
    /// Transactions of this connection: the dictionary's tables are an engine's, too.
    commits: u64,
}

impl MyObserver {
    /// Connects, and finds out what can be read; `sessions` tells what of it is their work.
    pub(crate) fn open(
        config: &ConnectConfig,
        spec: &DataSpec,
        names: &BTreeSet<String>,
        sessions: Sessions,
    ) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno observer")?;
        settle(&mut connection)?;
        connection.simple(READ_ONLY)?;
        let variables_set = variables_set_sql(&mut connection)?;
        let mut missing = BTreeMap::new();
        for source in ALL {
            if let Err(error) = connection.simple(source.sql) {
                note_missing(&mut missing, &source, error)?;
            }
        }
        if let Some(why) = performance_schema_is_off(&mut connection)? {
            for source in &OF_PERFORMANCE_SCHEMA {
                missing.insert(source.name, why.clone());
            }
        }
        let watched = shape::MyWatchedObjects::find(&mut connection, spec, names)?;
        let histogram = !missing.contains_key("statements") && histogram::read(&mut connection)?.is_some();
        open_books(&sessions).looker(connection.id());
        Ok(Self {
            connection,
            missing,
            histogram,
            sessions,
            shape: watched.sql(),
            shape_seen: None,
            has_read_dictionary: false,
            variables_set,
            commits: 0,
        })
    }
}

/// Takes a refusal as the reason why a source is missing; what is no refusal is an error.
fn note_missing(
    missing: &mut BTreeMap<&'static str, String>,
    source: &Source,
    error: TargetError,
) -> Result<(), TargetError> {
    match MyError::of(&error) {
        Some(server) => {
            // No right on the table, or on any of its database.
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

/// With it off its tables can be read, and are empty: figures would be 0 that nobody counted.
fn performance_schema_is_off(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple("SELECT @@performance_schema")?;
    let off = rows.first().and_then(|row| row.get(0)) == Some("0");
    let why = "performance_schema is off on the server; set performance_schema = ON in its option file and restart it";
    Ok(off.then(|| why.to_owned()))
}

impl MyObserver {
    /// Files the marks of the tables. The dictionary is tables too, whose blocks count as read, so it is asked only where the
    /// server has begun a statement since the first look that can change it. From then on it is asked each time: such
    /// statements are counted when they begin, and nobody counts when they end.
    fn look_at_shape(&mut self, snapshot: &mut Snapshot) -> Result<(), TargetError> {
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
            Err(error) => match MyError::of(&error) {
                Some(server) => {
                    snapshot.unread.insert(SHAPE.to_owned(), server.message.clone());
                }
                None => return Err(error),
            },
        }
        Ok(())
    }
}

impl MyObserver {
    /// When a variable was last set, where the server tells.
    fn variables_set(&mut self) -> Result<Option<String>, TargetError> {
        let Some(sql) = &self.variables_set else { return Ok(None) };
        match self.connection.simple(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| row.get(0)).map(str::to_owned)),
            Err(error) if MyError::of(&error).is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What asks when a variable was last set; `None` where the server does not tell.
fn variables_set_sql(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    if connection.is_mariadb() {
        return Ok(None);
    }
    match connection.simple(SESSION_VARIABLES) {
        Ok(rows) => {
            let names: Vec<String> = rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect();
            Ok(Some(variables_set(&names)))
        }
        Err(error) if MyError::of(&error).is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Observer for MyObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        let mut facts = Facts::new(self.connection.is_mariadb(), self.missing.clone());
        let mut snapshot = Snapshot::default();
        // What looking has cost so far, asked for just before the server's counters: these hold neither less nor more of it.
        let (mut own, mut sessions) = (Share::default(), None);
        for source in ALL.iter().filter(|source| !self.missing.contains_key(source.name)) {
            let counts = source.name == STATUS.name;
            if counts {
                own = own::ask(&mut self.connection)?;
                self.commits = own.transactions();
                tell(Counting::Asked);
            }
            let answer = self.connection.simple(source.sql);
            // The counts of tables come last, and what is later than a count is none of others' work.
            if counts || source.name == TABLES.name {
                sessions = open_books(&self.sessions).sum();
            }
            if counts {
                tell(Counting::Answered);
            }
            match answer {
                Ok(rows) => rows.iter().for_each(|row| note(&mut snapshot, &mut facts, source.name, row)),
                Err(error) => note_missing(&mut facts.missing, source, error)?,
            }
        }
        if self.histogram
            && let Some(histogram) = histogram::read(&mut self.connection)?
        {
            snapshot.latencies.insert("statements".to_owned(), histogram);
        }
        self.look_at_shape(&mut snapshot)?;
        if let Some(reason) = facts.missing.get("setting") {
            snapshot.unread.insert(SETTINGS.to_owned(), reason.clone());
        }
        if let Some(when) = self.variables_set()? {
            snapshot.settings.insert(RELOADED.to_owned(), when);
        }
        // It grows with the clock and says nothing about the run.
        snapshot.native.remove("status.Uptime");
        snapshot.epochs.insert("server.start".to_owned(), started(&mut self.connection)?);
        fill(&mut snapshot, &facts);
        if !self.has_read_dictionary {
            no_reads(&mut snapshot);
        }
        if let Some(sessions) = sessions {
            company::fill(&mut snapshot, &facts, sessions, own);
        }
        Ok(snapshot)
    }

    /// Neither `SHOW` nor `performance_schema` is a transaction of an engine; what reads the dictionary is.
    fn own_commits(&self) -> u64 {
        self.commits
    }
}

/// The observer has read no block: `SHOW` and `performance_schema` read memory, and no table of a storage engine. Measured on
/// MariaDB 10.11 and MySQL 9.7, statement by statement.
fn no_reads(snapshot: &mut Snapshot) {
    for counter in [Counter::LogicalReads, Counter::PhysicalReads, Counter::PhysicalReadBytes] {
        if matches!(snapshot.portable.get(&counter), Some(Reading::Value(_))) {
            snapshot.observer.insert(counter, 0);
        }
    }
}

/// Files one cell: settings as facts and marks, what is a number as a counter.
fn note(snapshot: &mut Snapshot, facts: &mut Facts, source: &str, row: &Row) {
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
