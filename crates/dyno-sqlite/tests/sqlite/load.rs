//! Tests loading, resuming, recognizing, rejecting and dropping data in SQLite.

use crate::common::*;
use dyno_engine::{Cancel, DataState, Silent, TargetErrorKind};
use dyno_plan::{Bytes, DataSpec};

#[test]
fn every_page_size_gets_one_row_per_block() {
    for block_size in [4096, 8192, 16_384, 32_768, 65_536] {
        for place in ["file", "memory"] {
            let folder = folder();
            let target = open(&match place {
                "file" => url(&file(&folder), ""),
                _ => "sqlite::memory:".to_owned(),
            });
            let spec = DataSpec { block_size, ..spec() };
            let report = load(target.as_ref(), &spec).unwrap();
            assert!(!report.already);
            assert_eq!(report.rows_written, spec.total_rows());
            assert_eq!(report.tables.len(), 4);
            for table in &report.tables {
                let rows = if table.kind == "rows" { spec.rows } else { spec.scan_rows };
                assert_eq!((table.rows, table.blocks), (rows, rows), "{} at {block_size}", table.table);
                assert!(table.bytes > rows * block_size);
            }
            let DataState::Loaded { spec: found, tables, .. } =
                target.block_data().unwrap().survey().unwrap()
            else {
                panic!("{place} is not loaded")
            };
            assert_eq!((found, tables), (spec.clone(), report.tables));
            assert_eq!(target.block_data().unwrap().block_size(None).unwrap(), Bytes(block_size));
        }
    }
}

#[test]
fn loaded_keys_are_complete_scattered_and_reproducible() {
    let (a, b) = (folder(), folder());
    for folder in [&a, &b] {
        load(open(&url(&file(folder), "")).as_ref(), &spec()).unwrap();
    }
    let rows_a = rows(&plain_connection(&file(&a)), "dyno_rows_1");
    assert_eq!(rows_a, rows(&plain_connection(&file(&b)), "dyno_rows_1"));
    assert_ne!(rows_a, rows(&plain_connection(&file(&a)), "dyno_rows_2"));
    let mut keys: Vec<i64> = rows_a.iter().map(|row| row.0).collect();
    let in_order = keys.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!(in_order < 10, "{in_order} neighbours lie side by side");
    keys.sort_unstable();
    assert_eq!(keys, (1..=300).collect::<Vec<_>>());
    assert!(rows_a.iter().all(|row| row.1 == 0 && row.2.len() == 128 && row.3.len() == 128));
}

#[test]
fn same_spec_is_recognized_and_another_refused() {
    let folder = folder();
    let target = open(&url(&file(&folder), ""));
    load(target.as_ref(), &spec()).unwrap();
    let again = load(target.as_ref(), &spec()).unwrap();
    assert!(again.already);
    assert_eq!((again.rows_written, again.tables.len()), (0, 4));

    let other = DataSpec { seed: 8, ..spec() };
    let error = load(target.as_ref(), &other).unwrap_err();
    assert_eq!(error.kind, TargetErrorKind::Data);
    assert!(error.message.contains("seed 7"), "{error} {}", error.hint);
    assert!(error.hint.contains("--replace"), "{error} {}", error.hint);

    // Dyno created the file and nothing else is in it, so even the page size may change.
    let bigger = DataSpec { block_size: 8192, rows: 40, ..other };
    let report =
        target.block_data().unwrap().load(&bigger, &options(true), &Silent, &Cancel::default()).unwrap();
    assert_eq!(report.rows_written, bigger.total_rows());
    assert!(
        matches!(target.block_data().unwrap().survey().unwrap(), DataState::Loaded { spec, .. } if spec == bigger)
    );
}

#[test]
fn load_stopped_at_any_point_resumes_to_same_rows() {
    let spec = DataSpec { schemas: 2, rows: 1_000, scan_rows: 300, ..spec() };
    let whole_folder = folder();
    load(open(&url(&file(&whole_folder), "")).as_ref(), &spec).unwrap();
    let whole = plain_connection(&file(&whole_folder));
    for (phase, rows_seen) in [
        ("rows", 0),
        ("rows", 256),
        ("rows", 1_100),
        ("rows", 2_000),
        ("index", 0),
        ("index", 1_000),
        ("verify", 0),
    ] {
        let folder = folder();
        let target = open(&url(&file(&folder), ""));
        let stop = StopAfter::new(phase, rows_seen);
        let error =
            target.block_data().unwrap().load(&spec, &options(false), &stop, &stop.cancel).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Cancelled, "{phase} {rows_seen}: {error}");
        let DataState::Partial { rows: kept, spec: found, .. } =
            target.block_data().unwrap().survey().unwrap()
        else {
            panic!("not partial after {phase} {rows_seen}")
        };
        assert_eq!(found, spec);
        if phase == "rows" {
            assert!(kept >= rows_seen, "{kept} rows kept at {rows_seen}");
            assert!(kept < spec.total_rows(), "{kept} rows kept at {rows_seen}");
        } else {
            assert_eq!(kept, spec.total_rows());
        }
        let refused = load(target.as_ref(), &DataSpec { seed: 99, ..spec.clone() }).unwrap_err();
        assert_eq!(refused.kind, TargetErrorKind::Data);
        let error = opened(target.as_ref(), &setup(&spec, 0)).err().unwrap();
        assert_eq!(error.kind, TargetErrorKind::Data, "a session on half of the data");

        let report = load(target.as_ref(), &spec).unwrap();
        assert_eq!(report.rows_written, spec.total_rows() - kept);
        let resumed = plain_connection(&file(&folder));
        for table in ["dyno_rows_1", "dyno_rows_2", "dyno_scan_1", "dyno_scan_2"] {
            assert_eq!(rows(&resumed, table), rows(&whole, table), "{table} after {phase} {rows_seen}");
        }
        assert_eq!(integrity_check(&resumed), "ok");
    }
}

fn integrity_check(conn: &rusqlite::Connection) -> String {
    conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

const CHILD: &str = "DYNO_TEST_LOAD_INTO";

fn big() -> DataSpec {
    DataSpec { schemas: 1, rows: 60_000, scan_rows: 0, ..spec() }
}

/// Not a test on its own: the process that the next test kills.
#[test]
fn load_as_a_child() {
    if let Ok(url) = std::env::var(CHILD) {
        load(open(&url).as_ref(), &big()).unwrap();
    }
}

#[test]
fn a_killed_load_is_resumed() {
    let folder = folder();
    let url = url(&file(&folder), "");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["load::load_as_a_child", "--exact"])
        .env(CHILD, &url)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let target = open(&url);
    // The process is killed in the middle: after the first transaction has committed, while the next is being
    // written.
    let loaded_rows = loop {
        match target.block_data().unwrap().survey() {
            Ok(DataState::Partial { rows, .. }) if rows > 0 => break rows,
            Ok(DataState::Loaded { .. }) => panic!("the load was over before it could be killed"),
            _ => {}
        }
        assert!(child.try_wait().unwrap().is_none(), "the child ended early");
        std::thread::yield_now();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let DataState::Partial { rows, .. } = target.block_data().unwrap().survey().unwrap() else {
        panic!("not partial")
    };
    assert!(rows >= loaded_rows);
    let report = load(target.as_ref(), &big()).unwrap();
    assert_eq!(report.rows_written, big().total_rows() - rows);
    assert_eq!(integrity_check(&plain_connection(&file(&folder))), "ok");
}

#[test]
fn drop_removes_file_created_by_load() {
    let folder = folder();
    let target = open(&url(&file(&folder), ""));
    assert!(target.block_data().unwrap().inventory().unwrap().is_empty());
    assert!(target.block_data().unwrap().drop_all().unwrap().is_empty());
    assert!(!file(&folder).exists(), "looking must not make a file");
    load(target.as_ref(), &spec()).unwrap();
    let names: Vec<String> =
        target.block_data().unwrap().inventory().unwrap().into_iter().map(|item| item.name).collect();
    for name in ["dyno_rows_1", "dyno_rows_2_custid", "dyno_scan_2", "dyno_meta", "dyno_objects"] {
        assert!(names.iter().any(|other| other == name), "{name} is not in {names:?}");
    }
    assert!(names.contains(&file(&folder).display().to_string()), "{names:?}");
    let removed: Vec<String> =
        target.block_data().unwrap().drop_all().unwrap().into_iter().map(|item| item.name).collect();
    assert_eq!(removed, names);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something is left in the folder");
    assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
}

#[test]
fn drop_keeps_foreign_objects() {
    let folder = folder();
    let conn = plain_connection(&file(&folder));
    conn.execute_batch("CREATE TABLE dyno_mine(a); INSERT INTO dyno_mine VALUES(1); CREATE TABLE other(b)")
        .unwrap();
    let target = open(&url(&file(&folder), ""));
    assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
    drop(conn);
    load(target.as_ref(), &spec()).unwrap();
    assert!(target.block_data().unwrap().inventory().unwrap().iter().all(|item| item.kind != "file"));
    let removed = target.block_data().unwrap().drop_all().unwrap();
    assert_eq!(removed.len(), 2 * 3 + 2);
    let conn = plain_connection(&file(&folder));
    let left: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(left, ["dyno_mine", "other"]);
    assert_eq!(conn.query_row("SELECT a FROM dyno_mine", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn drop_keeps_file_with_foreign_table() {
    let folder = folder();
    let target = open(&url(&file(&folder), ""));
    load(target.as_ref(), &spec()).unwrap();
    plain_connection(&file(&folder)).execute_batch("CREATE TABLE notes(a)").unwrap();
    target.block_data().unwrap().drop_all().unwrap();
    let count = "SELECT COUNT(*) FROM sqlite_schema";
    assert_eq!(plain_connection(&file(&folder)).query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn database_file_is_removed_with_its_last_table() {
    for workload_first in [false, true] {
        let folder = folder();
        let target = open(&url(&file(&folder), ""));
        let script = |sql: &str| target.script(&[sql], &mut |_| Ok(())).unwrap();
        let create = || script("CREATE TABLE goods(a)");
        if workload_first {
            create();
            load(target.as_ref(), &spec()).unwrap();
        } else {
            load(target.as_ref(), &spec()).unwrap();
            create();
        }
        target.block_data().unwrap().drop_all().unwrap();
        assert!(file(&folder).exists(), "the workload's table is in it");
        script("DROP TABLE goods");
        let items = target.block_data().unwrap().inventory().unwrap();
        assert!(!items.is_empty(), "{workload_first}");
        assert!(items.iter().all(|item| item.kind == "file"), "{items:?}");
        target.block_data().unwrap().drop_all().unwrap();
        assert!(!file(&folder).exists(), "{workload_first}");
    }
}

#[test]
fn drop_keeps_empty_file_dyno_did_not_create() {
    let folder = folder();
    plain_connection(&file(&folder)).execute_batch("CREATE TABLE notes(a); DROP TABLE notes").unwrap();
    let target = open(&url(&file(&folder), ""));
    load(target.as_ref(), &spec()).unwrap();
    target.block_data().unwrap().drop_all().unwrap();
    assert!(file(&folder).exists());
    assert!(target.block_data().unwrap().drop_all().unwrap().is_empty());
}

#[test]
fn a_file_in_use_is_not_removed() {
    let folder = folder();
    let target = open(&url(&file(&folder), "busy=50ms"));
    load(target.as_ref(), &spec()).unwrap();
    let session = session(target.as_ref(), &spec(), 0);
    let mut session = session;
    session.execute(dyno_engine::BlockOp::Lookup { key: 1 }).unwrap();
    let error = target.block_data().unwrap().drop_all().unwrap_err();
    assert!(error.message.contains("in use"), "{error}");
    assert!(file(&folder).exists());
    session.execute(dyno_engine::BlockOp::Lookup { key: 1 }).unwrap();
    session.close();
    target.block_data().unwrap().drop_all().unwrap();
    assert!(!file(&folder).exists());
}

#[test]
fn table_with_dyno_name_but_no_metadata_is_foreign() {
    let folder = folder();
    plain_connection(&file(&folder)).execute_batch("CREATE TABLE Dyno_Scan_2(a)").unwrap();
    let target = open(&url(&file(&folder), ""));
    let error = load(target.as_ref(), &spec()).unwrap_err();
    assert_eq!(error.kind, TargetErrorKind::Data);
    assert!(error.message.contains("dyno_scan_2"), "{error}");
    assert!(!error.hint.is_empty(), "{error}");
    assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
}

#[test]
fn unreadable_metadata_is_refused() {
    for ddl in [
        "CREATE TABLE dyno_meta(a)",
        "CREATE TABLE dyno_meta(id INTEGER PRIMARY KEY, format_version); INSERT INTO dyno_meta VALUES(1, 99)",
    ] {
        let folder = folder();
        plain_connection(&file(&folder)).execute_batch(ddl).unwrap();
        let target = open(&url(&file(&folder), ""));
        for error in [
            target.block_data().unwrap().survey().unwrap_err(),
            load(target.as_ref(), &spec()).unwrap_err(),
            target.block_data().unwrap().drop_all().unwrap_err(),
        ] {
            assert_eq!(error.kind, TargetErrorKind::Data, "{error}");
        }
    }
}

#[test]
fn file_with_other_page_size_is_refused_before_any_drop() {
    let folder = folder();
    plain_connection(&file(&folder)).execute_batch("PRAGMA page_size = 8192; CREATE TABLE other(a)").unwrap();
    let target = open(&url(&file(&folder), ""));
    assert_eq!(target.block_data().unwrap().block_size(None).unwrap(), Bytes(8192));
    let error = target.block_data().unwrap().block_size(Some(Bytes(4096))).unwrap_err();
    assert!(error.message.contains("8192"), "{error} {}", error.hint);
    assert!(error.hint.contains("8192"), "{error} {}", error.hint);
    assert_eq!(load(target.as_ref(), &spec()).unwrap_err().kind, TargetErrorKind::Data);
    let fitting = DataSpec { block_size: 8192, ..spec() };
    load(target.as_ref(), &fitting).unwrap();
    let error =
        target.block_data().unwrap().load(&spec(), &options(true), &Silent, &Cancel::default()).unwrap_err();
    assert!(error.message.contains("8192"), "{error}");
    assert!(
        matches!(target.block_data().unwrap().survey().unwrap(), DataState::Loaded { spec, .. } if spec == fitting)
    );
}

#[test]
fn file_that_is_not_a_database_is_refused() {
    let folder = folder();
    std::fs::write(file(&folder), vec![b'x'; 10_000]).unwrap();
    let target = open(&url(&file(&folder), ""));
    for error in
        [target.block_data().unwrap().survey().unwrap_err(), load(target.as_ref(), &spec()).unwrap_err()]
    {
        assert_eq!(error.kind, TargetErrorKind::Unreachable);
        assert!(error.message.contains("dyno.db"), "{error}");
    }
    let nowhere = open("sqlite:/nowhere/at/all.db");
    let error = load(nowhere.as_ref(), &spec()).unwrap_err();
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.message.contains("/nowhere/at/all.db"), "{error}");
}

#[test]
fn in_memory_load_beyond_2_gib_fails_as_full() {
    let target = open("sqlite::memory:");
    assert!(target.capabilities().ephemeral);
    let error = load(target.as_ref(), &DataSpec { rows: 400_000, block_size: 8192, ..spec() }).unwrap_err();
    assert_eq!(error.kind, TargetErrorKind::Full);
    assert!(error.message.contains("2 GiB"), "{error}");
}
