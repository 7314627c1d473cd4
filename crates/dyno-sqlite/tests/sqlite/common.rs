//! Helpers that the tests of the SQLite engine share: small data, and sessions on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::{
    BlockSessionConfig, Cancel, LoadOptions, LoadProgressSink, LoadReport, MonotonicClock, OpenOptions,
    Silent, Target, TargetError,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::{Counter, CounterReading, Snapshot};
use dyno_workload::blocks::Operated;

/// A folder on the file system of the build and not on a tmpfs, because storage is tested.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("dyno-sqlite-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub(crate) fn spec() -> DataSpec {
    DataSpec {
        schemas: 2,
        rows: 300,
        scan_rows: 50,
        block_size: 4096,
        compressible: 0,
        seed: 7,
        secondary: false,
        copied: false,
    }
}

/// The target that `url` names.
pub(crate) fn open(url: &str) -> Box<dyn Target> {
    let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(1) };
    (dyno_sqlite::ENGINE.open)(&url.parse().unwrap(), &options).unwrap()
}

/// The URL of `path` with `parameters`.
pub(crate) fn url(path: &Path, parameters: &str) -> String {
    format!("sqlite:{}?{parameters}", path.display())
}

/// The path of a file in `folder` that does not exist yet.
pub(crate) fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("dyno.db")
}

pub(crate) fn options(replace: bool) -> LoadOptions {
    LoadOptions { parallel: 1, replace, dyno_version: "0.0.0".to_owned() }
}

pub(crate) fn load(target: &dyn Target, spec: &DataSpec) -> Result<LoadReport, TargetError> {
    target.block_data().unwrap().load(spec, &options(false), &Silent, &Cancel::default())
}

/// The configuration of session `number` on schema 1 with data of `spec`.
pub(crate) fn setup(spec: &DataSpec, number: u32) -> BlockSessionConfig {
    BlockSessionConfig {
        schema: 1,
        spec: spec.clone(),
        work_unit: 16,
        redo: Redo::Lite,
        extra: Default::default(),
        seed: 3,
        run_stamp: 0xabcd,
        session: number,
    }
}

/// Opens a session of the block workload.
pub(crate) fn opened(target: &dyn Target, blocks: &BlockSessionConfig) -> Result<Operated, TargetError> {
    Operated::open(target, blocks, DriveMode::Client, Commit::Wait, Arc::new(MonotonicClock::default()))
}

pub(crate) fn session(target: &dyn Target, spec: &DataSpec, number: u32) -> Operated {
    opened(target, &setup(spec, number)).unwrap()
}

/// The value of a counter that must be present.
pub(crate) fn value(snapshot: &Snapshot, counter: Counter) -> u64 {
    match &snapshot.portable[&counter] {
        CounterReading::Value(value) => *value,
        CounterReading::Absent(reason) => panic!("{} is absent: {reason}", counter.name()),
    }
}

/// A progress sink that cancels once `rows` rows have been handled in phase `phase`.
pub(crate) struct StopAfter {
    pub(crate) phase: &'static str,
    pub(crate) rows: u64,
    pub(crate) cancel: Cancel,
    current_phase: std::sync::Mutex<String>,
    handled_rows: AtomicU64,
}

impl StopAfter {
    pub(crate) fn new(phase: &'static str, rows: u64) -> Self {
        Self {
            phase,
            rows,
            cancel: Cancel::default(),
            current_phase: Default::default(),
            handled_rows: AtomicU64::new(0),
        }
    }

    fn cancel_if_due(&self) {
        if *self.current_phase.lock().unwrap() == self.phase
            && self.handled_rows.load(Ordering::Relaxed) >= self.rows
        {
            self.cancel.cancel();
        }
    }
}

impl LoadProgressSink for StopAfter {
    fn phase(&self, name: &str, _: u64) {
        name.clone_into(&mut self.current_phase.lock().unwrap());
        self.handled_rows.store(0, Ordering::Relaxed);
        self.cancel_if_due();
    }

    fn advance(&self, rows: u64, _: u64) {
        self.handled_rows.fetch_add(rows, Ordering::Relaxed);
        self.cancel_if_due();
    }
}

/// A connection that does not use the engine.
pub(crate) fn plain_connection(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

/// Every row of a table: key, version, first and last text.
pub(crate) fn rows(conn: &rusqlite::Connection, table: &str) -> Vec<(i64, i64, String, String)> {
    let sql = format!("SELECT custid, ver, c2, c20 FROM {table} ORDER BY rowid");
    let mut statement = conn.prepare(&sql).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .map(Result::unwrap);
    rows.collect()
}
