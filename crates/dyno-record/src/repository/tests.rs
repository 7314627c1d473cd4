//! Tests of the repository in normal use.

use jiff::Timestamp;

use super::*;
use crate::kind::RecordKind;
use crate::record::RunRecord;
use crate::{new_run_id, rfc3339, sample};

/// A repository in a temporary directory.
fn repository() -> (tempfile::TempDir, Repository) {
    let directory = tempfile::tempdir().unwrap();
    let repository = Repository::open(&directory.path().join("new/repository.sqlite3")).unwrap();
    (directory, repository)
}

fn at(offset_s: i64) -> Timestamp {
    Timestamp::from_second(1_774_000_000 + offset_s).unwrap()
}

/// The record of a run that started at second `offset_s`.
fn record(offset_s: i64) -> RunRecord {
    let id = new_run_id(at(offset_s), offset_s as u16);
    RunRecord { id, started_at: rfc3339(at(offset_s)), ..sample::full() }
}

fn started(offset_s: i64) -> StartedRun {
    let RunRecord { id, started_at, plan, .. } = record(offset_s);
    StartedRun::by_this_process(id, started_at, "postgres", "postgres://dyno@db1/bench", plan)
}

fn ids(runs: &[RunSummary]) -> Vec<&str> {
    runs.iter().map(|run| run.id.as_str()).collect()
}

#[test]
fn run_is_listed_from_start_and_loadable_after_end() {
    let (_directory, repository) = repository();
    let (run, record) = (started(1), record(1));
    repository.begin(&run).unwrap();
    let listed = repository.list(&Filter::default()).unwrap();
    assert_eq!((listed[0].status, listed[0].sessions), (RunState::Running, 8));
    assert_eq!(repository.started(&run.id).unwrap().unwrap(), run);
    let error = repository.load(&run.id).unwrap_err();
    assert!(error.to_string().contains("has no record: it is still running"), "{error}");

    repository.finish(&record).unwrap();
    assert_eq!(repository.load(&run.id).unwrap(), record);
    let summary = repository.summary("last").unwrap();
    let expected = RunSummary {
        id: run.id.clone(),
        started_at: run.started_at,
        status: RunState::Valid,
        kind: RecordKind::Run,
        engine: "postgres".into(),
        target: "postgres://dyno@db1/bench".into(),
        sessions: 8,
        update_pct: Some(20),
        ops_per_s: Some(1_000.5),
        p99_us: record.ops["all"].response_us.p99,
        logical_reads_per_s: Some(64_000.0),
        physical_reads_per_s: Some(1_200.25),
        redo_mb_per_s: Some(2.5),
        seconds: Some(10.000_123),
        reason: None,
        database: Some(record.databases()),
        undated: false,
        marked: Vec::new(),
        variant: record.variant.clone(),
        tags: {
            let mut tags = record.tags.clone();
            tags.sort();
            tags
        },
        notes: Vec::new(),
        part_of: None,
    };
    assert_eq!(summary, expected);
}

#[test]
fn list_tells_watches_from_runs_and_imports() {
    let (_directory, repository) = repository();
    let stored = |offset_s: i64, kind: RecordKind, status: Status, sessions: u32| {
        let mut record = RunRecord { kind, status, ..record(offset_s) };
        record.gate.sessions = sessions;
        repository.finish(&record).unwrap();
        repository.summary(&record.id).unwrap().kind
    };
    assert_eq!(stored(1, RecordKind::Watch, Status::Valid, 0), RecordKind::Watch);
    assert_eq!(stored(2, RecordKind::Watch, Status::Interrupted, 0), RecordKind::Watch);
    assert_eq!(stored(3, RecordKind::Run, Status::Interrupted, 0), RecordKind::Run);
    assert_eq!(stored(4, RecordKind::Run, Status::Invalid, 8), RecordKind::Run);
    assert_eq!(stored(5, RecordKind::Import, Status::Imported, 0), RecordKind::Import);
}

#[test]
fn run_of_dead_process_is_interrupted() {
    let (_directory, repository) = repository();
    let mut run = started(1);
    run.process.start_ticks = run.process.start_ticks.map(|ticks| ticks - 1);
    repository.begin(&run).unwrap();
    let state = repository.summary(&run.id).unwrap().status;
    if run.process.start_ticks.is_some() {
        assert_eq!(state, RunState::Interrupted);
        let error = repository.load(&run.id).unwrap_err();
        assert!(error.to_string().contains("its process ended before"), "{error}");
        let filter = Filter { status: Some(RunState::Interrupted), ..Filter::default() };
        assert_eq!(repository.list(&filter).unwrap().len(), 1);
    } else {
        assert_eq!(state, RunState::Unknown);
    }
}

#[test]
fn record_of_failed_start_keeps_facts_known_at_start() {
    let (_directory, repository) = repository();
    let run = started(1);
    repository.begin(&run).unwrap();
    let failed = RunRecord {
        id: run.id.clone(),
        started_at: run.started_at.clone(),
        reasons: vec!["the server refused".into()],
        ..sample::minimal()
    };
    repository.finish(&failed).unwrap();
    let summary = repository.summary(&run.id).unwrap();
    assert_eq!((summary.status, summary.engine.as_str()), (RunState::Failed, "postgres"));
    assert_eq!(summary.target, "postgres://dyno@db1/bench");
    assert_eq!(summary.reason.as_deref(), Some("the server refused"));
    assert_eq!((summary.ops_per_s, summary.seconds), (None, None));
}

#[test]
fn repository_refuses_name_reuse_except_identical_finish() {
    let (_directory, repository) = repository();
    repository.begin(&started(1)).unwrap();
    assert!(matches!(repository.begin(&started(1)), Err(RepositoryError::Exists { .. })));
    repository.finish(&record(1)).unwrap();
    repository.finish(&record(1)).unwrap();
    let other = RunRecord { reasons: vec!["another".into()], ..record(1) };
    assert!(matches!(repository.finish(&other), Err(RepositoryError::Exists { .. })));
    assert_eq!(repository.load("last").unwrap(), record(1));
}

#[test]
fn run_is_resolved_by_id_prefix_or_position() {
    let (_directory, repository) = repository();
    let empty = repository.resolve("last").unwrap_err();
    assert!(empty.to_string().contains("has no runs"), "{empty}");
    // The second one was not started here, like an imported record.
    for second in [1, 2, 3] {
        repository.finish(&record(second)).unwrap();
    }
    repository.begin(&started(4)).unwrap();
    let id = |second| record(second).id;
    assert_eq!(repository.resolve("last").unwrap(), id(3), "the running one has no record");
    assert_eq!(repository.resolve("last~2").unwrap(), id(1));
    assert_eq!(repository.resolve(&id(4)).unwrap(), id(4));
    assert_eq!(repository.resolve(&id(2)[..15]).unwrap(), id(2));
    let error = repository.resolve("20260").unwrap_err();
    let RepositoryError::Ambiguous { candidates, .. } = &error else { panic!("{error}") };
    assert_eq!(candidates, &[id(4), id(3), id(2), id(1)]);
    for unknown in ["1999", "last~3", "last~x", "", "%", "last~"] {
        let error = repository.load(unknown).unwrap_err();
        assert!(matches!(&error, RepositoryError::NoSuchRun { .. }), "{unknown}: {error}");
        assert!(error.to_string().contains(&id(4)), "{error}");
    }
    assert!(repository.started(&id(1)).unwrap().is_none());
}

#[test]
fn run_list_is_filtered_and_newest_first() {
    let (_directory, repository) = repository();
    for second in 1..=6 {
        let mut record = record(second);
        if second % 2 == 0 {
            record.status = crate::Status::Invalid;
        }
        if second == 5 {
            record.targets[0].url = "postgres://dyno@db2/bench".into();
        }
        repository.finish(&record).unwrap();
    }
    let id = |second| record(second).id;
    let list = |filter: Filter| repository.list(&filter).unwrap();
    let limited = list(Filter { limit: Some(2), ..Filter::default() });
    assert_eq!(ids(&limited), [id(6), id(5)]);
    let invalid = list(Filter { status: Some(RunState::Invalid), limit: Some(2), ..Filter::default() });
    assert_eq!(ids(&invalid), [id(6), id(4)]);
    let since = list(Filter { since: Some(at(5)), ..Filter::default() });
    assert_eq!(ids(&since), [id(6), id(5)]);
    let elsewhere = list(Filter { target: Some("db2".into()), ..Filter::default() });
    assert_eq!(ids(&elsewhere), [id(5)]);
    assert!(list(Filter { engine: Some("sqlite".into()), ..Filter::default() }).is_empty());
}

#[test]
fn a_deleted_run_is_gone_with_its_record() {
    let (_directory, repository) = repository();
    repository.finish(&record(1)).unwrap();
    repository.finish(&record(2)).unwrap();
    assert_eq!(repository.delete("last").unwrap(), record(2).id);
    assert_eq!(ids(&repository.list(&Filter::default()).unwrap()), [record(1).id]);
    let records: i64 =
        repository.connection.query_row("SELECT count(*) FROM record", [], |row| row.get(0)).unwrap();
    assert_eq!(records, 1);
    assert!(repository.delete("20260").is_ok(), "one is left, so its beginning is unique");
}

#[test]
fn repository_reopens_and_read_only_refuses_writes() {
    let (directory, repository) = repository();
    repository.finish(&record(1)).unwrap();
    let path = repository.path().to_path_buf();
    let reader = Repository::open_read_only(&path).unwrap();
    assert_eq!(reader.load("last").unwrap(), record(1));
    assert!(matches!(reader.finish(&record(2)), Err(RepositoryError::ReadOnly { .. })));
    drop((reader, repository));
    assert_eq!(Repository::open(&path).unwrap().load("last").unwrap(), record(1));

    let missing = directory.path().join("none/repository.sqlite3");
    assert!(matches!(Repository::open_read_only(&missing), Err(RepositoryError::CannotOpen { .. })));
    assert!(!missing.parent().unwrap().exists());
}

#[test]
fn ten_thousand_runs_are_listed_from_the_summary_columns() {
    let (_directory, repository) = repository();
    let template = record(0);
    repository.connection.execute_batch("BEGIN").unwrap();
    let mut insert = repository
        .connection
        .prepare("INSERT INTO run (id, started_at, started_us, status, engine, target, sessions, update_pct) VALUES (?1, ?2, ?3, 'valid', 'postgres', 'u', 1, 0)")
        .unwrap();
    for run in 0..10_000i64 {
        insert.execute(rusqlite::params![format!("r{run:05}"), template.started_at, run]).unwrap();
    }
    drop(insert);
    repository.connection.execute_batch("COMMIT").unwrap();
    let runs = repository.list(&Filter::default()).unwrap();
    assert_eq!((runs.len(), runs[0].id.as_str()), (10_000, "r09999"));
    // This makes it fast: no record is read and nothing is sorted.
    let plan: Vec<String> = repository
        .connection
        .prepare("EXPLAIN QUERY PLAN SELECT id, target FROM run ORDER BY started_us DESC, id DESC")
        .unwrap()
        .query_map([], |row| row.get(3))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(plan, ["SCAN run USING INDEX run_by_start"]);
}

#[test]
fn default_repository_path_follows_xdg_base_directories() {
    let with = |data: Option<&str>, home: Option<&str>| {
        default_path_from(|name| match name {
            "XDG_DATA_HOME" => data.map(PathBuf::from),
            _ => home.map(PathBuf::from),
        })
    };
    let at = |path: &str| Some(PathBuf::from(path));
    assert_eq!(with(Some("/d"), Some("/h")), at("/d/dyno/repository.sqlite3"));
    assert_eq!(with(None, Some("/h")), at("/h/.local/share/dyno/repository.sqlite3"));
    assert_eq!(with(Some("relative"), Some("/h")), at("/h/.local/share/dyno/repository.sqlite3"));
    assert_eq!(with(None, None), None);
}

#[test]
fn runs_are_listed_by_label_in_time_order() {
    let (_directory, repository) = repository();
    let marked = |second, variant: &str, tags: &[&str]| RunRecord {
        variant: Some(variant.into()),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..record(second)
    };
    let (first, second, third) = (marked(1, "a", &["x", "x"]), marked(2, "b", &["x"]), marked(3, "a", &[]));
    for run in [&third, &first, &second] {
        repository.finish(run).unwrap();
    }
    let marked_runs = |mark, name| repository.marked(mark, name).unwrap();
    assert_eq!(marked_runs(RunLabelKind::Variant, "a"), [first.id.clone(), third.id.clone()]);
    assert_eq!(marked_runs(RunLabelKind::Tag, "x"), [first.id.clone(), second.id]);
    assert!(marked_runs(RunLabelKind::Tag, "a").is_empty());
    assert_eq!(repository.mark_names(RunLabelKind::Variant).unwrap(), ["a", "b"]);
    repository.delete(&first.id).unwrap();
    assert_eq!(marked_runs(RunLabelKind::Variant, "a"), [third.id], "a deleted run bears no mark");
}

#[test]
fn amend_replaces_only_its_own_record() {
    let (_directory, repository) = repository();
    let (first, other) = (record(1), record(2));
    assert!(repository.amend(&first).is_err(), "there is nothing to be amended");
    repository.finish(&first).unwrap();
    repository.finish(&other).unwrap();
    let status = crate::Status::Invalid;
    let amended = RunRecord { status, reasons: vec!["asked later".to_owned()], ..first.clone() };
    repository.amend(&amended).unwrap();
    assert_eq!(repository.load(&first.id).unwrap(), amended);
    assert_eq!(repository.summary(&first.id).unwrap().status, RunState::Invalid);
    assert_eq!(repository.load(&other.id).unwrap(), other);
    assert_eq!(repository.list(&Filter::default()).unwrap().len(), 2);
}

#[test]
fn repository_journal_prepared_by_another_user_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let (path, elsewhere) = (at("r.sqlite3"), at("elsewhere"));
    Repository::open(&path).unwrap().finish(&record(1)).unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let before = std::fs::read(&path).unwrap();
    for suffix in ["-journal", "-wal", "-shm"] {
        let beside = at(&format!("r.sqlite3{suffix}"));
        let refused = |case: &str| {
            for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
                let error = opened.unwrap_err().to_string();
                assert!(error.contains(suffix), "{case}: {error}");
                assert!(error.contains("remove that file"), "{case}: {error}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before, "{case}");
            std::fs::remove_file(&beside).unwrap();
        };
        std::fs::write(&elsewhere, "x").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &beside).unwrap();
        refused("link");
        std::os::unix::fs::symlink(at("none"), &beside).unwrap();
        refused("dangling link");
        std::fs::hard_link(&elsewhere, &beside).unwrap();
        refused("hard link");
        std::fs::create_dir(&beside).unwrap();
        assert!(Repository::open(&path).is_err(), "folder");
        std::fs::remove_dir(&beside).unwrap();
        if rustix::process::geteuid().is_root() {
            std::fs::write(&beside, "x").unwrap();
            std::os::unix::fs::chown(&beside, Some(65_534), None).unwrap();
            refused("file of another user");
        }
    }
    // A link from a private folder leads into a folder where everyone can write.
    let private_folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&path, private_folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, at("r.sqlite3-journal")).unwrap();
    assert!(Repository::open(&private_folder.path().join("link")).is_err());
    std::fs::remove_file(at("r.sqlite3-journal")).unwrap();
    assert_eq!(Repository::open(&path).unwrap().list(&Filter::default()).unwrap().len(), 1);
}
