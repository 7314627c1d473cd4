//! `dyno capacity`: a measured suite compared with a watch, and with reports of another database.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const REPORT: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt");

/// A suite of one test, and then a watch while others repeat `work`, because an idle server shows no use.
/// Returns the name of the suite.
fn run_suite_and_watch(desk: &TestEnv, url: &str, work: &(dyn Fn() + Sync)) -> String {
    // On a busy machine reading the counters may take too long a part of such short windows, and rates are absent.
    for left in (0..5).rev() {
        let suite = desk.dyno(&["suite", "--quick", "--target", url, "--test", "server-logical-reads"]);
        assert_eq!(suite.code, 0, "{suite:#?}");
        let reads_per_s = desk.json(&["show", "last"]).1["metrics"]["logical_reads_per_s"].clone();
        if reads_per_s["value"].is_number() {
            break;
        }
        assert!(reads_per_s["absent"].text().contains("while the counters were read"), "{reads_per_s}");
        assert!(left > 0, "{reads_per_s}");
    }
    let is_watched = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_watched.load(Ordering::Relaxed) {
                work();
            }
        });
        let watch = desk.dyno(&["watch", url, "--time", "2s", "--interval", "200ms", "--tag", "now"]);
        is_watched.store(true, Ordering::Relaxed);
        assert_eq!(watch.code, 0, "{watch:#?}");
    });
    let (_, sweeps) = desk.json(&["list", "--sweeps"]);
    sweeps[0]["id"].text().to_owned()
}

fn row<'v>(report: &'v Value, part: &str) -> &'v Value {
    let rows = report["rows"].items();
    rows.iter().find(|row| row["part"] == part).unwrap_or_else(|| panic!("{report:#}"))
}

fn left_out_reason(report: &Value, part: &str) -> String {
    let left = report["left_out"].items();
    let found_part = left.iter().find(|left| left[0] == part).unwrap_or_else(|| panic!("{report:#}"));
    found_part[1].text().to_owned()
}

fn a_suite_against_a_watch(desk: &TestEnv, url: &str, work: &(dyn Fn() + Sync)) -> String {
    let suite = run_suite_and_watch(desk, url, work);
    let (code, report) = desk.json(&["capacity", &suite, "tag:now"]);
    assert_eq!(code, 0, "{report:#}");
    let reads = row(&report, "logical reads");
    let (_, watch) = desk.json(&["show", "tag:now"]);
    let figure = |value: &Value| value.number();
    assert_eq!(figure(&reads["used"]["mean"]), figure(&watch["metrics"]["logical_reads_per_s"]["value"]));
    let spread = &watch["watched"]["spreads"]["logical_reads_per_s"];
    assert_eq!(figure(&reads["used"]["peak"]), figure(&spread["peak"]), "there was no whole minute");
    let share = 100.0 * figure(&reads["used"]["peak"]) / figure(&reads["ceiling"]["most"]);
    assert!((figure(&reads["of_most_pct"]["peak"]) - share).abs() < 1e-9);
    let (_, run) = desk.json(&["show", reads["ceiling"]["run"].text()]);
    assert_eq!(figure(&run["metrics"]["logical_reads_per_s"]["value"]), figure(&reads["ceiling"]["most"]));
    assert!(report["differ"].items().is_empty(), "{}", report["differ"]);
    assert!(left_out_reason(&report, "commits").contains("that only reads"));
    assert_eq!(reads["growth"]["trend"], "too_few");
    assert!(
        report["next"].to_string().contains("dyno watch --time 8h --interval 200ms"),
        "{}",
        report["next"]
    );
    assert!(watch["next"].to_string().contains("watch_short"), "{}", watch["next"]);
    suite
}

#[test]
fn postgres_suite_capacity_is_compared_with_watch_and_reports() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    let url = server.url();
    let database = url.rsplit('/').next().unwrap();
    let work = || {
        server.try_psql(server.superuser(), database, "SELECT count(*) FROM pg_class").unwrap();
    };
    let suite = a_suite_against_a_watch(&desk, &url, &work);
    let output = desk.dyno(&["capacity", &suite, "tag:now", "-o", "capacity.html"]);
    assert_eq!(output.code, 0, "{output:#?}");
    crate::common::assert_fits_width(&output.out);
    let page = std::fs::read_to_string(desk.file("capacity.html")).unwrap();
    assert!(page.contains("Use of the measured capacity"));
    assert!(page.contains("not compared"));
    assert_eq!(desk.dyno(&["capacity", &suite, "tag:now", "--over", "1000%"]).code, 0);
    let over = desk.dyno(&["capacity", &suite, "tag:now", "--over", "0.0000001%"]);
    assert_eq!(over.code, 1, "{over:#?}");
    // Reports of another database: components that are not comparable are listed, and nothing is computed for
    // them.
    desk.write("awr.txt", REPORT);
    assert_eq!(desk.dyno(&["import", "results", "awr.txt", "--tag", "awr"]).code, 0);
    let (code, other) = desk.json(&["capacity", &suite, "tag:awr"]);
    assert_eq!(code, 0);
    for part in ["logical reads", "block reads", "read requests", "redo bandwidth", "commits"] {
        assert!(
            left_out_reason(&other, part).contains("Oracle Database"),
            "{part}: {}",
            left_out_reason(&other, part)
        );
    }
    assert!(other["differ"][0].text().starts_with("database: "), "{}", other["differ"]);
    assert_eq!(desk.dyno(&["capacity", &suite, "tag:awr", "--over", "80%"]).code, 1, "nobody knows");
}

#[test]
fn mariadb_suite_capacity_is_compared_with_a_watch() {
    let Some(version) = MySql::available().into_iter().next() else { return };
    let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
    let work = || {
        server.sql("SELECT COUNT(*) FROM mysql.help_topic");
    };
    a_suite_against_a_watch(&desk, &server.url(), &work);
}

#[test]
fn capacity_refuses_run_as_use_and_watch_as_measurement() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    let watch = ["watch", &server.url(), "--time", "1s", "--interval", "200ms", "--tag", "now"];
    assert_eq!(desk.dyno(&watch).code, 0);
    let run = ["run", "--set", "data.scale=1000 blocks", "--set", "run.time=1s", "--tag", "mine"];
    assert_eq!(desk.dyno(&["init"]).code, 0);
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=1000 blocks"]).code, 0);
    assert_eq!(desk.dyno(&run).code, 0);
    for (measured, used, says) in [
        ("tag:now", "tag:now", "which measures no capacity"),
        ("tag:mine", "tag:mine", "not present use"),
        ("tag:mine", "tag:none", "no run has the tag"),
    ] {
        let output = desk.dyno(&["capacity", measured, used]);
        assert!(output.code == 2, "{output:#?}");
        assert!(output.err.contains(says), "{output:#?}");
    }
    assert_eq!(desk.dyno(&["capacity", "tag:mine", "tag:now", "--over", "much"]).code, 2);
}
