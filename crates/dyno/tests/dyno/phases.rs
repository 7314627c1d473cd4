//! A schedule of phases as a user runs it: classic operations and own SQL, on threads and on multiplexed threads.

use crate::common::Desk;
use dyno_testbed::Postgres;
use serde_json::Value;

/// Reads and writes of one's own.
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

/// Asserts that the phases of a run add up, and that each has what it was asked for.
fn assert_phases(record: &Value, classes: &[&str]) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    let phases = record["phases"].as_array().unwrap();
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ramp 0/s..200/s 2s", "hold 50/s 1s", "csv load.csv"]);
    let count = |phase: &Value, class: &str| phase["ops"][class]["count"].as_u64().unwrap_or(0);
    for (phase, asked) in phases.iter().zip([200.0, 50.0, 100.0f64]) {
        let due = phase["due"].as_u64().unwrap();
        assert!((phase["asked"].as_f64().unwrap() - asked).abs() < 1e-6, "{phase}");
        assert!((due as f64 - asked).abs() < 5.0 * asked.sqrt(), "{phase}");
        let all = count(phase, "all");
        assert_eq!(classes.iter().map(|class| count(phase, class)).sum::<u64>(), all, "{phase}");
        assert!(all <= due && all + 5 >= due, "{phase}");
        assert_eq!(phase["ops"]["all"]["response_us"]["count"].as_u64(), Some(all));
        assert!(phase["ops"]["all"]["response_us"]["p95"].as_f64().unwrap() > 0.0);
    }
    let whole = record["ops"]["all"]["count"].as_u64().unwrap();
    let inside = phases.iter().map(|phase| count(phase, "all")).sum::<u64>();
    assert!(inside <= whole && whole <= inside + 5, "{inside} of {whole}");
    // The file is in the record, and not only its name.
    let plan = &record["plan"]["workload"]["phases"][2];
    assert_eq!(plan, "csv load.csv: 0s 50/s 1s 50/s 2s 50/s");
    assert_eq!(record["plan"]["run"]["time"], "5s");
    let check =
        record["audit"].as_array().unwrap().iter().find(|check| check["check"] == "open_loop").unwrap();
    assert!(check["detail"].as_str().unwrap().contains("350 arrivals asked for in 3 phases"), "{check}");
}

/// Asserts that each exported interval, of half a second, names the phase that it lies in: of 2 s, 1 s and 2 s.
fn intervals_name_their_phase(desk: &Desk, id: &str) {
    let due = |at_s: f64| match (at_s * 2.0).round() {
        half if half < 4.0 => "ramp 0/s..200/s 2s",
        half if half < 6.0 => "hold 50/s 1s",
        _ => "csv load.csv",
    };
    let csv = ok(desk, &["export", id]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    assert_eq!((head[2], head.last()), ("at_s", Some(&"phase")));
    let of = |line: Vec<&str>| (line[2].parse::<f64>().unwrap(), line[line.len() - 1].to_owned());
    let told: Vec<_> = lines.map(of).collect();
    let (code, json) = desk.json(&["export", id]);
    let json = json.as_array().unwrap();
    assert_eq!((code, told.len()), (0, json.len()));
    for ((at_s, phase), point) in told.iter().zip(json) {
        assert_eq!((phase.as_str(), point["phase"].as_str()), (due(*at_s), Some(due(*at_s))), "{at_s}");
    }
    assert_eq!(told.iter().map(|(_, phase)| phase).collect::<std::collections::BTreeSet<_>>().len(), 3);
}

/// Whether there is a reason for a phase without a rate of commits: it says why it has no rates, or an interval in it has none.
fn may_lack_commits(record: &Value, phase: &Value) -> bool {
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    let inside = |point: &&Value| {
        let at_s = number(point, "at_s");
        number(phase, "begin_s") - 0.01 <= at_s && at_s < number(phase, "end_s") - 0.01
    };
    let points = record["series"]["points"].as_array().unwrap();
    let lacks = |point: &Value| point["metrics"]["commits_per_s"].is_null();
    phase["no_metrics"].is_string() || points.iter().filter(inside).any(lacks)
}

/// What a command says that ends well.
fn ok(desk: &Desk, args: &[&str]) -> String {
    let said = desk.dyno(args);
    assert_eq!(said.code, 0, "{said:#?}");
    said.out
}

/// What a command says that is refused.
fn refused(desk: &Desk, args: &[&str]) -> String {
    let said = desk.dyno(args);
    assert_ne!(said.code, 0, "{said:#?}");
    said.err
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("load.csv", "time,rate\n0,50\n1,50\n2,50\n");
    desk
}

/// Classic operations and own SQL on `url`.
fn through(url: &str) {
    let desk = desk();
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
    ok(&desk, &[&["load"], &classic[..]].concat());
    let (code, record) = desk.json(&[&["run"], &classic[..], &COMMON[..]].concat());
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_phases(&record, &["select", "update"]);
    // PostgreSQL's own count of commits holds reads, too; sessions show what they did some milliseconds later.
    // Where counters were read late, on a busy machine, an interval has none, and neither has the phase of it.
    let commits = &record["phases"][0]["metrics"]["commits_per_s"];
    if commits.is_null() {
        assert!(may_lack_commits(&record, &record["phases"][0]), "{}", record["phases"][0]);
    } else {
        let commits = commits.as_f64().unwrap();
        let rate = |class: &str| record["phases"][0]["ops"][class]["rate_per_s"].as_f64().unwrap();
        let due = 0.7 * rate("update")..1.3 * rate("all");
        assert!(due.contains(&commits), "{commits} of {}", rate("update"));
    }
    // Shown and exported.
    let id = record["id"].as_str().unwrap();
    let shown = ok(&desk, &["show", id]);
    assert!(shown.contains("hold 50/s 1s") && shown.contains("behind"), "{shown}");
    ok(&desk, &["report", id, "--output", "page.html"]);
    let page = std::fs::read_to_string(desk.file("page.html")).unwrap();
    assert!(page.contains("asked for") && page.contains("ramp 0/s..200/s 2s"));
    let csv = ok(&desk, &["report", id, "--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.contains(id)).count(), 4, "{csv}");
    intervals_name_their_phase(&desk, id);

    std::fs::create_dir_all(desk.file("own")).unwrap();
    desk.write("own/workload.toml", OWN);
    let own = ["--target", url, "--set", "workload.folder=own"];
    ok(&desk, &[&["load"], &own[..]].concat());
    let (code, record) = desk.json(&[&["run"], &own[..], &COMMON[..]].concat());
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_phases(&record, &["look", "count"]);
}

#[test]
fn a_schedule_runs_on_sqlite_on_a_thread_for_each_session() {
    let folder = Desk::new();
    through(&format!("sqlite:{}", folder.file("phases.db").display()));
}

#[test]
fn a_schedule_runs_on_postgres_on_threads_of_several_sessions() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        through(&server.url());
    }
}

#[test]
fn faults_of_a_schedule_are_told_with_their_place() {
    let desk = desk();
    desk.write("wrong.csv", "0,50\n1,fast\n");
    for (set, says) in [
        ("workload.phases=csv wrong.csv", "wrong.csv:2:3: workload.phases: fast: not a rate"),
        ("workload.phases=csv none.csv", "none.csv: workload.phases: the schedule cannot be read"),
        ("workload.phases=hold 5 1s", "number 1 of the list: \"5\" is not a rate"),
    ] {
        let error = refused(&desk, &["run", "--target", "sqlite::memory:", "--set", set]);
        assert!(error.contains(says), "{error}");
    }
    let both = ["run", "--target", "sqlite::memory:", "--set", "workload.rate=5/s", "--set", PHASES];
    assert!(refused(&desk, &both).contains("workload.rate is 5/s besides"));
}
