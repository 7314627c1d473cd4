//! `dyno watch` on real servers, beside a load whose size is known.

use crate::common::{Desk, Running, Said, assert_fits_schema};
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Rows that the known load inserts, each in a transaction of its own.
const KNOWN: u64 = 700;

/// A watch that a signal ends.
fn watch(desk: &Desk, url: &str, more: &[&str]) -> Running {
    let mut watch = desk.start(&[&["watch", url, "--for", "1h", "--interval", "200ms"], more].concat());
    watch.until("  ETA ");
    watch
}

/// Reads its talk up to the first interval in which rows were written: of a session that writes, the server tells when it is done.
fn until_written(watch: &mut Running) {
    while let Some(line) = watch.line() {
        if line.contains("rows written ") && !line.contains("rows written 0/s") {
            return;
        }
    }
    panic!("nobody wrote: {}", watch.heard);
}

/// Ends it, upon which it reads counters a last time.
fn end(watch: Running) -> Said {
    watch.signal("INT");
    let said = watch.end();
    assert_eq!(said.code, 130, "{said:#?}");
    said
}

fn last(desk: &Desk) -> Value {
    let (code, record) = desk.json(&["show", "last"]);
    assert_eq!(code, 0);
    assert_fits_schema(&record);
    assert_eq!(record["kind"], "watch");
    record
}

fn moved(record: &Value, counter: &str) -> u64 {
    record["counters"]["portable"][counter]["delta"].as_u64().unwrap_or_else(|| panic!("{record:#}"))
}

/// What the intervals of the series tell of a rate, added up.
fn of_intervals(record: &Value, metric: &str) -> f64 {
    let points = record["series"]["points"].as_array().unwrap();
    points
        .iter()
        .map(|point| point["metrics"][metric].as_f64().unwrap_or(0.0) * point["seconds"].as_f64().unwrap())
        .sum()
}

fn load_postgres(server: &Postgres) {
    server.psql(&format!(
        "DO $$ BEGIN FOR i IN 1..{KNOWN} LOOP INSERT INTO known VALUES (i); COMMIT; END LOOP; END $$"
    ));
}

#[test]
fn what_others_do_on_postgres_is_counted_and_nothing_of_ours() {
    for version in Postgres::newest_or_all() {
        let (server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), Desk::new());
        server.psql("CREATE TABLE known (id int)");
        let mut running = watch(&desk, &server.url_of(server.superuser(), "postgres"), &[]);
        load_postgres(&server);
        // A load that is shorter than an interval is in none that is whole yet.
        until_written(&mut running);
        let said = end(running);
        assert!(said.out.contains("commits_per_s"), "{}", said.out);
        assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
        let record = last(&desk);
        assert_eq!(moved(&record, "rows_written"), KNOWN);
        let own = record["watched"]["own_commits"].as_u64().unwrap();
        // Its connection and its last statement are a transaction each.
        let commits = moved(&record, "commits") as f64
            - record["counters"]["native"]["dyno.own_commits"].as_f64().unwrap();
        assert!((KNOWN as f64..=KNOWN as f64 + 3.0).contains(&commits), "{commits} {own}");
        let seen = of_intervals(&record, "rows_written_per_s");
        // Rates divide by the time between readings, and intervals are as long as was asked for.
        assert!((seen / KNOWN as f64 - 1.0).abs() < 0.5, "{seen}");
        assert!(record["ops"].as_object().unwrap().is_empty() && own > 0);
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "0");
    }
}

#[test]
fn a_server_that_restarts_leaves_a_gap_and_no_figure() {
    let Some(version) = Postgres::available().pop() else { return };
    let (mut server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), Desk::new());
    server.psql("CREATE TABLE known (id int)");
    let mut running = watch(&desk, &server.url_of(server.superuser(), "postgres"), &["--json"]);
    load_postgres(&server);
    until_written(&mut running);
    server.stop();
    running.until("the database is away");
    server.restart();
    running.until("is there again");
    load_postgres(&server);
    let said = end(running);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        lines.iter().any(|line| line["lost"].is_string()) && lines.iter().any(|line| line["back"] == true)
    );
    assert!(lines.iter().all(|line| line["metrics"]["commits_per_s"].as_f64().unwrap_or(0.0) >= 0.0));
    let record = last(&desk);
    assert_eq!(moved(&record, "rows_written"), 2 * KNOWN, "before and behind the gap");
    let watched = &record["watched"];
    assert_eq!(watched["gaps_all"], 1, "{watched:#}");
    let known_s = watched["known_s"].as_f64().unwrap();
    let gap_s = watched["gaps"][0]["seconds"].as_f64().unwrap();
    assert!((known_s + gap_s - record["window"]["seconds"].as_f64().unwrap()).abs() < 1e-6);
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("Nothing is known of"), "{}", shown.out);
    let page = desk.dyno(&["report", "last", "-o", "page.html"]);
    assert_eq!(page.code, 0, "{page:#?}");
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("Transactions over time") && page.contains("Nothing is known of"));
}

#[test]
fn counters_that_are_reset_meanwhile_are_no_figure() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[("autovacuum", "off")]), Desk::new());
    server.psql("CREATE TABLE known (id int)");
    load_postgres(&server);
    let mut running = watch(&desk, &server.url_of(server.superuser(), "postgres"), &[]);
    server.psql("SELECT pg_stat_reset()");
    running.until("started anew");
    load_postgres(&server);
    end(running);
    let record = last(&desk);
    assert_eq!((moved(&record, "rows_written"), record["watched"]["gaps_all"].as_u64()), (KNOWN, Some(1)));
}

#[test]
fn who_may_not_see_is_told_what_lacks_and_who_may_not_come_in_is_told_so() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), Desk::new());
    server.psql("CREATE ROLE few LOGIN PASSWORD 'geheim'");
    server.set_hba(
        "local all all trust\nhost all few 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n",
    );
    let url = server.url_of("few", "postgres");
    let wrong = desk.dyno_with(("PGPASSWORD", "nicht-dieses"), &["watch", &url, "--for", "1s"]);
    assert_eq!((wrong.code, wrong.err.contains("nicht-dieses")), (3, false), "{wrong:#?}");
    assert!(wrong.err.contains("password authentication failed"), "{wrong:#?}");
    let said =
        desk.dyno_with(("PGPASSWORD", "geheim"), &["watch", &url, "--for", "1s", "--interval", "200ms"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.err.contains("GRANT pg_read_all_stats"), "{said:#?}");
    let record = last(&desk);
    assert!(record["waits"]["absent"].as_str().unwrap().contains("pg_read_all_stats"), "{}", record["waits"]);
    assert!(record["metrics"]["commits_per_s"]["value"].is_number());
    let text = record.to_string();
    assert!(!text.contains("geheim"));
}

#[test]
fn what_others_do_on_mariadb_and_mysql_is_counted() {
    for version in MySql::available() {
        let (server, desk) = (MySql::start(&version, &[]), Desk::new());
        server.sql("CREATE TABLE known (id int)");
        let running = watch(&desk, &server.url(), &[]);
        server.sql(&"INSERT INTO known VALUES (1);".repeat(KNOWN as usize));
        end(running);
        let record = last(&desk);
        let before = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'bench'";
        assert_eq!(
            (moved(&record, "rows_written"), server.sql(before).as_str()),
            (KNOWN, "1"),
            "{}",
            record["counters"]
        );
        let own = record["counters"]["native"]["dyno.own_commits"].as_f64().unwrap_or(0.0);
        let commits = moved(&record, "commits") as f64 - own;
        assert!(
            (KNOWN as f64..=KNOWN as f64 + 3.0).contains(&commits),
            "{commits}: {}",
            record["counters"]["portable"]
        );
    }
}

#[test]
fn an_engine_inside_a_process_is_refused() {
    let desk = Desk::new();
    let said = desk.dyno(&["watch", "sqlite:bench.db"]);
    assert_eq!(said.code, 2, "{said:#?}");
    assert!(said.err.contains("cannot be watched"), "{said:#?}");
    assert!(!desk.file("bench.db").exists());
}
