//! The commands on real PostgreSQL servers of every installed version.

use crate::common::json::ExpectJson;
use crate::common::{SHORT, TestEnv, assert_fits_schema, assert_passes, find_check, short_run_args};
use dyno_testbed::Postgres;

const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=100 blocks"];

fn on_each_version(test: impl Fn(&mut Postgres, &TestEnv)) {
    for version in Postgres::available() {
        let mut server = Postgres::start(&version, &[]);
        test(&mut server, &TestEnv::new());
    }
}

fn args<'a>(command: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let head = [command, "--target", url];
    match command {
        "run" => [&short_run_args(&head)[..], &DATA, more].concat(),
        _ => [&head[..], &DATA, more].concat(),
    }
}

#[test]
fn postgres_commands_complete_from_check_to_drop() {
    on_each_version(|server, desk| {
        let url = server.url();
        let check_first = desk.dyno(&args("check", &url, &[]));
        assert_eq!(check_first.code, 0, "{check_first:#?}");
        let load = desk.dyno(&args("load", &url, &[]));
        assert_eq!(load.code, 0, "{load:#?}");
        assert_eq!(load.out.matches("1.000").count(), 3, "both tables and their sum: {}", load.out);
        let run = desk.dyno(&args("run", &url, &["--set", "workload.update_pct=20"]));
        assert_eq!(run.code, 0, "{run:#?}");
        crate::common::assert_fits_width(&run.out);
        let show = desk.dyno(&["show"]);
        assert!(show.out.contains("tables and indexes"), "{show:#?}");
        let report = desk.dyno(&["report", "last", "--format", "md", "-o", "run.md"]);
        assert_eq!(report.code, 0, "{report:#?}");
        let markdown = std::fs::read_to_string(desk.file("run.md")).unwrap();
        for name in ["## Tables", "dyno.rows\\_1", "## Indexes"] {
            assert!(markdown.contains(name), "{name}: {markdown}");
        }
        assert!(!markdown.contains("\\`dyno "), "commands are code: {markdown}");
        let drop = desk.dyno(&args("drop", &url, &["--yes"]));
        assert_eq!(drop.code, 0, "{drop:#?}");
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "0");
    });
}

#[test]
fn client_and_sqlite_counts_match_exactly() {
    on_each_version(|server, desk| {
        let url = server.url();
        assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
        let mix = [
            "--set",
            "workload.update_pct=20",
            "--set",
            "workload.lookup_pct=40",
            "--set",
            "workload.scan_pct=10",
            "--set",
            "run.sessions_per_schema=3",
        ];
        let (code, record) = desk.json(&args("run", &url, &mix));
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        assert_fits_schema(&record);
        for name in [
            "commits",
            "commits_whole",
            "rows_updated",
            "rows_updated_whole",
            "heap_reads_whole",
            "update_values",
        ] {
            assert_passes(&record, name);
        }
        let updated = record["counters"]["native"]["dyno.rows.n_tup_upd"].number();
        let window = &record["window"];
        let counted = window["counted"]["rows_updated"].number();
        // Statistics that sessions published while a boundary's counters were read may be included or not.
        let unsure = |edge: usize| window["unsure"][edge]["rows_updated"].as_f64().unwrap_or(0.0);
        assert!((counted - unsure(0)..=counted + unsure(1)).contains(&updated), "{updated}: {window:#}");
        assert!(record["waits"]["samples"].count() > 0, "{}", record["waits"]);
        assert!(record["ops"]["commit"]["service_us"]["p99"].number() > 0.0);
    });
}

#[test]
fn server_drive_does_same_work_inside_the_database() {
    on_each_version(|server, desk| {
        let url = server.url();
        assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
        let server_side = ["--set", "workload.drive=server", "--set", "workload.update_pct=20"];
        let (code, record) = desk.json(&args("run", &url, &server_side));
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        assert!(record["ops"]["slice"]["count"].count() > 0);
        assert_passes(&record, "rows_updated");
        assert!(
            record["ops"]["all"]["service_us"]["p99"].is_null(),
            "operations in slices are not timed one by one"
        );
    });
}

#[test]
fn postgres_socket_url_passes_check() {
    on_each_version(|server, desk| {
        let output = desk.dyno(&["check", "--target", &server.socket_url()]);
        assert_eq!(output.code, 0, "{output:#?}");
    });
}

#[test]
fn wrong_password_is_reported_and_not_echoed() {
    on_each_version(|server, desk| {
        server.psql("SET password_encryption = 'scram-sha-256'; CREATE ROLE app LOGIN PASSWORD 'right'");
        server.set_hba("host all app all scram-sha-256\nhost all all all trust\nlocal all all trust\n");
        let url = server.url_of("app", "postgres");
        let set = ["check", "--target", &url, "--set", "target.password_env=PW"];
        let wrong = desk.dyno_with(("PW", "hunter2"), &set);
        assert_eq!(wrong.code, 3, "{wrong:#?}");
        assert!(wrong.err.contains("password"), "{}", wrong.err);
        assert!(!wrong.err.contains("hunter2"), "{}", wrong.err);
        assert!(wrong.err.contains("hint: "), "{}", wrong.err);
        let no_password = desk.dyno(&["check", "--target", &url]);
        assert_eq!(no_password.code, 3, "{no_password:#?}");
        assert!(no_password.err.contains("password_env"), "{}", no_password.err);
        let right = desk.dyno_with(("PW", "right"), &set);
        assert!(!right.err.contains("error"), "{right:#?}");
        desk.write("secret", "right\n");
        let file = ["check", "--target", &url, "--set", "target.password_file=secret"];
        assert!(!desk.dyno(&file).err.contains("error"));
    });
}

#[test]
fn unreachable_server_error_has_port_and_hint() {
    let desk = TestEnv::new();
    // A port that was free just now, and on which nothing listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://nobody@127.0.0.1:{port}/db");
    for command in ["check", "load", "run"] {
        let output = desk.dyno(&args(command, &url, &[]));
        assert_eq!(output.code, 3, "{output:#?}");
        assert!(output.err.contains(&port.to_string()), "{}", output.err);
        assert!(output.err.contains("hint: "), "{}", output.err);
    }
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "nothing was started");
}

#[test]
fn postgres_ctrl_c_stores_measured_results() {
    on_each_version(|server, desk| {
        let url = server.url();
        assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
        let long = ["--set", "run.time=10m", "--set", "run.warmup=0s", "--json"];
        let mut run = desk.start(&args("run", &url, &long));
        run.wait_for_line("ops/s");
        run.signal("INT");
        let output = run.wait();
        assert_eq!(output.code, 130, "{output:#?}");
        let record: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(record["status"], "interrupted");
        assert!(record["counters"]["portable"]["logical_reads"]["delta"].as_i64().unwrap() > 0);
        let left = server.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'dyno%'");
        assert_eq!(left, "0", "no session is left behind");
    });
}

#[test]
fn server_crash_in_window_prevents_valid_run_and_keeps_record() {
    on_each_version(|server, desk| {
        let url = server.url();
        assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
        let long = ["--set", "run.time=10m", "--set", "run.warmup=0s", "--set", "workload.update_pct=20"];
        let mut run = desk.start(&args("run", &url, &long));
        run.wait_for_line("ops/s");
        server.kill9();
        let output = run.wait();
        assert_eq!(output.code, 3, "{output:#?}");
        let (_, record) = desk.json(&["show", "last"]);
        assert_eq!(record["status"], "failed");
        assert!(!record["reasons"].items().is_empty());
        assert!(record["ops"]["all"]["count"].count() > 0, "what was measured is kept");
        server.restart();
        let next = desk.dyno(&args("run", &url, &[]));
        assert_eq!(next.code, 0, "the data is whole after the server's recovery: {next:#?}");
    });
}

#[test]
fn sweep_loads_runs_and_reports_an_answer() {
    on_each_version(|server, desk| {
        let url = server.url();
        let sweep =
            ["--set", "sweep.sessions=1,2", "--set", "sweep.update_pct=0,20", "--set", "sweep.order=up"];
        let output = desk.dyno(&args("sweep", &url, &[&sweep[..], &SHORT].concat()));
        assert!(output.code <= 1, "{output:#?}");
        assert!(output.err.contains("run 4 of 4"), "{output:#?}");
        assert!(output.out.contains("update_pct 20"), "{output:#?}");
        let (_, runs) = desk.json(&["list", "--sweep", "last"]);
        let runs = runs.items();
        assert_eq!(runs.len(), 4);
        assert!(runs.iter().all(|run| run["status"] == "valid"), "{runs:#?}");
        let (_, sweeps) = desk.json(&["list", "--sweeps"]);
        let report = desk.dyno(&["report", sweeps[0]["id"].text(), "--format", "md"]);
        assert_eq!(report.code, 0, "{report:#?}");
        for part in ["Highest throughput", "| 0 | 1 |", "| 0 | 2 |", "| 20 | 1 |", "| 20 | 2 |"] {
            assert!(report.out.contains(part), "{part} in\n{}", report.out);
        }
    });
}

#[test]
fn nowait_commit_applies_to_sessions_and_warns() {
    on_each_version(|server, desk| {
        let url = server.url();
        assert_eq!(desk.dyno(&args("load", &url, &[])).code, 0);
        let nowait = ["--set", "workload.update_pct=100", "--set", "workload.commit=nowait"];
        let (code, record) = desk.json(&args("run", &url, &nowait));
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        let durable = find_check(&record, "durable_commits");
        assert_eq!(durable["status"], "warn", "{durable:#}");
        assert!(durable["detail"].text().contains("workload.commit=nowait"), "{durable:#}");
        // The setting applies to the sessions alone, and is gone with them.
        assert_eq!(server.psql("SHOW synchronous_commit"), "on");
    });
}
