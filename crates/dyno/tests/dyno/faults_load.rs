//! Dyno is killed while a load vacuums or builds an index: what the server still does for it, and how the
//! next command handles that.

use crate::common::{Running, TestEnv, low_load_args, wait_until};
use dyno_testbed::{MySql, Postgres};

const DATA: [&str; 4] = ["--set", "data.scale=40M", "--set", "data.scan_scale=10 blocks"];

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

/// Repeats a query until it returns true.
fn wait_until_true(server: &Postgres, sql: &str) {
    wait_until(sql, || server.psql(sql) == "t");
}

/// Kills a load, and checks that no run starts on its data.
fn kill(desk: &TestEnv, load: Running, url: &str) {
    load.signal("KILL");
    load.wait();
    let run = desk.dyno(&args(&low_load_args(&["run"]), url));
    assert!(run.code == 3, "{run:#?}");
    assert!(run.err.contains("`dyno load` resumes it"), "{run:#?}");
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "the repository opens, and no run was begun");
}

/// A load that finds a previous load's statement still running reports it, waits for it, and completes.
fn load_that_waits(desk: &TestEnv, url: &str, doing: &str, end_it: &dyn Fn()) {
    let mut load = desk.start(&args(&["load"], url));
    load.wait_for_line("waiting for server processes of a killed load (process ");
    assert!(load.stderr_text.contains(doing), "{}", load.stderr_text);
    end_it();
    let output = load.wait();
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.out.contains("1.000"), "{}", output.out);
    let run = desk.dyno(&args(&low_load_args(&["run"]), url));
    assert_eq!(run.code, 0, "{run:#?}");
}

#[test]
fn load_waits_for_and_uses_index_build_of_killed_load() {
    for version in Postgres::available() {
        let (server, desk) = (Postgres::start(&version, &[("fsync", "off")]), TestEnv::new());
        let url = server.url();
        // The index is built, and its transaction stays open until `hold` is empty.
        server.psql("CREATE TABLE public.hold AS SELECT 1");
        server.psql(
            "CREATE FUNCTION public.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
               WHILE EXISTS (SELECT FROM public.hold) LOOP PERFORM pg_sleep(0.01); END LOOP;
             END $$",
        );
        server.psql(
            "CREATE EVENT TRIGGER wait ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
             EXECUTE FUNCTION public.wait()",
        );
        let load = desk.start(&args(&["load"], &url));
        wait_until_true(
            &server,
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'CREATE INDEX%'",
        );
        kill(&desk, load, &url);
        load_that_waits(&desk, &url, "CREATE INDEX", &|| {
            server.psql("DELETE FROM public.hold");
        });
    }
}

#[test]
fn load_waits_for_vacuum_of_killed_load_and_resumes() {
    for version in Postgres::available() {
        // A vacuum that takes ten minutes for 40 MB.
        let slow = [("fsync", "off"), ("vacuum_cost_delay", "100ms"), ("vacuum_cost_limit", "1")];
        let (server, desk) = (Postgres::start(&version, &slow), TestEnv::new());
        let url = server.url();
        let load = desk.start(&args(&["load"], &url));
        wait_until_true(
            &server,
            "SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE heap_blks_scanned > 0",
        );
        kill(&desk, load, &url);
        server.psql("ALTER SYSTEM RESET vacuum_cost_delay");
        server.psql("SELECT pg_reload_conf()");
        load_that_waits(&desk, &url, "VACUUM", &|| {
            server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_vacuum");
        });
    }
}

#[test]
fn waiting_load_can_be_stopped_and_its_data_dropped() {
    let Some(version) = Postgres::available().pop() else { return };
    let slow = [("fsync", "off"), ("vacuum_cost_delay", "100ms"), ("vacuum_cost_limit", "1")];
    let (server, desk) = (Postgres::start(&version, &slow), TestEnv::new());
    let url = server.url();
    let load = desk.start(&args(&["load"], &url));
    wait_until_true(&server, "SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE heap_blks_scanned > 0");
    kill(&desk, load, &url);
    let mut again = desk.start(&args(&["load"], &url));
    again.wait_for_line("waiting for server processes of a killed load");
    again.signal("INT");
    assert_eq!(again.wait().code, 130);
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_vacuum");
    let drop = desk.dyno(&args(&["drop", "--yes"], &url));
    assert_eq!(drop.code, 0, "{drop:#?}");
    assert_eq!(server.psql("SELECT to_regnamespace('dyno') IS NULL"), "t", "nothing of Dyno's is left");
}

/// SQLite builds inside the process, so no work continues, and the next connection rolls back the unfinished
/// build.
#[test]
fn load_rebuilds_index_after_kill_on_sqlite() {
    let desk = TestEnv::new();
    let file = desk.file("a.db");
    let url = format!("sqlite:{}", file.display());
    let load_args = ["load", "--target", &url, "--set", "data.scale=300M"];
    let has_index = || {
        let conn = rusqlite::Connection::open(&file).unwrap();
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'dyno_rows_1_custid'";
        conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0
    };
    loop {
        let mut load = desk.start(&load_args);
        load.wait_for_line("index …");
        load.signal("KILL");
        load.wait();
        if !has_index() {
            break;
        }
        // The load was faster than the signal.
        assert_eq!(desk.dyno(&["drop", "--yes", "--target", &url]).code, 0);
    }
    let run = desk.dyno(&["run", "--target", &url, "--set", "data.scale=300M"]);
    assert!(run.code == 3, "{run:#?}");
    assert!(run.err.contains("`dyno load` resumes it"), "{run:#?}");
    let again = desk.dyno(&load_args);
    assert!(again.code == 0, "{again:#?}");
    assert!(again.out.contains("1.000"), "{again:#?}");
    assert!(again.err.contains("loaded 0 rows"), "the rows were there already: {again:#?}");
    assert!(has_index());
}

/// Tables of MySQL and MariaDB are created without a transaction. A load killed before it has described
/// itself leaves tables without a description, and so does a drop just before its end: the next load starts
/// over.
#[test]
fn mysql_load_killed_at_start_is_restarted() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let (desk, url) = (TestEnv::new(), server.url());
        let args =
            ["load", "--target", &url, "--set", "data.scale=100 blocks", "--set", "data.scan_scale=0 blocks"];
        assert_eq!(desk.dyno(&args).code, 0);
        // The last statement of a drop and the first of a load: in between nothing is described.
        let emptied = "DELETE FROM dyno_meta; DELETE FROM dyno_chunks; DELETE FROM dyno_tables";
        for left in [emptied, "DROP TABLE dyno_meta", "DROP TABLE dyno_meta, dyno_chunks, dyno_tables"] {
            let tables = "SELECT CONCAT('DROP TABLE ', table_name, ';') FROM information_schema.tables \
                          WHERE table_schema = 'bench' AND table_name REGEXP '^dyno_.*_[0-9]+$'";
            let procedures = "SELECT CONCAT('DROP PROCEDURE ', routine_name, ';') \
                              FROM information_schema.routines WHERE routine_schema = 'bench'";
            server.sql(&format!("{}{}{left}", server.sql(tables), server.sql(procedures)));
            let again = desk.dyno(&args);
            assert!(again.code == 0, "{left}: {again:#?}");
            assert!(again.err.contains("loaded 100 rows"), "{left}: {again:#?}");
        }
        // Rows without a description are refused.
        server.sql("DROP TABLE dyno_meta");
        let refused = desk.dyno(&args);
        assert!(refused.code == 3, "{refused:#?}");
        assert!(refused.err.contains("dyno load --replace"), "{refused:#?}");
    }
}
