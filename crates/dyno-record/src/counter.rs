//! The portable counters, and snapshots of them.
//!
//! Every engine tells the same things under other names; the vocabulary is the one name for each. What an engine cannot
//! tell is [`Reading::Absent`] with the reason, never 0.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Fall, MarkKind, changes};
use crate::latency::Histogram;
use crate::metric::Unit;

/// A cumulative counter that every engine is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Buffers got from the cache (blocks), read from storage or not.
    LogicalReads,
    /// Blocks read from outside the database's cache.
    PhysicalReads,
    /// Read requests sent to the operating system.
    PhysicalReadRequests,
    /// Bytes read from outside the database's cache.
    PhysicalReadBytes,
    /// Time spent in those reads, µs.
    PhysicalReadTime,
    /// Blocks written.
    PhysicalWrites,
    /// Write requests sent to the operating system.
    PhysicalWriteRequests,
    /// Bytes written.
    PhysicalWriteBytes,
    /// Time spent in those writes, µs.
    PhysicalWriteTime,
    /// Bytes of redo, WAL or binlog that make commits durable.
    RedoBytes,
    /// Writes of redo.
    RedoWrites,
    /// Syncs of redo to storage.
    RedoSyncs,
    /// Time spent in those syncs, µs.
    RedoSyncTime,
    /// Transactions committed.
    Commits,
    /// Transactions rolled back.
    Rollbacks,
    /// Statements executed.
    Executions,
    /// Rows read by statements.
    RowsRead,
    /// Rows inserted, updated or deleted.
    RowsWritten,
    /// Time sessions spent working in the database, µs.
    DbTime,
    /// CPU time sessions spent in the database, µs.
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

/// What a counter stood at, or why nobody can know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Its cumulative value in the counter's unit.
    Value(u64),
    /// Why the engine cannot tell.
    Absent(String),
}

/// All cumulative counters of one target, read at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The portable counters. A counter that is not in the map is absent without a reason, which the audit reports as a fault of the engine.
    pub portable: BTreeMap<Counter, Reading>,
    /// The engine's own cumulative counters under their own names (`pg_stat_database.blks_hit`).
    pub native: BTreeMap<String, f64>,
    /// Cumulative latency distributions that the engine keeps (`read`, `write`, `sync` of SQLite's VFS), in nanoseconds.
    pub latencies: BTreeMap<String, Histogram>,
    /// Named marks that change when counters start anew: server start, resets of statistics. A mark that differs between two snapshots makes the run invalid, and its name and both values say why.
    pub epochs: BTreeMap<String, String>,
    /// Settings that change what is measured: name → value as the database prints it.
    pub settings: BTreeMap<String, String>,
    /// What the test tables are made of: one mark for each table, index, trigger, rule or constraint, that changes with it.
    pub shape: BTreeMap<String, String>,
    /// As much of the portable counter of the same name as the run's own tables and sessions account for: cumulative, in the
    /// same unit, counted by the same rules. What the portable counter moved beyond it is the work of others, and the audit
    /// says so: above 1 % of the figure it warns, above 5 % the run is invalid. So it has to hold everything of Dyno's own:
    /// sessions, observer and sampler, whatever is known of them. An engine that cannot tell a counter apart leaves it
    /// out; where the portable counter already covers nothing but the test tables (rows on PostgreSQL), it is left out
    /// too, and the others' rows are in [`Snapshot::elsewhere`].
    ///
    /// A session's share that is lost when the session ends must not make this fall: the observer remembers it.
    pub own: BTreeMap<Counter, u64>,
    /// What the same server counted *beside* the portable counter of the same name, and never a part of it: of a counter of
    /// the database under test that of all other databases; of one that covers the test tables that of all other
    /// tables and databases. Of a counter of the whole server nothing is beside it, so it stands in [`Snapshot::own`] or
    /// nowhere. It tells the audit who else was there, and how the server-wide figures (redo, writes, CPU) are shared:
    /// rows written elsewhere against the run's own are the measure for redo where nothing better is known.
    pub elsewhere: BTreeMap<Counter, u64>,
    /// As much of the portable counter of the same name as Dyno's own observer and sampler caused: cumulative, in the same
    /// unit. A counter is absent where the server does not tell their part.
    pub observer: BTreeMap<Counter, u64>,
    /// The native counters that a portable one is made of. They only grow, so one that fell was reset; other native figures may be gauges.
    pub made_of: BTreeMap<Counter, BTreeSet<String>>,
    /// What could not be read this time, with the reason: the part of a mark's name before its first point, or [`SETTINGS`] or
    /// [`SHAPE`] for all of those. A mark of it is unknown, not gone.
    pub unread: BTreeMap<String, String>,
}

/// The name under which [`Snapshot::unread`] says why settings could not be read.
pub const SETTINGS: &str = "settings";
/// The name under which [`Snapshot::unread`] says why the tables' shape could not be read.
pub const SHAPE: &str = "shape";

/// Why shapes could not be compared where neither snapshot has one.
/// The name among the settings of when the server last took over settings, whatever they were: a file that was read again, or a
/// variable that was set.
pub const RELOADED: &str = "last change of settings";

const NO_SHAPE: &str = "no table or index was watched";

/// Why settings could not be compared where neither snapshot has one.
const NO_SETTINGS: &str = "no setting was watched";

impl Snapshot {
    /// Notes a portable counter's value.
    pub fn set(&mut self, counter: Counter, value: u64) {
        self.portable.insert(counter, Reading::Value(value));
    }

    /// Notes why a portable counter has no value.
    pub fn set_absent(&mut self, counter: Counter, reason: impl Into<String>) {
        self.portable.insert(counter, Reading::Absent(reason.into()));
    }

    /// Notes a portable counter's value, or why it has none. Counters are whole and far below 2^53, so nothing is lost; times are
    /// rounded to whole microseconds.
    pub fn set_known(&mut self, counter: Counter, reading: Result<f64, String>) {
        match reading {
            Ok(value) => self.set(counter, value.round() as u64),
            Err(reason) => self.set_absent(counter, reason),
        }
    }

    /// Whether the mark `name` could not be read this time.
    fn is_unread(&self, kind: MarkKind, name: &str) -> bool {
        let source = match kind {
            MarkKind::Epoch => name.split('.').next().unwrap_or(name),
            MarkKind::Setting => SETTINGS,
            MarkKind::Shape => SHAPE,
        };
        self.unread.contains_key(source)
    }

    /// The marks that differ from those of `begin`, or that only one side has. What a side could not read is unknown.
    pub fn changes_since(&self, begin: &Self) -> Vec<Change> {
        let kinds = [
            (MarkKind::Epoch, &begin.epochs, &self.epochs),
            (MarkKind::Setting, &begin.settings, &self.settings),
            (MarkKind::Shape, &begin.shape, &self.shape),
        ];
        let known = |change: &Change| {
            [begin, self].iter().all(|snapshot| !snapshot.is_unread(change.kind, &change.name))
        };
        kinds.into_iter().flat_map(|(kind, begin, end)| changes(kind, begin, end)).filter(known).collect()
    }

    /// The portable counters, and the native ones that they are made of, that are less than in `begin`.
    pub fn falls_since(&self, begin: &Self) -> Vec<Fall> {
        let fall = |name: &str, from, to| Fall { name: name.to_owned(), from, to, seen_s: None };
        let portable = self.portable.iter().filter_map(|(counter, to)| {
            match (begin.portable.get(counter), to) {
                // Whole numbers are compared, so that none too large for a double is rounded into a fall.
                (Some(Reading::Value(from)), Reading::Value(to)) if to < from => {
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

/// How far one portable counter moved, as a record keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CounterDelta {
    /// Both readings and their difference.
    Moved {
        /// At the begin snapshot.
        begin: u64,
        /// At the end snapshot.
        end: u64,
        /// `end − begin`; negative is a counter that went backwards.
        delta: i64,
        /// The unit.
        unit: Unit,
    },
    /// Why there is no value.
    Absent {
        /// The reason.
        absent: String,
    },
}

impl CounterDelta {
    /// The difference, if the counter was there at both ends.
    pub fn delta(&self) -> Option<i64> {
        match self {
            Self::Moved { delta, .. } => Some(*delta),
            Self::Absent { .. } => None,
        }
    }
}

/// Counters of one interval: the window, or the whole life of the sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Portable counters by name.
    pub portable: BTreeMap<Counter, CounterDelta>,
    /// Native counters: how far each moved, under its own name; those that did not move are left out.
    pub native: BTreeMap<String, f64>,
    /// Latency distributions of the interval that the engine itself keeps, by name.
    pub latencies: BTreeMap<String, crate::latency::Latency>,
    /// Marks that changed inside the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Counters that went backwards inside the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub falls: Vec<Fall>,
    /// As much of a portable counter as the run's own tables and sessions account for; the rest of it is the work of others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<Counter, i64>,
    /// What the server counted beside the portable counter of the same name: in other databases, and of rows in other tables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elsewhere: BTreeMap<Counter, i64>,
    /// As much of a portable counter as Dyno's own observer and sampler caused, in the counter's unit. Absent where the server
    /// does not tell their part.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observer: BTreeMap<Counter, i64>,
    /// Marks that could not be compared, with the reason: `settings`, `shape`, or a source of counters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, String>,
}

impl Counters {
    /// The delta of `counter`, or the reason why there is none.
    pub fn get(&self, counter: Counter) -> Result<i64, &str> {
        match self.portable.get(&counter) {
            Some(CounterDelta::Moved { delta, .. }) => Ok(*delta),
            Some(CounterDelta::Absent { absent }) => Err(absent),
            None => Err("the engine does not report it"),
        }
    }

    /// The delta of `counter` without the part of Dyno's own observer, where the server tells that; never below 0 because of it.
    ///
    /// # Errors
    /// The reason why the counter has no delta.
    pub fn without_observer(&self, counter: Counter) -> Result<i64, &str> {
        let delta = self.get(counter)?;
        let observer = self.observer.get(&counter).copied().unwrap_or(0).max(0);
        // A counter that went backwards shows as it is.
        Ok(if delta < 0 { delta } else { delta.saturating_sub(observer).max(0) })
    }

    /// The difference between two snapshots of the same target.
    pub fn between(begin: &Snapshot, end: &Snapshot) -> Self {
        let mut counters = Self::default();
        for (&counter, end_reading) in &end.portable {
            let delta = match (begin.portable.get(&counter), end_reading) {
                (Some(Reading::Value(b)), Reading::Value(e)) => CounterDelta::Moved {
                    begin: *b,
                    end: *e,
                    delta: i64::try_from(i128::from(*e) - i128::from(*b)).unwrap_or(i64::MIN),
                    unit: counter.unit(),
                },
                (Some(Reading::Absent(reason)), _) | (_, Reading::Absent(reason)) => {
                    CounterDelta::Absent { absent: reason.clone() }
                }
                (None, _) => CounterDelta::Absent { absent: "it was not in the begin snapshot".into() },
            };
            counters.portable.insert(counter, delta);
        }
        // What only one side has did not move: nobody knows what it was on the other.
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
            // Without marks there are no changes, so their absence proves nothing.
            counters.unread.entry(SHAPE.to_owned()).or_insert_with(|| NO_SHAPE.to_owned());
        }
        if begin.settings.is_empty() && end.settings.is_empty() {
            counters.unread.entry(SETTINGS.to_owned()).or_insert_with(|| NO_SETTINGS.to_owned());
        }
        counters.own = moved(&begin.own, &end.own);
        counters.elsewhere = moved(&begin.elsewhere, &end.elsewhere);
        counters.observer = moved(&begin.observer, &end.observer);
        counters
    }

    /// Marks of one kind that changed.
    pub fn changed(&self, kind: MarkKind) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// The change that shows a restart of the server, or another server in its place; a reset of statistics alone is none.
    pub fn restart(&self) -> Option<&Change> {
        let of_server =
            |change: &&Change| ["server.", "instance."].iter().any(|start| change.name.starts_with(start));
        self.changed(MarkKind::Epoch).find(of_server)
    }
}

/// How far counters moved that both sides have.
fn moved(begin: &BTreeMap<Counter, u64>, end: &BTreeMap<Counter, u64>) -> BTreeMap<Counter, i64> {
    let delta = |(counter, end): (&Counter, &u64)| {
        let begin = begin.get(counter)?;
        Some((*counter, i64::try_from(i128::from(*end) - i128::from(*begin)).unwrap_or(i64::MIN)))
    };
    end.iter().filter_map(delta).collect()
}
