//! Tests the program over Oracle's wire protocol, with a model that counts the requests. The model is a test
//! double: no test here shows what an Oracle database does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dyno_testbed::{
    ModelDatabase, ModelFaults, ModelOptions, ModelWork, RecordedServer, ScriptedAnswer, ScriptedCall,
    ScriptedOptions, ScriptedOracle, ScriptedRelease, ScriptedType, ScriptedValue,
};
use dyno_workload::conformance;
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, Running, TestEnv, find_check};

/// A model behind the wire protocol, and a test environment.
pub struct OracleDouble {
    pub model: Arc<ModelDatabase>,
    server: ScriptedOracle,
    pub desk: TestEnv,
}

pub const ROWS: [&str; 2] = ["--set", "data.scale=200 blocks"];

impl OracleDouble {
    pub fn new(options: ModelOptions) -> Self {
        let server_options = ScriptedOptions::of(options.release);
        let model = Arc::new(ModelDatabase::new(options));
        let server = ScriptedOracle::start_with(server_options, model.clone());
        Self { model, server, desk: TestEnv::new() }
    }

    pub fn loaded() -> Self {
        Self::loaded_on(ScriptedRelease::default())
    }

    fn loaded_on(release: ScriptedRelease) -> Self {
        let double = Self::with_release(release);
        let load = double.run_dyno(&[&["load"], &ROWS[..]].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        double
    }

    fn with_release(release: ScriptedRelease) -> Self {
        Self::new(ModelOptions { release, ..ModelOptions::default() })
    }

    /// Runs the program on the model.
    pub fn run_dyno(&self, args: &[&str]) -> CommandOutput {
        let url = self.server.url();
        let target = ["--target", &url, "--set", "target.password_env=DYNO_PW"];
        self.desk.dyno_with(("DYNO_PW", "secret"), &[args, &target].concat())
    }

    /// Starts the program on the model.
    pub fn start(&self, args: &[&str]) -> Running {
        let url = self.server.url();
        let target = ["--target", &url, "--set", "target.password_env=DYNO_PW"];
        self.desk.start_with(&[("DYNO_PW", "secret")], &[args, &ROWS, &target].concat())
    }

    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let output = self.run_dyno(&[args, &["--json"]].concat());
        let value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
        (output.code, value)
    }

    /// A run of this number of operations of one session, without a warm-up: its record, and the requests of
    /// its session.
    fn run_operations(&self, operations: u64, sets: &[&str]) -> (Value, ModelWork) {
        let operations = format!("run.ops_per_session={operations}");
        let before = self.model.work_of("session ");
        let fixed = ["run", "--set", &operations, "--set", "run.warmup=0s"];
        let (code, record) = self.json(&[&fixed[..], &ROWS, &with_sets(sets)].concat());
        assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
        (record, difference(self.model.work_of("session "), before))
    }
}

/// Puts `--set` before each of `sets`.
pub fn with_sets<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    sets.iter().flat_map(|set| ["--set", set]).collect()
}

fn difference(after: ModelWork, before: ModelWork) -> ModelWork {
    ModelWork {
        parses: after.parses - before.parses,
        executions: after.executions - before.executions,
        requests: after.requests - before.requests,
        commits: after.commits - before.commits,
        logical_reads: after.logical_reads - before.logical_reads,
        redo_syncs: after.redo_syncs - before.redo_syncs,
    }
}

#[test]
fn oracle_commands_complete_from_check_to_drop() {
    let double = OracleDouble::new(ModelOptions::default());
    let check = double.run_dyno(&[&["check"], &ROWS[..]].concat());
    assert_eq!(check.code, 0, "{check:#?}");
    assert!(
        check.out.contains("this user can read all views of counters, waits and settings"),
        "{}",
        check.out
    );
    let load = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert!(load.code == 0, "{load:#?}");
    assert!(load.out.contains("1.000"), "{load:#?}");
    let again = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert!(again.err.contains("already"), "{again:#?}");
    let run = ["run", "--set", "run.time=1s", "--set", "run.warmup=0s", "--set", "workload.update_pct=20"];
    let run = double.run_dyno(&[&run[..], &ROWS].concat());
    assert!(run.code == 0, "{run:#?}");
    assert!(run.out.contains("commits"), "{run:#?}");
    let show = double.desk.dyno(&["show"]);
    assert!(show.code == 0, "{show:#?}");
    assert!(show.out.contains("time series"), "{show:#?}");
    let report = double.desk.dyno(&["report"]);
    assert!(report.code == 0, "{report:#?}");
    assert!(double.desk.file("report.html").exists(), "{report:#?}");
    let drop = double.run_dyno(&["drop", "--yes"]);
    assert!(drop.code == 0, "{drop:#?}");
    assert!(drop.err.contains("removed 5 objects"), "{drop:#?}");
    let nothing = double.run_dyno(&["drop", "--yes"]);
    assert!(nothing.err.contains("nothing"), "{nothing:#?}");
}

/// The names and sessions of the record's instances, and the sum of their operations.
fn instances_of(record: &Value) -> (Vec<(String, u64)>, u64) {
    let listed = record["targets"][0]["instances"].items();
    let sessions = listed.iter().map(|one| (one["instance"].text().to_owned(), one["sessions"].count()));
    (sessions.collect(), listed.iter().map(|one| one["ops"].count()).sum())
}

#[test]
fn cluster_load_is_reported_per_instance() {
    let double =
        OracleDouble::new(ModelOptions { instances: vec!["orcl1", "orcl2"], ..ModelOptions::default() });
    let load = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let (record, _) = double.run_operations(50, &["run.sessions_per_schema=8"]);
    let (sessions, operations) = instances_of(&record);
    assert_eq!(sessions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["orcl1", "orcl2"]);
    assert_eq!(sessions.iter().map(|(_, sessions)| sessions).sum::<u64>(), 8, "{sessions:?}");
    assert_eq!(record["ops"]["all"]["count"], operations);
    assert!(record["targets"][0]["instances"][0]["service_p99_us"].is_number(), "{record:#}");
    assert_eq!(find_check(&record, "instance_balance")["status"], "pass");
    let show = double.desk.dyno(&["show"]);
    assert!(show.out.contains("load per instance"), "{show:#?}");
    assert!(show.out.contains("orcl2"), "{show:#?}");
    let markdown = double.desk.dyno(&["report", "last", "--format", "md"]);
    assert!(markdown.out.contains("## Load per instance"), "{markdown:#?}");
    let page = double.desk.dyno(&["report"]);
    assert_eq!(page.code, 0, "{page:#?}");
    let page = std::fs::read_to_string(double.desk.file("report.html")).unwrap();
    assert!(page.contains("Load per instance"));
}

#[test]
fn unbalanced_cluster_is_an_audit_warning() {
    let instances = vec!["orcl1", "orcl1", "orcl1", "orcl2"];
    let double = OracleDouble::new(ModelOptions { instances, ..ModelOptions::default() });
    let load = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let (record, _) = double.run_operations(20, &["run.sessions_per_schema=12"]);
    let (sessions, _) = instances_of(&record);
    assert!(sessions[0].1 > sessions[1].1, "{sessions:?}");
    let check = find_check(&record, "instance_balance");
    assert_eq!(check["status"], "warn", "{check:#}");
    assert!(check["detail"].text().contains("an unbalanced cluster"), "{check:#}");
}

#[test]
fn database_of_one_instance_has_no_load_per_instance() {
    let double = OracleDouble::loaded();
    let (record, _) = double.run_operations(10, &["run.sessions_per_schema=2"]);
    assert!(record["targets"][0].get("instances").is_none(), "{:#}", record["targets"][0]);
    assert!(!double.desk.dyno(&["show"]).out.contains("load per instance"));
}

#[test]
fn oracle_ramp_and_counted_events_are_shown() {
    let double = OracleDouble::loaded();
    let short = ["run.time=1s", "run.warmup=0s", "workload.update_pct=50", "sweep.sessions=1,2"];
    let sweep = double.run_dyno(&[&["sweep"], &ROWS[..], &with_sets(&short)].concat());
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    for shown in [&sweep.out, &double.desk.dyno(&["show", "last~1", "last"]).out] {
        assert!(shown.contains("processors, throughput and buffer reads"), "{shown}");
        assert!(shown.contains("physical reads and writes"), "{shown}");
        assert!(shown.contains("redo"), "{shown}");
    }
    let show = double.desk.dyno(&["show"]).out;
    for words in ["per transaction", "hard parses", "top timed event", "DB CPU", "distribution of waits"] {
        assert!(show.contains(words), "{words}: {show}");
    }
    let is_sync = |line: &&str| line.trim_start().starts_with("log file sync") && line.contains("Commit");
    let sync = show.lines().find(is_sync).unwrap_or_else(|| panic!("{show}"));
    let waits: u64 = sync.split_whitespace().nth(3).unwrap().replace(',', "").parse().unwrap();
    assert!(waits > 0, "{sync}");
    let markdown = double.desk.dyno(&["report", "last~1", "last", "--format", "md"]).out;
    assert!(markdown.contains("| DB CPU |"), "{markdown}");
    assert!(markdown.contains("### Physical reads and writes"), "{markdown}");
}

#[test]
fn oracle_deep_check_reports_everything_ok() {
    for release in ScriptedRelease::ALL {
        let double = OracleDouble::with_release(release);
        let (code, findings_json) = double.json(&["check", "--deep"]);
        assert_eq!(code, 0, "{release:?}: {findings_json:#}");
        let findings = findings_json["advice"].items();
        let ways = ["server wait", "client nowait", "server nowait", "client plsql", "server plsql"];
        let counted = ["growth", "redo_bytes", "versions", "waits"];
        for name in conformance::EVERYWHERE.iter().chain(&ways).chain(&counted) {
            let finding = findings.iter().find(|finding| finding["check"] == *name);
            assert!(finding.is_some_and(|finding| finding["severity"] == "ok"), "{name}: {findings_json:#}");
        }
    }
}

#[test]
fn each_drive_and_commit_mode_is_counted_exactly() {
    ScriptedRelease::ALL.into_iter().for_each(assert_counted_exactly);
}

fn assert_counted_exactly(release: ScriptedRelease) {
    let double = OracleDouble::with_release(release);
    let size = [&ROWS[..], &["--set", "data.scan_scale=200 blocks"]].concat();
    assert_eq!(double.run_dyno(&[&["load"], &size[..]].concat()).code, 0);
    let mix = [
        "workload.update_pct=20",
        "workload.insert_pct=10",
        "workload.lookup_pct=40",
        "workload.secondary_pct=10",
        "workload.scan_pct=1",
        "run.sessions_per_schema=2",
        "run.warmup=0s",
        "run.ops_per_session=300",
    ];
    for drive in ["client", "server"] {
        for commit in ["wait", "nowait", "plsql"] {
            let way = format!("{release:?} {drive} {commit}");
            let modes = [format!("workload.drive={drive}"), format!("workload.commit={commit}")];
            let modes = modes.each_ref().map(String::as_str);
            let before = double.model.work_of("session ");
            let sets = with_sets(&[&mix[..], &modes].concat());
            let (code, record) = double.json(&[&["run"], &size[..], &sets].concat());
            assert_eq!(
                (code, &record["status"]),
                (0, &Value::from("valid")),
                "{way}: {:#}",
                record["reasons"]
            );
            for name in ["commits_whole", "logical_reads_whole", "rows_left", "update_values", "work_unit"] {
                assert_eq!(
                    find_check(&record, name)["status"],
                    "pass",
                    "{way}: {:#}",
                    find_check(&record, name)
                );
            }
            let work = difference(double.model.work_of("session "), before);
            let acknowledged = record["whole"]["commits"].count();
            assert_eq!(work.commits, acknowledged, "{way}");
            let is_fewer = work.redo_syncs > 0 && work.redo_syncs < acknowledged;
            match (drive, commit) {
                // A call ends once for many commits inside it; in the client drive it ends once per commit.
                ("server", "plsql") => assert!(is_fewer, "{way}: {work:?}"),
                (_, "nowait") => assert_eq!(work.redo_syncs, 0, "{way}"),
                _ => assert_eq!(work.redo_syncs, acknowledged, "{way}"),
            }
        }
    }
}

/// Operations of a run's sessions in their whole lifetime.
fn operations(record: &Value) -> u64 {
    record["whole"]["ops"].fields().values().map(|count| count.count()).sum()
}

#[test]
fn block_operations_cost_what_the_method_defines() {
    ScriptedRelease::ALL.into_iter().for_each(assert_costs);
}

fn assert_costs(release: ScriptedRelease) {
    let double = OracleDouble::loaded_on(release);
    // Blocks of a lookup and of a range of 64 rows: one per row, and two of the index. An update reads and
    // changes the block of each row.
    for (sets, executions, requests, commits, reads) in [
        (&["workload.lookup_pct=100"][..], 1, 1, 0, 3),
        (&[], 1, 1, 0, 66),
        (&["workload.update_pct=100"], 1, 2, 1, 130),
        (&["workload.update_pct=100", "workload.commit=plsql"], 2, 1, 1, 130),
    ] {
        let (few, few_work) = double.run_operations(20, sets);
        let (many, many_work) = double.run_operations(1_000, sets);
        // Sessions do equal work before and after their operations in both runs.
        let more = operations(&many) - operations(&few);
        assert!(more > 0, "{sets:?}");
        let expected = ModelWork {
            parses: 0,
            executions: more * executions,
            requests: more * requests,
            commits: more * commits,
            logical_reads: more * reads,
            redo_syncs: more * commits,
        };
        let work = difference(many_work, few_work);
        assert_eq!(work, expected, "{sets:?}");
    }
}

#[test]
fn lost_commits_make_a_run_invalid() {
    let double = OracleDouble::loaded();
    // One of fifty commits: over the sessions' lifetime the comparison is exact.
    double.model.set_faults(ModelFaults { lost_commit_every: Some(50) });
    let operations = ["run.ops_per_session=300", "run.warmup=0s", "workload.update_pct=50"];
    let args = [&["run"], &with_sets(&operations)[..]].concat();
    let (code, record) = double.json(&[&args[..], &ROWS].concat());
    assert_eq!(record["status"], "invalid", "{:#}", record["audit"]);
    assert_ne!(code, 0);
    let commits = find_check(&record, "commits_whole");
    assert_eq!(commits["status"], "fail", "{commits:#}");

    double.model.set_faults(ModelFaults::default());
    let (code, record) = double.json(&[&args[..], &ROWS].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
}

#[test]
fn prove_detects_lost_commits_in_rows() {
    let double = OracleDouble::loaded();
    let args = [
        "prove",
        "updates",
        "--set",
        "run.time=1s",
        "--set",
        "run.warmup=0s",
        "--set",
        "workload.update_pct=50",
    ];
    let args = [&args[..], &ROWS].concat();
    let proved = double.run_dyno(&args);
    assert!(proved.code == 0, "{proved:#?}");
    assert!(proved.out.contains("none is lost"), "{proved:#?}");
    double.model.set_faults(ModelFaults { lost_commit_every: Some(5) });
    let refuted = double.run_dyno(&args);
    assert!(refuted.code != 0, "{refuted:#?}");
    assert!(!refuted.out.contains("none is lost"), "{refuted:#?}");
}

#[test]
fn sweep_and_ab_complete_on_scripted_oracle() {
    let double = OracleDouble::loaded();
    let quick = ["--set", "run.time=1s", "--set", "run.warmup=0s"];
    let sweep = ["sweep", "--set", "sweep.sessions=1,2", "--set", "workload.update_pct=20"];
    let sweep = double.run_dyno(&[&sweep[..], &quick, &ROWS].concat());
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    let ab = ["ab", "--a", "workload.update_pct=0", "--b", "workload.update_pct=100", "--pairs", "2"];
    let ab = double.run_dyno(&[&ab[..], &quick, &ROWS].concat());
    assert_eq!(ab.code, 0, "{ab:#?}");
    let list = double.desk.dyno(&["list"]);
    assert_eq!(list.out.matches(" valid ").count(), 6, "{}", list.out);
}

/// Transfers, and reads of accounts; the test provides the model's answers to their statements.
const BANK: &str = r#"
name = "bank"
writes = true

[setup]
sql = "CREATE TABLE bank_accounts (id NUMBER PRIMARY KEY, balance NUMBER NOT NULL)"

[drop]
sql = "DROP TABLE bank_accounts"

[draw]
from = { uniform = [1, 20] }
to = { expr = "from % 20 + 1" }
amount = { uniform = [1, 100] }

[transaction.transfer]
weight = 50
steps = [
  { sql = "UPDATE bank_accounts SET balance = balance - :amount WHERE id = :from", rows = 1 },
  { sql = "UPDATE bank_accounts SET balance = balance + :amount WHERE id = :to", rows = 1 },
]

[transaction.balance]
weight = 50
sql = "SELECT balance FROM bank_accounts WHERE id = :from"

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM bank_accounts"
"#;

/// Answers to the statements of [`BANK`].
fn bank() -> impl Fn(ScriptedCall<'_>) -> Option<ScriptedAnswer> + Send + Sync {
    let balances = Mutex::new([1_000i64; 20]);
    move |ScriptedCall { sql, executions, .. }| {
        let number = |place: usize| match executions[0].get(place) {
            Some(ScriptedValue::Int(number)) => *number,
            _ => 0,
        };
        let row = |value: Option<i64>| ScriptedAnswer::Rows {
            columns: vec![("BALANCE", ScriptedType::Number)],
            rows: value.into_iter().map(|value| vec![ScriptedValue::Int(value)]).collect(),
        };
        let mut balances = balances.lock().unwrap();
        let place = |id: i64| usize::try_from(id - 1).ok().filter(|place| *place < 20);
        if sql.starts_with("UPDATE bank_accounts") {
            let sign = if sql.contains("balance + ") { 1 } else { -1 };
            let changed = place(number(1)).map(|place| balances[place] += sign * number(0));
            return Some(ScriptedAnswer::Changed(changed.is_some().into()));
        }
        if sql.starts_with("SELECT balance FROM bank_accounts") {
            return Some(row(place(number(0)).map(|place| balances[place])));
        }
        if sql.starts_with("SELECT SUM(balance)") {
            return Some(row(Some(balances.iter().sum())));
        }
        let defines = ["CREATE TABLE bank_accounts", "DROP TABLE bank_accounts"];
        defines.iter().any(|start| sql.starts_with(start)).then_some(ScriptedAnswer::Done)
    }
}

#[test]
fn custom_workload_operations_are_counted_by_transaction() {
    let double =
        OracleDouble::new(ModelOptions { taught: Some(Box::new(bank())), ..ModelOptions::default() });
    std::fs::create_dir(double.desk.file("bank")).unwrap();
    double.desk.write("bank/workload.toml", BANK);
    let folder = ["--set", "workload.folder=bank"];
    let load = double.run_dyno(&[&["load"], &folder[..]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let before = double.model.work_of("session ");
    let args =
        ["run", "--set", "run.time=2s", "--set", "run.warmup=0s", "--set", "run.sessions_per_schema=2"];
    let (code, record) = double.json(&[&args[..], &folder].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
    for name in ["invariants", "commits_whole", "errors"] {
        assert_eq!(find_check(&record, name)["status"], "pass", "{:#}", find_check(&record, name));
    }
    let work = difference(double.model.work_of("session "), before);
    let transfers = record["whole"]["ops"]["transfer"].count();
    assert!(transfers > 0, "{work:?}: {:#}", record["whole"]["ops"]);
    assert!(work.commits == transfers, "{work:?}: {:#}", record["whole"]["ops"]);
    let unknown = double.run_dyno(&["load", "--set", "workload.folder=@tpcb"]);
    assert!(unknown.code != 0, "{unknown:#?}");
    assert!(unknown.err.contains("the model knows no such statement"), "{unknown:#?}");
}

/// A run that ends only on request.
fn long_run(double: &OracleDouble) -> Running {
    let args = ["run", "--set", "run.time=10m", "--set", "run.warmup=0s", "--set", "workload.rate=50/s"];
    let mut run = double.start(&args);
    run.wait_for_line("ops/s");
    run
}

#[test]
fn second_dyno_is_refused_until_first_has_ended() {
    let double = OracleDouble::loaded();
    let run = long_run(&double);
    for command in [&["run"][..], &["load"], &["drop", "--yes"]] {
        let refused = double.run_dyno(&[command, &ROWS[..]].concat());
        assert!(refused.code == 3, "{refused:#?}");
        assert!(refused.err.contains("in use"), "{refused:#?}");
        assert!(refused.err.contains(&format!("process {}", run.pid())), "{refused:#?}");
    }
    run.signal("KILL");
    run.wait();
    let drop = double.run_dyno(&["drop", "--yes"]);
    assert_eq!(drop.code, 0, "what a killed run held is free: {drop:#?}");
}

#[test]
fn killed_oracle_load_resumes_and_loads_each_row_once() {
    // Before the rows are committed, and when all of them exist.
    for (statement, inserts_again) in [("INSERT INTO dyno_chunks", true), ("CREATE INDEX", false)] {
        let (reached, is_reached) = channel();
        let (hangs, inserts) = (AtomicBool::new(true), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&inserts);
        let taught = move |call: ScriptedCall<'_>| {
            if call.sql.starts_with("INSERT INTO dyno_rows_1") {
                counted.fetch_add(call.executions.len() as u64, Ordering::SeqCst);
            }
            if !call.sql.starts_with(statement) || !hangs.swap(false, Ordering::SeqCst) {
                return None;
            }
            reached.send(()).unwrap();
            Some(ScriptedAnswer::Hang)
        };
        let double =
            OracleDouble::new(ModelOptions { taught: Some(Box::new(taught)), ..ModelOptions::default() });
        let load = double.start(&["load"]);
        is_reached.recv_timeout(Duration::from_secs(60)).unwrap();
        load.signal("KILL");
        load.wait();
        assert_eq!(inserts.load(Ordering::SeqCst), 200);
        let run = double.run_dyno(&[&["run"], &ROWS[..]].concat());
        assert!(run.code == 3, "{run:#?}");
        assert!(run.err.contains("`dyno load` resumes it"), "{run:#?}");
        let again = double.run_dyno(&[&["load"], &ROWS[..]].concat());
        assert!(again.code == 0, "{again:#?}");
        assert!(again.out.contains("1.000"), "{again:#?}");
        let expected = if inserts_again { 400 } else { 200 };
        assert_eq!(inserts.load(Ordering::SeqCst), expected, "{statement}");
        double.run_operations(20, &["workload.update_pct=50"]);
    }
}

#[test]
fn broken_connections_are_reopened_and_counted() {
    let executions = AtomicU64::new(0);
    let taught = move |call: ScriptedCall<'_>| {
        let is_update = call.sql.starts_with("UPDATE ");
        // The 50th answer is cut in the middle.
        let is_cut = is_update && executions.fetch_add(1, Ordering::SeqCst) == 50;
        is_cut.then(|| ScriptedAnswer::CutOff(Box::new(ScriptedAnswer::Changed(1)), 9))
    };
    let double =
        OracleDouble::new(ModelOptions { taught: Some(Box::new(taught)), ..ModelOptions::default() });
    assert_eq!(double.run_dyno(&[&["load"], &ROWS[..]].concat()).code, 0);
    let before = double.model.work_of("session ");
    let args = ["run", "--set", "run.time=2s", "--set", "run.warmup=0s", "--set", "run.on_lost=reconnect"];
    let (code, record) = double.json(&[&args[..], &ROWS, &["--set", "workload.update_pct=100"]].concat());
    assert_eq!((code, &record["status"]), (0, &Value::from("valid")), "{:#}", record["reasons"]);
    let reconnects = record["errors"].items().iter().map(|tally| tally["reconnects"].as_u64());
    assert_eq!(reconnects.map(Option::unwrap_or_default).sum::<u64>(), 1, "{:#}", record["errors"]);
    let work = difference(double.model.work_of("session "), before);
    assert_eq!(work.commits, record["whole"]["commits"].count());
}

#[test]
fn unavailable_oracle_reports_are_refused_with_reason() {
    let double = OracleDouble::loaded();
    for (keeper, reason) in [("awr", "it is not licensed"), ("statspack", "no STATSPACK")] {
        let setting = format!("observe.awr={keeper}");
        let refused = double.run_dyno(&[&["run", "--set", &setting], &ROWS[..]].concat());
        assert!(refused.code == 3, "{refused:#?}");
        assert!(refused.err.contains(reason), "{refused:#?}");
    }
}

#[test]
fn a_suite_test_on_the_block_workload_has_a_result() {
    let double = OracleDouble::new(ModelOptions::default());
    let suite = double.run_dyno(&["suite", "--quick", "--test", "server-logical-reads"]);
    assert_eq!(suite.code, 0, "{suite:#?}");
    let list = double.desk.dyno(&["list"]);
    assert!(!list.out.contains(" invalid "), "{}", list.out);
    assert!(list.out.contains(" valid "), "{}", list.out);
}

/// The model has no tables of the user, so the acceptance of values of every type ends with its error.
#[test]
fn acceptance_completes_and_fails_only_where_the_model_lacks_support() {
    for release in [ScriptedRelease::R19c, ScriptedRelease::R23ai] {
        let double = OracleDouble::with_release(release);
        let (code, page) = double.json(&["check", "--accept"]);
        assert_eq!(code, 1, "{page:#}");
        let steps = page["steps"].items();
        assert_eq!(steps.len(), 10);
        for step in steps {
            let verdict = step["verdict"].text();
            match step["name"].text() {
                "types" | "errors" => {
                    let findings = step["findings"].to_string();
                    assert!(
                        findings.contains("the model knows no such statement: CREATE TABLE"),
                        "{findings}"
                    );
                }
                "reports" => assert_eq!(verdict, "not_applicable", "{step:#}"),
                _ => assert_eq!(verdict, "proved", "{step:#}"),
            }
        }
        let drop = double.run_dyno(&["drop", "--yes"]);
        assert!(drop.err.contains("nothing"), "{drop:#?}");
    }
}

#[test]
fn a_recorded_acceptance_becomes_a_server_of_the_tests() {
    let first = OracleDouble::new(ModelOptions::default());
    first.model.set_counts_empty_commits(true);
    let accepted = first.run_dyno(&["check", "--accept", "--record", "accept.json"]);
    assert_eq!(accepted.code, 1, "{accepted:#?}");
    let file = std::fs::read_to_string(first.desk.file("accept.json")).unwrap();
    let mut record: Value = serde_json::from_str(&file).unwrap();
    // As another user's server would have it.
    record["targets"][0]["version"] = "19.3.0.0.0 Standard Edition 2".into();
    record["targets"][0]["settings"]["cpu_count"] = "7".into();
    record["targets"][0]["settings"]["filesystemio_options"] = "none".into();
    let recorded = Some(RecordedServer::parse(&record.to_string()).unwrap());
    let double = OracleDouble::new(ModelOptions { recorded, ..ModelOptions::default() });
    let load = double.run_dyno(&[&["load"], &ROWS[..]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    let (run, _) = double.run_operations(20, &[]);
    let target = &run["targets"][0];
    assert_eq!(target["version"], "19.3.0.0.0 Standard Edition 2");
    assert_eq!(
        (&target["settings"]["cpu_count"], &target["counting"]["empty_commits"]),
        (&"7".into(), &true.into())
    );
    assert!(RecordedServer::parse("{}").is_err());
}
