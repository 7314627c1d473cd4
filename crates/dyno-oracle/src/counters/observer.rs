//! The observer: one connection that runs the same queries for each snapshot.

use std::collections::BTreeMap;

use dyno_record::Snapshot;

use super::super::connect::OracleConnectConfig;
use super::super::connection::{OracleConnection, TextRow};
use super::super::error::OracleError;
use super::super::sql;
use super::company::OracleForeignActivity;
use super::histogram;
use super::observer_reads::OracleObserverReads;
use super::portable::{OracleCounterFacts, fill};
use super::run_constants;
use super::sources::{OracleCounterSource, OracleInstanceContext, STATISTICS, granted_name};
use super::statements::OracleStatementReader;
use dyno_engine::{Counting, Observer, Refusal as _, StatementDescription, StatementSnapshot, TargetError};

/// Reads the counters of one database.
pub(crate) struct OracleObserver {
    connection: OracleConnection,
    /// The sources that can be read, each with its statement.
    sources: Vec<(OracleCounterSource, String)>,
    facts: OracleCounterFacts,
    /// The statement that returns the start times of the instances; `None` if it may not be run.
    started: Option<String>,
    /// The work of others; `None` if their sessions are not visible or belong to several instances.
    others: Option<OracleForeignActivity>,
    /// The reads of observer and sampler; `None` if their sessions are not visible or the counters cover
    /// several instances.
    reads: Option<OracleObserverReads>,
    statements: OracleStatementReader,
}

impl OracleObserver {
    /// Connects and determines which sources can be read.
    pub(crate) fn open(config: &OracleConnectConfig) -> Result<Self, TargetError> {
        let connection = OracleConnection::open(config, "observer")?;
        let surroundings = OracleInstanceContext::find(&connection, config)?;
        let mut facts =
            OracleCounterFacts { in_container: surroundings.con_id > 0, missing: BTreeMap::new() };
        let mut sources = Vec::new();
        for source in surroundings.sources() {
            let sql = source.sql();
            match connection.rows(&sql, &source.binds()) {
                Ok(_) => sources.push((source, sql)),
                Err(error) => facts.note_missing(&source, error)?,
            }
        }
        let mut started = None;
        // The start of other instances does not affect a target that names one.
        let all = (!config.one_instance).then_some(sql::INSTANCES);
        for statement in all.into_iter().chain([sql::INSTANCE]) {
            if started.is_none() && connection.rows_if_allowed(&statement.text(), &[])?.is_some() {
                started = Some(statement.text());
            }
        }
        let can_see_sessions =
            !surroundings.rac && connection.rows_if_allowed(&sql::COUNTERS_OTHERS.text(), &[])?.is_some();
        let foreign_activity = can_see_sessions.then(OracleForeignActivity::default);
        // The same privileges are needed as for the views above.
        let reads = can_see_sessions.then(OracleObserverReads::default);
        let statements = OracleStatementReader::new(surroundings);
        Ok(Self { connection, sources, facts, started, others: foreign_activity, reads, statements })
    }
}

impl OracleCounterFacts {
    /// Records an error of the server as the reason why a source is missing. Any other error is returned.
    fn note_missing(&mut self, source: &OracleCounterSource, error: TargetError) -> Result<(), TargetError> {
        let Some(server) = OracleError::of(&error) else { return Err(error) };
        let grant = match server.is_missing_grant() {
            true => format!(": GRANT SELECT ON SYS.{}", granted_name(&source.view)),
            false => String::new(),
        };
        let reason = format!("{} cannot be read ({server}){grant}", source.view.to_uppercase());
        self.missing.insert(source.name, reason);
        Ok(())
    }
}

impl Observer for OracleObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        let mut snapshot = Snapshot::default();
        for (source, sql) in &self.sources {
            let counts = source.name == STATISTICS;
            // Read just before the counters, so both contain the same work except the constant cost of this
            // query.
            if let (true, Some(reads)) = (counts, &mut self.reads) {
                self.connection
                    .rows(&sql::COUNTERS_OBSERVER.text(), &[])?
                    .iter()
                    .for_each(|row| reads.note(row));
            }
            if counts {
                tell(Counting::Asked);
            }
            let rows = self.connection.rows(sql, &source.binds())?;
            if counts {
                tell(Counting::Answered);
            }
            match source.name {
                "histogram" | "instance.histogram" => {
                    for (event, histogram) in histogram::read(&rows) {
                        let is_unprefixed = source.name == "histogram";
                        let name = if is_unprefixed { event } else { format!("instance {event}") };
                        snapshot.latencies.insert(name, histogram);
                    }
                }
                "file" => rows.iter().for_each(|row| note_file(&mut snapshot, row)),
                "event" | "instance.event" => {
                    rows.iter().for_each(|row| note_event(&mut snapshot, source.name, row));
                }
                name => rows.iter().for_each(|row| note(&mut snapshot, name, row)),
            }
        }
        if let Some(sql) = &self.started {
            for row in self.connection.rows(sql, &[])? {
                let (number, start) = (row.get(0).unwrap_or("?"), row.get(3).unwrap_or("?"));
                snapshot.epochs.insert(format!("instance.{number}.start"), start.to_owned());
            }
        }
        run_constants::fill(&self.connection, &mut snapshot)?;
        fill(&mut snapshot, &self.facts);
        if let Some(reads) = &self.reads {
            reads.fill(&mut snapshot);
        }
        if let Some(others) = &mut self.others {
            self.connection.rows(&sql::COUNTERS_OTHERS.text(), &[])?.iter().for_each(|row| others.note(row));
            others.fill(&mut snapshot);
        }
        Ok(snapshot)
    }

    /// Queries do not commit transactions.
    fn own_commits(&self) -> u64 {
        0
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        self.statements.read(&self.connection)
    }

    fn describe_statements(&mut self, keys: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        self.statements.describe(&self.connection, keys)
    }
}

/// Adds `value` under `name`, and under the instance's own name if there are several.
fn add(snapshot: &mut Snapshot, instance: Option<&str>, name: &str, value: f64) {
    *snapshot.native.entry(name.to_owned()).or_default() += value;
    if let Some(instance) = instance.filter(|instance| *instance != "0") {
        *snapshot.native.entry(format!("instance {instance}.{name}")).or_default() += value;
    }
}

/// Stores a row of instance, name and value.
fn note(snapshot: &mut Snapshot, source: &str, row: &TextRow) {
    if let (Some(name), Some(value)) = (row.get(1), row.parse(2)) {
        add(snapshot, row.get(0), &format!("{source}.{name}"), value);
    }
}

/// Stores a row of instance, event, class, waits and microseconds, and both of foreground sessions.
fn note_event(snapshot: &mut Snapshot, source: &str, row: &TextRow) {
    let (Some(event), Some(class)) = (row.get(1), row.get(2)) else { return };
    for (part, column) in [("waits", 3), ("us", 4), ("foreground_waits", 5), ("foreground_us", 6)] {
        if let Some(value) = row.parse(column) {
            add(snapshot, row.get(0), &format!("{source}.{class}.{event}.{part}"), value);
        }
    }
}

/// Stores a row of instance, type of file and six sums.
fn note_file(snapshot: &mut Snapshot, row: &TextRow) {
    let Some(kind) = row.get(1) else { return };
    for (part, column) in
        [("reads", 2), ("writes", 3), ("read_mb", 4), ("write_mb", 5), ("read_ms", 6), ("write_ms", 7)]
    {
        if let Some(value) = row.parse(column) {
            add(snapshot, row.get(0), &format!("file.{kind}.{part}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> TextRow {
        TextRow(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
    }

    #[test]
    fn cluster_counters_are_summed_and_kept_per_instance() {
        let mut snapshot = Snapshot::default();
        note(&mut snapshot, "sysstat", &row(&["1", "user commits", "10"]));
        note(&mut snapshot, "sysstat", &row(&["2", "user commits", "5"]));
        assert_eq!(snapshot.native["sysstat.user commits"], 15.0);
        assert_eq!(snapshot.native["instance 1.sysstat.user commits"], 10.0);
        let mut single = Snapshot::default();
        note(&mut single, "sysstat", &row(&["0", "user commits", "10"]));
        assert_eq!(single.native.len(), 1);
    }

    #[test]
    fn events_and_files_are_stored_by_class_and_type() {
        let mut snapshot = Snapshot::default();
        note_event(&mut snapshot, "event", &row(&["0", "log file sync", "Commit", "7", "3500", "6", "3000"]));
        note_file(&mut snapshot, &row(&["0", "Data File", "4", "3", "2", "1", "9", "8"]));
        assert_eq!(snapshot.native["event.Commit.log file sync.us"], 3500.0);
        assert_eq!(snapshot.native["event.Commit.log file sync.foreground_us"], 3000.0);
        assert_eq!(snapshot.native["file.Data File.write_ms"], 8.0);
    }
}
