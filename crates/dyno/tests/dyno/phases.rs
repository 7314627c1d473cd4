//! A schedule of phases as a user runs it: block workload and custom SQL, on threads and on multiplexed
//! threads.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_testbed::Postgres;
use serde_json::Value;

const OWN: &str = r#"
name = "counter"
writes = true

[setup]
sql = """
CREATE TABLE counter (id INT NOT NULL PRIMARY KEY, n INT NOT NULL);
INSERT INTO counter VALUES (1, 0), (2, 0), (3, 0), (4, 0);
"""

[drop]
sql = "DROP TABLE counter"

[draw]
id = { uniform = [1, 4] }

[transaction.look]
weight = 3
sql = "SELECT n FROM counter WHERE id = :id"

[transaction.count]
retries = 20
sql = "UPDATE counter SET n = n + 1 WHERE id = :id"
"#;

const PHASES: &str = "workload.phases=ramp 0..200/s 2s, hold 50/s 1s, csv load.csv";

const COMMON: [&str; 8] = [
    "--set",
    PHASES,
    "--set",
    "run.warmup=1s",
    "--set",
    "run.sessions_per_schema=4",
    "--set",
    "observe.interval=500ms",
];

/// Asserts that the phases of a run add up, and that each meets its requested rate.
fn assert_phases(record: &Value, classes: &[&str]) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    let phases = record["phases"].items();
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].text()).collect();
    assert_eq!(names, ["ramp 0/s..200/s 2s", "hold 50/s 1s", "csv load.csv"]);
    let count = |phase: &Value, class: &str| phase["ops"][class]["count"].as_u64().unwrap_or(0);
    for (phase, expected_ops) in phases.iter().zip([200.0, 50.0, 100.0f64]) {
        let due = phase["due"].count();
        assert!((phase["asked"].number() - expected_ops).abs() < 1e-6, "{phase}");
        assert!((due as f64 - expected_ops).abs() < 5.0 * expected_ops.sqrt(), "{phase}");
        let all = count(phase, "all");
        assert_eq!(classes.iter().map(|class| count(phase, class)).sum::<u64>(), all, "{phase}");
        assert!(all <= due, "{phase}");
        assert!(all + 5 >= due, "{phase}");
        assert_eq!(phase["ops"]["all"]["response_us"]["count"].as_u64(), Some(all));
        assert!(phase["ops"]["all"]["response_us"]["p95"].number() > 0.0);
    }
    let whole = record["ops"]["all"]["count"].count();
    let inside = phases.iter().map(|phase| count(phase, "all")).sum::<u64>();
    assert!(inside <= whole, "{inside} of {whole}");
    assert!(whole <= inside + 5, "{inside} of {whole}");
    // The record contains the file, not only its name.
    let plan = &record["plan"]["workload"]["phases"][2];
    assert_eq!(plan, "csv load.csv: 0s 50/s 1s 50/s 2s 50/s");
    assert_eq!(record["plan"]["run"]["time"], "5s");
    let check = record["audit"].items().iter().find(|check| check["check"] == "open_loop").unwrap();
    assert!(check["detail"].text().contains("350 arrivals requested in 3 phases"), "{check}");
}

/// Asserts that each exported interval of half a second names its phase: of 2 s, 1 s and 2 s.
fn intervals_name_their_phase(desk: &TestEnv, id: &str) {
    let due = |at_s: f64| match (at_s * 2.0).round() {
        half if half < 4.0 => "ramp 0/s..200/s 2s",
        half if half < 6.0 => "hold 50/s 1s",
        _ => "csv load.csv",
    };
    let csv = run_ok(desk, &["export", id]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    assert_eq!((head[2], head.last()), ("at_s", Some(&"phase")));
    let parse_line = |line: Vec<&str>| (line[2].parse::<f64>().unwrap(), line[line.len() - 1].to_owned());
    let csv_intervals: Vec<_> = lines.map(parse_line).collect();
    let (code, json) = desk.json(&["export", id]);
    let json = json.items();
    assert_eq!((code, csv_intervals.len()), (0, json.len()));
    for ((at_s, phase), point) in csv_intervals.iter().zip(json) {
        assert_eq!((phase.as_str(), point["phase"].as_str()), (due(*at_s), Some(due(*at_s))), "{at_s}");
    }
    assert_eq!(
        csv_intervals.iter().map(|(_, phase)| phase).collect::<std::collections::BTreeSet<_>>().len(),
        3
    );
}

/// Whether there is a reason for a phase without a commit rate: it states why it has no rates, or an interval
/// in it has none.
fn may_lack_commits(record: &Value, phase: &Value) -> bool {
    let number = |of: &Value, key: &str| of[key].number();
    let inside = |point: &&Value| {
        let at_s = number(point, "at_s");
        number(phase, "begin_s") - 0.01 <= at_s && at_s < number(phase, "end_s") - 0.01
    };
    let points = record["series"]["points"].items();
    let lacks = |point: &Value| point["metrics"]["commits_per_s"].is_null();
    phase["no_metrics"].is_string() || points.iter().filter(inside).any(lacks)
}

/// The output of a command that succeeds.
fn run_ok(desk: &TestEnv, args: &[&str]) -> String {
    let output = desk.dyno(args);
    assert_eq!(output.code, 0, "{output:#?}");
    output.out
}

/// The error of a command that is refused.
fn run_refused(desk: &TestEnv, args: &[&str]) -> String {
    let output = desk.dyno(args);
    assert_ne!(output.code, 0, "{output:#?}");
    output.err
}

fn env_with_workload() -> TestEnv {
    let desk = TestEnv::new();
    desk.write("load.csv", "time,rate\n0,50\n1,50\n2,50\n");
    desk
}

/// Block workload and custom SQL on `url`.
fn assert_full_cycle(url: &str) {
    let desk = env_with_workload();
    let classic = [
        "--target",
        url,
        "--set",
        "data.scale=1000",
        "--set",
        "workload.work_unit=4",
        "--set",
        "workload.update_pct=30",
    ];
    run_ok(&desk, &[&["load"], &classic[..]].concat());
    let (code, record) = desk.json(&[&["run"], &classic[..], &COMMON[..]].concat());
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_phases(&record, &["select", "update"]);
    // PostgreSQL's own commit count includes reads; sessions publish it some milliseconds later. If counters
    // were read late, as on a busy machine, an interval has none, and neither has its phase.
    let commits = &record["phases"][0]["metrics"]["commits_per_s"];
    if commits.is_null() {
        assert!(may_lack_commits(&record, &record["phases"][0]), "{}", record["phases"][0]);
    } else {
        let commits = commits.number();
        let rate = |class: &str| record["phases"][0]["ops"][class]["rate_per_s"].number();
        let due = 0.7 * rate("update")..1.3 * rate("all");
        assert!(due.contains(&commits), "{commits} of {}", rate("update"));
    }
    // The phases are shown and exported.
    let id = record["id"].text();
    let shown = run_ok(&desk, &["show", id]);
    assert!(shown.contains("hold 50/s 1s"), "{shown}");
    assert!(shown.contains("behind"), "{shown}");
    run_ok(&desk, &["report", id, "--output", "page.html"]);
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("requested"));
    assert!(page.contains("ramp 0/s..200/s 2s"));
    let csv = run_ok(&desk, &["report", id, "--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.contains(id)).count(), 4, "{csv}");
    intervals_name_their_phase(&desk, id);

    std::fs::create_dir_all(desk.file("own")).unwrap();
    desk.write("own/workload.toml", OWN);
    let workload_args = ["--target", url, "--set", "workload.folder=own"];
    run_ok(&desk, &[&["load"], &workload_args[..]].concat());
    let (code, record) = desk.json(&[&["run"], &workload_args[..], &COMMON[..]].concat());
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_phases(&record, &["look", "count"]);
}

#[test]
fn phase_schedule_runs_on_sqlite_with_a_thread_per_session() {
    let folder = TestEnv::new();
    assert_full_cycle(&format!("sqlite:{}", folder.file("phases.db").display()));
}

#[test]
fn phase_schedule_runs_on_postgres_with_shared_threads() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_full_cycle(&server.url());
    }
}

#[test]
fn phase_schedule_errors_are_located() {
    let desk = env_with_workload();
    desk.write("wrong.csv", "0,50\n1,fast\n");
    for (set, says) in [
        ("workload.phases=csv wrong.csv", "wrong.csv:2:3: workload.phases: fast: not a rate"),
        ("workload.phases=csv none.csv", "none.csv: workload.phases: the schedule cannot be read"),
        ("workload.phases=hold 5 1s", "entry 1 of the list: \"5\" is not a rate"),
    ] {
        let error = run_refused(&desk, &["run", "--target", "sqlite::memory:", "--set", set]);
        assert!(error.contains(says), "{error}");
    }
    let conflicting_args =
        ["run", "--target", "sqlite::memory:", "--set", "workload.rate=5/s", "--set", PHASES];
    assert!(run_refused(&desk, &conflicting_args).contains("workload.rate is also set, to 5/s"));
}
