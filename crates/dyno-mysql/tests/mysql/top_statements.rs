//! Counts of statements: as many calls as were executed, by both protocols, or the reason.

use std::collections::HashMap;

use dyno_engine::statement_key::statement_key;
use dyno_engine::{BlockOp, Observer, StatementDescription, StatementSnapshot};
use dyno_plan::{DriveMode, Redo};
use dyno_record::StatementCounts;
use dyno_testbed::MySql;
use dyno_workload::blocks::Operated;

use super::{load_target, on_each_server_with, open_session, spec, target_at};

/// Runs 20 selects, 4 scans and 25 updates of ten rows each.
fn work(session: &mut Operated) {
    for i in 0..20 {
        session.execute(BlockOp::Select { first: 1 + i * 10 }).unwrap();
    }
    for _ in 0..4 {
        session.execute(BlockOp::Scan).unwrap();
    }
    for number in 0..25 {
        session.execute(BlockOp::Update { first: 1 + number * 10, number }).unwrap();
    }
}

/// The statements whose counts rose between two readings, with what is known about them.
fn moved(
    observer: &mut dyn Observer,
    begin: &StatementSnapshot,
    end: &StatementSnapshot,
) -> Vec<(StatementDescription, StatementCounts)> {
    let rise = |key: &String| {
        let (now, then) = (end.statements[key].counts, begin.statements.get(key).map(|one| one.counts));
        then.map_or(now, |then| now.since(then).unwrap())
    };
    let keys: Vec<&str> =
        end.statements.keys().filter(|key| rise(key).calls > 0).map(String::as_str).collect();
    let described = observer.describe_statements(&keys).unwrap();
    let by_key: HashMap<String, StatementDescription> =
        described.into_iter().map(|one| (one.key.clone(), one)).collect();
    let all = keys.iter().filter_map(|&key| Some((by_key.get(key)?.clone(), rise(&key.to_owned()))));
    all.collect()
}

/// Calls and rows of the only statement whose text begins with these words.
fn counted(moved: &[(StatementDescription, StatementCounts)], words: &str) -> (u64, Option<u64>) {
    let begins = |text: &str| statement_key(text).starts_with(&statement_key(words));
    let mut all = moved.iter().filter(|(one, _)| one.text.as_deref().is_some_and(begins));
    let (one, counts) = all.next().unwrap_or_else(|| panic!("{words}: {moved:#?}"));
    assert!(all.next().is_none(), "{words}: {moved:#?}");
    assert!(!one.is_monitoring, "{one:?}");
    assert!(counts.time_s > 0.0, "{words}: {counts:?}");
    assert!(counts.time_s < 60.0, "{words}: {counts:?}");
    (counts.calls, counts.rows)
}

#[test]
fn statement_calls_equal_executions_of_both_protocols() {
    let settings = [
        ("performance_schema", "ON"),
        ("performance_schema_consumer_events_statements_current", "ON"),
        ("performance_schema_digests_size", "200"),
    ];
    on_each_server_with(&settings, |server| {
        let spec = spec(1, 300, 40);
        let target = load_target(server, &spec);
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
        work(&mut session);
        let mut observer = target.observer(&spec).unwrap();
        let begin = observer.statements().unwrap();
        work(&mut session);
        observer.snapshot().unwrap();
        server.sql("SELECT 'secret' AS word, 5; SELECT 'other' AS word, 7");
        server.try_sql("dyno", "SELECT word FROM missing_table").unwrap_err();
        let end = observer.statements().unwrap();
        assert_eq!((&begin.epoch, &end.notes), (&end.epoch, &Vec::new()));
        let moved = moved(observer.as_mut(), &begin, &end);
        assert_eq!(counted(&moved, "SELECT COUNT(c2) FROM dyno_rows_1"), (20, Some(20)));
        assert_eq!(counted(&moved, "SELECT COUNT(c2) FROM dyno_scan_1"), (4, Some(4)));
        assert_eq!(counted(&moved, "UPDATE dyno_rows_1"), (25, Some(250)));
        assert_eq!(counted(&moved, "SELECT ? AS word"), (2, Some(2)));
        let (_, failed) =
            moved.iter().find(|(one, _)| one.text.iter().any(|text| text.contains("missing"))).unwrap();
        assert_eq!((failed.calls, failed.errors), (1, Some(1)));
        assert!(!format!("{moved:?}").contains("secret"), "{moved:#?}");
        let monitoring = |words: &str| {
            let text = |one: &StatementDescription| one.text.clone().unwrap_or_default();
            let marked = moved.iter().find(|(one, _)| text(one).starts_with(words));
            marked.unwrap_or_else(|| panic!("{words}: {moved:#?}")).0.is_monitoring
        };
        for words in ["SHOW GLOBAL STATUS", "SHOW GLOBAL VARIABLES", "SHOW SESSION STATUS", "SELECT `DIGEST`"]
        {
            assert!(monitoring(words), "{words}");
        }
        if server.is_mariadb() {
            server.sql(
                "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_statements_current'",
            );
            assert_group_of_prepared(&mut session, target.observer(&spec).unwrap().as_mut());
        }
        session.close();
        assert_overflow_and_truncation(server, observer.as_mut());
        assert_needs_privilege(server, &spec);
    });
}

/// Without that consumer MariaDB counts all executions together.
fn assert_group_of_prepared(session: &mut Operated, observer: &mut dyn Observer) {
    let begin = observer.statements().unwrap();
    work(session);
    // The server counts a statement after it has sent the answer.
    observer.snapshot().unwrap();
    let end = observer.statements().unwrap();
    let moved = moved(observer, &begin, &end);
    let group = moved.iter().find(|(one, _)| one.id == "statement/com/Execute").unwrap();
    assert_eq!((group.1.calls, group.1.rows), (49, Some(20 + 4 + 250)));
    assert!(end.notes[0].contains("49 executions of prepared statements"), "{:?}", end.notes);
    assert!(end.notes[0].contains("events_statements_current"), "{:?}", end.notes);
}

fn assert_overflow_and_truncation(server: &MySql, observer: &mut dyn Observer) {
    let begin = observer.statements().unwrap();
    let distinct: String = (0..300).map(|number| format!("SELECT 1 AS column_{number};")).collect();
    server.sql(&distinct);
    let full = observer.statements().unwrap();
    let overflow = full.overflow.as_ref().unwrap();
    let calls = |snapshot: &StatementSnapshot| {
        snapshot.statements.get(&overflow.key).map_or(0, |one| one.counts.calls)
    };
    assert!(calls(&full) > calls(&begin) + 100, "{}", calls(&full));
    assert!(overflow.hint.contains("performance_schema_digests_size"), "{overflow:?}");
    assert_eq!(full.epoch, begin.epoch);
    server.sql("TRUNCATE performance_schema.events_statements_summary_by_digest");
    assert_ne!(observer.statements().unwrap().epoch, full.epoch);
}

fn assert_needs_privilege(server: &MySql, spec: &dyno_plan::DataSpec) {
    server.sql("CREATE USER plain@'127.0.0.1'; GRANT SELECT ON bench.* TO plain@'127.0.0.1'");
    let target = target_at(&server.url_of("plain", "bench"));
    let error = target.observer(spec).unwrap().statements().unwrap_err();
    assert!(error.hint.contains("GRANT SELECT ON performance_schema.*"), "{error} {}", error.hint);
}
