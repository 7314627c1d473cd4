//! The proofs as a user runs them.

use std::process::Command;

use crate::common::json::ExpectJson;
use crate::common::proxy::Proxy;
use crate::common::{TestEnv, short_run_args};
use dyno_testbed::Postgres;
use serde_json::Value;

#[test]
fn window_proof_runs_without_a_database() {
    let desk = TestEnv::new();
    let (code, proof) = desk.json(&["prove", "window"]);
    assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
    let figures = proof["figures"].items();
    assert!(figures.len() > 100, "{}", figures.len());
    let recorded_value = |scene: &str, figure: &str| {
        let matching_figure = figures.iter().find(|f| f["scene"] == scene && f["figure"] == figure);
        matching_figure.unwrap_or_else(|| panic!("no figure {figure} in {scene}"))["recorded"].number()
    };
    // 10 µs each except for stalls of a second: response times show them, service times do not.
    let scene = "open loop with stalls";
    assert!(recorded_value(scene, "service time, p99") < 11.0);
    assert!(recorded_value(scene, "response time, p99") > 900_000.0);
    let output = desk.dyno(&["prove", "window"]);
    assert!(output.out.contains("proved: "), "{output:#?}");
    crate::common::assert_fits_width(&output.out);
}

const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "workload.work_unit=4"];

/// `args` on `url`, with small data and a short run.
fn args_on<'a>(url: &'a str, args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let short = if args == ["load"] { args.to_vec() } else { short_run_args(args) };
    [&short[..], &["--target", url], &DATA, more].concat()
}

fn assert_proved(code: i32, proof: &Value) {
    assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
    let account = &proof["account"];
    assert!(account["commits_acknowledged"].count() > 0, "{proof:#}");
    assert_eq!(account["rows_acknowledged"], account["rows_found"], "{proof:#}");
}

#[test]
fn updates_are_proved_on_embedded_engine() {
    let desk = TestEnv::new();
    for url in ["sqlite:bench.db", "sqlite::memory:"] {
        assert_eq!(desk.dyno(&args_on(url, &["load"], &[])).code, 0);
        let three = ["--set", "run.sessions_per_schema=3", "--set", "data.schemas=1"];
        let (code, proof) = desk.json(&args_on(url, &["prove", "updates"], &three));
        assert_proved(code, &proof);
        assert_eq!(proof["recorded_rows_updated"], proof["account"]["rows_acknowledged"]);
        let (_, record) = desk.json(&["show", "last"]);
        assert_eq!(record["id"], proof["run"], "the run is stored as any other");
        assert_eq!(record["plan"]["workload"]["update_pct"], 100);
    }
    let output =
        desk.dyno(&args_on("sqlite:bench.db", &["prove", "updates"], &["--set", "workload.update_pct=30"]));
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.out.contains("proved: each of "));
    crate::common::assert_fits_width(&output.out);
}

#[test]
fn missing_rows_are_reported_before_proof_starts() {
    let desk = TestEnv::new();
    let output = desk.dyno(&args_on("sqlite:none.db", &["prove", "updates"], &[]));
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("dyno load"), "{}", output.err);
}

#[test]
fn durability_proof_is_refused_for_embedded_engine() {
    let desk = TestEnv::new();
    let output =
        desk.dyno(&args_on("sqlite:bench.db", &["prove", "durability"], &["--kill-command", "true"]));
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("inside this process"), "{}", output.err);
    assert!(output.err.contains("hint: "), "{}", output.err);
}

fn on_each_version(settings: &[(&str, &str)], test: impl Fn(&mut Postgres, &TestEnv)) {
    for version in Postgres::available() {
        let mut server = Postgres::start(&version, settings);
        let desk = TestEnv::new();
        let url = server.url();
        assert_eq!(desk.dyno(&args_on(&url, &["load"], &[])).code, 0);
        test(&mut server, &desk);
    }
}

#[test]
fn updates_are_proved_on_servers_with_client_and_server_drive() {
    on_each_version(&[], |server, desk| {
        let url = server.url();
        for drive in ["workload.drive=client", "workload.drive=server"] {
            let set =
                ["--set", drive, "--set", "run.sessions_per_schema=4", "--set", "workload.update_pct=50"];
            let (code, proof) = desk.json(&args_on(&url, &["prove", "updates"], &set));
            assert_proved(code, &proof);
            assert_eq!(proof["recorded_rows_updated"], proof["account"]["rows_acknowledged"]);
        }
    });
}

/// Connections are cut while answers are in transit: the database has committed, but the client does not
/// know.
#[test]
fn updates_are_proved_while_connections_are_cut() {
    on_each_version(&[], |server, desk| {
        for (drive, per_cut) in [("workload.drive=client", 1), ("workload.drive=server", 16_384)] {
            let proxy = Proxy::start(server.port());
            let url = proxy.url();
            let set =
                ["--set", drive, "--set", "run.sessions_per_schema=3", "--set", "run.time=3s", "--json"];
            let mut proving = desk.start(&args_on(&url, &["prove", "updates"], &set));
            proving.wait_for_line("window");
            let cut = ["dyno session 0", "dyno session 1", "dyno session 2"];
            cut.iter().for_each(|session| proxy.hold_answers(session));
            cut.iter().for_each(|session| proxy.wait_until_waiting(session));
            for session in cut {
                assert!(proxy.cut(session) > 0, "{session} was there");
            }
            let output = proving.wait();
            let proof: Value =
                serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
            assert_proved_but_for_unknown(&output, &proof, cut.len() as u64, per_cut);
            let (_, record) = desk.json(&["show", "last"]);
            let errors = record["errors"].items();
            let reconnects: u64 = errors.iter().map(|error| error["reconnects"].count()).sum();
            assert_eq!(reconnects, cut.len() as u64, "{errors:#?}");
        }
    });
}

/// Nothing is lost, nothing exists twice, and the unknown outcomes are bounded by `cuts` times `per_cut` and
/// reported.
fn assert_proved_but_for_unknown(
    output: &crate::common::CommandOutput,
    proof: &Value,
    cuts: u64,
    per_cut: u64,
) {
    assert_eq!((output.code, &proof["proved"]), (0, &true.into()), "{proof:#}");
    let account = &proof["account"];
    let number = |name: &str| account[name].count();
    assert!((1..=cuts * per_cut).contains(&number("commits_unknown")), "{proof:#}");
    // Their answers were in transit, so at least one was fully committed: the plan's work unit is four rows.
    let unknown_found = number("rows_unknown_found");
    assert!(unknown_found >= 4, "{proof:#}");
    assert!(unknown_found <= 4 * number("commits_unknown"), "{proof:#}");
    assert_eq!(number("rows_found"), number("rows_acknowledged") + unknown_found, "{proof:#}");
    assert_eq!((number("rows_lost"), number("rows_surplus")), (0, 0), "{proof:#}");
    let verdict = proof["verdict"].text();
    assert!(verdict.contains("more were interrupted by errors and may or may not be present"), "{verdict}");
}

#[test]
fn proof_finds_foreign_and_lost_updates() {
    on_each_version(&[], |server, desk| {
        let url = server.url();
        let mut proving = desk.start(&args_on(&url, &["prove", "updates", "--json"], &[]));
        proving.wait_for_line("warm-up");
        // One update too many, one too few: the sum of all versions is unchanged.
        server.psql("UPDATE dyno.rows_1 SET ver = ver + 1 WHERE custid = 7");
        server.psql("UPDATE dyno.rows_1 SET ver = ver - 1 WHERE custid = 8");
        let output = proving.wait();
        let proof: Value =
            serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
        assert_eq!((output.code, &proof["proved"]), (1, &false.into()), "{proof:#}");
        let account = &proof["account"];
        assert_eq!((&account["rows_lost"], &account["rows_surplus"]), (&1.into(), &1.into()), "{proof:#}");
        assert_eq!(
            account["rows_found"], account["rows_acknowledged"],
            "a sum alone would have said nothing"
        );
        assert_eq!(proof["verdict"].text().split(':').next(), Some("not proved"));
    });
}

/// A command that kills every process of a server with SIGKILL; the first is stopped, so that it starts no
/// other.
fn kill_command(server: &Postgres) -> String {
    let pid_file = server.data_dir().join("postmaster.pid");
    let pid_file = pid_file.display();
    format!(
        "p=$(head -1 {pid_file}); kill -STOP $p; c=$(cat /proc/$p/task/$p/children); kill -KILL $p $c; \
         while kill -0 $c 2>/dev/null; do sleep 0.1; done; true"
    )
}

/// Proves durability against `server`, which is killed after a second and restarted when the proof waits for
/// it.
fn prove_durability(server: &mut Postgres, desk: &TestEnv, more: &[&str]) -> (i32, Value) {
    let (url, kill) = (server.url(), kill_command(server));
    let args = ["prove", "durability", "--json", "--after", "1s", "--kill-command", &kill];
    let mut proof = desk.start(&args_on(&url, &args, more));
    proof.wait_for_line("waiting for the server");
    server.kill9();
    server.restart();
    let output = proof.wait();
    let value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    (output.code, value)
}

#[test]
fn durable_server_keeps_every_acknowledged_commit() {
    on_each_version(&[], |server, desk| {
        for drive in ["workload.drive=client", "workload.drive=server"] {
            let set = ["--set", drive, "--set", "run.sessions_per_schema=4"];
            let (code, proof) = prove_durability(server, desk, &set);
            assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
            assert_eq!(proof["server"], "crashed and recovered", "{proof:#}");
            let account = &proof["account"];
            assert!(account["commits_acknowledged"].count() > 0, "{proof:#}");
            assert_eq!(account["commits_found"], account["commits_acknowledged"], "{proof:#}");
            let (_, record) = desk.json(&["show", "last"]);
            assert_eq!((&record["id"], record["status"].as_str()), (&proof["run"], Some("interrupted")));
        }
    });
}

#[test]
fn durability_proof_finds_commits_not_waiting_for_log() {
    // Only sessions with full log buffers write the log, and no page is written early.
    let lie = [("synchronous_commit", "off"), ("wal_buffers", "64MB"), ("bgwriter_lru_maxpages", "0")];
    on_each_version(&lie, |server, desk| {
        // The log writer is as slow as possible; up to version 15 it is woken for every page and would lose
        // little.
        let writer = server.psql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
        assert!(Command::new("kill").args(["-STOP", &writer]).status().unwrap().success());
        let (code, proof) = prove_durability(server, desk, &["--set", "run.sessions_per_schema=2"]);
        assert_eq!((code, &proof["proved"]), (1, &false.into()), "{proof:#}");
        assert!(proof["account"]["commits_lost"].count() > 0, "{proof:#}");
        assert_eq!(proof["settings_off"], serde_json::json!(["synchronous_commit"]));
        let verdict = proof["verdict"].text();
        assert!(verdict.contains("acknowledged commits are lost"), "{verdict}");
        assert!(
            proof["reasons"][0].text().starts_with("likely cause: synchronous_commit = off"),
            "{proof:#}"
        );
    });
}

#[test]
fn setting_this_kill_cannot_test_is_a_warning() {
    on_each_version(&[("fsync", "off")], |server, desk| {
        let (code, proof) = prove_durability(server, desk, &[]);
        assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
        assert!(proof["reasons"][0].text().starts_with("warning: fsync = off"), "{proof:#}");
    });
}

#[test]
fn durability_is_not_proved_without_a_server_kill() {
    on_each_version(&[], |server, desk| {
        let url = server.url();
        // A clean stop: everything is written before the server ends.
        let file = desk.file("stopped").display().to_string();
        let stop = format!(
            "kill -INT $(head -1 {}); while [ ! -e {file} ]; do sleep 0.1; done",
            server.data_dir().join("postmaster.pid").display()
        );
        let args = ["prove", "durability", "--after", "1s", "--kill-command", &stop];
        let mut proof = desk.start(&args_on(&url, &args, &[]));
        proof.wait_for_line("killing the server");
        server.stop();
        std::fs::write(desk.file("stopped"), "").unwrap();
        proof.wait_for_line("waiting for the server");
        server.restart();
        let output = proof.wait();
        assert_eq!(output.code, 1, "{output:#?}");
        assert!(output.out.contains("shut down cleanly"), "{output:#?}");
    });
}

#[test]
fn server_that_does_not_restart_is_reported() {
    on_each_version(&[], |server, desk| {
        let (url, kill) = (server.url(), kill_command(server));
        let args = ["prove", "durability", "--after", "1s", "--kill-command", &kill, "--restart-wait", "1s"];
        let output = desk.dyno(&args_on(&url, &args, &["--restart-command", "echo started"]));
        assert_eq!(output.code, 3, "{output:#?}");
        assert!(output.err.contains("did not come back within 1 s"), "{output:#?}");
        assert!(output.err.contains("started"), "{output:#?}");
    });
}
