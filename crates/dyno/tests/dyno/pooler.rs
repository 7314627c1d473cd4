//! Through PgBouncer in transaction mode, as in production: one with and one without support of prepared
//! statements. Everything except the sessions connects to the server directly.

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, SHORT, TestEnv, assert_fits_schema, assert_passes, find_check};
use dyno_testbed::{BouncerVersion, PgBouncer, Postgres};
use serde_json::Value;

const DATA: [&str; 4] = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=100 blocks"];

/// Both PgBouncers in front of one server, with fewer connections than the test has sessions.
fn on_each_pooler(test: impl Fn(&PoolerBench)) {
    for (at, bouncer) in BouncerVersion::available().into_iter().enumerate() {
        let versions = Postgres::available();
        let Some(version) = versions.get(at % versions.len().max(1)) else { return };
        let server = Postgres::start(version, &[]);
        let prepared = if bouncer.carries { "max_prepared_statements = 100" } else { "" };
        let settings = format!("default_pool_size = 3\nmax_client_conn = 400\n{prepared}");
        let pooler = PgBouncer::start(&bouncer, &server, &settings);
        let observe = format!("target.observe_url={}", server.url());
        test(&PoolerBench { desk: TestEnv::new(), bouncer, server, pooler, observe });
    }
}

struct PoolerBench {
    desk: TestEnv,
    bouncer: BouncerVersion,
    server: Postgres,
    pooler: PgBouncer,
    observe: String,
}

impl PoolerBench {
    fn args<'a>(&'a self, url: &'a str, command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let head = [command, "--target", url, "--set", &self.observe];
        let by_ops = more.iter().any(|setting| setting.starts_with("run.ops_per_session"));
        let run: &[&str] = match command {
            // A plan has only one kind of length.
            "run" if by_ops => &SHORT[2..],
            "run" => &SHORT,
            _ => &[],
        };
        [&head[..], &DATA, run, more].concat()
    }

    fn run_dyno(&self, command: &str, more: &[&str]) -> CommandOutput {
        let url = self.pooler.url();
        self.desk.dyno(&self.args(&url, command, more))
    }

    fn run(&self, more: &[&str]) -> (i32, Value) {
        let url = self.pooler.url();
        self.desk.json(&self.args(&url, "run", more))
    }
}

const MIX: [&str; 10] = [
    "--set",
    "workload.update_pct=30",
    "--set",
    "workload.lookup_pct=30",
    "--set",
    "workload.scan_pct=5",
    "--set",
    "run.sessions_per_schema=6",
    "--set",
    "run.time=3s",
];

#[test]
fn run_through_pooler_has_exact_counts() {
    on_each_pooler(|bench| {
        let checked = bench.run_dyno("check", &[]);
        let carries = if bench.bouncer.carries { "which supports" } else { "which does not support" };
        assert_eq!(checked.code, 0, "{checked:#?}");
        assert!(checked.out.contains("go through a connection pooler"), "{checked:#?}");
        assert!(checked.out.contains(carries), "{checked:#?}");
        let load = bench.run_dyno("load", &[]);
        assert!(load.code == 0, "loads and locks on the server itself: {load:#?}");
        assert!(!load.err.contains("pooler"), "loads and locks on the server itself: {load:#?}");
        let (code, record) = bench.run(&MIX);
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        assert_fits_schema(&record);
        let how = if bench.bouncer.carries {
            "in between, prepared statements"
        } else {
            "in between, unnamed statements"
        };
        assert_eq!(record["targets"][0]["settings"]["pooler"], how);
        for name in ["commits", "rows_updated", "update_values", "heap_reads_whole"] {
            assert_passes(&record, name);
        }
        let whole = find_check(&record, "rows_updated_whole");
        assert_eq!((&whole["status"], &whole["expected"]), (&"pass".into(), &whole["observed"]), "{whole:#}");
        let commits = find_check(&record, "commits_whole");
        assert_eq!(commits["status"], "pass", "{commits:#}");
        let number = |name: &str| commits[name].text().replace(',', "").parse::<u64>().unwrap();
        // Commits of the pooler itself on three connections, and of autovacuum.
        let more = number("observed").checked_sub(number("expected"));
        assert!(more.is_some_and(|more| more <= 40), "nothing is missing: {commits:#}");
        let backends = bench
            .server
            .psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dyno session pooled'");
        assert!(backends.parse::<u32>().unwrap() <= 3, "{backends}");
        let shown = bench.desk.dyno(&["show"]);
        assert!(shown.out.contains("in between"), "{}", shown.out);
        assert!(shown.out.contains("hold the"), "{}", shown.out);
    });
}

#[test]
fn pooled_operations_apply_their_session_settings() {
    on_each_pooler(|bench| {
        assert_eq!(bench.run_dyno("load", &[]).code, 0);
        // A range over all of a small table: by default the server would scan it.
        let small = ["--set", "data.scale=70 blocks", "--set", "data.schemas=1", "--replace"];
        assert_eq!(bench.run_dyno("load", &small).code, 0);
        let (code, record) = bench.run(&[
            "--set",
            "data.scale=70 blocks",
            "--set",
            "workload.commit=nowait",
            "--set",
            "workload.update_pct=20",
            // As many commits as the audit needs, also on a busy machine.
            "--set",
            "run.ops_per_session=600",
        ]);
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        let scans = record["counters"]["native"]["dyno.rows.seq_scan"].as_f64().unwrap_or(0.0);
        assert!(scans == 0.0, "ranges go by the index: {scans} scans");
        let durable = find_check(&record, "durable_commits");
        assert!(durable["detail"].text().contains("workload.commit=nowait"), "{durable:#}");
    });
}

/// Many sessions with little work: connecting and bookkeeping cost more than the load, and all of it is
/// counted separately.
#[test]
fn sessions_sharing_few_pooler_connections_are_counted_exactly() {
    on_each_pooler(|bench| {
        assert_eq!(bench.run_dyno("load", &[]).code, 0);
        let few = ["--set", "run.sessions_per_schema=300", "--set", "workload.rate=60/s"];
        let (code, record) = bench.run(&[&few[..], &["--set", "workload.lookup_pct=100"]].concat());
        assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
        let commits = find_check(&record, "commits_whole");
        let number = |name: &str| commits[name].text().replace(',', "").parse::<i64>();
        match commits["status"] == "skipped" {
            // Connecting and bookkeeping may cost as much as the work itself.
            true => assert!(commits["detail"].text().contains("prove nothing"), "{commits:#}"),
            false => {
                let (observed, expected) = (number("observed").unwrap(), number("expected").unwrap());
                assert!(observed >= expected, "nothing is missing: {commits:#}");
            }
        }
        let others_check = find_check(&record, "others");
        let is_blurred = others_check["detail"].text().contains("may lie outside the window");
        assert!(others_check["status"] == "pass" || is_blurred, "{others_check:#}");
    });
}

#[test]
fn pooler_and_observe_url_must_reach_same_database() {
    let Some(bouncer) = BouncerVersion::available().pop() else { return };
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    server.psql("CREATE DATABASE other");
    let pooler = PgBouncer::start(&bouncer, &server, "");
    let desk = TestEnv::new();
    let other = format!("target.observe_url={}", server.url_of("postgres", "other"));
    let mismatch_output = desk.dyno(&["check", "--target", &pooler.url(), "--set", &other]);
    assert!(mismatch_output.code == 2, "{mismatch_output:#?}");
    assert!(
        mismatch_output.err.contains("both must lead to one database of one server"),
        "{mismatch_output:#?}"
    );
    let same = format!("target.observe_url={}", pooler.url());
    let pooler_output = desk.dyno(&["check", "--target", &pooler.url(), "--set", &same]);
    assert!(pooler_output.code == 2, "{pooler_output:#?}");
    assert!(pooler_output.err.contains("also leads to a connection pooler"), "{pooler_output:#?}");
    // Without any pooler there is no difference.
    let straight = format!("target.observe_url={}", server.url());
    let args = ["--target", &server.url(), "--set", &straight, "--set", "data.scale=500 blocks"];
    assert_eq!(desk.dyno(&[&["load"][..], &args].concat()).code, 0);
    let (code, record) = desk.json(&[&["run"][..], &args, &SHORT].concat());
    assert_eq!(code, 0, "{} {:#}", record["reasons"], record["audit"]);
    assert_eq!(record["targets"][0]["settings"]["pooler"], Value::Null);
}

/// The output with one space between words.
fn words(outcome: &CommandOutput) -> String {
    outcome.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pgbouncer_limits_and_refusals_have_specific_hints() {
    let versions = Postgres::available();
    let Some(version) = versions.last() else { return };
    let server = Postgres::start(version, &[]);
    let (desk, observe) = (TestEnv::new(), format!("target.observe_url={}", server.url()));
    for bouncer in BouncerVersion::available() {
        let prepared = if bouncer.carries { "max_prepared_statements = 3" } else { "" };
        let settings =
            format!("default_pool_size = 3\nmax_client_conn = 20\nstats_users = postgres\n{prepared}");
        let pooler = PgBouncer::start(&bouncer, &server, &settings);
        let url = pooler.url();
        let check = |more: &[&str]| {
            let head = ["check", "--target", &url, "--set", &observe];
            desk.dyno(&[&head[..], more].concat())
        };
        let many = check(&["--set", "run.sessions_per_schema=30"]);
        assert_ne!(many.code, 0, "{many:#?}");
        assert!(
            many.out.contains("30 sessions are needed, but the pooler accepts max_client_conn = 20"),
            "{many:#?}"
        );
        let load = ["load", "--target", &server.url(), "--set", "workload.folder=@oltp-read-write"];
        assert_eq!(desk.dyno(&load).code, 0);
        let statements = check(&["--set", "workload.folder=@oltp-read-write"]);
        let named = "each connection of the pooler keeps 3 (PgBouncer's max_prepared_statements)";
        let is_named = words(&statements).contains(named);
        assert_eq!(is_named, bouncer.carries, "{statements:#?}");
        let refused = desk.dyno_with(("PGGEQO", "off"), &["check", "--target", &url]);
        assert!(refused.err.contains("ignore_startup_parameters"), "{refused:#?}");
    }
}
