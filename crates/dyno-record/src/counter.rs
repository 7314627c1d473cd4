//! The portable counters, and snapshots of them.
//!
//! Engines count the same things under different names; a portable counter is the common name. If an engine cannot provide a
//! counter, it is [`CounterReading::Absent`] with the reason, never 0.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{CounterReset, MarkChange, MarkKind, changes};
use crate::latency::Histogram;
use crate::metric::Unit;

/// A cumulative counter that Dyno requests from every engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Blocks read from the cache, including those that first had to be read from storage.
    LogicalReads,
    /// Blocks read from outside the database's cache.
    PhysicalReads,
    /// Read requests sent to the operating system.
    PhysicalReadRequests,
    /// Bytes read from outside the database's cache.
    PhysicalReadBytes,
    /// Time spent in physical reads, in µs.
    PhysicalReadTime,
    /// Blocks written to storage by the database.
    PhysicalWrites,
    /// Write requests sent to the operating system.
    PhysicalWriteRequests,
    /// Bytes written to storage by the database.
    PhysicalWriteBytes,
    /// Time spent in physical writes, in µs.
    PhysicalWriteTime,
    /// Bytes of redo, WAL or binlog that make commits durable.
    RedoBytes,
    /// Write requests of the redo log.
    RedoWrites,
    /// Syncs of redo to storage.
    RedoSyncs,
    /// Time spent in syncs of redo, in µs.
    RedoSyncTime,
    /// Transactions that ended with a commit.
    Commits,
    /// Transactions that ended with a rollback.
    Rollbacks,
    /// Statements that the database executed.
    Executions,
    /// Rows that statements read from tables.
    RowsRead,
    /// Rows inserted, updated or deleted.
    RowsWritten,
    /// Time that sessions spent working in the database, in µs.
    DbTime,
    /// CPU time that sessions spent in the database, in µs.
    CpuTime,
}

dyno_plan::names! {
    /// The name in records: `logical_reads`.
    Counter {
        LogicalReads = "logical_reads", PhysicalReads = "physical_reads",
        PhysicalReadRequests = "physical_read_requests", PhysicalReadBytes = "physical_read_bytes",
        PhysicalReadTime = "physical_read_time", PhysicalWrites = "physical_writes",
        PhysicalWriteRequests = "physical_write_requests", PhysicalWriteBytes = "physical_write_bytes",
        PhysicalWriteTime = "physical_write_time", RedoBytes = "redo_bytes", RedoWrites = "redo_writes",
        RedoSyncs = "redo_syncs", RedoSyncTime = "redo_sync_time", Commits = "commits",
        Rollbacks = "rollbacks", Executions = "executions", RowsRead = "rows_read",
        RowsWritten = "rows_written", DbTime = "db_time", CpuTime = "cpu_time"
    }
}

impl Counter {
    /// The unit of the counter.
    pub fn unit(self) -> Unit {
        match self {
            Self::LogicalReads | Self::PhysicalReads | Self::PhysicalWrites => Unit::Blocks,
            Self::PhysicalReadBytes | Self::PhysicalWriteBytes | Self::RedoBytes => Unit::Bytes,
            Self::PhysicalReadTime
            | Self::PhysicalWriteTime
            | Self::RedoSyncTime
            | Self::DbTime
            | Self::CpuTime => Unit::Microseconds,
            Self::RowsRead | Self::RowsWritten => Unit::Rows,
            _ => Unit::Count,
        }
    }
}

/// The value of a counter, or the reason why it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterReading {
    /// Its cumulative value in the counter's unit.
    Value(u64),
    /// Why the engine cannot provide the counter.
    Absent(String),
}

/// All cumulative counters of one target, read at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The portable counters. A counter missing from the map is absent without a reason, which the audit reports as an engine fault.
    pub portable: BTreeMap<Counter, CounterReading>,
    /// The engine's own cumulative counters under their own names (`pg_stat_database.blks_hit`).
    pub native: BTreeMap<String, f64>,
    /// Cumulative latency distributions that the engine keeps (`read`, `write`, `sync` of SQLite's VFS), in nanoseconds.
    pub latencies: BTreeMap<String, Histogram>,
    /// Named marks that change when counters are reset: server start, resets of statistics. If a mark differs between two snapshots, the run is invalid; the reason gives its name and both values.
    pub epochs: BTreeMap<String, String>,
    /// Settings that affect measurements: name → value as the database prints it.
    pub settings: BTreeMap<String, String>,
    /// The definition of the test tables: one mark for each table, index, trigger, rule or constraint, which changes with it.
    pub shape: BTreeMap<String, String>,
    /// The part of the portable counter that the run's own tables and sessions caused: cumulative, in the same unit, counted by
    /// the same rules. The audit takes the rest of the counter as the activity of others: above 1 % of the figure it warns,
    /// above 5 % the run is invalid. This part must therefore include all known activity of Dyno: sessions, observer and
    /// sampler. A counter that the engine cannot split is left out. A portable counter that covers only the test tables (rows
    /// on PostgreSQL) is left out, too; rows of others are in [`Snapshot::elsewhere`].
    ///
    /// It must not fall when a session ends and its share is lost: the observer keeps that share.
    pub own: BTreeMap<Counter, u64>,
    /// What the same server counted outside the portable counter with the same name. For a counter of the database under test:
    /// the sum of all other databases. For a counter of the test tables: the sum of all other tables and databases. A counter
    /// of the whole server has nothing outside, so it is in [`Snapshot::own`] or nowhere. The audit uses it to find other
    /// activity and to divide server-wide figures (redo, writes, CPU). Without a better measure, the ratio of rows written
    /// elsewhere to the run's own rows divides the redo.
    pub elsewhere: BTreeMap<Counter, u64>,
    /// The part of the portable counter that Dyno's observer and sampler caused: cumulative, in the same unit. A counter is
    /// absent if the server does not report their part.
    pub observer: BTreeMap<Counter, u64>,
    /// The native counters that a portable counter is computed from. They only rise, so a fall means a reset; other native figures may be gauges.
    pub made_of: BTreeMap<Counter, BTreeSet<String>>,
    /// What could not be read this time, with the reason. The key is the part of a mark's name before its first dot, or
    /// [`SETTINGS`] or [`SHAPE`] for all of those. Such marks are unknown, not gone.
    pub unread: BTreeMap<String, String>,
}

/// The key in [`Snapshot::unread`] for settings that could not be read.
pub const SETTINGS: &str = "settings";
/// The key in [`Snapshot::unread`] for table definitions that could not be read.
pub const SHAPE: &str = "shape";

/// The name among the settings for the time of the server's last change of settings: a file read again, or a variable set.
pub const RELOADED: &str = "last change of settings";

const NO_SHAPE: &str = "no table or index was watched";

/// The reason when settings could not be compared because neither snapshot has one.
const NO_SETTINGS: &str = "no setting was watched";

impl Snapshot {
    /// Sets the value of a portable counter.
    pub fn set(&mut self, counter: Counter, value: u64) {
        self.portable.insert(counter, CounterReading::Value(value));
    }

    /// Records why a portable counter has no value.
    pub fn set_absent(&mut self, counter: Counter, reason: impl Into<String>) {
        self.portable.insert(counter, CounterReading::Absent(reason.into()));
    }

    /// Sets the value of a portable counter, or records why it has none. Counters are integers far below 2^53, so nothing is
    /// lost; times are rounded to whole microseconds.
    pub fn set_known(&mut self, counter: Counter, reading: Result<f64, String>) {
        match reading {
            Ok(value) => self.set(counter, value.round() as u64),
            Err(reason) => self.set_absent(counter, reason),
        }
    }

    /// Whether the mark `name` could not be read in this snapshot.
    fn is_unread(&self, kind: MarkKind, name: &str) -> bool {
        let source = match kind {
            MarkKind::Epoch => name.split('.').next().unwrap_or(name),
            MarkKind::Setting => SETTINGS,
            MarkKind::Shape => SHAPE,
        };
        self.unread.contains_key(source)
    }

    /// The marks that differ from those of `begin`, or that only one snapshot has. A mark that could not be read is unknown.
    pub fn changes_since(&self, begin: &Self) -> Vec<MarkChange> {
        let kinds = [
            (MarkKind::Epoch, &begin.epochs, &self.epochs),
            (MarkKind::Setting, &begin.settings, &self.settings),
            (MarkKind::Shape, &begin.shape, &self.shape),
        ];
        let is_readable = |change: &MarkChange| {
            [begin, self].iter().all(|snapshot| !snapshot.is_unread(change.kind, &change.name))
        };
        kinds
            .into_iter()
            .flat_map(|(kind, begin, end)| changes(kind, begin, end))
            .filter(is_readable)
            .collect()
    }

    /// The portable counters, and the native counters behind them, that are lower than in `begin`.
    pub fn falls_since(&self, begin: &Self) -> Vec<CounterReset> {
        let fall = |name: &str, from, to| CounterReset { name: name.to_owned(), from, to, seen_s: None };
        let portable = self.portable.iter().filter_map(|(counter, to)| {
            match (begin.portable.get(counter), to) {
                // Compare integers: a value too large for a double must not look like a fall after rounding.
                (Some(CounterReading::Value(from)), CounterReading::Value(to)) if to < from => {
                    Some(fall(counter.name(), *from as f64, *to as f64))
                }
                _ => None,
            }
        });
        let parts: BTreeSet<&String> = self.made_of.values().flatten().collect();
        let native = parts.into_iter().filter_map(|name| {
            let (from, to) = (*begin.native.get(name)?, *self.native.get(name)?);
            (to < from).then(|| fall(name, from, to))
        });
        portable.chain(native).collect()
    }
}

/// The change of one portable counter, as a record stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CounterDelta {
    /// Both readings and their difference.
    Moved {
        /// Its value in the begin snapshot.
        begin: u64,
        /// Its value in the end snapshot.
        end: u64,
        /// `end − begin`; negative if the counter fell.
        delta: i64,
        /// The unit of the values.
        unit: Unit,
    },
    /// Without a value, and why.
    Absent {
        /// The reason as text.
        absent: String,
    },
}

impl CounterDelta {
    /// The difference; `None` if the counter is absent.
    pub fn delta(&self) -> Option<i64> {
        match self {
            Self::Moved { delta, .. } => Some(*delta),
            Self::Absent { .. } => None,
        }
    }
}

/// Counters of one interval: the window, or the whole lifetime of the sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Changes of the portable counters by name.
    pub portable: BTreeMap<Counter, CounterDelta>,
    /// Changes of native counters by their own names; counters without a change are left out.
    pub native: BTreeMap<String, f64>,
    /// Latency distributions that the engine measured over the interval, by name.
    pub latencies: BTreeMap<String, crate::latency::Latency>,
    /// Marks that changed during the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<MarkChange>,
    /// Counters that fell during the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub falls: Vec<CounterReset>,
    /// The part of a portable counter that the run's own tables and sessions caused; the rest is the activity of others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<Counter, i64>,
    /// What the server counted outside the portable counter with the same name: in other databases or other tables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elsewhere: BTreeMap<Counter, i64>,
    /// The part of a portable counter that Dyno's observer and sampler caused, in the counter's unit. Absent if the server does
    /// not report their part.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observer: BTreeMap<Counter, i64>,
    /// Marks that could not be compared, with the reason; keys are `settings`, `shape`, or a source of counters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, String>,
}

impl Counters {
    /// The change of `counter`, or the reason why it is absent.
    pub fn get(&self, counter: Counter) -> Result<i64, &str> {
        match self.portable.get(&counter) {
            Some(CounterDelta::Moved { delta, .. }) => Ok(*delta),
            Some(CounterDelta::Absent { absent }) => Err(absent),
            None => Err("the engine does not report it"),
        }
    }

    /// The change of `counter` without the observer's part, if the server reports that part; subtracting it never gives less than 0.
    ///
    /// # Errors
    /// The reason why the counter has no change.
    pub fn without_observer(&self, counter: Counter) -> Result<i64, &str> {
        let delta = self.get(counter)?;
        let observer = self.observer.get(&counter).copied().unwrap_or(0).max(0);
        // A counter that fell is shown unchanged.
        Ok(if delta < 0 { delta } else { delta.saturating_sub(observer).max(0) })
    }

    /// The changes between two snapshots of the same target.
    pub fn between(begin: &Snapshot, end: &Snapshot) -> Self {
        let mut counters = Self::default();
        for (&counter, end_reading) in &end.portable {
            let delta = match (begin.portable.get(&counter), end_reading) {
                (Some(CounterReading::Value(b)), CounterReading::Value(e)) => CounterDelta::Moved {
                    begin: *b,
                    end: *e,
                    delta: i64::try_from(i128::from(*e) - i128::from(*b)).unwrap_or(i64::MIN),
                    unit: counter.unit(),
                },
                (Some(CounterReading::Absent(reason)), _) | (_, CounterReading::Absent(reason)) => {
                    CounterDelta::Absent { absent: reason.clone() }
                }
                (None, _) => CounterDelta::Absent { absent: "it was not in the begin snapshot".into() },
            };
            counters.portable.insert(counter, delta);
        }
        // A counter that only one snapshot has is left out: its other value is unknown.
        for (name, end_value) in &end.native {
            let moved = begin.native.get(name).map_or(0.0, |begin_value| end_value - begin_value);
            if moved != 0.0 {
                counters.native.insert(name.clone(), moved);
            }
        }
        for (name, end_latency) in &end.latencies {
            if let Some(begin_latency) = begin.latencies.get(name) {
                counters.latencies.insert(name.clone(), end_latency.since(begin_latency).summary());
            }
        }
        counters.changes = end.changes_since(begin);
        counters.falls = end.falls_since(begin);
        counters.unread = begin.unread.clone().into_iter().chain(end.unread.clone()).collect();
        if begin.shape.is_empty() && end.shape.is_empty() {
            // Without marks there are no changes, so missing changes prove nothing.
            counters.unread.entry(SHAPE.to_owned()).or_insert_with(|| NO_SHAPE.to_owned());
        }
        if begin.settings.is_empty() && end.settings.is_empty() {
            counters.unread.entry(SETTINGS.to_owned()).or_insert_with(|| NO_SETTINGS.to_owned());
        }
        counters.own = signed_deltas(&begin.own, &end.own);
        counters.elsewhere = signed_deltas(&begin.elsewhere, &end.elsewhere);
        counters.observer = signed_deltas(&begin.observer, &end.observer);
        counters
    }

    /// Marks of one kind with changed values.
    pub fn changed(&self, kind: MarkKind) -> impl Iterator<Item = &MarkChange> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// The change that proves a restart of the server or another server; a mere reset of statistics does not count.
    pub fn restart(&self) -> Option<&MarkChange> {
        let of_server = |change: &&MarkChange| {
            ["server.", "instance."].iter().any(|start| change.name.starts_with(start))
        };
        self.changed(MarkKind::Epoch).find(of_server)
    }
}

/// Changes of the counters that both snapshots have.
fn signed_deltas(begin: &BTreeMap<Counter, u64>, end: &BTreeMap<Counter, u64>) -> BTreeMap<Counter, i64> {
    let delta = |(counter, end): (&Counter, &u64)| {
        let begin = begin.get(counter)?;
        Some((*counter, i64::try_from(i128::from(*end) - i128::from(*begin)).unwrap_or(i64::MIN)))
    };
    end.iter().filter_map(delta).collect()
}
