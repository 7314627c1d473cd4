//! Measures how many times a second a block can be made durable, which every commit of a database waits for.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use dyno_record::{Histogram, RawFigure, RawTest};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::file::{IncompressibleBytes, Unnamed};

/// Size of a log, bytes; at its end, writing continues from the beginning, as databases do with their logs.
pub(crate) const LOG_BYTES: u64 = 16 << 20;
/// Maximum number of blocks that a leader writes at once.
const GROUP_MOST: u64 = 256;

/// Result of a step with several writers.
#[derive(Debug)]
pub(crate) struct CommitMeasurement {
    pub(crate) figure: RawFigure,
    pub(crate) bytes: u64,
}

/// Logs created beforehand, so that creating files is not measured.
#[derive(Debug)]
pub(crate) struct Logs(Vec<Unnamed>);

impl Logs {
    /// Creates and fills this number of logs in a folder; `None` after a stop request.
    pub(crate) fn new(folder: &Path, writers: u32, cancel: &Cancel) -> io::Result<Option<Self>> {
        let mut logs = Vec::new();
        for _ in 0..writers {
            let mut log = Unnamed::new(folder)?;
            if !log.fill(LOG_BYTES, cancel, &|_| {})? {
                return Ok(None);
            }
            logs.push(log);
        }
        Ok(Some(Self(logs)))
    }

    /// Runs this number of writers for this time, each on its own log.
    pub(crate) fn measure_separate_logs(
        &self,
        writers: u32,
        block: u64,
        time: Duration,
        cancel: &Cancel,
    ) -> io::Result<CommitMeasurement> {
        let blocks = LOG_BYTES / block;
        measure(RawTest::Commit, writers, block, time, cancel, |writer, count, bytes| {
            let log = &self.0[writer as usize].file;
            log.write_all_at(bytes, count % blocks * block)?;
            log.sync_data()
        })
    }

    /// Runs this number of writers on the first log: one of them syncs for all that wait.
    pub(crate) fn measure_shared_log(
        &self,
        writers: u32,
        block: u64,
        time: Duration,
        cancel: &Cancel,
    ) -> io::Result<CommitMeasurement> {
        let group = Group { log: &self.0[0], block, state: Mutex::default(), synced: Condvar::new() };
        measure(RawTest::GroupCommit, writers, block, time, cancel, |_, _, bytes| group.commit(bytes))
    }
}

/// Runs `commit` in this number of threads for this time, at least once in each. The time begins when all
/// threads are ready. `commit` receives the writer, the number of its commit, and a block.
fn measure(
    test: RawTest,
    writers: u32,
    block: u64,
    time: Duration,
    cancel: &Cancel,
    commit: impl Fn(u32, u64, &[u8]) -> io::Result<()> + Sync,
) -> io::Result<CommitMeasurement> {
    let failed = AtomicBool::new(false);
    let (ready, begin) = (Barrier::new(writers as usize), OnceLock::new());
    let work = |writer: u32| -> io::Result<Histogram> {
        let mut bytes = vec![0u8; usize::try_from(block).unwrap_or(8192)];
        IncompressibleBytes(u64::from(writer) + 1).fill(&mut bytes);
        let mut latencies = Histogram::new();
        let mut count = 0u64;
        ready.wait();
        let begin = begin.get_or_init(Instant::now);
        while (count == 0 || begin.elapsed() < time)
            && !cancel.is_cancelled()
            && !failed.load(Ordering::Relaxed)
        {
            bytes[..8].copy_from_slice(&count.to_le_bytes());
            let before = Instant::now();
            let commit_result = commit(writer, count, &bytes);
            failed.fetch_or(commit_result.is_err(), Ordering::Relaxed);
            commit_result?;
            latencies.record_ns(u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX));
            count += 1;
        }
        Ok(latencies)
    };
    let writer_results: Vec<io::Result<Histogram>> = thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..writers).map(|writer| scope.spawn(move || work(writer))).collect();
        running.into_iter().map(|thread| thread.join().expect("a writer does not panic")).collect()
    });
    let seconds = begin.get().map_or(0.0, |begin| begin.elapsed().as_secs_f64());
    let mut all = Histogram::new();
    for latencies in writer_results {
        all.merge(&latencies?);
    }
    let per_s = all.count() as f64 / seconds;
    let latency = all.figures();
    let figure = RawFigure {
        per_s: Some(per_s),
        mb_per_s: Some(per_s * block as f64 / 1e6),
        mean_us: latency.mean,
        p95_us: latency.p95,
        p99_us: latency.p99,
        ..RawFigure::of(test, Some(block), writers, writers)
    };
    Ok(CommitMeasurement { figure, bytes: all.count() * block })
}

/// A log that several writers share with group commit.
struct Group<'a> {
    log: &'a Unnamed,
    block: u64,
    state: Mutex<State>,
    synced: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of blocks requested so far.
    requested_count: u64,
    /// Blocks already on the device.
    synced_count: u64,
    /// Whether a writer is currently writing for the others.
    has_writer: bool,
    /// The error after which the log cannot be written any more.
    failed: Option<io::ErrorKind>,
}

impl Group<'_> {
    /// Returns once the block is on the device, whichever writer wrote it.
    fn commit(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        state.requested_count += 1;
        let request_number = state.requested_count;
        while state.synced_count < request_number {
            if let Some(kind) = state.failed {
                return Err(kind.into());
            }
            if state.has_writer {
                self.synced.wait(&mut state);
                continue;
            }
            state.has_writer = true;
            let (first, last) = (
                state.synced_count,
                state.requested_count.min(state.synced_count + GROUP_MOST.min(LOG_BYTES / self.block)),
            );
            let written = MutexGuard::unlocked(&mut state, || self.write(first, last, bytes));
            state.has_writer = false;
            match written {
                Ok(()) => state.synced_count = last,
                Err(error) => state.failed = Some(error.kind()),
            }
            self.synced.notify_all();
        }
        Ok(())
    }

    /// Writes the blocks from `first` up to but excluding `last` at once, and syncs them.
    fn write(&self, first: u64, last: u64, bytes: &[u8]) -> io::Result<()> {
        let blocks = LOG_BYTES / self.block;
        // A group that would cross the end of the log starts at its beginning.
        let at = first % blocks;
        let at = if at + (last - first) > blocks { 0 } else { at };
        let group = bytes.repeat(usize::try_from(last - first).unwrap_or(1));
        self.log.file.write_all_at(&group, at * self.block)?;
        self.log.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(50);

    #[test]
    fn calibration_measures_commits_and_latencies() {
        let folder = tempfile::tempdir().unwrap();
        let cancel = Cancel::default();
        let logs = Logs::new(folder.path(), 2, &cancel).unwrap().unwrap();
        for done in [
            logs.measure_separate_logs(2, 8192, TIME, &cancel).unwrap(),
            logs.measure_shared_log(4, 8192, TIME, &cancel).unwrap(),
        ] {
            assert!(done.bytes >= 8192, "{done:?}");
            assert!(done.bytes % 8192 == 0, "{done:?}");
            assert!(done.figure.per_s.unwrap() > 0.0, "{done:?}");
            assert!(done.figure.p99_us.unwrap() > 0.0, "{done:?}");
        }
    }

    #[test]
    fn group_commit_returns_only_after_its_block_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::new(folder.path(), 1, &Cancel::default()).unwrap().unwrap();
        let group = Group { log: &logs.0[0], block: 4096, state: Mutex::default(), synced: Condvar::new() };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..5).for_each(|_| group.commit(&[7; 4096]).unwrap()));
            }
        });
        let state = group.state.lock();
        assert_eq!((state.requested_count, state.synced_count, state.has_writer), (40, 40, false));
    }

    #[test]
    fn unwritable_log_fails_all_committers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "x").unwrap();
        let log = Unnamed { file: std::fs::File::open(&path).unwrap() };
        let group = Group { log: &log, block: 4096, state: Mutex::default(), synced: Condvar::new() };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert!(group.commit(&[7; 4096]).is_err()));
            }
        });
    }
}
