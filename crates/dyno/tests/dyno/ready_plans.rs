//! Ready plans at a small size, as a user runs them: on SQLite and on PostgreSQL.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_plan::READY;
use dyno_testbed::Postgres;

/// A reduced plan, and its remaining number of runs.
struct SmallPlan {
    command: &'static [&'static str],
    sets: &'static [&'static str],
    runs: usize,
}

const SWEEP: &[&str] = &["sweep"];
const TWO: &[&str] = &["sweep.sessions=1,2"];

fn small(name: &str, on_server: bool) -> SmallPlan {
    type Known = (&'static [&'static str], &'static [&'static str], usize);
    let (command, sets, runs): Known = match name {
        "oltp-80-20" | "oltp-75-25" | "full-scan" => (SWEEP, &["sweep.run.sessions_per_schema=1,2"], 2),
        "petals-update-share" => (SWEEP, &["sweep.sessions=2", "sweep.update_pct=0,30"], 2),
        // A server has blocks of a single size.
        "petals-block-size" if on_server => {
            (SWEEP, &["sweep.sessions=2", "sweep.update_pct=30", "sweep.block_size=8K"], 1)
        }
        "petals-block-size" => {
            (SWEEP, &["sweep.sessions=2", "sweep.update_pct=30", "sweep.block_size=4K,8K"], 2)
        }
        "sustained-write" => (&["soak", "--time", "2s"], &["run.sessions_per_schema=1"], 1),
        "commit-study" => (&["run"], &["data.schemas=2"], 1),
        "logical-reads" | "in-memory-secondary" if on_server => {
            (SWEEP, &["sweep.sessions=1,2", "workload.drive=server"], 2)
        }
        "platform-settings" => (SWEEP, &["sweep.sessions=1"], 1),
        _ => (SWEEP, TWO, 2),
    };
    SmallPlan { command, sets, runs }
}

/// Runs the plan at its smallest size; every run must be valid.
fn run(desk: &TestEnv, name: &str, target: &str, on_server: bool) {
    let SmallPlan { command, sets, runs } = small(name, on_server);
    let plan = format!("{name}.toml");
    let written = desk.dyno(&["init", "--ready", name, "--plan", &plan, "--force"]);
    assert_eq!(written.code, 0, "{written:#?}");
    let mut args = vec!["--plan", &plan, "--target", target];
    let mut all =
        vec!["data.scale=400 blocks", "run.warmup=0s", "observe.interval=100ms", "workload.work_unit=8"];
    all.extend(sets);
    if command[0] != "soak" {
        all.push("run.ops_per_session=40");
    }
    if command[0] == "sweep" {
        all.extend(["sweep.repeats=1", "sweep.pause=0s"]);
    }
    if matches!(name, "oltp-80-20" | "full-scan" | "in-memory-scan") {
        all.push("data.scan_scale=200 blocks");
    }
    args.extend(all.iter().flat_map(|set| ["--set", set]));
    if command[0] != "sweep" {
        let load = desk.dyno(&[&["load", "--replace"], &args[..]].concat());
        assert_eq!(load.code, 0, "{name}: {load:#?}");
    } else {
        args.push("--replace");
    }
    let before = valid_run_count(desk);
    let output = desk.dyno(&[command, &args[..]].concat());
    assert_eq!(output.code, 0, "{name} on {target}: {output:#?}");
    assert_eq!(valid_run_count(desk) - before, runs, "{name} on {target}: {output:#?}");
}

fn valid_run_count(desk: &TestEnv) -> usize {
    if !desk.file("runs.sqlite3").exists() {
        return 0;
    }
    let (_, listed) = desk.json(&["list", "--limit", "1000", "--status", "valid"]);
    listed.items().len()
}

#[test]
fn ready_plans_run_on_sqlite() {
    let desk = TestEnv::new();
    for ready in READY {
        run(&desk, ready.name, "sqlite:small.db", false);
    }
}

#[test]
fn ready_plans_run_on_postgres() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    // Writes by autovacuum would disturb such a short run, and the run would report it.
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    for ready in READY {
        run(&desk, ready.name, &server.url(), true);
    }
}

#[test]
fn unknown_ready_plan_error_lists_available_ones() {
    let output = TestEnv::new().dyno(&["init", "--ready", "oltp"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("oltp-80-20"), "{}", output.err);
}

#[test]
fn ready_plan_has_url_of_chosen_engine() {
    let desk = TestEnv::new();
    assert_eq!(
        desk.dyno(&["init", "--ready", "full-scan", "--engine", "postgres", "--plan", "scan.toml"]).code,
        0
    );
    let text = std::fs::read_to_string(desk.file("scan.toml")).unwrap();
    assert!(text.starts_with("# Full scans only"), "{text}");
    assert!(text.contains("url = \"postgres://"), "{text}");
}
