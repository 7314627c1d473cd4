//! Platforms that are limited on purpose: the bottleneck is named, and none is named without evidence.

use std::process::Command;
use std::time::Duration;

use crate::common::burners::Burners;
use crate::common::group::cpu_quota;
use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::throttle::Throttle;
use crate::common::{CommandOutput, TestEnv};
use dyno_testbed::{Postgres, Version};

/// A short run with frequent readings.
const RUN: [&str; 8] = [
    "--set",
    "run.warmup=500ms",
    "--set",
    "run.time=3s",
    "--set",
    "observe.waits=50/s",
    "--set",
    "data.scan_scale=0 blocks",
];

/// Data that fits into any cache.
const SMALL: [&str; 4] = ["--set", "data.scale=4M", "--set", "data.scan_scale=0 blocks"];

fn newest_postgres() -> Version {
    Postgres::available().pop().unwrap()
}

fn run<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--target", url][..], &RUN, more].concat()
}

/// The bottleneck of the last run, as a user reads it.
fn last_limit(desk: &TestEnv) -> String {
    let shown = desk.dyno(&["show", "last"]);
    let text: Vec<&str> = shown.out.split_whitespace().collect();
    let text = text.join(" ");
    let at = text.find("limited by ").or_else(|| text.find("bottleneck unknown"));
    let at = at.unwrap_or_else(|| panic!("no limit in {shown:#?}"));
    let end = text[at..].find(" between snapshots").map_or(text.len(), |end| at + end);
    text[at..end].to_owned()
}

fn assert_success(output: &CommandOutput) {
    assert_eq!(output.code, 0, "{output:#?}");
}

/// Whether others left less than a quarter of the processors: then an idle platform looks like a starved one.
fn is_starved(desk: &TestEnv) -> bool {
    let (_, record) = desk.json(&["show", "last"]);
    record["metrics"]["cpu_busy_pct"]["value"].number() > 75.0
}

#[test]
fn throttled_device_is_named_as_limit() {
    let desk = TestEnv::new();
    let Some(throttle) = Throttle::limit_reads("SQLite limited by its device", desk.path(), 500) else {
        return;
    };
    let url = format!("sqlite:{}?direct=on&cache=64K", desk.file("data.db").display());
    let data =
        ["--set", "data.scale=64M", "--set", "data.scan_scale=0 blocks", "--set", "data.block_size=8K"];
    assert_success(&desk.dyno(&[&["load", "--target", &url][..], &data].concat()));
    let lookups = ["--set", "workload.lookup_pct=100", "--set", "run.sessions_per_schema=4"];
    let run = run(&url, &[&data[..], &lookups].concat());
    assert!(throttle.wrap_command(&desk.command(&run)).output().unwrap().status.success());
    let limit = last_limit(&desk);
    assert!(limit.starts_with("limited by the device: "), "{limit}");
}

#[test]
fn throttled_log_device_is_named_as_commit_limit() {
    let server = Postgres::start(&newest_postgres(), &[("wal_sync_method", "fdatasync")]);
    let scenario = "PostgreSQL limited by its commits";
    let Some(throttle) = Throttle::limit_writes(scenario, &server.data_dir(), 100) else { return };
    let (desk, url) = (TestEnv::new(), server.url());
    assert_success(&desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat()));
    throttle.add_process(server.pid().unwrap());
    let updates = [
        "--set",
        "workload.update_pct=100",
        "--set",
        "workload.work_unit=1",
        "--set",
        "run.sessions_per_schema=4",
    ];
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &updates].concat())));
    let limit = last_limit(&desk);
    assert!(limit.starts_with("limited by commits: "), "{limit}");
    // The same beside neighbours that fill the processors: the sessions' time decides.
    let _neighbours = Burners::one_per_processor();
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &updates].concat())));
    let limit = last_limit(&desk);
    assert!(limit.starts_with("limited by commits: "), "{limit}");
}

#[test]
fn server_cpu_quota_is_named_as_limit() {
    let Some(group) = cpu_quota("PostgreSQL with a quota", 0.2) else { return };
    let server = Postgres::start(&newest_postgres(), &[("fsync", "off")]);
    let (desk, url) = (TestEnv::new(), server.url());
    assert_success(&desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat()));
    group.add_process(server.pid().unwrap());
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &["--set", "run.sessions_per_schema=4"]].concat())));
    let limit = last_limit(&desk);
    assert!(limit.starts_with("limited by the CPU quota of the database: "), "{limit}");
}

#[test]
fn client_cpu_quota_is_named_as_limit() {
    let Some(group) = cpu_quota("a client with a quota", 0.15) else { return };
    let server = Postgres::start(&newest_postgres(), &[("fsync", "off")]);
    let (desk, url) = (TestEnv::new(), server.url());
    assert_success(&desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat()));
    let lookups = ["--set", "workload.lookup_pct=100", "--set", "run.sessions_per_schema=4"];
    let run = run(&url, &[&SMALL[..], &lookups].concat());
    assert!(group.wrap_command(&desk.command(&run)).output().unwrap().status.success());
    let limit = last_limit(&desk);
    assert!(limit.starts_with("limited by the CPU quota of this program: "), "{limit}");
}

#[test]
fn server_on_one_processor_is_limited_by_cpu() {
    let server = Postgres::start(&newest_postgres(), &[("fsync", "off")]);
    let (desk, url) = (TestEnv::new(), server.url());
    assert_success(&desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat()));
    let pin = ["-a", "-p", "-c", "0", &server.pid().unwrap().to_string()];
    if !Command::new("taskset").args(pin).output().is_ok_and(|output| output.status.success()) {
        return dyno_testbed::skip_unsupported("a server on one processor", "taskset cannot pin it");
    }
    let args = run(&url, &[&SMALL[..], &["--set", "run.sessions_per_schema=4"]].concat());
    let program = desk.command(&args);
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", "0"]).arg(program.get_program()).args(program.get_args()).env_clear();
    pinned.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(desk.path());
    assert!(pinned.output().unwrap().status.success());
    let limit = last_limit(&desk);
    // If others keep all processors busy, the run reports that, which is also correct.
    if is_starved(&desk) && !limit.starts_with("limited by the CPU") {
        return dyno_testbed::skip_unsupported("one processor", &format!("others keep it: {limit}"));
    }
    let expected = ["limited by the CPU: ", "limited by the CPU, shared with other programs: "];
    assert!(expected.iter().any(|start| limit.starts_with(start)), "{limit}");
}

/// Eight sessions that update one row, in transactions of several calls.
const ONE_ROW: &str = r#"
name = "one_row"
writes = true

[setup]
sql = "CREATE TABLE one_row (id INT PRIMARY KEY, value INT NOT NULL); INSERT INTO one_row VALUES (1, 0)"

[drop]
sql = "DROP TABLE one_row"

[transaction.add]
commit = "end"
steps = [
  { sql = "UPDATE one_row SET value = value + 1 WHERE id = 1", rows = 1 },
  { sql = "SELECT value FROM one_row WHERE id = 1", rows = 1 },
]
"#;

/// A test environment with that workload, loaded into `url`.
fn load_one_row(url: &str) -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir_all(desk.file("one_row")).unwrap();
    desk.write("one_row/workload.toml", ONE_ROW);
    assert_success(&desk.dyno(&["load", "--target", url, "--set", "workload.folder=one_row"]));
    desk
}

/// The bottleneck with this number of sessions.
fn limit_of_one_row(url: &str, desk: &TestEnv, sessions: &str) -> String {
    let sessions = format!("run.sessions_per_schema={sessions}");
    let workload_args = ["--set", "workload.folder=one_row", "--set", &sessions];
    assert_success(&desk.dyno(&run(url, &workload_args)));
    last_limit(desk)
}

#[test]
fn contended_row_is_reported_as_row_lock_limit() {
    let server = Postgres::start(&newest_postgres(), &[]);
    let desk = load_one_row(&server.url());
    let limit = limit_of_one_row(&server.url(), &desk, "8");
    if is_starved(&desk) && limit.starts_with("limited by the CPU") {
        return dyno_testbed::skip_unsupported("a row that all want", &format!("others are here: {limit}"));
    }
    assert!(limit.starts_with("limited by row locks ("), "{limit}");
}

#[test]
fn table_lock_of_another_session_is_named_as_limit() {
    let server = Postgres::start(&newest_postgres(), &[]);
    let desk = load_one_row(&server.url());
    let somebody = "DO $$ BEGIN FOR i IN 1..40 LOOP
        LOCK TABLE one_row IN EXCLUSIVE MODE; PERFORM pg_sleep(0.3); COMMIT;
    END LOOP; END $$";
    std::thread::scope(|scope| {
        let locking = scope.spawn(|| server.try_psql("postgres", "postgres", somebody));
        let limit = limit_of_one_row(&server.url(), &desk, "2");
        assert!(limit.starts_with("limited by locks (relation)"), "{limit}");
        server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %'");
        // The command was interrupted or has ended.
        let _ = locking.join().unwrap();
    });
}

#[test]
fn round_trips_are_named_as_limit_and_unsampled_limit_is_unknown() {
    let server = Postgres::start(&newest_postgres(), &[("fsync", "off")]);
    let desk = TestEnv::new();
    let direct = server.url();
    assert_success(&desk.dyno(&[&["load", "--target", &direct][..], &SMALL].concat()));
    let proxy = Proxy::start(server.port());
    for session in 0..2 {
        proxy.delay(&format!("dyno session {session}"), Duration::from_millis(5));
    }
    let url = proxy.url();
    let few = ["--set", "workload.lookup_pct=100", "--set", "run.sessions_per_schema=2"];
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &few].concat())));
    let far = last_limit(&desk);
    if is_starved(&desk) {
        return dyno_testbed::skip_unsupported("a long way to the server", "others keep the processors busy");
    }
    assert!(far.starts_with("limited by round trips: "), "{far}");
    // Without samples of what sessions wait for, the bottleneck is unknown.
    let unseen = ["--set", "observe.waits=off"];
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &few, &unseen].concat())));
    let unseen = last_limit(&desk);
    if is_starved(&desk) {
        return dyno_testbed::skip_unsupported("what nobody can know", "others keep the processors busy");
    }
    assert!(unseen.starts_with("bottleneck unknown: "), "{unseen}");
    // A configured rate needs no samples.
    let rate = ["--set", "workload.rate=20/s"];
    assert_success(&desk.dyno(&run(&url, &[&SMALL[..], &few, &rate].concat())));
    let rate = last_limit(&desk);
    assert!(rate.starts_with("limited by the requested rate: "), "{rate}");
}
