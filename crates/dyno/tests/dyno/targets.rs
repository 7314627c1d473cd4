//! Several targets in one plan, on real servers: two versions, a primary and its standby, two products, a
//! cluster.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, find_check, short_run_args};
use dyno_testbed::{Galera, MyProduct, MySql, MyVersion, Postgres};
use serde_json::Value;

const DATA: [&str; 2] = ["--set", "data.scale=2000 blocks"];

/// The arguments of `command` for all `urls`.
fn args<'a>(command: &'a str, urls: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut head = vec![command];
    urls.iter().for_each(|url| head.extend(["--target", url.as_str()]));
    head.extend(["--set", "run.sessions_per_schema=6"]);
    let head = if command == "run" { short_run_args(&head) } else { head };
    [&head[..], &DATA, more].concat()
}

fn target_figures(record: &Value, at: usize) -> &Value {
    &record["targets"][at]["own"]
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Asserts that the totals of all targets equal the figures of the whole record.
fn assert_adds_up(record: &Value) {
    let targets = record["targets"].items().len();
    let sum = |path: &str| {
        (0..targets).map(|at| number(target_figures(record, at).pointer(path).unwrap())).sum::<f64>()
    };
    for path in ["/ops/all/count", "/ops/all/rate_per_s", "/metrics/ops_per_s/value", "/gate/sessions"] {
        let total = number(record.pointer(path).unwrap());
        assert!((total - sum(path)).abs() <= total.abs() * 1e-9, "{path}: {total} is not {}", sum(path));
    }
}

/// The checks of one target with this status.
fn checks<'r>(record: &'r Value, at: usize, status: &str) -> Vec<&'r Value> {
    let audit = target_figures(record, at)["audit"].items();
    audit.iter().filter(|check| check["status"] == status).collect()
}

fn two_versions() -> Option<(Postgres, Postgres)> {
    let versions = Postgres::available();
    let (first, last) = (versions.first()?, versions.last()?);
    Some((Postgres::start(first, &[]), Postgres::start(last, &[])))
}

#[test]
fn two_versions_run_together_and_are_distinguished() {
    let Some((old, new)) = two_versions() else { return };
    let (desk, urls) = (TestEnv::new(), [old.url(), new.url()]);
    let load = desk.dyno(&args("load", &urls, &[]));
    assert_eq!(load.code, 0, "{load:#?}");
    assert!(urls.iter().all(|url| load.err.contains(&format!("loading {url}"))), "{load:#?}");
    let checked = desk.dyno(&args("check", &urls, &[]));
    assert_eq!((checked.code, checked.out.matches("PostgreSQL").count() >= 2), (0, true), "{checked:#?}");
    let more = ["--set", "workload.update_pct=20", "--set", "target.weights=2,1"];
    let (code, record) = desk.json(&args("run", &urls, &more));
    assert_eq!((code, record["status"].as_str()), (0, Some("valid")), "{:#}", record["audit"]);
    assert_fits_schema(&record);
    assert_adds_up(&record);
    assert_eq!(
        (&target_figures(&record, 0)["sessions"], &target_figures(&record, 1)["sessions"]),
        (&4.into(), &2.into())
    );
    assert_ne!(record["targets"][0]["version"], record["targets"][1]["version"]);
    for at in 0..2 {
        assert_eq!(checks(&record, at, "fail"), Vec::<&Value>::new());
        // Exactly, if the version can flush its statistics.
        for name in ["commits_whole", "rows_updated_whole", "update_values"] {
            let audit = target_figures(&record, at)["audit"].items();
            let finding = audit.iter().find(|check| check["check"] == name).unwrap();
            assert_eq!(finding["status"], "pass", "{finding:#}");
        }
    }
    assert_ne!(find_check(&record, "target_1")["status"], "fail", "{:#}", record["audit"]);

    let shown = desk.dyno(&["show", "last"]);
    assert!(urls.iter().all(|url| shown.out.contains(url.as_str())), "{shown:#?}");
    let listed = desk.dyno(&["list"]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    let dropped = desk.dyno(&args("drop", &urls, &["--yes"]));
    assert_eq!(dropped.code, 0, "{dropped:#?}");
    for server in [&old, &new] {
        assert_eq!(server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dyno'"), "0");
    }
}

#[test]
fn multi_target_results_have_one_row_per_target() {
    let desk = TestEnv::new();
    let urls = ["sqlite:a.db".to_owned(), "sqlite:b.db".to_owned()];
    assert_eq!(desk.dyno(&args("load", &urls, &[])).code, 0);
    for variant in ["v1", "v2"] {
        let run = desk.dyno(&args("run", &urls, &["--variant", variant]));
        assert_eq!(run.code, 0, "{run:#?}");
        let rows: Vec<&str> = run.out.lines().filter(|line| line.starts_with(['t', '1', '2'])).collect();
        assert!(rows.iter().any(|row| row.starts_with("total ")), "{}", run.out);
        assert!(urls.iter().all(|url| run.out.contains(url.as_str())), "{}", run.out);
        crate::common::assert_fits_width(&run.out);
    }
    let csv = desk.dyno(&["report", "last", "--format", "csv"]).out;
    let targets: Vec<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(4).unwrap()).collect();
    assert_eq!(targets, ["sqlite:a.db sqlite:b.db", "sqlite:a.db", "sqlite:b.db"], "{csv}");
    for format in ["md", "html"] {
        let page = desk.dyno(&["report", "last", "--format", format, "--output", "-"]).out;
        assert!(page.contains("Targets"), "{format}: {page}");
        assert!(page.matches("sqlite:b.db").count() > 1, "{format}: {page}");
    }
    let (_, compared) = desk.json(&["compare", "variant:v1", "variant:v2"]);
    assert_eq!(compared[0]["targets"].items().len(), 2, "{compared:#}");
    assert_eq!(desk.dyno(&["show", "last"]).code, 0);
}

#[test]
fn error_of_one_target_names_that_target() {
    let Some((mut old, new)) = two_versions() else { return };
    let (desk, urls) = (TestEnv::new(), [old.url(), new.url()]);
    assert_eq!(desk.dyno(&args("load", &urls[1..], &[])).code, 0);
    let unloaded = desk.dyno(&args("run", &urls, &[]));
    assert_eq!(unloaded.code, 3, "{unloaded:#?}");
    assert!(
        unloaded.err.contains(&format!("target 1 ({}): the target contains no Dyno data", urls[0])),
        "{unloaded:#?}"
    );
    // The same database under another name would count every operation twice.
    let twice = [urls[1].clone(), new.socket_url()];
    let refused = desk.dyno(&args("run", &twice, &[]));
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("target 2"), "{refused:#?}");
    assert!(refused.err.contains("same server and database"), "{refused:#?}");
    old.stop();
    let unreachable = desk.dyno(&args("run", &urls, &[]));
    assert_eq!(unreachable.code, 3, "{unreachable:#?}");
    assert!(unreachable.err.contains(&format!("target 1 ({})", urls[0])), "{unreachable:#?}");
}

#[test]
fn target_crash_in_window_leaves_record_naming_the_target() {
    let Some((mut old, new)) = two_versions() else { return };
    let (desk, urls) = (TestEnv::new(), [old.url(), new.url()]);
    assert_eq!(desk.dyno(&args("load", &urls, &[])).code, 0);
    let mut run = desk.start(&args("run", &urls, &["--set", "run.time=60s"]));
    run.wait_for_line("window");
    old.kill9();
    let output = run.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!(record["status"], "failed");
    let reason = record["reasons"][0].text();
    assert!(reason.contains(&format!("target 1 ({})", urls[0])), "{reason}");
    assert_fits_schema(&record);
}

#[test]
fn a_standby_reads_and_the_primary_writes() {
    let versions = Postgres::available();
    for version in [versions.first(), versions.last()].into_iter().flatten() {
        let primary = Postgres::start(version, &[]);
        let standby = primary.standby();
        let (desk, urls) = (TestEnv::new(), [primary.url(), standby.url()]);
        // It cannot have its own copy.
        let separate_load = desk.dyno(&args("load", &urls, &[]));
        assert_eq!(separate_load.code, 2, "{separate_load:#?}");
        assert!(separate_load.err.contains("target 2"), "{separate_load:#?}");
        assert!(separate_load.err.contains("target.data = \"shared\""), "{separate_load:#?}");
        let shared = ["--set", "target.data=shared"];
        let load = desk.dyno(&args("load", &urls, &shared));
        assert_eq!(load.code, 0, "{load:#?}");
        let checked = desk.dyno(&args("check", &urls, &shared));
        assert_eq!(checked.code, 0, "{checked:#?}");
        let mix = [&shared[..], &["--set", "workload.update_pct=30"]].concat();
        let (code, record) = desk.json(&args("run", &urls, &mix));
        assert_eq!(
            (code, record["status"].as_str()),
            (0, Some("valid")),
            "{:#} {:#}",
            record["reasons"],
            record["audit"]
        );
        assert_adds_up(&record);
        let (first, second) = (target_figures(&record, 0), target_figures(&record, 1));
        assert!(number(&first["ops"]["update"]["count"]) > 0.0);
        assert!(first.get("reads_only").is_none());
        assert!(second["ops"].get("update").is_none());
        assert!(number(&second["ops"]["select"]["count"]) > 0.0);
        assert!(second["reads_only"].text().contains("standby"), "{second:#}");
        // A standby writes no redo itself, so the redo of both is unknown.
        let redo = second["metrics"]["redo_bytes_per_s"]["absent"].text();
        assert!(redo.contains("standby"), "{redo}");
        assert!(record["metrics"]["redo_bytes_per_s"]["absent"].text().contains("standby"));
        let alone = [urls[1].clone()];
        let refused = desk.dyno(&args("run", &alone, &["--set", "workload.update_pct=30"]));
        assert_eq!((refused.code, refused.err.contains("accepts only reads")), (2, true), "{refused:#?}");
        let dropped = desk.dyno(&args("drop", &urls, &[&shared[..], &["--yes"]].concat()));
        assert_eq!(dropped.code, 0, "{dropped:#?}");
        drop(standby);
    }
}

#[test]
fn one_plan_runs_on_postgres_and_mariadb_together() {
    let (Some(version), Some(mariadb)) = (Postgres::available().pop(), MyVersion::of(MyProduct::MariaDb))
    else {
        return;
    };
    let (postgres, mariadb) = (Postgres::start(&version, &[]), MySql::start(&mariadb, &[]));
    let (desk, urls) = (TestEnv::new(), [postgres.url(), mariadb.url()]);
    assert_eq!(desk.dyno(&args("load", &urls, &[])).code, 0);
    let (code, record) = desk.json(&args("run", &urls, &["--set", "workload.update_pct=20"]));
    assert_eq!(
        (code, record["status"].as_str()),
        (0, Some("valid")),
        "{:#} {:#}",
        record["reasons"],
        record["audit"]
    );
    assert_adds_up(&record);
    assert_eq!(record["targets"][1]["product"], "MariaDB");
    let sessions: Vec<_> =
        (0..2).map(|at| number(&target_figures(&record, at)["gate"]["sessions"])).collect();
    assert_eq!(sessions, [3.0, 3.0]);
}

#[test]
fn cluster_nodes_run_on_shared_data() {
    let Some(cluster) = Galera::start(3) else { return };
    let desk = TestEnv::new();
    let urls: Vec<String> = cluster.nodes().iter().map(MySql::url).collect();
    let shared = ["--set", "target.data=shared"];
    let load = desk.dyno(&args("load", &urls, &shared));
    assert_eq!(load.code, 0, "{load:#?}");
    // Few rows and many updates: sessions on different nodes use the same rows, which only certification
    // detects.
    let mix = ["--set", "workload.update_pct=60", "--set", "workload.work_unit=200", "--set", "run.time=5s"];
    let (code, record) = desk.json(&args("run", &urls, &[&shared[..], &mix].concat()));
    assert!(code == 0 || code == 1, "{:#}", record["reasons"]);
    assert_adds_up(&record);
    for at in 0..3 {
        assert!(
            number(&target_figures(&record, at)["ops"]["update"]["count"]) > 0.0,
            "{:#}",
            target_figures(&record, at)["ops"]
        );
    }
    let errors = record["errors"].items();
    assert!(errors.iter().all(|error| error["class"] == "retryable"), "{errors:#?}");
    assert!(!errors.is_empty(), "sessions on three nodes met on no row: {:#}", record["ops"]);
    let explained = find_check(&record, "errors")["detail"].text().to_owned();
    assert!(explained.contains("when changes are replicated"), "{explained}");
    for at in 0..3 {
        // Each node's replicated changes are counted separately from those of its own sessions.
        for name in ["rows_updated_whole", "commits_whole", "update_values"] {
            let audit = target_figures(&record, at)["audit"].items();
            let finding = audit.iter().find(|check| check["check"] == name).unwrap();
            assert_eq!(finding["status"], "pass", "node {at}: {finding:#}");
        }
    }
}

/// A proof of updates on `urls`, which must succeed.
fn prove(desk: &TestEnv, urls: &[String], more: &[&str]) -> Value {
    let mut head = vec!["prove", "updates"];
    urls.iter().for_each(|url| head.extend(["--target", url.as_str()]));
    let sets = ["--set", "run.sessions_per_schema=6", "--set", "workload.work_unit=4"];
    let (code, proof) = desk.json(&[&short_run_args(&head)[..], &sets, &DATA, more].concat());
    assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
    proof
}

#[test]
fn updates_are_proved_per_target_and_on_shared_data() {
    let Some((old, new)) = two_versions() else { return };
    let (desk, urls) = (TestEnv::new(), [old.url(), new.url()]);
    assert_eq!(desk.dyno(&args("load", &urls, &[])).code, 0);
    for drive in ["workload.drive=client", "workload.drive=server"] {
        let proof = prove(&desk, &urls, &["--set", drive]);
        let accounts = proof["targets"].items();
        let sum: f64 = accounts.iter().map(|of| number(&of["account"]["rows_acknowledged"])).sum();
        assert_eq!((accounts.len(), sum), (2, number(&proof["recorded_rows_updated"])), "{proof:#}");
        for (account, url) in accounts.iter().zip(&urls) {
            assert!(account["target"].text().contains(url.as_str()), "{account:#}");
            assert_eq!(account["recorded_rows_updated"], account["account"]["rows_found"], "{account:#}");
            assert!(number(&account["account"]["commits_acknowledged"]) > 0.0, "{account:#}");
        }
    }
    let killed = ["prove", "durability", "--kill-command", "true"];
    let targets = ["--target", urls[0].as_str(), "--target", urls[1].as_str()];
    let sets = ["--set", "run.sessions_per_schema=2"];
    let output = desk.dyno(&[&killed[..], &targets, &sets].concat());
    assert!(output.code == 2, "{output:#?}");
    assert!(output.err.contains("proof kills one server"), "{output:#?}");

    let standby = new.standby();
    let urls = [new.url(), standby.url()];
    let proof = prove(&desk, &urls, &["--set", "target.data=shared"]);
    assert!(number(&proof["account"]["commits_acknowledged"]) > 0.0, "{proof:#}");

    let Some(cluster) = Galera::start(3) else { return };
    let urls: Vec<String> = cluster.nodes().iter().map(MySql::url).collect();
    assert_eq!(desk.dyno(&args("load", &urls, &["--set", "target.data=shared"])).code, 0);
    let proof = prove(&desk, &urls, &["--set", "target.data=shared"]);
    assert_eq!(proof["recorded_rows_updated"], proof["account"]["rows_acknowledged"], "{proof:#}");
}

#[test]
fn sweep_over_target_count_drives_one_and_two_targets() {
    let Some((old, new)) = two_versions() else { return };
    let (desk, urls) = (TestEnv::new(), [old.url(), new.url()]);
    let count = ["--set", "sweep.target.count=1,2", "--set", "sweep.repeats=2"];
    let sweep = desk.dyno(&short_run_args(&args("sweep", &urls, &count)));
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    let (_, listed) = desk.json(&["list", "--status", "valid"]);
    let ids: Vec<&str> = listed.items().iter().map(|run| run["id"].text()).collect();
    assert_eq!(ids.len(), 4, "{listed:#}");
    let mut driven = Vec::new();
    for id in ids {
        let (_, record) = desk.json(&["show", id]);
        let count = number(&record["plan"]["target"]["count"]);
        let targets = record["targets"].items();
        assert_eq!(targets.len() as f64, count, "{targets:#?}");
        assert_eq!(targets[0]["url"], urls[0].as_str());
        assert_fits_schema(&record);
        driven.push(count);
    }
    driven.sort_by(f64::total_cmp);
    assert_eq!(driven, [1.0, 1.0, 2.0, 2.0]);
    let beyond = desk.dyno(&args("run", &urls, &["--set", "target.count=3"]));
    assert!(beyond.code == 2, "{beyond:#?}");
    assert!(beyond.err.contains("3 targets, but target.urls has only 2"), "{beyond:#?}");
}
