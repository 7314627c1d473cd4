//! Counters of the VFS per database file.
//!
//! Counting must not make sessions wait for each other. Every open file handle therefore has its own
//! [`HandleStats`]. The thread that uses the handle writes them, and the thread that takes a snapshot reads
//! them. A closed handle leaves its counts, and the next handle of its kind adds to them, so nothing is lost
//! or counted twice. Journals, which are opened again for each transaction, therefore need no allocation.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use dyno_record::Histogram;
use parking_lot::Mutex;

use super::histogram::{SharedHistogram, bump};

/// The types of files of a database that are counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Main,
    Wal,
    Journal,
}

impl FileKind {
    pub(crate) const ALL: [Self; 3] = [Self::Main, Self::Wal, Self::Journal];

    /// The type's name in counters: `main`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Wal => "wal",
            Self::Journal => "journal",
        }
    }
}

/// Requests of one kind on one handle.
#[derive(Debug, Default)]
pub(super) struct SqliteIoStats {
    count: AtomicU64,
    bytes: AtomicU64,
    time_ns: AtomicU64,
    latencies: SharedHistogram,
}

impl SqliteIoStats {
    /// Counts one request; only the thread that uses the handle may call this.
    pub(super) fn note(&self, bytes: u64, time_ns: u64) {
        bump(&self.count, 1);
        bump(&self.bytes, bytes);
        bump(&self.time_ns, time_ns);
        self.latencies.record_ns(time_ns);
    }
}

/// All requests on one handle, and on earlier handles whose counts it continues.
#[derive(Debug, Default)]
pub(super) struct HandleStats {
    pub(super) read: SqliteIoStats,
    pub(super) write: SqliteIoStats,
    pub(super) sync: SqliteIoStats,
}

/// All handles of one kind, and those that are not in use.
#[derive(Debug, Default)]
struct Handles {
    all: Vec<Arc<HandleStats>>,
    idle: Vec<Arc<HandleStats>>,
}

/// What was counted on the files of one database.
#[derive(Debug, Default)]
pub(crate) struct FileStats {
    kinds: [Mutex<Handles>; FileKind::ALL.len()],
}

/// Requests of one kind, summed over handles. Times are in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestSum {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) time_ns: u64,
    pub(crate) latencies: Histogram,
}

/// One kind of file, summed over handles.
#[derive(Debug, Clone, Default)]
pub(crate) struct KindSum {
    pub(crate) read: RequestSum,
    pub(crate) write: RequestSum,
    pub(crate) sync: RequestSum,
}

impl RequestSum {
    fn add(&mut self, requests: &SqliteIoStats) {
        self.count += requests.count.load(Ordering::Relaxed);
        self.bytes += requests.bytes.load(Ordering::Relaxed);
        self.time_ns += requests.time_ns.load(Ordering::Relaxed);
        requests.latencies.add_to(&mut self.latencies);
    }
}

impl FileStats {
    /// Assigns the counters for a handle that is being opened.
    pub(super) fn check_out(&self, kind: FileKind) -> Arc<HandleStats> {
        let mut handles = self.kinds[kind as usize].lock();
        handles.idle.pop().unwrap_or_else(|| {
            let stats = Arc::new(HandleStats::default());
            handles.all.push(Arc::clone(&stats));
            stats
        })
    }

    /// Returns the counters of a handle that is being closed.
    pub(super) fn check_in(&self, kind: FileKind, stats: Arc<HandleStats>) {
        self.kinds[kind as usize].lock().idle.push(stats);
    }

    /// Everything counted on files of `kind` so far.
    pub(crate) fn sum(&self, kind: FileKind) -> KindSum {
        let mut sum = KindSum::default();
        for stats in &self.kinds[kind as usize].lock().all {
            sum.read.add(&stats.read);
            sum.write.add(&stats.write);
            sum.sync.add(&stats.sync);
        }
        sum
    }
}

/// The counters of every database that this process has opened, by its path in SQLite.
static FILES: LazyLock<Mutex<HashMap<Vec<u8>, Arc<FileStats>>>> = LazyLock::new(Mutex::default);

/// The counters of the database at `path`, as SQLite has resolved it.
pub(crate) fn of(path: &[u8]) -> Arc<FileStats> {
    let mut files = FILES.lock();
    if let Some(stats) = files.get(path) {
        return Arc::clone(stats);
    }
    Arc::clone(files.entry(path.to_vec()).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_stats_survive_closed_handles_and_count_once() {
        let stats = FileStats::default();
        for round in 1..=3 {
            let (a, b) = (stats.check_out(FileKind::Journal), stats.check_out(FileKind::Journal));
            a.write.note(100, 1_000);
            b.write.note(200, 3_000);
            stats.check_in(FileKind::Journal, a);
            stats.check_in(FileKind::Journal, b);
            let sum = stats.sum(FileKind::Journal).write;
            assert_eq!((sum.count, sum.bytes, sum.time_ns), (2 * round, 300 * round, 4_000 * round));
            assert_eq!(sum.latencies.count(), 2 * round);
        }
        assert_eq!(stats.kinds[FileKind::Journal as usize].lock().all.len(), 2);
        assert_eq!(stats.sum(FileKind::Main).read.count, 0);
    }
}
