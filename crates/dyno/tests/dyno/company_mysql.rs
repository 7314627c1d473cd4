//! MySQL and MariaDB with other users: the audit names them, and does not accuse an undisturbed run.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};
use dyno_testbed::MySql;
use serde_json::Value;

const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=50 blocks"];

/// A window of two seconds.
const RUN: [&str; 9] = [
    "run",
    "--set",
    "run.sessions_per_schema=2",
    "--set",
    "run.warmup=200ms",
    "--set",
    "run.time=2s",
    "--set",
    "observe.interval=1s",
];

/// Rows of the two sessions' operations in progress.
const UNDER_WAY: f64 = 2.0 * 64.0;
/// Rows of the two sessions' slices in progress, each of at least 16 operations.
const SLICES_UNDER_WAY: f64 = 16.0 * UNDER_WAY;

/// Sessions that pause between operations, so that background activity has more weight.
const SLOW: [&str; 4] = ["--set", "workload.rate=200/s", "--set", "workload.work_unit=16"];

/// A loaded server and a test environment.
struct MySqlBench {
    server: MySql,
    desk: TestEnv,
    url: String,
}

impl MySqlBench {
    /// One for each installed version, with another user's table next to the data.
    fn all() -> Vec<Self> {
        let start = |version| {
            let server = MySql::start(&version, &[]);
            let bench = Self { url: server.url(), server, desk: TestEnv::new() };
            let load = bench.desk.dyno(&[&["load", "--target", &bench.url][..], &DATA].concat());
            assert_eq!(load.code, 0, "{load:#?}");
            bench.server.sql(
                "CREATE DATABASE shop; CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY, name CHAR(100), n INT);
                 INSERT INTO shop.items (name, n) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)",
            );
            for _ in 0..12 {
                bench.server.sql("INSERT INTO shop.items (name, n) SELECT name, n FROM shop.items");
            }
            bench
        };
        MySql::available().into_iter().map(start).collect()
    }

    /// A run while another user repeats `other` on a separate connection with pauses.
    fn run_beside(&self, more: &[&str], other: Option<&str>) -> Value {
        let over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            if let Some(sql) = other {
                let often = format!("{sql}; DO SLEEP(0.01); ").repeat(10);
                scope.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        self.server.sql(&often);
                    }
                });
            }
            let args = [&RUN[..], more, &DATA, &["--target", &self.url]].concat();
            let output = self.desk.dyno(&args);
            over.store(true, Ordering::SeqCst);
            assert!(matches!(output.code, 0 | 1), "{output:#?}");
        });
        self.desk.json(&["show", "last"]).1
    }
}

fn failure_details(record: &Value) -> String {
    format!("{} {} {:#}", record["status"], record["reasons"], record["counters"]["own"])
}

/// Each drive and each kind of operation runs on both products, and each combination of them on one.
#[test]
fn undisturbed_mysql_runs_stay_valid() {
    const MIX: [&str; 4] = ["--set", "workload.update_pct=20", "--set", "workload.scan_pct=2"];
    const CHURN: [&str; 4] = ["--set", "workload.insert_pct=10", "--set", "workload.delete_pct=10"];
    const SERVER: [&str; 2] = ["--set", "workload.drive=server"];
    let workloads = [
        [MIX.to_vec(), SERVER.to_vec(), CHURN.to_vec()],
        [CHURN.to_vec(), [&SERVER[..], &MIX].concat(), [&SLOW[..], &MIX].concat()],
    ];
    for (at, bench) in MySqlBench::all().iter().enumerate() {
        an_undisturbed_run_is_its_own(bench, &workloads[at % 2]);
        a_log_in_a_table_spoils_no_run(bench);
    }
}

#[test]
fn activity_of_other_sessions_on_mysql_is_reported() {
    // Other users read their own table beside one product, and the run's table beside the other.
    let reads = ["SELECT SUM(n) FROM shop.items", "SELECT SUM(LENGTH(c2)) FROM bench.dyno_rows_1"];
    for (bench, sql) in MySqlBench::all().into_iter().zip(reads) {
        rows_that_others_read_are_not_the_runs(&bench, sql);
        a_few_commits_of_others_are_told(&bench);
    }
}

fn an_undisturbed_run_is_its_own(bench: &MySqlBench, workloads: &[Vec<&str>]) {
    for more in workloads {
        let record = bench.run_beside(more, None);
        let version = bench.server.version();
        assert_eq!(record["status"], "valid", "{version:?} {more:?}: {}", failure_details(&record));
        // In the window, sessions are in the middle of an operation or a slice, which the server may have
        // counted in part.
        let (of_window, under_way) = match more.contains(&"workload.drive=server") {
            true => (0.1, SLICES_UNDER_WAY),
            false => (0.03, UNDER_WAY),
        };
        for (interval, share) in [(&record["counters"], of_window), (&record["whole"]["counters"], 0.02)] {
            for name in ["rows_read", "rows_written", "commits"] {
                let run_delta = interval["own"][name].as_f64().unwrap_or(f64::NAN);
                let all = interval["portable"][name]["delta"].number();
                let (others_delta, slack) = (all - run_delta, all * share + under_way);
                assert!(others_delta <= slack, "{version:?} {more:?}: {name}: {run_delta} of {all}");
                assert!(
                    -others_delta <= slack.max(all * 0.1),
                    "{version:?} {more:?}: {name}: {run_delta} of {all}"
                );
            }
        }
        assert_eq!(find_check(&record, "commits")["status"], "pass", "{record:#}");
    }
}

fn rows_that_others_read_are_not_the_runs(bench: &MySqlBench, sql: &str) {
    let record = bench.run_beside(&SLOW, Some(sql));
    let run_rows = record["counters"]["own"]["rows_read"].number();
    let all = record["counters"]["portable"]["rows_read"]["delta"].number();
    assert!(run_rows < all * 0.5, "{sql}: {run_rows} of {all}");
    let version = bench.server.version();
    assert_eq!(record["status"], "invalid", "{version:?} {sql}: {:#}", find_check(&record, "others"));
    assert_eq!(find_check(&record, "others")["status"], "fail");
}

fn a_few_commits_of_others_are_told(bench: &MySqlBench) {
    let record = bench.run_beside(&SLOW, Some("SELECT n FROM shop.items WHERE id = 3"));
    let commits = find_check(&record, "commits_whole");
    assert_ne!(commits["status"], "pass", "{commits}");
    assert!(commits["detail"].text().contains("other sessions commit"), "{commits}");
}

fn a_log_in_a_table_spoils_no_run(bench: &MySqlBench) {
    bench.server.sql(
        "SET GLOBAL log_output = 'TABLE'; SET GLOBAL long_query_time = 0; SET GLOBAL slow_query_log = 1;
         SET GLOBAL general_log = 1",
    );
    let mix = [
        "--set",
        "workload.update_pct=30",
        "--set",
        "workload.insert_pct=10",
        "--set",
        "workload.delete_pct=10",
    ];
    let record = bench.run_beside(&mix, None);
    assert_eq!(record["status"], "valid", "{:?}: {}", bench.server.version(), failure_details(&record));
    assert_passes(&record, "rows_updated");
    assert_eq!(find_check(&record, "rows_updated_whole")["status"], "pass", "{record:#}");
}
