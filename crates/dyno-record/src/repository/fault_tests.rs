//! Tests of the repository with foreign, newer, damaged and hostile files, with locks, and on a full disk.

use std::collections::BTreeMap;
use std::time::Duration;

use super::open::{APPLICATION_ID, VERSION};
use super::*;
use crate::Repository;
use crate::record::RunRecord;
use crate::sample;

/// Short enough for a test to wait for.
const SHORT_WAIT: Duration = Duration::from_millis(50);

pub(super) fn record(id: &str) -> RunRecord {
    RunRecord { id: id.into(), ..sample::full() }
}

pub(super) fn begun(id: &str) -> StartedRun {
    let record = record(id);
    StartedRun::by_this_process(record.id, record.started_at, "postgres", "postgres://db1/b", record.plan)
}

/// A record whose series does not compress well, so that storing it takes some time.
pub(super) fn bulky(id: &str) -> RunRecord {
    let mut record = record(id);
    let (mut counters, mut state) = (BTreeMap::new(), 1u64);
    for point in 0..6_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        counters.insert(format!("x{point}"), state as f64);
    }
    record.hosts.push(crate::Host { counters, ..Default::default() });
    record
}

pub(super) fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn related_records_are_stored_all_or_none() {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("runs.db")).unwrap();
    let (first, second) = (record("20260101-000000-aaaa"), record("20260101-000000-bbbb"));
    let other = RunRecord { variant: Some("another".into()), ..first.clone() };
    assert!(repository.finish_all([&first, &second, &other]).is_err());
    assert!(repository.list(&Filter::default()).unwrap().is_empty());
    assert_eq!(repository.finish_all([&first, &second]).unwrap(), 2);
    assert_eq!(repository.finish_all([&first, &second]).unwrap(), 0, "they are there");
}

#[test]
fn repository_file_and_folders_are_private_to_their_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("of/mine/runs.db");
    let repository = Repository::open(&path).unwrap();
    repository.finish(&record("20260101-000000-aaaa")).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let log = directory.path().join("of/mine/runs.db-wal");
    assert!(!log.exists() || mode(&log) == 0o600);
}

#[test]
fn foreign_files_are_refused_and_left_unchanged() {
    let directory = directory();
    let foreign = directory.path().join("foreign.sqlite3");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE precious (x); INSERT INTO precious VALUES (1)",
        )
        .unwrap();
    drop(other);
    let text = directory.path().join("notes.txt");
    std::fs::write(&text, "dear diary, ".repeat(100)).unwrap();
    let short = directory.path().join("short");
    std::fs::write(&short, "x").unwrap();
    for path in [foreign, text, short] {
        let before = std::fs::read(&path).unwrap();
        for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, RepositoryError::Foreign { .. }), "{error:?}");
            assert!(error.to_string().contains("is not a repository of Dyno"), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3, "nothing was left beside them");
    let error = Repository::open(directory.path()).unwrap_err();
    assert!(matches!(error, RepositoryError::CannotOpen { .. }), "{error:?}");
}

#[test]
fn repository_of_other_version_is_refused_and_unchanged() {
    let directory = directory();
    for version in [VERSION + 41, VERSION - 1] {
        let path = directory.path().join(format!("{version}.sqlite3"));
        drop(Repository::open(&path).unwrap());
        let other = rusqlite::Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        drop(other);
        let before = std::fs::read(&path).unwrap();
        for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
            let error = opened.unwrap_err();
            let is_expected = match &error {
                RepositoryError::Newer { found, known: VERSION, .. } => {
                    version > VERSION && *found == version
                }
                RepositoryError::Older { found, known: VERSION, .. } => {
                    version < VERSION && *found == version
                }
                _ => false,
            };
            assert!(is_expected, "{error:?}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn file_resembling_a_repository_is_reported_as_damaged() {
    let directory = directory();
    let path = directory.path().join("hollow.sqlite3");
    let hollow = rusqlite::Connection::open(&path).unwrap();
    hollow.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    hollow.pragma_update(None, "user_version", VERSION).unwrap();
    hollow.execute_batch("CREATE TABLE run (id TEXT); CREATE VIEW record AS SELECT * FROM run").unwrap();
    drop(hollow);
    for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
        let error = opened.and_then(|repository| repository.list(&Filter::default())).unwrap_err();
        assert!(matches!(error, RepositoryError::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn truncated_or_corrupted_repository_file_fails_cleanly() {
    let directory = directory();
    let path = directory.path().join("whole.sqlite3");
    let repository = Repository::open(&path).unwrap();
    for run in 0..40 {
        repository.begin(&begun(&format!("b{run:02}"))).unwrap();
        repository.finish(&record(&format!("r{run:02}"))).unwrap();
    }
    drop(repository);
    let whole = std::fs::read(&path).unwrap();
    let broken = directory.path().join("broken.sqlite3");
    let mut refused = 0;
    for step in 0..60 {
        let mut bytes = whole.clone();
        let place = whole.len() * step / 60;
        if step % 2 == 0 {
            bytes.truncate(place);
        } else {
            let end = (place + 3_000).min(bytes.len());
            bytes[place.max(100)..end].fill(0xA5);
        }
        std::fs::write(&broken, &bytes).unwrap();
        let outcome = Repository::open_read_only(&broken).and_then(|repository| {
            repository.list(&Filter::default())?;
            (0..40).try_for_each(|run| repository.load(&format!("r{run:02}")).map(|_| ()))
        });
        if let Err(error) = outcome {
            refused += 1;
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    assert!(refused >= 40, "only {refused} of 60 broken files were noticed");
}

#[test]
fn corrupt_stored_record_is_an_error() {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("r.sqlite3")).unwrap();
    repository.finish(&record("r1")).unwrap();
    let store = |packed: &[u8]| {
        repository.connection.execute("UPDATE record SET packed = ?1", [packed]).unwrap();
        repository.load("r1").unwrap_err().to_string()
    };
    assert!(store(b"rubbish").contains("r1: the run record cannot be read: it does not unpack"));
    assert!(store(&pack::pack("{}")).contains("not a run record"));
    assert!(store(&pack::pack("{\"schema_version\": 9}")).contains("schema_version 9"));
    assert!(store(&pack::pack(&"[".repeat(100_000))).contains("cannot be read"));
    repository.connection.execute("UPDATE run SET sessions = 'many'", []).unwrap();
    assert!(matches!(repository.list(&Filter::default()), Err(RepositoryError::Damaged { .. })));
}

#[test]
fn long_lasting_repository_lock_is_reported() {
    let directory = directory();
    let path = directory.path().join("locked.sqlite3");
    let ours = Repository::open_waiting(&path, SHORT_WAIT).unwrap();
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for outcome in [
        ours.finish(&record("r1")),
        ours.begin(&begun("r1")),
        Repository::open_waiting(&path, SHORT_WAIT).map(|_| ()),
    ] {
        let error = outcome.unwrap_err();
        assert!(matches!(error, RepositoryError::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains("locked by another process for 0.05 s"), "{error}");
    }
    assert!(ours.list(&Filter::default()).unwrap().is_empty(), "reading goes on meanwhile");
    holder.execute_batch("ROLLBACK").unwrap();
    ours.finish(&record("r1")).unwrap();
}

#[test]
fn full_repository_stores_nothing_and_works_again_with_space() {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("full.sqlite3")).unwrap();
    repository.begin(&begun("r1")).unwrap();
    let pages: i64 = repository.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let limit = |pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        repository.connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap();
    };
    limit(pages);
    let error = repository.finish(&bulky("r1")).unwrap_err();
    assert!(matches!(error, RepositoryError::Full { .. }), "{error:?}");
    assert_eq!(repository.summary("r1").unwrap().status, RunState::Running);
    limit(1 << 30);
    repository.finish(&bulky("r1")).unwrap();
    assert_eq!(repository.load("r1").unwrap(), bulky("r1"));
}
