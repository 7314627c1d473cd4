//! The database's machine looked at through a real sshd and a real node_exporter on this one: what they tell has to be what this
//! machine tells of itself; and what becomes of a run whose machine does not let us in, lies, is set or goes away.

use std::path::{Path, PathBuf};

use dyno_testbed::{NodeExporter, Postgres, Sshd, certificates};
use serde_json::Value;

use crate::common::{Desk, Running, assert_fits_schema, check};

/// A server with some data, and a desk that reaches machines through `sshd`.
struct Scene {
    desk: Desk,
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

impl Scene {
    fn new(forced: &[(&str, &str)]) -> Option<Self> {
        let version = Postgres::available().into_iter().next()?;
        let sshd = Sshd::start(forced)?;
        let scene = Self { desk: Desk::new(), server: Postgres::start(&version, &[]), sshd };
        let said =
            scene.desk.dyno(&["load", "--target", &scene.server.url(), "--set", "data.scale=500 blocks"]);
        assert_eq!(said.code, 0, "{said:#?}");
        Some(scene)
    }

    fn args<'a>(&'a self, command: &'a str, url: &'a str, hosts: &'a str) -> Vec<&'a str> {
        vec![command, "--target", url, "--set", "data.scale=500 blocks", "--set", hosts]
    }

    /// The record of a run whose machine is `hosts`, and its exit code.
    fn run(&self, hosts: &str) -> (i32, Value) {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let mut command =
            self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN, &["--json"]].concat());
        let output = command.env("PATH", self.sshd.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let record = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        (output.status.code().unwrap(), record)
    }

    /// The same, again where a busy machine read both machines far apart.
    fn run_sharply(&self, hosts: &str) -> (i32, Value) {
        let mut ran = self.run(hosts);
        for _ in 0..3 {
            if ran.0 != 0 || is_sharp(&ran.1) {
                break;
            }
            ran = self.run(hosts);
        }
        ran
    }

    /// Starts a run that lasts for minutes.
    fn start(&self, hosts: &str) -> Running {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let long = ["--set", "run.time=5m", "--json", "--verbose"];
        let mut command = self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN, &long].concat());
        command.env("PATH", self.sshd.path());
        Running::of(command)
    }

    /// What a command says that cannot go on.
    fn refused(&self, hosts: &str) -> (i32, String) {
        let (url, hosts) = (self.server.url(), format!("observe.hosts={hosts}"));
        let mut command = self.desk.command(&[&self.args("run", &url, &hosts)[..], &RUN].concat());
        let output = command.env("PATH", self.sshd.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).replace("\n", " ");
        (output.status.code().unwrap(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// How far apart the readings of both machines may lie, of the begin and of the end.
fn blur_s(record: &Value) -> f64 {
    let edge = |name: &str| {
        let reading = &record["hosts"][1]["observed"][name];
        number(&reading["after_s"]).abs() + number(&reading["bound_s"])
    };
    edge("begin") + edge("end")
}

/// Whether they lie so close together that others cannot have written much between them.
fn is_sharp(record: &Value) -> bool {
    // A reading that came late on a busy machine has no moment.
    let is_read = |name: &str| record["hosts"][1]["observed"][name]["after_s"].is_number();
    is_read("begin") && is_read("end") && blur_s(record) < 0.02 * number(&record["window"]["seconds"])
}

/// That the second machine of a record tells what the first does, within the time between the two readings.
pub fn assert_tells_the_same(record: &Value) {
    assert_fits_schema(record);
    let (here, there) = (&record["hosts"][0], &record["hosts"][1]);
    assert_eq!(
        (&here["roles"], &there["roles"]),
        (&serde_json::json!(["driver"]), &serde_json::json!(["database"]))
    );
    assert_eq!((&here["name"], &here["cpus"]), (&there["name"], &there["cpus"]));
    let observed = &there["observed"];
    assert_eq!((&observed["is_driver"], &observed["targets"]), (&Value::Bool(true), &serde_json::json!([1])));
    // No processor works for longer than time passes, and ticks are cut.
    let most_s = number(&here["cpus"]) * (blur_s(record) + 0.1);
    let (mine, its) = (&here["counters"], &there["counters"]);
    for name in ["cpu.user_s", "cpu.system_s"] {
        let apart_s = (number(&mine[name]) - number(&its[name])).abs();
        assert!(apart_s <= most_s, "{name}: {apart_s} s apart, {most_s} are possible: {record:#}");
    }
    let device = record["hosts"][1]["facts"]["place.data.device"].as_str();
    assert_eq!(here["facts"]["place.data.device"].as_str(), device);
    if let Some(device) = device {
        let written = |of: &Value| number(&of[&format!("device.{device}.write_bytes")]);
        let (mine, its) = (written(mine), written(its));
        assert!(its > 0.0 && (!is_sharp(record) || its < 2.0 * mine && mine < 2.0 * its), "{record:#}");
        let rate = number(&record["metrics"]["device_writes_per_s"]["value"]);
        assert_eq!(
            rate,
            number(&there["counters"][&format!("device.{device}.writes_per_s")]),
            "the run's figure is the database's host's"
        );
    }
    assert_eq!(record["metrics"]["cpu_busy_pct"]["value"], its["cpu.busy_pct"]);
    assert!(its.get("process.cpu_s").is_none() && mine.get("process.cpu_s").is_some());
    let points = record["series"]["points"].as_array().unwrap();
    assert!(points.iter().any(|point| point["metrics"]["cpu_busy_pct"].is_number()), "{record:#}");
    let readings = check(record, "host_readings");
    assert_ne!(readings["status"], "skip", "{readings}");
}

#[test]
fn a_machine_behind_sshd_or_node_exporter_tells_what_it_tells_of_itself() {
    let Some(scene) = Scene::new(&[]) else { return };
    let (code, record) = scene.run_sharply("ssh://db1");
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    let clock = &record["hosts"][1]["observed"]["clock"];
    assert!(number(&clock["ahead_s"]).abs() <= number(&clock["bound_s"]) + 0.05, "it is one clock: {clock}");
    assert_eq!(record["hosts"][1]["facts"]["boot_id"], record["hosts"][0]["facts"]["boot_id"]);

    let url = scene.server.url();
    let mut command = scene.desk.command(&scene.args("check", &url, "observe.hosts=ssh://db1"));
    let said = command.env("PATH", scene.sshd.path()).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("ssh://db1") && said.contains("answers in"), "{said}");

    let Some(exporter) = NodeExporter::start(&["--no-collector.pressure"]) else { return };
    let (code, record) = scene.run_sharply(&exporter.url());
    assert_eq!(code, 0, "{record:#}");
    assert_tells_the_same(&record);
    let missing = record["hosts"][1]["observed"]["missing"].as_object().unwrap();
    assert!(missing["pressure"].as_str().unwrap().contains("collector pressure"), "{missing:?}");
    assert!(
        !record["hosts"][1]["counters"].as_object().unwrap().keys().any(|name| name.starts_with("pressure"))
    );
}

#[test]
fn a_machine_that_does_not_let_us_in_is_said_with_the_way_out() {
    let wild = [
        ("flood", "yes 0123456789012345678901234567890123456789"),
        ("closing", "echo closed for today; exit 1"),
    ];
    let Some(scene) = Scene::new(&wild) else { return };
    for (host, words, way_out) in [
        ("locked", "Permission denied", "nobody is asked for a password here"),
        ("stranger", "Host key verification failed", "log in by hand once"),
        ("closed", "Connection refused", "check that sshd runs there"),
        ("flood", "it sent more than", "command that is forced on this key"),
        ("closing", "closed for today", "needs a login shell"),
    ] {
        let (code, said) = scene.refused(&format!("ssh://{host}"));
        assert!(code == 3 && said.contains(words) && said.contains(way_out), "{host}: {code}: {said}");
    }
    let (code, said) = scene.refused("node-exporter://127.0.0.1:1");
    assert!(code == 3 && said.contains("check that node_exporter runs there"), "{said}");
    let (code, runs) = scene.desk.json(&["list"]);
    assert_eq!((code, runs.as_array().map(Vec::len)), (0, Some(0)), "nothing was begun: {runs}");
}

/// The library that gives a program another clock.
fn faketime() -> Option<PathBuf> {
    let dirs = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let found = dirs.map(|dir| dir.join("faketime/libfaketime.so.1")).find(|path| path.exists());
    if found.is_none() {
        dyno_testbed::skip("a machine whose clock is set", "libfaketime is not installed");
    }
    found
}

fn faked(library: &Path, file: &Path) -> String {
    format!(
        "LD_PRELOAD={} FAKETIME_NO_CACHE=1 FAKETIME_TIMESTAMP_FILE={} exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
        library.display(),
        file.display()
    )
}

#[test]
fn a_machine_whose_clock_is_set_and_that_goes_away_ends_in_a_stored_run() {
    let Some(library) = faketime() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clock");
    std::fs::write(&file, "+1h\n").unwrap();
    let command = faked(&library, &file);
    let Some(scene) = Scene::new(&[("faked", &command)]) else { return };
    let mut run = scene.start("ssh://faked");
    run.until("ops/s");
    std::fs::write(&file, "+3h\n").unwrap();
    let intervals = run.heard.matches("ops/s").count();
    while run.heard.matches("ops/s").count() < intervals + 4 {
        run.line().unwrap();
    }
    scene.sshd.cut();
    let intervals = run.heard.matches("ops/s").count();
    while run.heard.matches("ops/s").count() < intervals + 3 {
        run.line().unwrap();
    }
    run.signal("INT");
    let said = run.end();
    let record: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    let observed = &record["hosts"][1]["observed"];
    let clock = &observed["clock"];
    assert!((number(&clock["ahead_s"]) - 10_800.0).abs() < 60.0, "{observed:#}");
    assert!(
        number(&clock["steps"]) >= 1.0 && (number(&clock["step_s_max"]) - 7_200.0).abs() < 60.0,
        "{observed:#}"
    );
    // The step moved no reading: intervals before the cut have figures, and none is that of hours.
    let busy: Vec<Option<f64>> = record["series"]["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["metrics"]["cpu_busy_pct"].as_f64())
        .collect();
    assert!(
        busy.iter().flatten().count() >= 2 && busy.iter().flatten().all(|pct| (0.0..=100.0).contains(pct)),
        "{busy:?}"
    );
    assert!(observed["lost"].as_str().unwrap().contains("the connection was lost"), "{observed:#}");
    let absent = &record["metrics"]["cpu_busy_pct"]["absent"];
    assert!(absent.as_str().is_some_and(|why| why.contains("ssh://faked")), "{absent}");
    assert!(
        record["hosts"][0]["counters"]["cpu.busy_pct"].is_number(),
        "what drove it is known all the same"
    );
    let readings = check(&record, "host_readings");
    assert_eq!(readings["status"], "warn", "{readings}");
    assert!(readings["detail"].as_str().unwrap().contains("ssh://faked"), "{readings}");
}

/// How node_exporter is told to ask for a certificate's trust and for a password, `pa55-w0rd`.
const WEB: &str = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\nbasic_auth_users:\n  \
    prom: $2b$04$abcdefghijklmnopqrstuu8B1hTrEGYBZ6LRlThRNK/haYEwcGIJe\n";

#[test]
fn a_node_exporter_behind_tls_and_a_password_tells_the_same() {
    let Some(scene) = Scene::new(&[]) else { return };
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
    let (code, record) = scene.run_sharply(&whole);
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
        let (code, said) = scene.refused(&hosts);
        assert!(code == 3 && said.contains(words) && said.contains(way_out), "{hosts}: {code}: {said}");
        assert!(!said.contains("w0rd"), "{said}");
    }
    let (code, said) = scene.refused(&format!("{url} password_env=NO_SUCH_VARIABLE ca={}", file("ca.pem")));
    assert!(code == 2 && said.contains("NO_SUCH_VARIABLE (observe.hosts.password_env) is not set"), "{said}");
    let stored = std::fs::read(desk.file("runs.sqlite3")).unwrap();
    assert!(!stored.windows(9).any(|bytes| bytes == b"pa55-w0rd"), "the password is in the repository");
}

#[test]
fn a_watch_looks_at_the_databases_machine_until_it_goes_away() {
    let Some(scene) = Scene::new(&[]) else { return };
    let url = scene.server.url();
    let watch = |length: &str, interval: &str| {
        let args = [
            "watch",
            &url,
            "--for",
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
        Running::of(command)
    };
    // A quarter of an interval is waited for an answer; on a busy machine the shortest may be too short, and that is said.
    let mut record = Value::Null;
    for (length, interval) in [("3s", "500ms"), ("10s", "2s"), ("30s", "5s")] {
        let said = watch(length, interval).end();
        assert_eq!(said.code, 0, "{said:#?}");
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
    let there = &record["hosts"][0];
    assert_eq!(
        (&there["roles"], &there["observed"]["url"]),
        (&serde_json::json!(["database"]), &"ssh://db1".into())
    );
    assert!(number(&record["metrics"]["cpu_busy_pct"]["value"]) > 0.0, "{record:#}");
    assert!(
        number(&there["counters"]["cpu.user_s"]) >= 0.0 && there["counters"].get("process.cpu_s").is_none()
    );
    let points = record["series"]["points"].as_array().unwrap();
    assert!(points.iter().any(|point| point["metrics"]["cpu_busy_pct"].is_number()), "{record:#}");

    let mut lost = watch("1h", "500ms");
    let after = |watch: &mut Running, more: usize| {
        let intervals = watch.heard.matches("ETA").count();
        while watch.heard.matches("ETA").count() < intervals + more {
            watch.line().unwrap();
        }
    };
    after(&mut lost, 4);
    scene.sshd.cut();
    after(&mut lost, 8);
    lost.signal("INT");
    let said = lost.end();
    assert_eq!(said.code, 130, "{said:#?}");
    let (_, record) = scene.desk.json(&["show", "last"]);
    let why = record["hosts"][0]["observed"]["lost"].as_str().unwrap();
    assert!(why.contains("the connection was lost"), "{why}");
    let absent = record["metrics"]["cpu_busy_pct"]["absent"].as_str().unwrap();
    assert!(absent.contains("ssh://db1"), "{absent}");
    assert!(
        number(&record["metrics"]["commits_per_s"]["value"]) >= 0.0,
        "the database was looked at to the end"
    );
    let spread = &record["watched"]["spreads"]["cpu_busy_pct"];
    assert!(number(&spread["seconds"]) < number(&record["watched"]["known_s"]), "{spread}");
}
