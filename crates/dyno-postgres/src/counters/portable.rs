//! Maps PostgreSQL's columns to the portable counters.
//!
//! `docs/reference/engines/postgres-counters.md` lists each with its source. Reads, commits and times cover
//! the tested database. Writes and redo cover the whole server, because PostgreSQL does not count them per
//! database.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Counter, Snapshot};

/// Properties of the server that determine what a column means.
#[derive(Debug, Clone)]
pub(super) struct PostgresCounterFacts {
    /// The server's version number: 150014.
    pub(super) version_num: u32,
    /// Sources that cannot be read, each with the reason.
    pub(super) missing: BTreeMap<&'static str, String>,
    /// `in_recovery`, and settings under names such as `setting.fsync`.
    pub(super) settings: BTreeMap<String, String>,
    /// Whether sessions use Dyno's own test tables.
    pub(super) on_test_tables: bool,
}

impl PostgresCounterFacts {
    /// The facts of a server before its settings are read.
    pub(super) fn new(version_num: u32, missing: BTreeMap<&'static str, String>) -> Self {
        Self { version_num, missing, settings: BTreeMap::new(), on_test_tables: true }
    }

    /// The setting `block_size` in bytes; `None` if it cannot be read.
    pub(super) fn block_size(&self) -> Option<u64> {
        self.setting("block_size").parse().ok()
    }

    fn setting(&self, name: &str) -> &str {
        self.settings.get(&format!("setting.{name}")).map_or("", String::as_str)
    }

    /// The reason why `column` of `source` has no value.
    fn missing_reason(&self, source: &str, column: &str) -> String {
        match self.missing.get(source) {
            Some(reason) => reason.clone(),
            None => format!("PostgreSQL {} does not report {source}.{column}", self.version_num / 10_000),
        }
    }

    /// Returns an error with the reason if the setting `name` is off.
    fn require_setting(&self, name: &str) -> Result<(), String> {
        if self.setting(name) == "on" {
            return Ok(());
        }
        Err(format!(
            "{name} is off on the server; ALTER SYSTEM SET {name} = on, then SELECT pg_reload_conf()"
        ))
    }
}

/// A value, or the reason why it is absent.
type PostgresCounterResult = Result<f64, String>;

/// A portable counter and the function that computes it from native ones.
type Reading = (Counter, fn(&Native<'_>) -> PostgresCounterResult);

const READINGS: [Reading; 20] = [
    (Counter::LogicalReads, |native| native.logical_reads()),
    (Counter::PhysicalReads, |native| native.database("blks_read")),
    (Counter::PhysicalReadRequests, |native| native.read_requests()),
    (Counter::PhysicalReadBytes, |native| native.read_bytes()),
    (Counter::PhysicalReadTime, |native| native.read_time_us()),
    (Counter::PhysicalWrites, |native| native.writes()),
    (Counter::PhysicalWriteRequests, |native| native.write_requests()),
    (Counter::PhysicalWriteBytes, |native| native.write_bytes()),
    (Counter::PhysicalWriteTime, |native| native.write_time_us()),
    (Counter::RedoBytes, |native| native.redo_bytes()),
    (Counter::RedoWrites, |native| native.redo_writes()),
    (Counter::RedoSyncs, |native| native.redo_syncs()),
    (Counter::RedoSyncTime, |native| native.redo_sync_time_us()),
    (Counter::Commits, |native| native.database("xact_commit")),
    (Counter::Rollbacks, |native| native.database("xact_rollback")),
    (Counter::Executions, |_| {
        Err("Dyno does not read a statement count from PostgreSQL: only the extension pg_stat_statements \
            has one"
            .into())
    }),
    (Counter::RowsRead, |native| native.rows(&["seq_tup_read", "idx_tup_fetch", "bitmap_tup_fetch"])),
    (Counter::RowsWritten, |native| native.rows_written()),
    (Counter::DbTime, |native| native.database("active_time").map(|ms| ms * 1_000.0)),
    (Counter::CpuTime, |_| {
        Err("PostgreSQL does not count the CPU time of its sessions; see the host's figures".into())
    }),
];

/// Computes every portable counter of `snapshot` from its native ones.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &PostgresCounterFacts) {
    let native = Native { values: &snapshot.native, facts, used: RefCell::default() };
    // Each with the native counters that it used.
    for (counter, reading, used) in
        READINGS.map(|(counter, read)| (counter, read(&native), native.used.take()))
    {
        snapshot.made_of.insert(counter, used);
        snapshot.set_known(counter, reading);
    }
}

struct Native<'a> {
    values: &'a BTreeMap<String, f64>,
    facts: &'a PostgresCounterFacts,
    /// Names of the native values that were used.
    used: RefCell<BTreeSet<String>>,
}

impl Native<'_> {
    fn value(&self, name: String) -> Option<f64> {
        let value = self.values.get(&name).copied();
        self.used.borrow_mut().insert(name);
        value
    }

    fn get(&self, source: &str, column: &str) -> PostgresCounterResult {
        let value = self.value(format!("{source}.{column}"));
        value.ok_or_else(|| self.facts.missing_reason(source, column))
    }

    /// A column of this database; all columns stay constant if the server does not count.
    fn database(&self, column: &str) -> PostgresCounterResult {
        if matches!(column, "blks_hit" | "blks_read" | "xact_commit" | "xact_rollback") {
            self.facts.require_setting("track_counts")?;
        }
        self.get("pg_stat_database", column)
    }

    /// The sum of one column of pg_stat_io over all kinds of backends and contexts, for table objects
    /// (`relation`, `temp_relation`) or for `wal`.
    fn io(&self, objects: &[&str], column: &str) -> PostgresCounterResult {
        let mut sum = None;
        for (name, value) in self.values.range("pg_stat_io.".to_owned().."pg_stat_io/".to_owned()) {
            let mut words = name.split('.').skip(2);
            let object = words.next().unwrap_or_default();
            if objects.contains(&object) && words.nth(1) == Some(column) {
                sum = Some(sum.unwrap_or(0.0) + value);
                self.used.borrow_mut().insert(name.clone());
            }
        }
        sum.ok_or_else(|| self.facts.missing_reason("pg_stat_io", column))
    }

    fn tables_io(&self, column: &str) -> PostgresCounterResult {
        self.io(&["relation", "temp_relation"], column)
    }

    fn block_size(&self) -> PostgresCounterResult {
        self.facts
            .setting("block_size")
            .parse()
            .map_err(|_| "the server's block size cannot be read".to_owned())
    }

    fn logical_reads(&self) -> PostgresCounterResult {
        Ok(self.database("blks_hit")? + self.database("blks_read")?)
    }

    /// Up to version 16 every block is one read. Version 17 reads several at once but counts blocks. Version
    /// 18 counts reads.
    fn read_requests(&self) -> PostgresCounterResult {
        match self.facts.version_num {
            180_000.. => self.tables_io("reads"),
            170_000.. => {
                Err("PostgreSQL 17 reads several blocks with one request and counts only blocks".into())
            }
            _ => self.database("blks_read"),
        }
    }

    fn read_bytes(&self) -> PostgresCounterResult {
        Ok(self.database("blks_read")? * self.block_size()?)
    }

    fn read_time_us(&self) -> PostgresCounterResult {
        self.facts.require_setting("track_io_timing")?;
        Ok(self.database("blk_read_time")? * 1_000.0)
    }

    /// Blocks written by all processes. Version 18 counts bytes, 16 and 17 count blocks, and earlier versions
    /// count three kinds of writers.
    fn writes(&self) -> PostgresCounterResult {
        match self.facts.version_num {
            180_000.. => Ok(self.tables_io("write_bytes")? / self.block_size()?),
            160_000.. => self.tables_io("writes"),
            _ => ["buffers_checkpoint", "buffers_clean", "buffers_backend"]
                .iter()
                .map(|column| self.get("pg_stat_bgwriter", column))
                .sum(),
        }
    }

    /// Buffers are written one at a time in every version up to 18.
    fn write_requests(&self) -> PostgresCounterResult {
        if self.facts.version_num >= 180_000 { self.tables_io("writes") } else { self.writes() }
    }

    fn write_bytes(&self) -> PostgresCounterResult {
        if self.facts.version_num >= 180_000 {
            return self.tables_io("write_bytes");
        }
        Ok(self.writes()? * self.block_size()?)
    }

    fn write_time_us(&self) -> PostgresCounterResult {
        if self.facts.version_num < 160_000 {
            return Err(
                "PostgreSQL before 16 times only the writes of sessions, not those of the checkpointer"
                    .into(),
            );
        }
        self.facts.require_setting("track_io_timing")?;
        Ok(self.tables_io("write_time")? * 1_000.0)
    }

    fn redo_bytes(&self) -> PostgresCounterResult {
        if self.facts.settings.get("in_recovery").is_some_and(|state| state == "true") {
            return Err("this server is a standby: it does not generate WAL".into());
        }
        self.get("server", "wal_bytes")
    }

    fn redo_writes(&self) -> PostgresCounterResult {
        if self.facts.version_num >= 180_000 {
            self.io(&["wal"], "writes")
        } else {
            self.get("pg_stat_wal", "wal_write")
        }
    }

    /// Syncs are counted only if a sync is a separate call.
    fn syncs_are_calls(&self) -> Result<(), String> {
        if self.facts.setting("fsync") == "off" {
            return Err("fsync is off: the server does not sync its WAL".into());
        }
        let method = self.facts.setting("wal_sync_method");
        if method.starts_with("open_") {
            return Err(format!(
                "wal_sync_method is {method}: every WAL write includes the sync; see redo_writes"
            ));
        }
        Ok(())
    }

    fn redo_syncs(&self) -> PostgresCounterResult {
        self.syncs_are_calls()?;
        if self.facts.version_num >= 180_000 {
            self.io(&["wal"], "fsyncs")
        } else {
            self.get("pg_stat_wal", "wal_sync")
        }
    }

    fn redo_sync_time_us(&self) -> PostgresCounterResult {
        self.syncs_are_calls()?;
        if self.facts.version_num < 140_000 {
            return Err(self.facts.missing_reason("pg_stat_wal", "wal_sync_time"));
        }
        self.facts.require_setting("track_wal_io_timing")?;
        let ms = if self.facts.version_num >= 180_000 {
            self.io(&["wal"], "fsync_time")?
        } else {
            self.get("pg_stat_wal", "wal_sync_time")?
        };
        Ok(ms * 1_000.0)
    }

    /// Rows of Dyno's own tables; if sessions use other data, rows of the whole database.
    fn rows_written(&self) -> PostgresCounterResult {
        if self.facts.on_test_tables {
            return self.rows(&["n_tup_ins", "n_tup_upd", "n_tup_del"]);
        }
        self.facts.require_setting("track_counts")?;
        ["tup_inserted", "tup_updated", "tup_deleted"].iter().map(|column| self.database(column)).sum()
    }

    /// Rows of Dyno's own tables, so that the figure excludes background activity.
    fn rows(&self, columns: &[&str]) -> PostgresCounterResult {
        if !self.facts.on_test_tables {
            return Err(
                "PostgreSQL reports it per table, and Dyno reads it only for its own test tables".into()
            );
        }
        self.facts.require_setting("track_counts")?;
        let mut sum = 0.0;
        let mut has_value = false;
        for source in ["dyno.rows", "dyno.scan"] {
            for column in columns {
                if let Some(value) = self.value(format!("{source}.{column}")) {
                    sum += value;
                    has_value = true;
                }
            }
        }
        let reason = || match self.facts.missing.get("dyno.rows") {
            Some(reason) => reason.clone(),
            None => "the plan's tables are not in schema dyno; load them first".to_owned(),
        };
        if has_value { Ok(sum) } else { Err(reason()) }
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::CounterReading;

    use super::*;

    fn snapshot(version_num: u32, settings: &[(&str, &str)], values: &[(&str, f64)]) -> Snapshot {
        let mut facts = PostgresCounterFacts::new(version_num, BTreeMap::new());
        for (name, value) in settings {
            facts.settings.insert(format!("setting.{name}"), (*value).to_owned());
        }
        let native = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut snapshot = Snapshot { native, ..Snapshot::default() };
        fill(&mut snapshot, &facts);
        snapshot
    }

    fn value(snapshot: &Snapshot, counter: Counter) -> u64 {
        match &snapshot.portable[&counter] {
            CounterReading::Value(value) => *value,
            CounterReading::Absent(reason) => panic!("{} is absent: {reason}", counter.name()),
        }
    }

    fn reason(snapshot: &Snapshot, counter: Counter) -> String {
        match &snapshot.portable[&counter] {
            CounterReading::Value(value) => panic!("{} is {value}", counter.name()),
            CounterReading::Absent(reason) => reason.clone(),
        }
    }

    #[test]
    fn every_counter_has_a_value_or_a_reason() {
        for version_num in [130_000, 150_000, 170_000, 180_000] {
            let snapshot = snapshot(version_num, &[], &[]);
            assert_eq!(snapshot.portable.len(), Counter::ALL.len());
            for counter in Counter::ALL {
                assert!(!reason(&snapshot, counter).is_empty());
            }
        }
    }

    #[test]
    fn postgres_18_counts_requests_and_bytes_separately() {
        let io = "pg_stat_io.client_backend.relation.normal";
        let checkpointer = "pg_stat_io.checkpointer.relation.normal";
        let names: Vec<String> =
            [(io, "reads"), (io, "write_bytes"), (checkpointer, "write_bytes"), (io, "writes")]
                .iter()
                .map(|(source, column)| format!("{source}.{column}"))
                .collect();
        let values: Vec<(&str, f64)> =
            names.iter().map(String::as_str).zip([5.0, 8192.0, 16384.0, 1.0]).collect();
        let snapshot = snapshot(180_000, &[("block_size", "8192")], &values);
        assert_eq!(value(&snapshot, Counter::PhysicalReadRequests), 5);
        assert_eq!(value(&snapshot, Counter::PhysicalWrites), 3);
        assert_eq!(value(&snapshot, Counter::PhysicalWriteBytes), 24_576);
        assert_eq!(value(&snapshot, Counter::PhysicalWriteRequests), 1);
        assert!(reason(&snapshot, Counter::RedoSyncs).contains("pg_stat_io"));
    }

    #[test]
    fn wal_io_is_not_counted_as_table_io() {
        let values = [
            ("pg_stat_io.client_backend.wal.normal.fsyncs", 7.0),
            ("pg_stat_io.client_backend.wal.normal.writes", 9.0),
        ];
        let snapshot = snapshot(180_000, &[("fsync", "on"), ("wal_sync_method", "fdatasync")], &values);
        assert_eq!(value(&snapshot, Counter::RedoSyncs), 7);
        assert_eq!(value(&snapshot, Counter::RedoWrites), 9);
        assert!(reason(&snapshot, Counter::PhysicalWriteRequests).contains("writes"));
    }

    #[test]
    fn io_times_need_track_settings_and_are_in_microseconds() {
        let values = [("pg_stat_database.blk_read_time", 1.5), ("pg_stat_wal.wal_sync_time", 2.25)];
        let off = snapshot(150_000, &[("fsync", "on")], &values);
        assert!(reason(&off, Counter::PhysicalReadTime).contains("ALTER SYSTEM SET track_io_timing = on"));
        let settings = [("track_io_timing", "on"), ("track_wal_io_timing", "on"), ("fsync", "on")];
        let on = snapshot(150_000, &settings, &values);
        assert_eq!(value(&on, Counter::PhysicalReadTime), 1_500);
        assert_eq!(value(&on, Counter::RedoSyncTime), 2_250);
    }

    #[test]
    fn redo_syncs_are_absent_where_no_sync_call_is_made() {
        let values = [("pg_stat_wal.wal_sync", 0.0)];
        let settings = [("fsync", "on"), ("wal_sync_method", "open_datasync")];
        assert!(reason(&snapshot(150_000, &settings, &values), Counter::RedoSyncs).contains("open_datasync"));
        assert!(
            reason(&snapshot(150_000, &[("fsync", "off")], &values), Counter::RedoSyncs).contains("fsync")
        );
    }

    #[test]
    fn read_requests_are_blocks_before_postgres_17_and_absent_in_17() {
        let values = [("pg_stat_database.blks_read", 4.0)];
        let settings = [("track_counts", "on")];
        assert_eq!(value(&snapshot(160_000, &settings, &values), Counter::PhysicalReadRequests), 4);
        assert!(reason(&snapshot(170_000, &settings, &values), Counter::PhysicalReadRequests).contains("17"));
    }

    #[test]
    fn commits_are_absent_without_track_counts() {
        let values = [("pg_stat_database.xact_commit", 4.0)];
        let counted = snapshot(150_000, &[("track_counts", "on")], &values);
        assert_eq!(value(&counted, Counter::Commits), 4);
        let uncounted = snapshot(150_000, &[("track_counts", "off")], &values);
        assert!(reason(&uncounted, Counter::Commits).contains("track_counts"));
    }
}
