//! Tests loading into real servers: complete loads, recognition, resuming after stops and crashes, and
//! complete drops.

use crate::server::{on_each_version, options, spec, target};
use dyno_engine::{Cancel, DataState, LoadOptions, LoadProgressSink, Silent, TargetErrorKind};
use dyno_testbed::Postgres;

/// Calls a function once, after the first chunk of rows is written.
struct AfterFirstCopy<F: Fn() + Sync>(std::sync::atomic::AtomicBool, F);

impl<F: Fn() + Sync> AfterFirstCopy<F> {
    fn first_chunk(action: F) -> Self {
        Self(std::sync::atomic::AtomicBool::new(false), action)
    }
}

impl<F: Fn() + Sync> LoadProgressSink for AfterFirstCopy<F> {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, bytes: u64) {
        if bytes > 0 && !self.0.swap(true, std::sync::atomic::Ordering::Relaxed) {
            (self.1)();
        }
    }
}

fn count(server: &Postgres, table: &str) -> u64 {
    server.psql(&format!("SELECT count(*) FROM {table}")).parse().unwrap()
}

#[test]
fn complete_load_is_recognized_and_other_spec_refused_or_replaced() {
    on_each_version(|server| {
        let target = target(server);
        assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
        let spec_a = spec(2, 2000, 300);
        let report =
            target.block_data().unwrap().load(&spec_a, &options(2), &Silent, &Cancel::default()).unwrap();
        assert!(!report.already);
        assert_eq!(report.rows_written, 2 * 2300);
        assert_eq!(report.bytes_written, 2 * 2300 * (16 + 19 * 128));
        let tables: Vec<_> = report.tables.iter().map(|facts| (facts.table.as_str(), facts.rows)).collect();
        let expected =
            [("dyno.rows_1", 2000), ("dyno.rows_2", 2000), ("dyno.scan_1", 300), ("dyno.scan_2", 300)];
        assert_eq!(tables, expected);
        assert!(report.tables.iter().all(|facts| facts.rows_per_block() == 1.0));
        // The table has exactly as many blocks as rows; otherwise scans would read empty blocks.
        let blocks = "SELECT pg_relation_size('dyno.rows_1') / 8192, pg_relation_size('dyno.scan_2') / 8192";
        assert_eq!(server.psql(blocks), "2000|300");
        // The server's own figures: blocks with rows, row width, index, storage.
        let distinct = "SELECT count(DISTINCT (ctid::text::point)[0]) FROM dyno.rows_2";
        assert_eq!(server.psql(distinct), "2000");
        let widths = "SELECT DISTINCT octet_length(c2), octet_length(c20), ver FROM dyno.rows_1";
        assert_eq!(server.psql(widths), "128|128|0");
        assert_eq!(server.psql("SELECT count(DISTINCT c2) FROM dyno.scan_1"), "300");
        let index = "SELECT indisunique FROM pg_index WHERE indexrelid = 'dyno.rows_1_custid'::regclass";
        assert_eq!(server.psql(index), "f");
        // Keys are in random order: neighbors by key are far apart.
        let near = "SELECT count(*) FROM (SELECT (ctid::text::point)[0] - lag((ctid::text::point)[0]) \
                    OVER (ORDER BY custid) AS step FROM dyno.rows_1) s WHERE abs(step) <= 10";
        assert!(server.psql(near).parse::<u64>().unwrap() < 60);

        let again =
            target.block_data().unwrap().load(&spec_a, &options(2), &Silent, &Cancel::default()).unwrap();
        assert!(again.already);
        assert!(again.rows_written == 0);
        assert_eq!(again.tables, report.tables);

        let spec_b = spec(1, 700, 0);
        let refused =
            target.block_data().unwrap().load(&spec_b, &options(2), &Silent, &Cancel::default()).unwrap_err();
        assert_eq!(refused.kind, TargetErrorKind::Data);
        assert!(refused.hint.contains("--replace"), "{}", refused.hint);
        assert_eq!(count(server, "dyno.rows_2"), 2000);
        let replace = LoadOptions { replace: true, ..options(2) };
        target.block_data().unwrap().load(&spec_b, &replace, &Silent, &Cancel::default()).unwrap();
        assert_eq!(count(server, "dyno.rows_1"), 700);
        assert_eq!(server.psql("SELECT to_regclass('dyno.rows_2')"), "");
        match target.block_data().unwrap().survey().unwrap() {
            DataState::Loaded { spec, tables, .. } => assert!(spec == spec_b && tables.len() == 1),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn stopped_load_resumes_where_it_stopped() {
    on_each_version(|server| {
        let target = target(server);
        let spec = spec(1, 40_000, 0);
        let cancel = Cancel::default();
        let stop = AfterFirstCopy::first_chunk(|| cancel.cancel());
        let error = target.block_data().unwrap().load(&spec, &options(2), &stop, &cancel).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Cancelled, "{error}");
        let loaded_rows = count(server, "dyno.rows_1");
        let DataState::Partial { spec: begun, rows, .. } = target.block_data().unwrap().survey().unwrap()
        else {
            panic!()
        };
        assert_eq!((begun, rows), (spec.clone(), loaded_rows));
        assert!((1..40_000).contains(&loaded_rows), "{loaded_rows}");
        let report =
            target.block_data().unwrap().load(&spec, &options(2), &Silent, &Cancel::default()).unwrap();
        assert_eq!(report.rows_written, 40_000 - loaded_rows);
        assert_eq!(report.tables[0].rows_per_block(), 1.0);
    });
}

#[test]
fn load_resumes_exactly_after_server_kill() {
    for version in Postgres::available() {
        let server = std::sync::Mutex::new(Postgres::start(&version, &[]));
        let target = target(&server.lock().unwrap());
        let spec = spec(2, 18_000, 1000);
        let kill = AfterFirstCopy::first_chunk(|| server.lock().unwrap().kill9());
        let error =
            target.block_data().unwrap().load(&spec, &options(2), &kill, &Cancel::default()).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error}");
        assert_eq!(target.block_data().unwrap().survey().unwrap_err().kind, TargetErrorKind::Unreachable);
        server.lock().unwrap().restart();
        // The last chunks may be lost because commits do not wait for the WAL. Recorded chunks exist, and
        // nothing else.
        let noted = match target.block_data().unwrap().survey().unwrap() {
            DataState::Partial { rows, .. } => rows,
            DataState::Empty => 0,
            DataState::Loaded { .. } => panic!("the server was killed before the end"),
        };
        let report =
            target.block_data().unwrap().load(&spec, &options(2), &Silent, &Cancel::default()).unwrap();
        assert_eq!(report.rows_written, spec.total_rows() - noted);
        assert!(report.tables.iter().all(|facts| facts.rows_per_block() == 1.0));
        assert_eq!(report.tables.len(), 4);
    }
}

#[test]
fn second_concurrent_load_is_refused() {
    on_each_version(|server| {
        let target = target(server);
        let spec = spec(1, 17_000, 0);
        let second_load = std::sync::Mutex::new(None);
        let meanwhile = AfterFirstCopy::first_chunk(|| {
            let error = target
                .block_data()
                .unwrap()
                .load(&spec, &options(1), &Silent, &Cancel::default())
                .unwrap_err();
            *second_load.lock().unwrap() = Some((error.kind, error.message));
        });
        target.block_data().unwrap().load(&spec, &options(1), &meanwhile, &Cancel::default()).unwrap();
        let (kind, message) = second_load.into_inner().unwrap().unwrap();
        assert_eq!(kind, TargetErrorKind::Data);
        assert!(message.contains("another load"), "{message}");
    });
}

#[test]
fn drop_removes_only_recorded_objects() {
    on_each_version(|server| {
        let target = target(server);
        target
            .block_data()
            .unwrap()
            .load(&spec(1, 500, 50), &options(1), &Silent, &Cancel::default())
            .unwrap();
        let listed = target.block_data().unwrap().inventory().unwrap();
        assert!(listed.iter().any(|item| item.kind == "schema" && item.name == "dyno"));
        assert!(listed.iter().any(|item| item.name == "dyno.rows_1" && item.bytes == Some(500 * 8192)));
        // Foreign objects: a table, a view, and a table that took the name of one of Dyno's.
        server.psql("CREATE TABLE dyno.mine (n int); INSERT INTO dyno.mine VALUES (7)");
        server.psql("CREATE VIEW dyno.my_view AS SELECT 1 AS one");
        server.psql("DROP TABLE dyno.scan_1; CREATE TABLE dyno.scan_1 (precious text)");
        let foreign: Vec<String> =
            target.block_data().unwrap().foreign().unwrap().into_iter().map(|item| item.name).collect();
        assert_eq!(foreign, ["dyno.mine", "dyno.scan_1", "dyno.my_view", "dyno"]);
        let survey = target.block_data().unwrap().survey().unwrap_err();
        assert!(survey.message.contains("dyno.scan_1"), "{survey}");

        let listed = target.block_data().unwrap().inventory().unwrap();
        assert!(listed.iter().all(|item| item.kind != "schema" && item.name != "dyno.scan_1"), "{listed:?}");
        assert_eq!(target.block_data().unwrap().drop_all().unwrap(), listed);
        let left = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class \
                    WHERE relnamespace = 'dyno'::regnamespace AND relkind IN ('r', 'v')";
        assert_eq!(server.psql(left), "mine my_view scan_1");
        assert_eq!(server.psql("SELECT n FROM dyno.mine"), "7");
        assert_eq!(
            server.psql("SELECT count(*) FROM pg_proc WHERE pronamespace = 'dyno'::regnamespace"),
            "0"
        );
        assert!(target.block_data().unwrap().drop_all().unwrap().is_empty());
        assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
        server.psql("DROP VIEW dyno.my_view; DROP TABLE dyno.mine, dyno.scan_1");

        // The schema existed before this load and belongs to another user, so it remains.
        target
            .block_data()
            .unwrap()
            .load(&spec(1, 500, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        target.block_data().unwrap().drop_all().unwrap();
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "1");
        server.psql("DROP SCHEMA dyno");
        target
            .block_data()
            .unwrap()
            .load(&spec(1, 500, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        target.block_data().unwrap().drop_all().unwrap();
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "0");
    });
}

#[test]
fn load_obstacles_are_reported_with_a_hint() {
    on_each_version(|server| {
        server.psql("CREATE ROLE plain LOGIN");
        let plain = crate::server::target_at(&server.url_of("plain", "postgres"));
        let error = plain
            .block_data()
            .unwrap()
            .load(&spec(1, 100, 0), &options(1), &Silent, &Cancel::default())
            .unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Privilege);
        assert!(
            error.hint.contains("GRANT CONNECT, CREATE ON DATABASE postgres TO plain;"),
            "{}",
            error.hint
        );

        let target = target(server);
        let other_blocks = dyno_plan::DataSpec { block_size: 16_384, ..spec(1, 100, 0) };
        let error = target
            .block_data()
            .unwrap()
            .load(&other_blocks, &options(1), &Silent, &Cancel::default())
            .unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Unsupported);
        assert!(error.message.contains("16K"), "{error}");
        assert!(error.message.contains("8K"), "{error}");

        server.psql("CREATE SCHEMA dyno CREATE TABLE rows_1 (precious text)");
        let error = target
            .block_data()
            .unwrap()
            .load(&spec(1, 100, 0), &options(1), &Silent, &Cancel::default())
            .unwrap_err();
        assert!(error.message.contains("rows_1"), "{error} {}", error.hint);
        assert!(error.hint.contains("rename"), "{error} {}", error.hint);
        // The failed creation was rolled back completely.
        assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
        assert_eq!(server.psql("SELECT to_regclass('dyno.meta')"), "");
        // The user's objects remain, whatever was tried.
        assert!(target.block_data().unwrap().drop_all().unwrap().is_empty());
        assert_eq!(server.psql("SELECT count(*) FROM dyno.rows_1"), "0");
    });
}

#[test]
fn missing_data_privileges_are_named_and_suffice_once_granted() {
    on_each_version(|server| {
        server.psql("CREATE ROLE reader LOGIN");
        target(server)
            .block_data()
            .unwrap()
            .load(&spec(1, 500, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        let reader = crate::server::target_at(&server.url_of("reader", "postgres"));
        let error = reader.block_data().unwrap().survey().unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Privilege);
        assert!(error.hint.contains("GRANT USAGE ON SCHEMA dyno TO reader;"), "{}", error.hint);
        server.psql(
            "GRANT USAGE ON SCHEMA dyno TO reader; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA dyno TO reader",
        );
        assert!(matches!(reader.block_data().unwrap().survey().unwrap(), DataState::Loaded { .. }));
    });
}

#[test]
fn load_verification_finds_rows_changed_by_others() {
    on_each_version(|server| {
        let target = target(server);
        // The load is stopped after its first chunk, and another user inserts a row before it is resumed.
        let spec = spec(1, 17_000, 0);
        let cancel = Cancel::default();
        let stop = AfterFirstCopy::first_chunk(|| cancel.cancel());
        target.block_data().unwrap().load(&spec, &options(1), &stop, &cancel).unwrap_err();
        server.psql("INSERT INTO dyno.rows_1 SELECT * FROM dyno.rows_1 LIMIT 1");
        let error =
            target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Data);
        assert!(error.message.contains("17001 rows"), "{error}");
        assert!(matches!(target.block_data().unwrap().survey().unwrap(), DataState::Partial { .. }));
    });
}

#[test]
fn own_statements_are_never_jit_compiled() {
    // A server that considers JIT compilation searches for the compiler, even if it is not installed, and
    // writes that to its log.
    let version = &Postgres::available()[0];
    let server = Postgres::start(version, &[("jit", "on"), ("log_min_messages", "debug1")]);
    let target = target(&server);
    let spec = dyno_plan::DataSpec { secondary: true, ..spec(1, 2000, 300) };
    target.block_data().unwrap().load(&spec, &options(2), &Silent, &Cancel::default()).unwrap();
    for seed in 0..3 {
        target.block_data().unwrap().spot_check(&spec, seed).unwrap();
    }
    assert_eq!(target.block_data().unwrap().leftover_rows(&spec).unwrap(), 0);
    assert!(!server.log().contains("JIT provider"), "{}", server.log());
    server.psql("SET jit_above_cost = 0; SELECT count(*) FROM pg_class");
    assert!(server.log().contains("JIT provider"), "this server says when it compiles");
}
