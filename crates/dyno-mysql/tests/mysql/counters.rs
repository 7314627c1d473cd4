//! Counters: what the server counts is what was done, to the unit, and what it cannot tell is absent with the reason.

use std::sync::atomic::{AtomicBool, Ordering};

use dyno_engine::Op;
use dyno_engine::watched_names::identifiers;
use dyno_plan::{Drive, Redo};
use dyno_record::{Counter, Counters, MarkKind, RELOADED, Reading};
use dyno_workload::blocks::Operated;

use super::{loaded, on_each, on_each_with, opened, spec};

/// What 20 selects, 30 lookups, 4 scans and 25 updates, ten rows each, must have been counted as.
fn work(session: &mut Operated) {
    for i in 0..20 {
        session.execute(Op::Select { first: 1 + i * 10 }).unwrap();
    }
    for key in 1..=30 {
        session.execute(Op::Lookup { key }).unwrap();
    }
    for _ in 0..4 {
        session.execute(Op::Scan).unwrap();
    }
    for number in 0..25 {
        session.execute(Op::Update { first: 1 + number * 10, number }).unwrap();
    }
}

/// Rows of the dictionary that one look of the observer reads at most.
const DICTIONARY_ROWS: i64 = 4_000;

#[test]
fn commits_and_rows_are_counted_to_the_unit_with_and_without_a_binlog() {
    let settings: [&[(&str, &str)]; 2] = [
        &[("skip_log_bin", "1")],
        &[("log_bin", "binlog"), ("server_id", "1"), ("performance_schema", "ON")],
    ];
    for settings in settings {
        on_each_with(settings, |server| {
            let spec = spec(1, 300, 40);
            let target = loaded(server, &spec);
            let mut session = opened(target.as_ref(), &spec, 0, Drive::Client, Redo::Lite);
            let mut observer = target.observer(&spec).unwrap();
            work(&mut session);
            let begin = observer.snapshot().unwrap();
            let own = observer.own_commits();
            work(&mut session);
            let end = observer.snapshot().unwrap();
            let own = (observer.own_commits() - own) as i64;
            let moved = Counters::between(&begin, &end);
            let get =
                |counter| moved.get(counter).unwrap_or_else(|reason| panic!("{}: {reason}", counter.name()));
            assert_eq!(get(Counter::Commits) - own, 20 + 30 + 4 + 25, "{own} of the observer's own");
            assert_eq!(get(Counter::Rollbacks), 0);
            assert_eq!(get(Counter::RowsWritten), 250);
            // A scan passes the spacers too, and an update looks at the row behind its range; the rest is exact.
            let read = 200 + 30 + 4 * 80 + 250;
            let rows_read = get(Counter::RowsRead);
            // Rows that were read are booked late, so those of the work before may be among them.
            // So are the rows of the dictionary that the observer reads to see what hangs on the tables.
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
fn own_reads_are_none_and_snapshots_read_no_block() {
    on_each_with(&[("performance_schema", "ON")], |server| {
        let spec = spec(1, 300, 40);
        let target = loaded(server, &spec);
        let mut observer = target.observer(&spec).unwrap();
        // The first one reads the dictionary.
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
        // Threads of the server's own read now and then; a snapshot would read each time.
        assert!(moved.contains(&0), "{moved:?}");
        // Once somebody has changed a table, each snapshot reads the dictionary, and nobody knows how many blocks.
        server.sql("CREATE TABLE bench.other (n INT)");
        observer.snapshot().unwrap();
        assert!(observer.snapshot().unwrap().observer.is_empty());
    });
}

#[test]
fn every_counter_has_a_value_or_a_reason() {
    // Without performance_schema the bytes of a binlog, which MySQL has by default, are not known.
    on_each_with(&[("performance_schema", "OFF"), ("skip_log_bin", "1")], |server| {
        let spec = spec(1, 50, 0);
        let target = loaded(server, &spec);
        let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        for counter in Counter::ALL {
            if let Reading::Absent(reason) = &snapshot.portable[&counter] {
                assert!(!reason.is_empty());
                if counter == Counter::PhysicalReadTime {
                    assert!(reason.contains("performance_schema is off"), "{reason}");
                }
            }
        }
        for counter in [Counter::LogicalReads, Counter::Commits, Counter::RedoBytes, Counter::RowsWritten] {
            assert!(matches!(snapshot.portable[&counter], Reading::Value(_)), "{}", counter.name());
        }
    });
}

#[test]
fn a_restart_is_another_beginning_and_a_crash_is_told_from_it() {
    on_each(|server| {
        let spec = spec(1, 50, 0);
        let target = loaded(server, &spec);
        let start = |what: &str| {
            let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
            snapshot.epochs.get("server.start").cloned().unwrap_or_else(|| panic!("{what}: no start"))
        };
        let (first, life) = (start("first"), target.life().unwrap().unwrap());
        assert_eq!(first, start("again"));
        // Starts are told apart by the second, which may be over before the server is up again.
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
fn waits_are_sampled_of_dynos_sessions_only() {
    on_each(|server| {
        let spec = spec(1, 300, 40);
        let target = loaded(server, &spec);
        let mut sampler = target.sampler().unwrap();
        let mut samples = Vec::new();
        sampler.sample(&mut samples, &mut Vec::new()).unwrap();
        assert!(samples.is_empty(), "nobody is at work: {samples:?}");
        let mut session = opened(target.as_ref(), &spec, 0, Drive::Server, Redo::Lite);
        let ops: Vec<Op> = (0..2000).map(|i| Op::Select { first: 1 + i % 200 }).collect();
        let seen = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                for _ in 0..50 {
                    if !seen.load(Ordering::Relaxed) {
                        session.slice(&ops).unwrap();
                    }
                }
                session.close();
            });
            while samples.is_empty() && !worker.is_finished() {
                sampler.sample(&mut samples, &mut Vec::new()).unwrap();
            }
            seen.store(true, Ordering::Relaxed);
        });
        assert!(!samples.is_empty(), "a session at work was seen");
        assert!(samples.iter().all(|sample| !sample.class.is_empty() && !sample.event.is_empty()));
    });
}

/// A session that connects again in mid-run makes its settings and prepares before it works.
#[test]
fn a_session_that_connects_is_nobody_else() {
    on_each(|server| {
        let spec = spec(1, 300, 40);
        let target = loaded(server, &spec);
        let mut sampler = target.sampler().unwrap();
        let mut others = Vec::new();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                for number in 0..100 {
                    opened(target.as_ref(), &spec, number, Drive::Client, Redo::Lite).close();
                }
            });
            while !worker.is_finished() {
                sampler.sample(&mut Vec::new(), &mut others).unwrap();
            }
        });
        assert!(others.is_empty(), "{others:?}");
    });
}

/// What a custom workload uses is watched through views and procedures; what it does not use is not.
#[test]
fn objects_of_a_custom_workload_are_watched_for_changes() {
    on_each(|server| {
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

/// Every session sets variables of its own when it connects; that changes no other session.
#[test]
fn variables_that_another_session_sets_for_itself_are_no_change_of_settings() {
    on_each(|server| {
        let target = super::target_at(&server.url());
        let mut observer = target.observer(&spec(0, 0, 0)).unwrap();
        let begin = observer.snapshot().unwrap();
        server.sql(
            "SET SESSION sort_buffer_size = 300000; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        );
        let counters = Counters::between(&begin, &observer.snapshot().unwrap());
        let changes: Vec<_> = counters.changed(MarkKind::Setting).map(|change| &change.name).collect();
        assert!(changes.is_empty(), "{changes:?}");
        // What two observers see is the same, however long the server has been there.
        let marks = [begin, target.observer(&spec(0, 0, 0)).unwrap().snapshot().unwrap()];
        let [first, second] = marks.map(|snapshot| snapshot.settings.get(RELOADED).cloned());
        assert_eq!(first, second);
    });
}
