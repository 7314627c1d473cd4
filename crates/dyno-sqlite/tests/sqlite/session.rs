//! Tests operations, counters and errors of SQLite sessions.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::*;
use dyno_engine::{BlockOp, BlockSessionConfig, ErrorClass, Target, TargetErrorKind};
use dyno_plan::{DataSpec, Redo};
use dyno_record::{Counter, CounterReading, Counters};

/// A loaded target, in a file with these parameters or in memory.
fn loaded(folder: &tempfile::TempDir, parameters: &str, spec: &DataSpec) -> Box<dyn Target> {
    let target = match parameters {
        "memory" => open("sqlite::memory:"),
        _ => open(&url(&file(folder), parameters)),
    };
    load(target.as_ref(), spec).unwrap();
    target
}

const MODES: [&str; 8] = [
    "memory",
    "journal=wal",
    "journal=wal&direct=on&checkpoint=20",
    "journal=delete",
    "journal=truncate&direct=on",
    "journal=persist&sync=extra",
    "journal=memory&sync=off",
    "journal=wal&locking=exclusive&cache=64K&sync=normal",
];

#[test]
fn sqlite_counters_match_operations_exactly() {
    for mode in MODES {
        let folder = folder();
        let spec = spec();
        let target = loaded(&folder, mode, &spec);
        let mut observer = target.observer(&spec).unwrap();
        let begin = observer.snapshot().unwrap();
        let mut session = session(target.as_ref(), &spec, 0);
        for first in 1..=40 {
            assert_eq!(session.execute(BlockOp::Select { first }).unwrap().rows, 16, "{mode}");
            assert_eq!(session.execute(BlockOp::Lookup { key: first }).unwrap().rows, 1);
        }
        assert_eq!(session.execute(BlockOp::Lookup { key: 301 }).unwrap().rows, 0);
        assert_eq!(session.execute(BlockOp::Scan).unwrap().rows, 50);
        for number in 0..25 {
            let outcome = session.execute(BlockOp::Update { first: 1 + number, number }).unwrap();
            assert_eq!(outcome.rows, 16);
            assert!(outcome.commit_began_ns.is_some());
        }
        session.edge().unwrap();
        let end = observer.snapshot().unwrap();
        let counters = Counters::between(&begin, &end);
        let delta = |counter| counters.get(counter).unwrap();
        assert_eq!(delta(Counter::Commits), 25, "{mode}");
        assert_eq!(delta(Counter::Rollbacks), 0);
        assert_eq!(delta(Counter::RowsWritten), 25 * 16);
        assert_eq!(delta(Counter::Executions), 40 + 41 + 1 + 25 * 3);
        let visited = 40 * 16 + 40 + 50 + 25 * 16;
        let logical = delta(Counter::LogicalReads);
        assert!(logical >= visited, "{mode}: {logical} for {visited}");
        assert!(logical < 8 * visited, "{mode}: {logical} for {visited}");
        assert!(counters.changes.is_empty());

        // Closing publishes the work since the last publication.
        session.execute(BlockOp::Update { first: 7, number: 25 }).unwrap();
        session.close();
        let closed = Counters::between(&begin, &observer.snapshot().unwrap());
        assert_eq!(closed.get(Counter::Commits).unwrap(), 26);
        assert_eq!(closed.get(Counter::RowsWritten).unwrap(), 26 * 16);
        assert_eq!(observer.own_commits(), 0);
    }
}

#[test]
fn sqlite_counters_have_value_or_reason() {
    for mode in MODES {
        let folder = folder();
        let spec = spec();
        let target = loaded(&folder, mode, &spec);
        let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        for counter in Counter::ALL {
            if let CounterReading::Absent(reason) = &snapshot.portable[&counter] {
                assert!(reason.len() > 20, "{mode} {}: {reason}", counter.name());
            }
        }
        let redo_is_there = matches!(snapshot.portable[&Counter::RedoBytes], CounterReading::Value(_));
        assert_eq!(redo_is_there, !mode.contains("memory"), "{mode}");
    }
}

#[test]
fn sqlite_vfs_counts_redo_and_physical_reads() {
    for (mode, redo) in [("journal=wal&cache=64K", "wal"), ("journal=delete&cache=64K", "journal")] {
        let folder = folder();
        let spec = DataSpec { rows: 1_000, ..spec() };
        let target = loaded(&folder, mode, &spec);
        let mut observer = target.observer(&spec).unwrap();
        let mut session = session(target.as_ref(), &spec, 0);
        let begin = observer.snapshot().unwrap();
        for number in 0..60 {
            session.execute(BlockOp::Select { first: 1 + number * 16 }).unwrap();
            session.execute(BlockOp::Update { first: 1 + number * 16, number }).unwrap();
        }
        session.edge().unwrap();
        let end = observer.snapshot().unwrap();
        let counters = Counters::between(&begin, &end);
        let delta = |counter| counters.get(counter).unwrap();
        // Each update writes 16 pages, and a cache of 64 KiB holds none of the next range.
        assert!(delta(Counter::RedoBytes) >= 60 * 16 * 4096, "{mode}: {}", delta(Counter::RedoBytes));
        assert!(delta(Counter::RedoWrites) >= 60 * 16);
        assert!(delta(Counter::RedoSyncs) >= 60, "{mode}: {}", delta(Counter::RedoSyncs));
        assert!(delta(Counter::RedoSyncTime) > 0);
        assert!(delta(Counter::PhysicalReads) >= 60 * 16, "{mode}: {}", delta(Counter::PhysicalReads));
        assert!(delta(Counter::PhysicalReadBytes) >= 60 * 16 * 4096);
        assert!(delta(Counter::PhysicalReadRequests) >= delta(Counter::PhysicalReads));
        assert_eq!(counters.latencies[&format!("{redo}.sync")].count as i64, delta(Counter::RedoSyncs));
        assert_eq!(counters.latencies["main.read"].count as i64, delta(Counter::PhysicalReadRequests));
        assert!(counters.native["pager.miss"] >= 60.0 * 16.0);
        let main_writes = counters.latencies["main.write"].count as i64;
        assert_eq!(main_writes, delta(Counter::PhysicalWriteRequests));
        assert_eq!(mode.starts_with("journal=delete"), main_writes >= 60 * 16, "{mode}: {main_writes}");
    }
}

#[test]
fn checkpoint_distance_follows_url_parameter() {
    for (parameters, some) in [("checkpoint=20", true), ("checkpoint=0", false)] {
        let folder = folder();
        let spec = spec();
        let target = loaded(&folder, parameters, &spec);
        let mut session = session(target.as_ref(), &spec, 0);
        let mut observer = target.observer(&spec).unwrap();
        let begin = observer.snapshot().unwrap();
        for number in 0..20 {
            session.execute(BlockOp::Update { first: 1, number }).unwrap();
        }
        let writes =
            Counters::between(&begin, &observer.snapshot().unwrap()).get(Counter::PhysicalWrites).unwrap();
        assert_eq!(writes > 0, some, "{parameters}: {writes} pages written to the file");
    }
}

#[test]
fn heavy_updates_keep_one_row_per_block_at_every_page_size() {
    for block_size in [4096, 8192, 65_536] {
        let folder = folder();
        let spec = DataSpec { block_size, rows: 64, schemas: 1, scan_rows: 0, ..spec() };
        let target = loaded(&folder, "journal=delete", &spec);
        let heavy = BlockSessionConfig { redo: Redo::Heavy, ..setup(&spec, 0) };
        let mut session = opened(target.as_ref(), &heavy).unwrap();
        let before = rows(&plain_connection(&file(&folder)), "dyno_rows_1");
        for number in 0..200 {
            session.execute(BlockOp::Update { first: 1 + (number * 16) % 49, number }).unwrap();
        }
        session.close();
        let conn = plain_connection(&file(&folder));
        // Versions as after years of updates.
        conn.execute("UPDATE dyno_rows_1 SET ver = ver + 9000000000000000000", []).unwrap();
        let after = rows(&conn, "dyno_rows_1");
        assert!(before.iter().zip(&after).all(|(b, a)| b.0 == a.0 && b.2 != a.2 && b.3 != a.3));
        assert!(after.iter().all(|row| row.2.len() == row.3.len() && row.2 != row.3));
        let sql = "SELECT COUNT(*) FILTER (WHERE ncell = 1), COUNT(*) FILTER (WHERE pagetype = 'overflow')
            FROM dbstat WHERE name = 'dyno_rows_1' AND pagetype <> 'internal'";
        let pages: (i64, i64) = conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(pages, (64, 0), "{block_size}");
    }
}

#[test]
fn a_light_update_changes_two_columns_and_a_heavy_one_all() {
    for (redo, changed) in [(Redo::Lite, 2), (Redo::Heavy, 19)] {
        let folder = folder();
        let spec = spec();
        let target = loaded(&folder, "journal=delete", &spec);
        let conn = plain_connection(&file(&folder));
        let texts = || -> Vec<String> {
            let row = "SELECT * FROM dyno_rows_1 WHERE custid = 5";
            conn.query_row(row, [], |row| (2..21).map(|i| row.get(i)).collect()).unwrap()
        };
        let before = texts();
        let mut session = opened(target.as_ref(), &BlockSessionConfig { redo, ..setup(&spec, 0) }).unwrap();
        session.execute(BlockOp::Update { first: 1, number: 1 }).unwrap();
        let differ = before.iter().zip(texts()).filter(|(b, a)| *b != a).count();
        assert_eq!(differ, changed);
    }
}

#[test]
fn last_update_is_verified_by_reading_back() {
    let folder = folder();
    let spec = spec();
    let target = loaded(&folder, "", &spec);
    let mut session = session(target.as_ref(), &spec, 0);
    assert_eq!(session.verify_last_update().unwrap(), None);
    session.execute(BlockOp::Update { first: 20, number: 1 }).unwrap();
    assert_eq!(session.verify_last_update().unwrap(), Some((16, 16)));
    plain_connection(&file(&folder))
        .execute("UPDATE dyno_rows_1 SET c2 = 'lost' WHERE custid = 21", [])
        .unwrap();
    assert_eq!(session.verify_last_update().unwrap(), Some((16, 15)));
}

#[test]
fn sqlite_writers_wait_and_timeout_is_retryable() {
    for mode in ["busy=20ms", "busy=20ms&journal=delete"] {
        let folder = folder();
        let spec = spec();
        let target = loaded(&folder, mode, &spec);
        let mut session = session(target.as_ref(), &spec, 0);
        let mut observer = target.observer(&spec).unwrap();
        let other = plain_connection(&file(&folder));
        other
            .execute_batch("BEGIN IMMEDIATE; UPDATE dyno_rows_1 SET ver = ver + 1 WHERE custid = 3")
            .unwrap();
        let error = session.execute(BlockOp::Update { first: 1, number: 1 }).unwrap_err();
        assert_eq!(error.class, ErrorClass::Retryable, "{error}");
        assert!(error.code.starts_with("SQLITE_BUSY"), "{error}");
        other.execute_batch("COMMIT").unwrap();
        session.execute(BlockOp::Update { first: 1, number: 2 }).unwrap();
        if mode.contains("delete") {
            // A reader keeps its lock, so the commit fails after SQLite has announced it.
            other.execute_batch("BEGIN; SELECT COUNT(*) FROM dyno_rows_1").unwrap_or(());
            other.query_row("SELECT COUNT(*) FROM dyno_rows_1", [], |_| Ok(())).unwrap();
            let error = session.execute(BlockOp::Update { first: 1, number: 3 }).unwrap_err();
            assert_eq!(error.class, ErrorClass::Retryable, "{error}");
            other.execute_batch("COMMIT").unwrap();
        }
        session.execute(BlockOp::Update { first: 1, number: 4 }).unwrap();
        session.edge().unwrap();
        let snapshot = observer.snapshot().unwrap();
        assert_eq!(value(&snapshot, Counter::Commits), 2, "{mode}");
        assert_eq!(value(&snapshot, Counter::Rollbacks), u64::from(mode.contains("delete")), "{mode}");
    }
}

#[test]
fn concurrent_sessions_lose_no_updates() {
    for mode in ["memory", "journal=wal&checkpoint=50", "journal=truncate", "journal=wal&direct=on&cache=64K"]
    {
        let folder = folder();
        let spec = DataSpec { schemas: 1, ..spec() };
        let target = loaded(&folder, mode, &spec);
        let mut observer = target.observer(&spec).unwrap();
        let (sessions, updates) = (4, 60);
        let finished = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| watch(target.as_ref(), &spec, &finished));
            let workers: Vec<_> = (0..sessions)
                .map(|number| {
                    let mut session = session(target.as_ref(), &spec, number);
                    scope.spawn(move || {
                        for number in 0..updates {
                            let first = 1 + number * 7 % 285;
                            session.execute(BlockOp::Update { first, number }).unwrap();
                            session.execute(BlockOp::Select { first }).unwrap();
                        }
                        session.edge().unwrap();
                        let verified = session.verify_last_update().unwrap();
                        session.close();
                        verified
                    })
                })
                .collect();
            for worker in workers {
                assert_eq!(worker.join().unwrap(), Some((16, 16)), "{mode}");
            }
            finished.store(true, Ordering::Relaxed);
            watcher.join().unwrap();
        });
        let snapshot = observer.snapshot().unwrap();
        assert_eq!(value(&snapshot, Counter::Commits), u64::from(sessions) * updates, "{mode}");
        assert_eq!(value(&snapshot, Counter::RowsWritten), u64::from(sessions) * updates * 16);
        if mode != "memory" {
            let conn = plain_connection(&file(&folder));
            let versions = "SELECT SUM(ver) FROM dyno_rows_1";
            let sum: u64 = conn.query_row(versions, [], |row| row.get(0)).unwrap();
            assert_eq!(sum, u64::from(sessions) * updates * 16, "{mode}");
            let check: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(check, "ok");
        }
    }
}

/// Takes snapshots until `done` is set: no counter may ever decrease.
fn watch(target: &dyn Target, spec: &DataSpec, finished: &AtomicBool) {
    let mut observer = target.observer(spec).unwrap();
    let mut last = observer.snapshot().unwrap();
    while !finished.load(Ordering::Relaxed) {
        let now = observer.snapshot().unwrap();
        for (counter, reading) in &now.portable {
            if let (CounterReading::Value(before), CounterReading::Value(after)) =
                (&last.portable[counter], reading)
            {
                assert!(after >= before, "{} went from {before} to {after}", counter.name());
            }
        }
        last = now;
    }
}

#[test]
fn interrupted_session_continues_after_reconnect() {
    let folder = folder();
    let spec = spec();
    let target = loaded(&folder, "busy=1h", &spec);
    let mut session = session(target.as_ref(), &spec, 0);
    session.execute(BlockOp::Update { first: 1, number: 0 }).unwrap();
    let interrupter = session.interrupter();

    // The session waits for a lock that would be held for an hour.
    let other = plain_connection(&file(&folder));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = std::thread::scope(|scope| {
        let worker = scope.spawn(|| session.execute(BlockOp::Update { first: 1, number: 1 }));
        interrupter.interrupt();
        worker.join().unwrap().unwrap_err()
    });
    assert_eq!(error.class, ErrorClass::Connection, "{error}");
    other.execute_batch("COMMIT").unwrap();

    // After that every operation fails.
    assert_eq!(session.execute(BlockOp::Lookup { key: 1 }).unwrap_err().class, ErrorClass::Connection);
    session.reconnect().unwrap();
    session.execute(BlockOp::Update { first: 1, number: 2 }).unwrap();
    interrupter.interrupt();
    assert_eq!(session.execute(BlockOp::Scan).unwrap_err().class, ErrorClass::Connection);
    session.reconnect().unwrap();
    session.edge().unwrap();
    let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
    assert_eq!(value(&snapshot, Counter::Commits), 2);
    drop(session);
    interrupter.interrupt();
}

#[test]
fn operations_unsupported_by_sqlite_are_reported() {
    let folder = folder();
    let spec = DataSpec { scan_rows: 0, ..spec() };
    let target = loaded(&folder, "", &spec);
    assert!(!target.capabilities().server_drive);
    assert_eq!(target.capabilities().load_parallel_max, 1);
    let mut session = opened(target.as_ref(), &setup(&spec, 0)).unwrap();
    let error = session.slice(&[BlockOp::Lookup { key: 1 }]).unwrap_err();
    assert_eq!(error.class, ErrorClass::Fatal);
    assert!(error.message.contains("workload.drive"), "{error}");
    assert_eq!(session.execute(BlockOp::Scan).unwrap_err().class, ErrorClass::Fatal);
    assert_eq!(session.overhead_commits(), 0);
    let error = target.sampler().err().unwrap();
    assert!(error.message.contains("no wait events"), "{error}");
    let error = opened(target.as_ref(), &setup(&DataSpec { seed: 1, ..spec.clone() }, 0)).err().unwrap();
    assert_eq!(error.kind, TargetErrorKind::Data);
    let nothing = open(&url(&folder.path().join("other.db"), ""));
    let error = opened(nothing.as_ref(), &setup(&spec, 0)).err().unwrap();
    assert!(error.hint.contains("dyno load"), "{error}");
}

#[test]
fn sqlite_identity_has_product_settings_and_paths() {
    let folder = folder();
    let target = open(&url(&file(&folder), "cache=16M&direct=on"));
    let before = target.identify().unwrap();
    assert_eq!((before.product.as_str(), before.block_size), ("SQLite", 0));
    assert!(!file(&folder).exists());
    load(target.as_ref(), &spec()).unwrap();
    let identity = target.identify().unwrap();
    assert_eq!(identity.block_size, 4096);
    assert_eq!(identity.version, rusqlite::version());
    assert_eq!(identity.data_path.as_deref(), file(&folder).to_str());
    assert!(identity.same_host);
    for (name, value) in
        [("journal_mode", "wal"), ("cache_size", "16M"), ("direct", "on"), ("page_size", "4K")]
    {
        assert_eq!(identity.settings[name], value);
    }
    for name in ["journal_mode", "cache_size", "direct"] {
        assert!(identity.non_default.iter().any(|other| other == name), "{:?}", identity.non_default);
    }
    assert!(!identity.non_default.iter().any(|name| name == "synchronous"));
    assert_eq!(open("sqlite::memory:").identify().unwrap().data_path, None);
}
