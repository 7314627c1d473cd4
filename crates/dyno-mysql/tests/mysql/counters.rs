//! Tests that the server's counts match the work exactly, and that unavailable counters are absent with the
//! reason.

use std::sync::atomic::{AtomicBool, Ordering};

use dyno_engine::BlockOp;
use dyno_engine::watched_names::identifiers;
use dyno_plan::{DriveMode, Redo};
use dyno_record::{Counter, CounterReading, Counters, MarkKind, RELOADED};
use dyno_workload::blocks::Operated;

use super::{load_target, on_each_server, on_each_server_with, open_session, spec};

/// Runs 20 selects, 30 lookups, 4 scans and 25 updates of ten rows each.
fn work(session: &mut Operated) {
    for i in 0..20 {
        session.execute(BlockOp::Select { first: 1 + i * 10 }).unwrap();
    }
    for key in 1..=30 {
        session.execute(BlockOp::Lookup { key }).unwrap();
    }
    for _ in 0..4 {
        session.execute(BlockOp::Scan).unwrap();
    }
    for number in 0..25 {
        session.execute(BlockOp::Update { first: 1 + number * 10, number }).unwrap();
    }
}

/// The most rows of the dictionary that one snapshot reads.
const DICTIONARY_ROWS: i64 = 4_000;

#[test]
fn commits_and_rows_are_exact_with_and_without_binlog() {
    let settings: [&[(&str, &str)]; 2] = [
        &[("skip_log_bin", "1")],
        &[("log_bin", "binlog"), ("server_id", "1"), ("performance_schema", "ON")],
    ];
    for settings in settings {
        on_each_server_with(settings, |server| {
            let spec = spec(1, 300, 40);
            let target = load_target(server, &spec);
            let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
            let mut observer = target.observer(&spec).unwrap();
            work(&mut session);
            let begin = observer.snapshot().unwrap();
            let commits_before = observer.own_commits();
            work(&mut session);
            let end = observer.snapshot().unwrap();
            let own_commits = (observer.own_commits() - commits_before) as i64;
            let moved = Counters::between(&begin, &end);
            let get =
                |counter| moved.get(counter).unwrap_or_else(|reason| panic!("{}: {reason}", counter.name()));
            assert_eq!(
                get(Counter::Commits) - own_commits,
                20 + 30 + 4 + 25,
                "{own_commits} of the observer's own"
            );
            assert_eq!(get(Counter::Rollbacks), 0);
            assert_eq!(get(Counter::RowsWritten), 250);
            // A scan also reads the spacers, and an update reads one row after its range; the rest is exact.
            let read = 200 + 30 + 4 * 80 + 250;
            let rows_read = get(Counter::RowsRead);
            // Reads are counted late, so those of the earlier work may be included. So are the rows of the
            // dictionary that the observer reads.
            let most = 2 * (read + 25) + 100 + DICTIONARY_ROWS;
            assert!((read..=most).contains(&rows_read), "{rows_read} rows read, {read} expected");
            assert!(get(Counter::LogicalReads) >= 200 + 30 + 160 + 250);
            assert!(get(Counter::RedoBytes) >= 250 * 2 * 41);
            assert!(get(Counter::RedoSyncs) >= 25, "{}", get(Counter::RedoSyncs));
            assert!(get(Counter::Executions) >= 79);
            assert!(moved.changes.is_empty(), "{:?}", moved.changes);
            session.close();
        });
    }
}

#[test]
fn mysql_snapshots_cause_no_block_reads() {
    on_each_server_with(&[("performance_schema", "ON")], |server| {
        let spec = spec(1, 300, 40);
        let target = load_target(server, &spec);
        let mut observer = target.observer(&spec).unwrap();
        // The first snapshot reads the dictionary.
        let mut begin = observer.snapshot().unwrap();
        let moved: Vec<i64> = (0..30)
            .map(|_| {
                let end = observer.snapshot().unwrap();
                let counters = Counters::between(&begin, &end);
                begin = end;
                assert_eq!(counters.observer[&Counter::LogicalReads], 0);
                counters.get(Counter::LogicalReads).unwrap()
            })
            .collect();
        // The server's own threads read now and then; a snapshot would read each time.
        assert!(moved.contains(&0), "{moved:?}");
        // After a table was changed, each snapshot reads the dictionary, and the number of blocks is unknown.
        server.sql("CREATE TABLE bench.other (n INT)");
        observer.snapshot().unwrap();
        assert!(observer.snapshot().unwrap().observer.is_empty());
    });
}

#[test]
fn every_counter_has_a_value_or_a_reason() {
    // Without performance_schema the bytes of the binlog, which MySQL writes by default, are unknown.
    on_each_server_with(&[("performance_schema", "OFF"), ("skip_log_bin", "1")], |server| {
        let spec = spec(1, 50, 0);
        let target = load_target(server, &spec);
        let mut observer = target.observer(&spec).unwrap();
        let unread = observer.statements().unwrap_err();
        assert!(unread.message.contains("performance_schema is off"), "{unread}");
        assert!(unread.hint.contains("performance_schema = ON"), "{}", unread.hint);
        let snapshot = observer.snapshot().unwrap();
        for counter in Counter::ALL {
            if let CounterReading::Absent(reason) = &snapshot.portable[&counter] {
                assert!(!reason.is_empty());
                if counter == Counter::PhysicalReadTime {
                    assert!(reason.contains("performance_schema is off"), "{reason}");
                }
            }
        }
        for counter in [Counter::LogicalReads, Counter::Commits, Counter::RedoBytes, Counter::RowsWritten] {
            assert!(matches!(snapshot.portable[&counter], CounterReading::Value(_)), "{}", counter.name());
        }
    });
}

#[test]
fn server_restart_changes_epoch_and_crash_is_distinguished() {
    on_each_server(|server| {
        let spec = spec(1, 50, 0);
        let target = load_target(server, &spec);
        let start = |what: &str| {
            let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
            snapshot.epochs.get("server.start").cloned().unwrap_or_else(|| panic!("{what}: no start"))
        };
        let (first, life) = (start("first"), target.life().unwrap().unwrap());
        assert_eq!(first, start("again"));
        // Start times have a resolution of one second, so the test waits before it restarts the server.
        server.stop();
        let stopped = std::time::Instant::now();
        while stopped.elapsed() < std::time::Duration::from_millis(1100) {
            std::thread::yield_now();
        }
        server.restart();
        let restarted = target.life().unwrap().unwrap();
        assert_ne!(restarted.started, life.started);
        assert_eq!(restarted.statistics_since, life.statistics_since, "in good order");
        server.kill9();
        server.restart();
        let recovered = target.life().unwrap().unwrap();
        assert_ne!(recovered.statistics_since, restarted.statistics_since, "after a crash: {}", server.log());
    });
}

#[test]
fn waits_are_sampled_only_for_dyno_sessions() {
    on_each_server(|server| {
        let spec = spec(1, 300, 40);
        let target = load_target(server, &spec);
        let mut sampler = target.sampler().unwrap();
        let mut samples = Vec::new();
        sampler.sample(&mut samples, &mut Vec::new()).unwrap();
        assert!(samples.is_empty(), "nobody is at work: {samples:?}");
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Server, Redo::Lite);
        let ops: Vec<BlockOp> = (0..2000).map(|i| BlockOp::Select { first: 1 + i % 200 }).collect();
        let is_sampled = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                for _ in 0..50 {
                    if !is_sampled.load(Ordering::Relaxed) {
                        session.slice(&ops).unwrap();
                    }
                }
                session.close();
            });
            while samples.is_empty() && !worker.is_finished() {
                sampler.sample(&mut samples, &mut Vec::new()).unwrap();
            }
            is_sampled.store(true, Ordering::Relaxed);
        });
        assert!(!samples.is_empty(), "a session at work was seen");
        assert!(samples.iter().all(|sample| !sample.class.is_empty() && !sample.event.is_empty()));
    });
}

/// A session that reconnects during a run makes its settings and prepares statements before it works.
#[test]
fn connecting_session_is_not_counted_as_other_session() {
    on_each_server(|server| {
        let spec = spec(1, 300, 40);
        let target = load_target(server, &spec);
        let mut sampler = target.sampler().unwrap();
        let mut other_sessions = Vec::new();
        // On a busy machine the server shows a statement of the load for a moment after it has answered.
        let mut sample_others = || {
            other_sessions.clear();
            sampler.sample(&mut Vec::new(), &mut other_sessions).unwrap();
            !other_sessions.is_empty()
        };
        while sample_others() {}
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                for number in 0..100 {
                    open_session(target.as_ref(), &spec, number, DriveMode::Client, Redo::Lite).close();
                }
            });
            while !worker.is_finished() {
                sampler.sample(&mut Vec::new(), &mut other_sessions).unwrap();
            }
        });
        assert!(other_sessions.is_empty(), "{other_sessions:?}");
    });
}

/// Objects that a custom workload uses are watched through views and procedures; other objects are not.
#[test]
fn objects_of_custom_workload_are_watched_for_changes() {
    on_each_server(|server| {
        let target = super::target_at(&server.url());
        let run = |sql: &str| target.script(&[sql], &mut |_| Ok(())).unwrap();
        for sql in [
            "CREATE TABLE accounts(id int PRIMARY KEY, balance int)",
            "CREATE TABLE unused(id int)",
            "CREATE VIEW rich AS SELECT * FROM accounts WHERE balance > 9",
            "CREATE TABLE log(at int)",
            "CREATE PROCEDURE pay(n int) INSERT INTO log VALUES (n)",
        ] {
            run(sql);
        }
        let names = identifiers("CALL pay(?); SELECT id FROM Rich");
        let spec = spec(0, 0, 0);
        let mut observer = target.observer_of_names(&spec, &names).unwrap();
        let mut changes = |kind, sql: &str| {
            let begin = observer.snapshot().unwrap();
            run(sql);
            let counters = Counters::between(&begin, &observer.snapshot().unwrap());
            assert!(!counters.unread.contains_key("shape"), "{:?}", counters.unread);
            counters.changed(kind).map(|change| change.name.clone()).collect::<Vec<_>>()
        };
        let shape = MarkKind::Shape;
        let has = |changes: &[String], name: &str| changes.iter().any(|change| change == name);
        assert!(has(&changes(shape, "CREATE INDEX one ON accounts(balance)"), "index one on accounts"));
        assert!(has(&changes(shape, "ALTER TABLE accounts ADD COLUMN note int"), "column note of accounts"));
        assert!(has(&changes(shape, "TRUNCATE log"), "file of log"));
        assert!(has(&changes(shape, "OPTIMIZE TABLE log"), "file of log"));
        run("DROP PROCEDURE pay");
        assert_eq!(changes(shape, "CREATE PROCEDURE pay(n int) SELECT 1"), ["routine pay"]);
        assert!(changes(shape, "DROP TABLE unused").is_empty());
        if !server.is_mariadb() {
            let changed = changes(MarkKind::Setting, "ALTER INSTANCE DISABLE INNODB REDO_LOG");
            assert!(has(&changed, "innodb_redo_log_enabled"), "{changed:?}");
            run("SET GLOBAL sync_binlog = 7");
            let and_back = "SET GLOBAL sync_binlog = 7";
            let changed = changes(MarkKind::Setting, and_back);
            assert_eq!(changed, [RELOADED], "set to what it was");
        }
    });
}

/// Every session sets its own variables when it connects; this does not change other sessions.
#[test]
fn session_variables_of_other_sessions_are_no_settings_change() {
    on_each_server(|server| {
        let target = super::target_at(&server.url());
        let mut observer = target.observer(&spec(0, 0, 0)).unwrap();
        let begin = observer.snapshot().unwrap();
        server.sql(
            "SET SESSION sort_buffer_size = 300000; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        );
        let counters = Counters::between(&begin, &observer.snapshot().unwrap());
        let changes: Vec<_> = counters.changed(MarkKind::Setting).map(|change| &change.name).collect();
        assert!(changes.is_empty(), "{changes:?}");
        // Two observers record the same values, however long the server has been running.
        let marks = [begin, target.observer(&spec(0, 0, 0)).unwrap().snapshot().unwrap()];
        let [first, second] = marks.map(|snapshot| snapshot.settings.get(RELOADED).cloned());
        assert_eq!(first, second);
    });
}
