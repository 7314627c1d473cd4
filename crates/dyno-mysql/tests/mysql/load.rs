//! Tests loading into real servers: one row per page, recognition, resuming after stops and crashes, and
//! complete drops.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_engine::{Cancel, DataState, LoadOptions, LoadProgressSink, Silent, TargetErrorKind};
use dyno_plan::DataSpec;
use dyno_testbed::{MySql, test_all_versions};

use super::{on_each_server, on_each_server_with, options, spec, target_at};

/// Calls a function once, after the first chunk of rows is written.
struct AfterFirstChunk<F: Fn() + Sync>(AtomicBool, F);

impl<F: Fn() + Sync> AfterFirstChunk<F> {
    fn first_chunk(action: F) -> Self {
        Self(AtomicBool::new(false), action)
    }
}

impl<F: Fn() + Sync> LoadProgressSink for AfterFirstChunk<F> {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, bytes: u64) {
        if bytes > 0 && !self.0.swap(true, Ordering::Relaxed) {
            (self.1)();
        }
    }
}

fn query_number(server: &MySql, sql: &str) -> u64 {
    server.sql(sql).parse().unwrap_or_else(|_| panic!("no number: {sql}"))
}

fn leaf_pages(server: &MySql, table: &str) -> u64 {
    query_number(
        server,
        &format!(
            "SELECT stat_value FROM mysql.innodb_index_stats WHERE database_name = 'bench' AND table_name = '{table}' \
             AND index_name = 'PRIMARY' AND stat_name = 'n_leaf_pages'"
        ),
    )
}

#[test]
fn complete_load_is_recognized_and_other_spec_refused_or_replaced() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
        let spec_a = spec(2, 2000, 300);
        let report =
            target.block_data().unwrap().load(&spec_a, &options(2), &Silent, &Cancel::default()).unwrap();
        assert!(!report.already);
        assert_eq!(report.rows_written, 2 * 2300);
        let tables: Vec<_> = report.tables.iter().map(|facts| (facts.table.as_str(), facts.rows)).collect();
        let expected =
            [("dyno_rows_1", 2000), ("dyno_rows_2", 2000), ("dyno_scan_1", 300), ("dyno_scan_2", 300)];
        assert_eq!(tables, expected);
        for facts in &report.tables {
            // Two concurrent connections may split a page or two more than one connection.
            assert!(facts.blocks >= facts.rows, "{facts:?}");
            assert!(facts.blocks <= facts.rows + 4, "{facts:?}");
            assert_eq!(leaf_pages(server, &facts.table), facts.blocks);
        }
        assert_eq!(query_number(server, "SELECT COUNT(*) FROM dyno_rows_1 WHERE custid IS NULL"), 2000);
        let widths = "SELECT DISTINCT CONCAT_WS(' ', LENGTH(c2), LENGTH(c20), LENGTH(pad), ver) FROM dyno_rows_1 \
                      WHERE custid > 0";
        assert_eq!(server.sql(widths), "128 128 5627 0");
        assert_eq!(query_number(server, "SELECT COUNT(DISTINCT c2) FROM dyno_scan_1"), 300);
        // Keys are in random order: neighbors by key are far apart.
        let near = "SELECT COUNT(*) FROM dyno_rows_1 a JOIN dyno_rows_1 b ON b.custid = a.custid + 1 \
                    WHERE ABS(CAST(a.id AS SIGNED) - CAST(b.id AS SIGNED)) <= 20";
        assert!(query_number(server, near) < 60);
        target.block_data().unwrap().spot_check(&spec_a, 1).unwrap();

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
        let replace = LoadOptions { replace: true, ..options(2) };
        target.block_data().unwrap().load(&spec_b, &replace, &Silent, &Cancel::default()).unwrap();
        assert_eq!(query_number(server, "SELECT COUNT(custid) FROM dyno_rows_1"), 700);
        match target.block_data().unwrap().survey().unwrap() {
            DataState::Loaded { spec, tables, .. } => assert!(spec == spec_b && tables.len() == 1),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn insert_load_places_one_row_per_page() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[("local_infile", "0")]);
        assert_one_row_per_page(&server, &spec(1, 1500, 100));
    }
}

/// Each product has each size, and each size is loaded by file and by statements.
#[test]
fn load_places_one_row_per_page_of_any_size() {
    for (version, [small, large]) in MySql::available().into_iter().zip([["1", "0"], ["0", "1"]]) {
        // All other tests use pages of 16 KiB.
        let mut sizes = vec![("4k", 4096, small), ("64k", 65_536, large)];
        if test_all_versions() {
            sizes.extend([("8k", 8192, "1"), ("32k", 32_768, "1")]);
        }
        for (name, bytes, local_infile) in sizes {
            let settings = [("innodb_page_size", name), ("local_infile", local_infile)];
            let server = MySql::start(&version, &settings);
            assert_one_row_per_page(&server, &DataSpec { block_size: bytes, ..spec(1, 1500, 150) });
        }
    }
}

/// Chunks of one table that connections load concurrently meet in the middle of the tree. Whichever begins
/// first, every row must have a page, and no spacer a page of its own.
#[test]
fn parallel_load_of_one_table_adds_no_extra_pages() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        let replace = LoadOptions { replace: true, ..options(4) };
        // One row more or less on one product each.
        for rows in [10_000, if server.is_mariadb() { 10_001 } else { 9_999 }] {
            let report = target
                .block_data()
                .unwrap()
                .load(&spec(1, rows, 0), &replace, &Silent, &Cancel::default())
                .unwrap();
            let facts = &report.tables[0];
            assert!(facts.blocks <= rows + 8, "{facts:?}");
        }
    });
}

/// Loads with two connections and checks the pages: no two rows share one, and there are hardly more pages
/// than rows.
fn assert_one_row_per_page(server: &MySql, spec: &DataSpec) {
    let target = target_at(&server.url());
    let report = target.block_data().unwrap().load(spec, &options(2), &Silent, &Cancel::default()).unwrap();
    for facts in &report.tables {
        assert!(facts.blocks >= facts.rows, "{facts:?}");
        assert!(facts.blocks <= facts.rows + 4, "{facts:?}");
    }
    target.block_data().unwrap().spot_check(spec, 7).unwrap();
    // The row's own columns are in its page: nothing is stored off-page.
    let size = "SELECT stat_value FROM mysql.innodb_index_stats WHERE table_name = 'dyno_rows_1' \
                AND index_name = 'PRIMARY' AND stat_name = 'size'";
    let pages = query_number(server, size);
    assert!(pages < spec.rows + spec.rows / 5 + 130, "{pages} pages of {} rows", spec.rows);
}

#[test]
fn stopped_load_resumes_where_it_stopped() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        let spec = spec(1, 9_000, 0);
        let cancel = Cancel::default();
        let stop = AfterFirstChunk::first_chunk(|| cancel.cancel());
        let error = target.block_data().unwrap().load(&spec, &options(1), &stop, &cancel).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Cancelled, "{error}");
        let DataState::Partial { spec: begun, rows, .. } = target.block_data().unwrap().survey().unwrap()
        else {
            panic!()
        };
        assert_eq!(begun, spec);
        assert!((1..9_000).contains(&rows), "{rows}");
        let report =
            target.block_data().unwrap().load(&spec, &options(2), &Silent, &Cancel::default()).unwrap();
        assert_eq!(report.rows_written, 9_000 - rows);
        assert!(report.tables[0].blocks <= 9_000 + 4, "{:?}", report.tables);
    });
}

#[test]
fn load_resumes_exactly_after_server_kill() {
    for version in MySql::available() {
        let server = Mutex::new(MySql::start(&version, &[]));
        let target = target_at(&server.lock().unwrap().url());
        let spec = spec(1, 10_000, 500);
        let kill = AfterFirstChunk::first_chunk(|| server.lock().unwrap().kill9());
        let error =
            target.block_data().unwrap().load(&spec, &options(2), &kill, &Cancel::default()).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error}");
        assert_eq!(target.block_data().unwrap().survey().unwrap_err().kind, TargetErrorKind::Unreachable);
        server.lock().unwrap().restart();
        let DataState::Partial { rows: noted, .. } = target.block_data().unwrap().survey().unwrap() else {
            panic!("its commits are durable")
        };
        assert!(noted > 0);
        let report =
            target.block_data().unwrap().load(&spec, &options(2), &Silent, &Cancel::default()).unwrap();
        assert_eq!(report.rows_written, spec.total_rows() - noted);
        assert_eq!(report.tables.iter().map(|facts| facts.rows).sum::<u64>(), spec.total_rows());
    }
}

#[test]
fn drop_removes_only_objects_dyno_created() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        target
            .block_data()
            .unwrap()
            .load(&spec(1, 300, 20), &options(1), &Silent, &Cancel::default())
            .unwrap();
        server.sql(
            "CREATE TABLE dyno_mine (a int); CREATE TABLE mine LIKE dyno_rows_1; DROP TABLE dyno_scan_1; \
                    CREATE TABLE dyno_scan_1 (a int)",
        );
        let foreign: Vec<String> =
            target.block_data().unwrap().foreign().unwrap().into_iter().map(|item| item.name).collect();
        assert_eq!(foreign, ["bench.dyno_mine", "bench.dyno_scan_1"]);
        let listed = target.block_data().unwrap().inventory().unwrap();
        let removed = target.block_data().unwrap().drop_all().unwrap();
        assert_eq!(listed, removed);
        // Four metadata tables, one table of rows, ten procedures.
        assert_eq!(removed.len(), 15, "{removed:?}");
        assert_eq!(server.sql("SHOW TABLES"), "dyno_mine\ndyno_scan_1\nmine");
        assert_eq!(
            server.sql("SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'bench'"),
            "0"
        );
        assert_eq!(target.block_data().unwrap().survey().unwrap(), DataState::Empty);
    });
}

#[test]
fn changed_data_is_found_before_a_run() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        let spec = spec(1, 60, 60);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let spoiled = |sql: &str, undo: &str, says: &str| {
            server.sql(sql);
            let error = target.block_data().unwrap().spot_check(&spec, 3).expect_err(sql);
            assert_eq!(error.kind, TargetErrorKind::Data);
            assert!(error.message.contains(says), "{sql}: {error}");
            server.sql(undo);
        };
        spoiled(
            "CREATE INDEX more ON dyno_rows_1 (ver)",
            "DROP INDEX more ON dyno_rows_1",
            "further index more",
        );
        spoiled(
            "CREATE TRIGGER t BEFORE UPDATE ON dyno_rows_1 FOR EACH ROW SET NEW.ver = NEW.ver",
            "DROP TRIGGER t",
            "trigger t",
        );
        spoiled(
            "UPDATE dyno_scan_1 SET c7 = CONCAT('?', SUBSTR(c7, 2)) WHERE custid = 30",
            "SELECT 1",
            "key 30 that has other text",
        );
        spoiled("DELETE FROM dyno_rows_1 WHERE custid = 60", "SELECT 1", "custid from 1 to 59");
    });
}

#[test]
fn load_error_names_missing_user_privileges() {
    on_each_server_with(&[], |server| {
        server.sql("CREATE USER little@'127.0.0.1'; GRANT SELECT ON bench.* TO little@'127.0.0.1'");
        let little = target_at(&server.url_of("little", "bench"));
        let error = little
            .block_data()
            .unwrap()
            .load(&spec(1, 100, 0), &options(1), &Silent, &Cancel::default())
            .unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Privilege, "{error}");
        assert!(error.hint.contains("CREATE ROUTINE"), "{}", error.hint);
        assert!(error.hint.contains("'little'"), "{}", error.hint);
        // Enough for everything, without PROCESS and without the statistics tables.
        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE, \
                     EXECUTE ON bench.* TO little@'127.0.0.1'";
        server.sql(grant);
        let report = little
            .block_data()
            .unwrap()
            .load(&spec(1, 2000, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        assert!(report.tables[0].blocks >= 2000, "{:?}", report.tables);
        assert!(report.tables[0].blocks < 2400, "{:?}", report.tables);
        assert_eq!(little.block_data().unwrap().drop_all().unwrap().len(), 15);
    });
}
