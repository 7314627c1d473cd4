//! Observes the database host through a real sshd and a real node_exporter on this machine: their figures
//! must equal this machine's own. Also tests hosts that refuse access, report wrong data, change their clock
//! or disappear.

use std::path::{Path, PathBuf};

use dyno_testbed::{NodeExporter, Postgres, Sshd, certificates};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{Running, TestEnv, assert_fits_schema, find_check};

/// A server with some data, and a test environment that reaches hosts through `sshd`.
struct HostScene {
    desk: TestEnv,
    server: Postgres,
    sshd: Sshd,
}

pub const RUN: [&str; 10] = [
    "--set",
    "run.time=3s",
    "--set",
    "run.warmup=100ms",
    "--set",
    "observe.interval=500ms",
    "--set",
    "workload.update_pct=30",
    "--set",
    "workload.rate=300/s",
];

impl HostScene {
    fn new(forced: &[(&str, &str)]) -> Option<Self> {
        let version = Postgres::available().into_iter().next()?;
        let sshd = Sshd::start(forced)?;
        let scene = Self { desk: TestEnv::new(), server: Postgres::start(&version, &[]), sshd };
        let output =
            scene.desk.dyno(&["load", "--target", &scene.server.url(), "--set", "data.scale=500 blocks"]);
        assert_eq!(output.code, 0, "{output:#?}");
        Some(scene)
    }

    fn args<'a>(&'a self, command: &'a str, url: &'a str, hosts: &'a str) -> Vec<&'a str> {
        vec![command, "--target", url, "--set", "data.scale=500 blocks", "--set", hosts]
    }

    /// The record of a run with the observed hosts `hosts`, and its exit code.
    fn run(&self, hosts: &str) -> (i32, Value) {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let mut command =
            self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN, &["--json"]].concat());
        let output = command.env("PATH", self.sshd.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let record =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        (output.status.code().unwrap(), record)
    }

    /// Like `run`, repeated if a busy machine read both hosts far apart in time.
    fn run_with_precise_readings(&self, hosts: &str) -> (i32, Value) {
        let mut ran = self.run(hosts);
        for _ in 0..3 {
            if ran.0 != 0 || is_reading_precise(&ran.1) {
                break;
            }
            ran = self.run(hosts);
        }
        ran
    }

    /// Starts a run that takes minutes.
    fn start(&self, hosts: &str) -> Running {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let long = ["--set", "run.time=5m", "--json", "--verbose"];
        let mut command = self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN, &long].concat());
        command.env("PATH", self.sshd.path());
        Running::spawn(command)
    }

    /// The error of a command that cannot continue.
    fn run_refused(&self, hosts: &str) -> (i32, String) {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let mut command = self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN].concat());
        let output = command.env("PATH", self.sshd.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).replace("\n", " ");
        (output.status.code().unwrap(), stderr.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Maximum time between the readings of both hosts, at the start and at the end, s.
fn reading_gap_s(record: &Value) -> f64 {
    let edge = |name: &str| {
        let reading = &record["hosts"][1]["observed"][name];
        number(&reading["after_s"]).abs() + number(&reading["bound_s"])
    };
    edge("begin") + edge("end")
}

/// Whether the readings are so close that others cannot have written much in between.
fn is_reading_precise(record: &Value) -> bool {
    // A reading that came late on a busy machine has no time.
    let is_read = |name: &str| record["hosts"][1]["observed"][name]["after_s"].is_number();
    is_read("begin") && is_read("end") && reading_gap_s(record) < 0.02 * number(&record["window"]["seconds"])
}

/// Asserts that the record's second host reports what the first does, within the time between the readings.
pub fn assert_tells_the_same(record: &Value) {
    assert_fits_schema(record);
    let (here, remote_host) = (&record["hosts"][0], &record["hosts"][1]);
    assert_eq!(
        (&here["roles"], &remote_host["roles"]),
        (&serde_json::json!(["driver"]), &serde_json::json!(["database"]))
    );
    assert_eq!((&here["name"], &here["cpus"]), (&remote_host["name"], &remote_host["cpus"]));
    let observed = &remote_host["observed"];
    assert_eq!((&observed["is_driver"], &observed["targets"]), (&Value::Bool(true), &serde_json::json!([1])));
    // A processor cannot work for longer than the elapsed time, and ticks are truncated.
    let most_s = number(&here["cpus"]) * (reading_gap_s(record) + 0.1);
    let (mine, its) = (&here["counters"], &remote_host["counters"]);
    for name in ["cpu.user_s", "cpu.system_s"] {
        let apart_s = (number(&mine[name]) - number(&its[name])).abs();
        assert!(apart_s <= most_s, "{name}: {apart_s} s apart, {most_s} are possible: {record:#}");
    }
    let device = record["hosts"][1]["facts"]["place.data.device"].as_str();
    assert_eq!(here["facts"]["place.data.device"].as_str(), device);
    if let Some(device) = device {
        let written = |of: &Value| number(&of[&format!("device.{device}.write_bytes")]);
        let (mine, its) = (written(mine), written(its));
        assert!(its > 0.0, "{record:#}");
        assert!((!is_reading_precise(record) || its < 2.0 * mine && mine < 2.0 * its), "{record:#}");
        let rate = number(&record["metrics"]["device_writes_per_s"]["value"]);
        assert_eq!(
            rate,
            number(&remote_host["counters"][&format!("device.{device}.writes_per_s")]),
            "the run's figure is the database's host's"
        );
    }
    assert_eq!(record["metrics"]["cpu_busy_pct"]["value"], its["cpu.busy_pct"]);
    assert!(its.get("process.cpu_s").is_none());
    assert!(mine.get("process.cpu_s").is_some());
    let points = record["series"]["points"].items();
    assert!(points.iter().any(|point| point["metrics"]["cpu_busy_pct"].is_number()), "{record:#}");
    let readings = find_check(record, "host_readings");
    assert_ne!(readings["status"], "skip", "{readings}");
}

#[test]
fn ssh_and_node_exporter_report_same_host_data_as_local() {
    let Some(scene) = HostScene::new(&[]) else { return };
    let (code, record) = scene.run_with_precise_readings("ssh://db1");
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    let clock = &record["hosts"][1]["observed"]["clock"];
    assert!(number(&clock["ahead_s"]).abs() <= number(&clock["bound_s"]) + 0.05, "it is one clock: {clock}");
    assert_eq!(record["hosts"][1]["facts"]["boot_id"], record["hosts"][0]["facts"]["boot_id"]);

    let url = scene.server.url();
    let mut command = scene.desk.command(&scene.args("check", &url, "observe.hosts=ssh://db1"));
    let output = command.env("PATH", scene.sshd.path()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("ssh://db1"), "{stdout}");
    assert!(stdout.contains("answers in"), "{stdout}");

    let Some(exporter) = NodeExporter::start(&["--no-collector.pressure"]) else { return };
    let (code, record) = scene.run_with_precise_readings(&exporter.url());
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    let missing = record["hosts"][1]["observed"]["missing"].fields();
    assert!(missing["pressure"].text().contains("collector pressure"), "{missing:?}");
    assert!(!record["hosts"][1]["counters"].fields().keys().any(|name| name.starts_with("pressure")));
}

#[test]
fn refused_host_login_is_reported_with_a_hint() {
    let wild = [
        ("flood", "yes 0123456789012345678901234567890123456789"),
        ("closing", "echo closed for today; exit 1"),
    ];
    let Some(scene) = HostScene::new(&wild) else { return };
    for (host, words, way_out) in [
        ("locked", "Permission denied", "Dyno does not prompt for a password"),
        ("stranger", "Host key verification failed", "log in by hand once"),
        ("closed", "Connection refused", "check that sshd runs there"),
        ("flood", "it sent more than", "this key may have a forced command"),
        ("closing", "closed for today", "needs a login shell"),
    ] {
        let (code, error_text) = scene.run_refused(&format!("ssh://{host}"));
        assert!(code == 3, "{host}: {code}: {error_text}");
        assert!(error_text.contains(words), "{host}: {code}: {error_text}");
        assert!(error_text.contains(way_out), "{host}: {code}: {error_text}");
    }
    let (code, exporter_error) = scene.run_refused("node-exporter://127.0.0.1:1");
    assert!(code == 3, "{exporter_error}");
    assert!(exporter_error.contains("check that node_exporter runs there"), "{exporter_error}");
    let (code, runs) = scene.desk.json(&["list"]);
    assert_eq!((code, runs.as_array().map(Vec::len)), (0, Some(0)), "nothing was begun: {runs}");
}

/// The faketime library, which gives a program another clock.
fn faketime() -> Option<PathBuf> {
    let dirs = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let library = dirs.map(|dir| dir.join("faketime/libfaketime.so.1")).find(|path| path.exists());
    if library.is_none() {
        dyno_testbed::skip("a machine whose clock is set", "libfaketime is not installed");
    }
    library
}

fn forced_clock_command(library: &Path, file: &Path) -> String {
    format!(
        "LD_PRELOAD={} FAKETIME_NO_CACHE=1 FAKETIME_TIMESTAMP_FILE={} exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
        library.display(),
        file.display()
    )
}

#[test]
fn run_is_stored_after_host_clock_step_and_lost_connection() {
    let Some(library) = faketime() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clock");
    std::fs::write(&file, "+1h\n").unwrap();
    let command = forced_clock_command(&library, &file);
    let Some(scene) = HostScene::new(&[("faked", &command)]) else { return };
    let mut run = scene.start("ssh://faked");
    run.wait_for_line("ops/s");
    std::fs::write(&file, "+3h\n").unwrap();
    let intervals = run.stderr_text.matches("ops/s").count();
    while run.stderr_text.matches("ops/s").count() < intervals + 4 {
        run.next_line().unwrap();
    }
    scene.sshd.break_connections();
    let intervals = run.stderr_text.matches("ops/s").count();
    while run.stderr_text.matches("ops/s").count() < intervals + 3 {
        run.next_line().unwrap();
    }
    run.signal("INT");
    let output = run.wait();
    let record: Value =
        serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    let observed = &record["hosts"][1]["observed"];
    let clock = &observed["clock"];
    assert!((number(&clock["ahead_s"]) - 10_800.0).abs() < 60.0, "{observed:#}");
    assert!(number(&clock["steps"]) >= 1.0, "{observed:#}");
    assert!((number(&clock["step_s_max"]) - 7_200.0).abs() < 60.0, "{observed:#}");
    // The clock step shifted no reading: intervals before it have figures, and none spans hours.
    let busy: Vec<Option<f64>> = record["series"]["points"]
        .items()
        .iter()
        .map(|point| point["metrics"]["cpu_busy_pct"].as_f64())
        .collect();
    assert!(busy.iter().flatten().count() >= 2, "{busy:?}");
    assert!(busy.iter().flatten().all(|pct| (0.0..=100.0).contains(pct)), "{busy:?}");
    assert!(observed["lost"].text().contains("the connection was lost"), "{observed:#}");
    let absent = &record["metrics"]["cpu_busy_pct"]["absent"];
    assert!(absent.as_str().is_some_and(|why| why.contains("ssh://faked")), "{absent}");
    assert!(
        record["hosts"][0]["counters"]["cpu.busy_pct"].is_number(),
        "what drove it is known all the same"
    );
    let readings = find_check(&record, "host_readings");
    assert_eq!(readings["status"], "warn", "{readings}");
    assert!(readings["detail"].text().contains("ssh://faked"), "{readings}");
}

/// Configuration with which node_exporter requires TLS and the password `pa55-w0rd`.
const WEB: &str = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\nbasic_auth_users:\n  \
    prom: $2b$04$abcdefghijklmnopqrstuu8B1hTrEGYBZ6LRlThRNK/haYEwcGIJe\n";

#[test]
fn node_exporter_with_tls_and_password_reports_same_data() {
    let Some(scene) = HostScene::new(&[]) else { return };
    let made = certificates::make();
    let files = [("web.yml", WEB), ("server.pem", &*made.server_cert), ("server.key", &*made.server_key)];
    let Some(exporter) = NodeExporter::start_with(&files, &[]) else { return };
    let desk = &scene.desk;
    desk.write("ca.pem", &made.ca_cert);
    desk.write("other.pem", &certificates::make().ca_cert);
    desk.write("password", "pa55-w0rd\n");
    desk.write("wrong", "no-such-w0rd\n");
    let file = |name: &str| desk.file(name).display().to_string();
    let url = format!("node-exporter+https://prom@localhost:{}", exporter.port());
    let whole = format!("{url} password_file={} ca={}", file("password"), file("ca.pem"));
    let (code, record) = scene.run_with_precise_readings(&whole);
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    assert_eq!(record["hosts"][1]["observed"]["url"], *url);

    let bare = format!("localhost:{}", exporter.port());
    for (hosts, words, way_out) in [
        (format!("{url} password_file={} ca={}", file("wrong"), file("ca.pem")), "401", "password_env ="),
        (format!("node-exporter+https://{bare} ca={}", file("ca.pem")), "401", "password_env ="),
        (format!("{url} password_file={} ca={}", file("password"), file("other.pem")), "certificate", "ca ="),
        (format!("{url} password_file={}", file("password")), "certificate", "ca ="),
        (
            format!("{url} password_file={} ca={}", file("password"), file("password")),
            "holds no certificate",
            "PEM",
        ),
        (format!("node-exporter://{bare}"), "400", "node-exporter+https://HOST:PORT"),
    ] {
        let (code, error_text) = scene.run_refused(&hosts);
        assert!(code == 3, "{hosts}: {code}: {error_text}");
        assert!(error_text.contains(words), "{hosts}: {code}: {error_text}");
        assert!(error_text.contains(way_out), "{hosts}: {code}: {error_text}");
        assert!(!error_text.contains("w0rd"), "{error_text}");
    }
    let (code, password_error) =
        scene.run_refused(&format!("{url} password_env=NO_SUCH_VARIABLE ca={}", file("ca.pem")));
    assert!(code == 2, "{password_error}");
    assert!(
        password_error.contains("NO_SUCH_VARIABLE (observe.hosts.password_env) is not set"),
        "{password_error}"
    );
    let stored = std::fs::read(desk.file("runs.sqlite3")).unwrap();
    assert!(!stored.windows(9).any(|bytes| bytes == b"pa55-w0rd"), "the password is in the repository");
}

#[test]
fn watch_observes_database_host_until_it_is_lost() {
    let Some(scene) = HostScene::new(&[]) else { return };
    let url = scene.server.url();
    let watch = |length: &str, interval: &str| {
        let args = [
            "watch",
            &url,
            "--time",
            length,
            "--interval",
            interval,
            "--set",
            "observe.hosts=ssh://db1",
            "--json",
            "--verbose",
        ];
        let mut command = scene.desk.command(&args);
        command.env("PATH", scene.sshd.path());
        Running::spawn(command)
    };
    // An answer may take a quarter of an interval; on a busy machine the shortest interval may be too short,
    // and the run reports that.
    let mut record = Value::Null;
    for (length, interval) in [("3s", "500ms"), ("10s", "2s"), ("30s", "5s")] {
        let output = watch(length, interval).wait();
        assert_eq!(output.code, 0, "{output:#?}");
        record = scene.desk.json(&["show", "last"]).1;
        assert_fits_schema(&record);
        let busy = &record["metrics"]["cpu_busy_pct"];
        if busy["value"].is_number() && record["hosts"][0]["counters"]["cpu.user_s"].is_number() {
            break;
        }
        assert!(
            busy["value"].is_number() || busy["absent"].as_str().is_some_and(|why| why.contains("ssh://db1")),
            "{busy}"
        );
    }
    let watched_host = &record["hosts"][0];
    assert_eq!(
        (&watched_host["roles"], &watched_host["observed"]["url"]),
        (&serde_json::json!(["database"]), &"ssh://db1".into())
    );
    assert!(number(&record["metrics"]["cpu_busy_pct"]["value"]) > 0.0, "{record:#}");
    assert!(number(&watched_host["counters"]["cpu.user_s"]) >= 0.0);
    assert!(watched_host["counters"].get("process.cpu_s").is_none());
    let points = record["series"]["points"].items();
    assert!(points.iter().any(|point| point["metrics"]["cpu_busy_pct"].is_number()), "{record:#}");

    let mut lost = watch("1h", "500ms");
    let after = |watch: &mut Running, more: usize| {
        let intervals = watch.stderr_text.matches("ETA").count();
        while watch.stderr_text.matches("ETA").count() < intervals + more {
            watch.next_line().unwrap();
        }
    };
    after(&mut lost, 4);
    scene.sshd.break_connections();
    after(&mut lost, 8);
    lost.signal("INT");
    let lost_output = lost.wait();
    assert_eq!(lost_output.code, 130, "{lost_output:#?}");
    let (_, record) = scene.desk.json(&["show", "last"]);
    let why = record["hosts"][0]["observed"]["lost"].text();
    assert!(why.contains("the connection was lost"), "{why}");
    let absent = record["metrics"]["cpu_busy_pct"]["absent"].text();
    assert!(absent.contains("ssh://db1"), "{absent}");
    assert!(
        number(&record["metrics"]["commits_per_s"]["value"]) >= 0.0,
        "the database was looked at to the end"
    );
    let spread = &record["watched"]["spreads"]["cpu_busy_pct"];
    assert!(number(&spread["seconds"]) < number(&record["watched"]["known_s"]), "{spread}");
}
