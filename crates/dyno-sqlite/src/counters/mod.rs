//! Reports the counts of SQLite's connections and the instrumented VFS as portable counters.
//!
//! SQLite has no server that counts for all clients. The counters cover the work of this target's sessions in
//! this process (cache, commits, statements, rows), and its file I/O (requests, bytes, times). They exclude
//! another process that uses the file; the file's own count of transactions shows that it wrote.

mod shape;
mod slot;
mod transactions;

pub(crate) use transactions::forget_removed;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use dyno_record::{Counter, Snapshot};

use super::vfs::{self, FileKind, FileStats, KindSum, RequestSum};
use dyno_engine::observer::no_statements;
use dyno_engine::{Counting, Observer, StatementDescription, StatementSnapshot, TargetError};
pub(super) use shape::SqliteSchemaReader;
pub(super) use slot::{Publisher, SqliteCommitCounter, SqliteSessionCounts, SqliteSessionRegistry};

/// Properties of the connections that determine what their counters mean.
#[derive(Debug, Clone)]
pub(super) struct SqliteObserverContext {
    /// The database file; `None` for a database in memory.
    pub(super) file: Option<PathBuf>,
    /// The file's name in SQLite's VFS.
    pub(super) vfs_name: Vec<u8>,
    /// The page size in bytes.
    pub(super) page_bytes: u64,
    /// The value of `PRAGMA journal_mode`.
    pub(super) journal: &'static str,
    /// Whether pages are mapped into memory instead of read.
    pub(super) mapped: bool,
}

/// Reads the counters of one target.
pub(super) struct SqliteObserver {
    registry: SqliteSessionRegistry,
    files: Option<Arc<FileStats>>,
    view: SqliteObserverContext,
    schema_reader: SqliteSchemaReader,
}

impl SqliteObserver {
    pub(super) fn new(
        registry: SqliteSessionRegistry,
        view: SqliteObserverContext,
        onlooker: SqliteSchemaReader,
    ) -> Self {
        let files = view.file.is_some().then(|| vfs::of(&view.vfs_name));
        Self { registry, files, view, schema_reader: onlooker }
    }

    /// The file that contains the redo; `None` if there is none.
    fn redo_kind(&self) -> Option<FileKind> {
        match self.view.journal {
            "wal" => Some(FileKind::Wal),
            "memory" | "off" => None,
            _ => Some(FileKind::Journal),
        }
    }
}

const MAPPED: &str = "pages are mapped into memory, and SQLite counts only those it reads: use mmap=0";
const IN_MEMORY: &str = "the data is in memory: nothing is read from or written to storage";
const NO_REDO: &str = "with this journal mode SQLite writes no redo";
const NO_ROWS_READ: &str = "SQLite does not count the rows that statements read";
const NO_TIME: &str =
    "SQLite does not count database time: it runs inside Dyno's process, which times the sessions";
const NO_CPU: &str = "SQLite runs inside Dyno's process: its CPU time cannot be separated from Dyno's";

/// Nanoseconds as microseconds, rounded down.
fn us(time_ns: u64) -> u64 {
    time_ns / 1_000
}

/// Stores what the connections of sessions have counted.
fn from_sessions(snapshot: &mut Snapshot, counts: SqliteSessionCounts, mapped: bool) {
    if mapped {
        snapshot.set_absent(Counter::LogicalReads, MAPPED);
    } else {
        snapshot.set(Counter::LogicalReads, counts.hits + counts.misses);
        // Connections that only observe are not counted.
        snapshot.observer.insert(Counter::LogicalReads, 0);
    }
    snapshot.set(Counter::Commits, counts.commits);
    snapshot.set(Counter::Rollbacks, counts.rollbacks);
    snapshot.set(Counter::Executions, counts.runs);
    snapshot.set(Counter::RowsWritten, counts.changes);
    snapshot.set_absent(Counter::RowsRead, NO_ROWS_READ);
    snapshot.set_absent(Counter::DbTime, NO_TIME);
    snapshot.set_absent(Counter::CpuTime, NO_CPU);
    for (name, value) in [
        ("pager.hit", counts.hits),
        ("pager.miss", counts.misses),
        ("pager.write", counts.writes),
        ("pager.spill", counts.spills),
        ("session.commits", counts.commits),
        ("session.rollbacks", counts.rollbacks),
        ("session.statement_runs", counts.runs),
        ("session.rows_changed", counts.changes),
    ] {
        snapshot.native.insert(name.to_owned(), value as f64);
    }
}

/// Reads and writes of the database file.
fn physical(snapshot: &mut Snapshot, main: &KindSum, page_bytes: u64, mapped: bool) {
    let reads = [
        (Counter::PhysicalReads, main.read.bytes / page_bytes),
        (Counter::PhysicalReadRequests, main.read.count),
        (Counter::PhysicalReadBytes, main.read.bytes),
        (Counter::PhysicalReadTime, us(main.read.time_ns)),
    ];
    for (counter, value) in reads {
        if mapped {
            snapshot.set_absent(counter, MAPPED);
        } else {
            snapshot.set(counter, value);
        }
    }
    snapshot.set(Counter::PhysicalWrites, main.write.bytes / page_bytes);
    snapshot.set(Counter::PhysicalWriteRequests, main.write.count);
    snapshot.set(Counter::PhysicalWriteBytes, main.write.bytes);
    snapshot.set(Counter::PhysicalWriteTime, us(main.write.time_ns));
}

/// Stores counters and latencies of requests under their native names.
fn native(snapshot: &mut Snapshot, kind: FileKind, sum: KindSum) {
    let KindSum { read, write, sync } = sum;
    let mut put = |name: &str, plural: &str, requests: RequestSum, timed: bool| {
        let key = |what: &str| format!("vfs.{}.{what}", kind.name());
        snapshot.native.insert(key(plural), requests.count as f64);
        if name != "sync" {
            snapshot.native.insert(key(&format!("{name}_bytes")), requests.bytes as f64);
        }
        snapshot.native.insert(key(&format!("{name}_us")), us(requests.time_ns) as f64);
        if timed {
            snapshot.latencies.insert(format!("{}.{name}", kind.name()), requests.latencies);
        }
    };
    put("read", "reads", read, kind == FileKind::Main);
    put("write", "writes", write, kind != FileKind::Journal);
    put("sync", "syncs", sync, true);
}

const PHYSICAL: [Counter; 8] = [
    Counter::PhysicalReads,
    Counter::PhysicalReadRequests,
    Counter::PhysicalReadBytes,
    Counter::PhysicalReadTime,
    Counter::PhysicalWrites,
    Counter::PhysicalWriteRequests,
    Counter::PhysicalWriteBytes,
    Counter::PhysicalWriteTime,
];

const REDO: [Counter; 4] =
    [Counter::RedoBytes, Counter::RedoWrites, Counter::RedoSyncs, Counter::RedoSyncTime];

impl Observer for SqliteObserver {
    /// The counters are in this process's memory, except two numbers in the file, so reading takes
    /// microseconds.
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        let mut snapshot = Snapshot::default();
        tell(Counting::Asked);
        self.count(&mut snapshot);
        tell(Counting::Answered);
        self.schema_reader.fill(&mut snapshot, self.registry.has_sessions());
        // Counters live as long as the process; only the file can be replaced during a run.
        if let Some(facts) = self.view.file.as_ref().and_then(|path| std::fs::metadata(path).ok()) {
            snapshot
                .epochs
                .insert("file".to_owned(), format!("device {} inode {}", facts.dev(), facts.ino()));
        }
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        // Only the work of sessions is counted.
        0
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        Err(no_statements("SQLite"))
    }

    fn describe_statements(&mut self, _: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        Err(no_statements("SQLite"))
    }
}

/// The most attempts to read the file's count while no session of this process commits.
const LOOKS_MAX: usize = 100;

impl SqliteObserver {
    /// Reads the counts of sessions and files.
    fn count(&self, snapshot: &mut Snapshot) {
        from_sessions(snapshot, self.registry.sum(), self.view.mapped);
        let Some(files) = &self.files else {
            for counter in PHYSICAL {
                snapshot.set_absent(counter, IN_MEMORY);
            }
            for counter in REDO {
                snapshot.set_absent(counter, NO_REDO);
            }
            return;
        };
        match self.redo_kind().map(|kind| files.sum(kind)) {
            Some(redo) => {
                snapshot.set(Counter::RedoBytes, redo.write.bytes);
                snapshot.set(Counter::RedoWrites, redo.write.count);
                snapshot.set(Counter::RedoSyncs, redo.sync.count);
                snapshot.set(Counter::RedoSyncTime, us(redo.sync.time_ns));
            }
            None => {
                for counter in REDO {
                    snapshot.set_absent(counter, NO_REDO);
                }
            }
        }
        physical(snapshot, &files.sum(FileKind::Main), self.view.page_bytes, self.view.mapped);
        for kind in FileKind::ALL {
            native(snapshot, kind, files.sum(kind));
        }
        if let Some((in_file, own)) = self.transactions() {
            snapshot.native.insert("file.transactions".to_owned(), in_file as f64);
            snapshot.native.insert("file.own_transactions".to_owned(), own as f64);
        }
    }

    /// Transactions in the file, and those of this process's sessions, at one moment.
    fn transactions(&self) -> Option<(u64, u64)> {
        let path = self.view.file.as_ref()?;
        let mut session_commits = self.registry.commits_by_now();
        for _ in 1..LOOKS_MAX {
            let in_file = transactions::count(path, self.view.journal)?;
            let now = self.registry.commits_by_now();
            if now == session_commits {
                return Some((in_file, session_commits));
            }
            session_commits = now;
        }
        Some((transactions::count(path, self.view.journal)?, session_commits))
    }
}
