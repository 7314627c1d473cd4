//! The observer: one connection, one round of questions per snapshot.

use std::collections::BTreeMap;

use dyno_plan::DataSpec;
use dyno_record::{SETTINGS, SHAPE, Snapshot};

use super::super::connect::ConnectConfig;
use super::super::identity::{shown, started};
use super::super::layout::{READ_ONLY, settle};
use super::super::own::{self, Sessions, Share, open_books};
use super::super::wire::{Connection, MyError, Row};
use super::company;
use super::histogram;
use super::portable::{Facts, fill};
use super::shape;
use super::sources::{ALL, OF_PERFORMANCE_SCHEMA, RESTLESS, STATUS, Source, TABLES};
use dyno_engine::{Counting, Observer, Refusal as _, TargetError};

/// Reads counters of one server.
pub(crate) struct MyObserver {
    connection: Connection,
    /// Sources that cannot be read, with the reason.
    missing: BTreeMap<&'static str, String>,
    histogram: bool,
    /// What the sessions have done.
    sessions: Sessions,
    /// What asks for the shape of the tables.
    shape: String,
    /// The shape as last read, and how many statements the server had run by then that can change one.
    shape_seen: Option<(f64, BTreeMap<String, String>)>,
    /// Transactions of this connection: the dictionary's tables are an engine's, too.
    commits: u64,
}

impl MyObserver {
    /// Connects, and finds out what can be read; `sessions` tells what of it is their work.
    pub(crate) fn open(
        config: &ConnectConfig,
        spec: &DataSpec,
        sessions: Sessions,
    ) -> Result<Self, TargetError> {
        let mut connection = Connection::open(config, "dyno observer")?;
        settle(&mut connection)?;
        connection.simple(READ_ONLY)?;
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
        let histogram = !missing.contains_key("statements") && histogram::read(&mut connection)?.is_some();
        open_books(&sessions).looker(connection.id());
        Ok(Self {
            connection,
            missing,
            histogram,
            sessions,
            shape: shape::sql(spec),
            shape_seen: None,
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
    /// server has run a statement since that can change it.
    fn look_at_shape(&mut self, snapshot: &mut Snapshot) -> Result<(), TargetError> {
        let changing = shape::changing_statements(&snapshot.native);
        if let Some((_, marks)) = self.shape_seen.as_ref().filter(|(then, _)| Some(*then) == changing) {
            snapshot.shape.clone_from(marks);
            return Ok(());
        }
        match self.connection.simple(&self.shape) {
            Ok(rows) => {
                let marks =
                    rows.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.get(1)?.to_owned())));
                snapshot.shape.extend(marks);
                self.shape_seen = changing.map(|changing| (changing, snapshot.shape.clone()));
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
        // It grows with the clock and says nothing about the run.
        snapshot.native.remove("status.Uptime");
        snapshot.epochs.insert("server.start".to_owned(), started(&mut self.connection)?);
        fill(&mut snapshot, &facts);
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
    } else if let Ok(number) = value.parse() {
        snapshot.native.insert(format!("{source}.{name}"), number);
    }
}
