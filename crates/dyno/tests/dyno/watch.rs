//! `dyno watch` on real servers, during a load of known size.

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, Running, TestEnv, assert_fits_schema, wait_until};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Rows inserted by the known load, each in a separate transaction.
const KNOWN: u64 = 700;

/// A watch that a signal ends.
fn start_watch(desk: &TestEnv, url: &str, more: &[&str]) -> Running {
    let mut watch = desk.start(&[&["watch", url, "--time", "1h", "--interval", "200ms"], more].concat());
    watch.wait_for_line("  ETA ");
    watch
}

/// Reads messages up to the first interval with written rows: the server publishes a session's writes when it
/// is done.
fn wait_until_written(watch: &mut Running) {
    while let Some(line) = watch.next_line() {
        if line.contains("rows written ") && !line.contains("rows written 0/s") {
            return;
        }
    }
    panic!("nobody wrote: {}", watch.stderr_text);
}

/// Ends the watch, which then reads the counters a last time.
fn interrupt(watch: Running) -> CommandOutput {
    watch.signal("INT");
    let output = watch.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    output
}

fn last_record(desk: &TestEnv) -> Value {
    let (code, record) = desk.json(&["show", "last"]);
    assert_eq!(code, 0);
    assert_fits_schema(&record);
    assert_eq!(record["kind"], "watch");
    record
}

fn counter_delta(record: &Value, counter: &str) -> u64 {
    record["counters"]["portable"][counter]["delta"].as_u64().unwrap_or_else(|| panic!("{record:#}"))
}

/// Sum of a rate over the intervals of the series.
fn sum_over_intervals(record: &Value, metric: &str) -> f64 {
    let points = record["series"]["points"].items();
    points
        .iter()
        .map(|point| point["metrics"][metric].as_f64().unwrap_or(0.0) * point["seconds"].number())
        .sum()
}

fn load_postgres(server: &Postgres) {
    server.psql(&format!(
        "DO $$ BEGIN FOR i IN 1..{KNOWN} LOOP INSERT INTO known VALUES (i); COMMIT; END LOOP; END $$"
    ));
}

#[test]
fn watch_counts_other_sessions_but_not_itself_on_postgres() {
    for version in Postgres::newest_or_all() {
        let (server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), TestEnv::new());
        server.psql("CREATE TABLE known (id int)");
        let mut running = start_watch(&desk, &server.url_of(server.superuser(), "postgres"), &[]);
        load_postgres(&server);
        // A load shorter than an interval is not in any complete interval yet.
        wait_until_written(&mut running);
        let output = interrupt(running);
        assert!(output.out.contains("commits_per_s"), "{}", output.out);
        assert!(output.out.contains("tables and indexes"), "{}", output.out);
        crate::common::assert_fits_width(&output.out);
        let record = last_record(&desk);
        assert_eq!(counter_delta(&record, "rows_written"), KNOWN);
        let observer_commits = record["watched"]["own_commits"].count();
        // Its connection and its last statement each count as a transaction.
        let commits = counter_delta(&record, "commits") as f64
            - record["counters"]["native"]["dyno.own_commits"].number();
        assert!((KNOWN as f64..=KNOWN as f64 + 3.0).contains(&commits), "{commits} {observer_commits}");
        let written_rows = sum_over_intervals(&record, "rows_written_per_s");
        // Rates divide by the time between readings; the intervals have the configured length.
        assert!((written_rows / KNOWN as f64 - 1.0).abs() < 0.5, "{written_rows}");
        assert!(record["ops"].fields().is_empty());
        assert!(observer_commits > 0);
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "0");
    }
}

#[test]
fn server_restart_during_watch_leaves_a_gap_without_figures() {
    let Some(version) = Postgres::available().pop() else { return };
    let (mut server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), TestEnv::new());
    server.psql("CREATE TABLE known (id int)");
    let mut running = start_watch(&desk, &server.url_of(server.superuser(), "postgres"), &["--json"]);
    load_postgres(&server);
    wait_until_written(&mut running);
    server.stop();
    running.wait_for_line("the database is unreachable");
    server.restart();
    running.wait_for_line("is reachable again");
    load_postgres(&server);
    let output = interrupt(running);
    let lines: Vec<Value> = output.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["lost"].is_string()));
    assert!(lines.iter().any(|line| line["back"] == true));
    assert!(lines.iter().all(|line| line["metrics"]["commits_per_s"].as_f64().unwrap_or(0.0) >= 0.0));
    let record = last_record(&desk);
    assert_eq!(counter_delta(&record, "rows_written"), 2 * KNOWN, "before and behind the gap");
    let watched = &record["watched"];
    assert_eq!(watched["gaps_all"], 1, "{watched:#}");
    let known_s = watched["known_s"].number();
    let gap_s = watched["gaps"][0]["seconds"].number();
    assert!((known_s + gap_s - record["window"]["seconds"].number()).abs() < 1e-6);
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("No data for"), "{}", shown.out);
    let page = desk.dyno(&["report", "last", "-o", "page.html"]);
    assert_eq!(page.code, 0, "{page:#?}");
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("Transactions over time"));
    assert!(page.contains("No data for"));
}

#[test]
fn counters_reset_during_watch_have_no_value() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), TestEnv::new());
    server.psql("CREATE TABLE known (id int)");
    load_postgres(&server);
    let mut running = start_watch(&desk, &server.url_of(server.superuser(), "postgres"), &[]);
    server.psql("SELECT pg_stat_reset()");
    running.wait_for_line("counters were reset");
    load_postgres(&server);
    interrupt(running);
    let record = last_record(&desk);
    assert_eq!(
        (counter_delta(&record, "rows_written"), record["watched"]["gaps_all"].as_u64()),
        (KNOWN, Some(1))
    );
}

#[test]
fn watch_reports_missing_privilege_and_failed_login() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    server.psql("CREATE ROLE few LOGIN PASSWORD 'geheim'");
    server.set_hba(
        "local all all trust\nhost all few 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n",
    );
    let url = server.url_of("few", "postgres");
    let wrong = desk.dyno_with(("PGPASSWORD", "nicht-dieses"), &["watch", &url, "--time", "1s"]);
    assert_eq!((wrong.code, wrong.err.contains("nicht-dieses")), (3, false), "{wrong:#?}");
    assert!(wrong.err.contains("password authentication failed"), "{wrong:#?}");
    let output =
        desk.dyno_with(("PGPASSWORD", "geheim"), &["watch", &url, "--time", "1s", "--interval", "200ms"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.err.contains("GRANT pg_read_all_stats"), "{output:#?}");
    let record = last_record(&desk);
    assert!(record["waits"]["absent"].text().contains("pg_read_all_stats"), "{}", record["waits"]);
    assert!(record["metrics"]["commits_per_s"]["value"].is_number());
    let text = record.to_string();
    assert!(!text.contains("geheim"));
}

#[test]
fn watch_counts_other_sessions_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        server.sql("CREATE TABLE known (id int)");
        let running = start_watch(&desk, &server.url(), &[]);
        server.sql(&"INSERT INTO known VALUES (1);".repeat(KNOWN as usize));
        interrupt(running);
        let record = last_record(&desk);
        let before = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'bench'";
        assert_eq!(
            (counter_delta(&record, "rows_written"), server.sql(before).as_str()),
            (KNOWN, "1"),
            "{}",
            record["counters"]
        );
        let observer_commits = record["counters"]["native"]["dyno.own_commits"].as_f64().unwrap_or(0.0);
        let commits = counter_delta(&record, "commits") as f64 - observer_commits;
        assert!(
            (KNOWN as f64..=KNOWN as f64 + 3.0).contains(&commits),
            "{commits}: {}",
            record["counters"]["portable"]
        );
    }
}

/// Runs `holder`, which never ends, and `waiter`, which waits for it; watches them; and returns the record after
/// `end` has ended the holder.
fn watch_blocked(
    url: &str,
    [holder, waiter]: [&(dyn Fn() + Sync); 2],
    [is_held, is_blocked]: [&dyn Fn() -> bool; 2],
    end: &dyn Fn(),
) -> Value {
    let desk = TestEnv::new();
    std::thread::scope(|scope| {
        scope.spawn(holder);
        wait_until("the lock is held", is_held);
        scope.spawn(waiter);
        wait_until("a session waits for it", is_blocked);
        let mut watch = start_watch(&desk, url, &[]);
        (0..3).for_each(|_| watch.wait_for_line("  ETA "));
        let output = interrupt(watch);
        end();
        assert!(output.out.contains("sessions that blocked others"), "{}", output.out);
        assert!(output.out.contains("longest transactions"), "{}", output.out);
        crate::common::assert_fits_width(&output.out);
    });
    last_record(&desk)
}

#[track_caller]
fn assert_blocker(record: &Value, session: &str, state: &str, object: &str) {
    let watched = &record["watched"];
    let blockers = watched["blockers"].items();
    assert_eq!(blockers.len(), 1, "{watched:#}");
    assert_eq!((blockers[0]["session"].text(), blockers[0]["state"].text()), (session, state), "{watched:#}");
    assert_eq!(blockers[0]["object"].as_str().unwrap_or_default(), object, "{watched:#}");
    assert_eq!(blockers[0]["waiting_max"], 1, "{watched:#}");
    assert!(blockers[0]["readings"].count() >= 2, "{watched:#}");
    let transactions = watched["transactions"].items();
    assert!(transactions.iter().any(|open| open["session"] == session), "{watched:#}");
    assert!(watched["unread"].is_null(), "{watched:#}");
}

#[test]
fn watch_names_blocking_session_on_postgres() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    server.psql("CREATE TABLE known (id int)");
    let run = |sql| drop(server.try_psql(server.superuser(), "postgres", sql));
    let holders = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    let record = watch_blocked(
        &server.url_of(server.superuser(), "postgres"),
        [&|| run("LOCK TABLE known; SELECT pg_sleep(600)"), &|| run("SELECT * FROM known")],
        [&|| server.psql(&format!("SELECT count(*) {holders}")) == "1", &|| {
            server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1"
        }],
        &|| drop(server.psql(&format!("SELECT pg_terminate_backend(pid) {holders}"))),
    );
    let session = record["watched"]["blockers"][0]["session"].as_str().unwrap_or_default().to_owned();
    assert!(session.parse::<u32>().is_ok(), "{}", record["watched"]);
    assert_blocker(&record, &session, "active", "");
    assert!(record["watched"]["blockers"][0]["name"].text().starts_with("psql "), "{}", record["watched"]);
}

#[test]
fn watch_names_blocking_session_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        server.sql("CREATE TABLE known (id int PRIMARY KEY, v int); INSERT INTO known VALUES (1, 1)");
        let run = |sql| drop(server.try_sql(server.superuser(), sql));
        // MySQL counts the rows of `information_schema.PROCESSLIST` as rows written.
        let holder = || {
            let list = server.sql("SHOW FULL PROCESSLIST");
            let line = list.lines().find(|line| line.contains("\tSELECT SLEEP(600)"));
            line.map(|line| line.split('\t').next().unwrap_or_default().to_owned())
        };
        let id = std::cell::OnceCell::new();
        let record = watch_blocked(
            &server.url(),
            [&|| run("BEGIN; UPDATE known SET v = 2; SELECT SLEEP(600)"), &|| {
                run("UPDATE known SET v = 3");
            }],
            [&|| holder().is_some_and(|holder| id.set(holder).is_ok()), &|| {
                server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").ends_with("\t1")
            }],
            &|| drop(server.sql(&format!("KILL {}", id.get().unwrap()))),
        );
        assert_blocker(&record, id.get().unwrap(), "Query", "bench.known");
        assert_eq!(counter_delta(&record, "rows_written"), 0, "{}", record["counters"]);
    }
}

#[test]
fn watch_of_embedded_engine_is_refused() {
    let desk = TestEnv::new();
    let output = desk.dyno(&["watch", "sqlite:bench.db"]);
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("cannot be watched"), "{output:#?}");
    assert!(!desk.file("bench.db").exists());
}
