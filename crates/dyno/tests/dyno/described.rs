//! Tables that a workload describes: equal rows on every engine, complete after a kill, and gone after a
//! drop.

use std::collections::BTreeMap;

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, TestEnv, wait_until};
use crate::workload::open;
use dyno_engine::{Rows, Value};
use dyno_testbed::{MySql, Postgres};
use dyno_workload::custom::{CustomWorkload, WorkloadChoice};

/// A table with every type, and one with many rows.
const BANK: &str = r#"
name = "bank"
writes = true
scale = 2

[table.bank_all]
rows = "500 * scale"
primary_key = ["a", "b"]
indexes = [["h", "b"], ["c"]]
[table.bank_all.columns]
a = { type = "integer", permutation = [1, "500 * scale"] }
b = { type = "bigint", sequence = [5, 9] }
c = { type = "decimal(8, 2)", decimal = [-5.00, 500.00] }
d = { type = "real", normal = [0.0, 1.0], sd = 0.1, null_pct = 10 }
e = { type = "char(10)", text = [1, 10] }
f = { type = "varchar(40)", template = 'A\b:a "x" ä' }
g = { type = "text", words = ["one	tab", "zwölf\nlines"], count = [1, 3], null_pct = 50 }
h = { type = "date", date = ["2020-01-01", "2026-12-31"] }
i = { type = "timestamp", timestamp = ["2020-01-01 00:00:00", "2026-12-31 23:59:59"] }
j = { type = "uuid", uuid = 7 }
k = { type = "bytes(16)", bytes = [0, 16], null_pct = 5 }
l = { type = "json", json = '{ "a": :a, "e": :e }' }
m = { type = "boolean", choice = [0, 1], null_pct = 1 }
n = { type = "bigint", expr = "a * 1_000_000_000_000 + row" }

[table.bank_accounts]
rows = "60_000 * scale"
primary_key = "aid"
indexes = [["bid"]]
[table.bank_accounts.columns]
aid = { type = "integer", expr = "row" }
bid = { type = "integer", expr = "(row - 1) / 60_000 + 1" }
abalance = { type = "integer", value = 0 }
filler = { type = "char(184)", text = 184 }

[setup]
sql = "CREATE TABLE bank_branches (bid INTEGER, name VARCHAR(20))"
[drop]
sql = "DROP TABLE bank_branches"

[draw]
aid = { uniform = [1, "60_000 * scale"] }
delta = { uniform = [-5000, 5000] }

[transaction.pay]
sql = "UPDATE bank_accounts SET abalance = abalance + :delta WHERE aid = :aid"

[[invariant]]
name = "accounts"
sql = "SELECT COUNT(*) FROM bank_accounts"
"#;

const FOLDER: &str = "workload.folder=bank";

fn env_with_bank() -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("bank")).unwrap();
    desk.write("bank/workload.toml", BANK);
    desk
}

fn run_dyno(desk: &TestEnv, command: &str, url: &str, more: &[&str]) -> CommandOutput {
    desk.dyno(&[&[command, "--target", url, "--set", FOLDER], more].concat())
}

fn assert_success(output: &CommandOutput) {
    assert_eq!(output.code, 0, "{output:#?}");
}

/// The rows of a query on the target, as text.
fn query_rows(url: &str, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut all = Vec::new();
    let on_rows = &mut |rows: Vec<dyno_engine::TextRow>| {
        all.extend(rows.into_iter().map(|row| row.0));
        Ok(())
    };
    open(url).script(&[sql], on_rows).unwrap();
    all
}

fn query_value(url: &str, sql: &str) -> String {
    query_rows(url, sql)[0][0].clone().unwrap_or_default()
}

/// The described rows of `table` by key, with each value in an engine-independent text.
fn expected_rows(workload: &CustomWorkload, table: &str) -> BTreeMap<String, Vec<String>> {
    let table = workload.tables().iter().find(|one| one.name() == table).unwrap();
    let mut maker = table.row_maker();
    let mut rows = BTreeMap::new();
    for number in 1..=table.rows() {
        maker.make(number);
        let value = |column: usize| match maker.value(column) {
            Value::Null => "NULL".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => normalize(&table.columns()[column].name, std::str::from_utf8(text).unwrap()),
            Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        let row: Vec<String> = (0..table.columns().len()).map(value).collect();
        rows.insert(row[0].clone(), row);
    }
    rows
}

/// A value in an engine-independent text: engines print some types differently.
fn normalize(column: &str, text: &str) -> String {
    match column {
        "c" => format!("{:.2}", text.parse::<f64>().unwrap()),
        "d" => text.parse::<f64>().unwrap().to_string(),
        "e" | "filler" => text.trim_end_matches(' ').to_owned(),
        "l" => serde_json::from_str::<serde_json::Value>(text).unwrap().to_string(),
        "k" => text.to_lowercase(),
        "m" => match text {
            "t" => "1".to_owned(),
            "f" => "0".to_owned(),
            text => text.to_owned(),
        },
        "i" => text.trim_end_matches(".000000").to_owned(),
        _ => text.to_owned(),
    }
}

/// The rows of `table` in the database.
fn stored_rows(workload: &CustomWorkload, url: &str, table: &str) -> BTreeMap<String, Vec<String>> {
    let described = workload.tables().iter().find(|one| one.name() == table).unwrap();
    let names: Vec<&str> = described.columns().iter().map(|column| column.name.as_str()).collect();
    let hex = if url.starts_with("postgres") {
        "encode(k, 'hex')"
    } else {
        "CASE WHEN k IS NOT NULL THEN hex(k) END"
    };
    let list: Vec<&str> = names.iter().map(|name| if *name == "k" { hex } else { *name }).collect();
    let rows = query_rows(url, &format!("SELECT {} FROM {table}", list.join(", ")));
    let words = |row: &Vec<Option<String>>| -> Vec<String> {
        let value = |(name, text): (&&str, &Option<String>)| {
            text.as_deref().map_or("NULL".to_owned(), |text| normalize(name, text))
        };
        names.iter().zip(row).map(value).collect()
    };
    let count = rows.len();
    let rows: BTreeMap<_, _> = rows.iter().map(words).map(|row| (row[0].clone(), row)).collect();
    assert_eq!(rows.len(), count, "keys are there once");
    rows
}

fn assert_rows_match(desk: &TestEnv, url: &str, scale: u32) {
    let workload = CustomWorkload::read_as(
        &desk.file("bank"),
        WorkloadChoice { scale: Some(scale), ..WorkloadChoice::default() },
    )
    .unwrap();
    for table in ["bank_all", "bank_accounts"] {
        let (stored, wanted) = (stored_rows(&workload, url, table), expected_rows(&workload, table));
        assert_eq!(stored.len(), wanted.len(), "{table} on {url}");
        let wrong = stored.iter().zip(&wanted).find(|(there, wanted)| there != wanted);
        assert!(wrong.is_none(), "{table} on {url}: {wrong:#?}");
    }
}

/// The whole test on one target.
fn assert_full_cycle(url: &str) {
    let desk = env_with_bank();
    assert_eq!(run_dyno(&desk, "drop", url, &["--yes"]).code, 0);
    let early = run_dyno(&desk, "run", url, &["--set", "run.time=1s"]);
    assert_eq!(early.code, 3, "{early:#?}");
    assert!(early.err.contains("the tables of bank do not exist"), "{}", early.err);

    let checked = run_dyno(&desk, "check", url, &[]);
    assert_success(&checked);
    assert!(checked.out.contains("`dyno load` creates and fills them"), "{checked:#?}");

    let loaded = run_dyno(&desk, "load", url, &["--json"]);
    assert_success(&loaded);
    let report: serde_json::Value = serde_json::from_str(&loaded.out).unwrap();
    assert_eq!((&report["rows_written"], &report["statements"]), (&121_000.into(), &1.into()));
    assert_rows_match(&desk, url, 2);
    let again = run_dyno(&desk, "load", url, &[]);
    assert!(again.code == 0, "{again:#?}");
    assert!(again.err.contains("already"), "{again:#?}");
    let checked = run_dyno(&desk, "check", url, &[]);
    assert!(checked.out.contains("the tables of bank exist"), "{checked:#?}");

    let few = ["--set", "run.ops_per_session=50", "--set", "run.warmup=0s", "--json"];
    let run = run_dyno(&desk, "run", url, &few);
    let record: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    assert_eq!(record["workload"]["scale"], 2);

    // Another scale requires other data.
    let other = ["--set", "workload.scale=1"];
    for command in ["load", "run"] {
        let refused = run_dyno(&desk, command, url, &other);
        assert_eq!(refused.code, 3, "{refused:#?}");
        assert!(
            refused.err.contains("was loaded with scale 2, but the plan requires scale 1"),
            "{}",
            refused.err
        );
    }
    let checked = run_dyno(&desk, "check", url, &other);
    assert!(checked.out.contains("was loaded with scale 2"), "{checked:#?}");
    assert_success(&run_dyno(&desk, "load", url, &["--set", "workload.scale=1", "--replace"]));
    assert_rows_match(&desk, url, 1);

    // So does another description with an equal scale.
    desk.write("bank/workload.toml", &BANK.replace("value = 0", "value = 1"));
    let refused = run_dyno(&desk, "load", url, &other);
    assert!(refused.err.contains("from another description or seed"), "{refused:#?}");
    desk.write("bank/workload.toml", BANK);

    // A drop removes what was created, and nothing else.
    let mine = "CREATE TABLE bank_mine (a INTEGER)";
    query_rows(url, mine);
    let dropped = run_dyno(&desk, "drop", url, &["--yes", "--json"]);
    assert_success(&dropped);
    let dropped: serde_json::Value = serde_json::from_str(&dropped.out).unwrap();
    let names: Vec<&str> = dropped["dropped"].items().iter().map(|item| item["name"].text()).collect();
    assert_eq!(
        names,
        [
            "DROP TABLE bank_branches",
            "bank_accounts",
            "bank_all",
            "dyno_own_parts",
            "dyno_own_tables",
            "dyno_own_loads"
        ]
    );
    let named = |name: &str| open(url).find(dyno_engine::ObjectKind::Table, &[name]).unwrap().len();
    for name in names {
        assert_eq!(named(name), 0, "{name} is still there");
    }
    assert_eq!((named("bank_branches"), named("bank_mine")), (0, 1));

    // A table of another user is not filled.
    query_rows(url, "CREATE TABLE bank_accounts (aid INTEGER)");
    let refused = run_dyno(&desk, "load", url, &["--replace"]);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.err.contains("bank/workload.toml"), "{}", refused.err);
    assert!(refused.err.contains("was not created for bank"), "{}", refused.err);
    assert_success(&run_dyno(&desk, "drop", url, &["--yes"]));
    assert_eq!((named("bank_accounts"), named("dyno_own_loads")), (1, 0));
}

#[test]
fn described_tables_match_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    assert_full_cycle(&format!("sqlite:{}", folder.path().join("own.db").display()));
}

#[test]
fn described_tables_match_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_full_cycle(&server.url());
    }
}

/// One product loads by file and the other by statements; in `bulkload` it is the other way round.
#[test]
fn described_tables_match_on_mysql_and_mariadb() {
    for (version, local_infile) in MySql::available().into_iter().zip(["0", "1"]) {
        let server = MySql::start(&version, &[("local_infile", local_infile)]);
        assert_full_cycle(&server.url());
    }
}

#[test]
fn in_memory_run_creates_its_described_tables() {
    let desk = env_with_bank();
    let few = ["--set", "run.ops_per_session=50", "--set", "run.warmup=0s", "--json"];
    let run = run_dyno(&desk, "run", "sqlite::memory:", &few);
    let record: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    // Another scale is another setting.
    assert_success(&run_dyno(
        &desk,
        "run",
        "sqlite::memory:",
        &[&few[..], &["--set", "workload.scale=1"]].concat(),
    ));
    let compared = desk.dyno(&["compare", "last", "last~1"]);
    assert!(compared.out.contains("workload.version"), "{compared:#?}");
    assert!(compared.out.contains("scale 2"), "{compared:#?}");
    let checked = desk.dyno(&["workload", "check", "bank"]);
    assert!(checked.out.contains("table bank_accounts: 120,000 rows of 4 columns"), "{checked:#?}");
    // Without a workload, the setting is refused.
    let refused = desk.dyno(&["run", "--target", "sqlite::memory:", "--set", "workload.scale=2"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("workload.scale requires workload.folder"), "{}", refused.err);
}

/// A sweep over the scale loads what each point needs; data loaded by others stays unless replacement is
/// allowed.
#[test]
fn sweep_over_scales_loads_each_scale() {
    let desk = env_with_bank();
    desk.write("bank/workload.toml", &BANK.replace("60_000 * scale", "600 * scale"));
    for url in ["sqlite::memory:", "sqlite:own.db"] {
        let few = ["--set", "run.ops_per_session=50", "--set", "run.warmup=0s"];
        let sweep =
            run_dyno(&desk, "sweep", url, &[&few[..], &["--set", "sweep.workload.scale=1,3,2"]].concat());
        assert_success(&sweep);
        let record = desk.json(&["show", "last"]).1;
        assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    }
    let url = format!("sqlite:{}", desk.file("own.db").display());
    let last = desk.json(&["show", "last"]).1["workload"]["scale"].as_u64().unwrap_or(1);
    assert_eq!(query_value(&url, "SELECT COUNT(*) FROM bank_accounts"), (600 * last).to_string());
}

/// Kills a load between its parts repeatedly, each time later, and lets it finish; every row exists once.
fn assert_killed_load_resumes(url: &str) {
    let desk = env_with_bank();
    // The table is loaded in many parts.
    let toml = BANK.replace("rows = \"60_000 * scale\"", "rows = \"400_000\"");
    desk.write("bank/workload.toml", &toml);
    let parts = || {
        let target = open(url);
        match target.find(dyno_engine::ObjectKind::Table, &["dyno_own_parts"]) {
            Ok(partial_rows) if !partial_rows.is_empty() => {
                query_value(url, "SELECT COUNT(*) FROM dyno_own_parts").parse::<u64>().unwrap()
            }
            _ => 0,
        }
    };
    let mut before = 0;
    for round in 0..3 {
        let mut loading = desk.start(&["load", "--target", url, "--set", FOLDER]);
        loading.wait_for_line("rows …");
        wait_until(&format!("round {round} on {url}: a part behind {before}"), || parts() > before);
        match round {
            2 => loading.signal("INT"),
            _ => loading.signal("KILL"),
        }
        let output = loading.wait();
        assert_ne!(output.code, 0, "{output:#?}");
        before = parts();
        assert!(before < 12, "the load was over before it was killed");
        let early = run_dyno(&desk, "run", url, &["--set", "run.time=1s"]);
        assert!(early.err.contains("did not finish"), "{early:#?}");
    }
    let final_load = run_dyno(&desk, "load", url, &["--json"]);
    assert_success(&final_load);
    let report: serde_json::Value = serde_json::from_str(&final_load.out).unwrap();
    let written = report["rows_written"].count();
    assert!(0 < written, "{report:#}");
    assert!(written < 401_000, "{report:#}");
    assert_rows_match(&desk, url, 2);
    let indexes = ["bank_accounts_i1", "bank_all_i1", "bank_all_i2"];
    assert_eq!(open(url).find(dyno_engine::ObjectKind::Index, &indexes).unwrap().len(), 3);
}

#[test]
fn killed_load_of_described_tables_resumes_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    assert_killed_load_resumes(&format!("sqlite:{}", folder.path().join("own.db").display()));
}

#[test]
fn killed_load_of_described_tables_resumes_on_servers() {
    if let Some(version) = Postgres::available().into_iter().next() {
        assert_killed_load_resumes(&Postgres::start(&version, &[("autovacuum", "off")]).url());
    }
    // MySQL and MariaDB are loaded by the same code.
    if let Some(version) = MySql::available().into_iter().next() {
        assert_killed_load_resumes(&MySql::start(&version, &[("local_infile", "1")]).url());
    }
}

/// A setup that ended at an unknown point is not repeated.
#[test]
fn failed_setup_is_reported_and_repeated_with_replace() {
    let desk = env_with_bank();
    let url = format!("sqlite:{}", desk.file("own.db").display());
    desk.write("bank/workload.toml", &BANK.replace("VARCHAR(20))", "VARCHAR(20) oops ("));
    let failed = run_dyno(&desk, "load", &url, &[]);
    assert_eq!(failed.code, 3, "{failed:#?}");
    assert!(failed.err.contains("bank/workload.toml:37:8"), "{}", failed.err);
    desk.write("bank/workload.toml", BANK);
    let refused = run_dyno(&desk, "load", &url, &[]);
    assert!(refused.err.contains("was interrupted in the SQL of [setup]"), "{refused:#?}");
    // The tables to drop do not exist, which is not an error in this case.
    assert_success(&run_dyno(&desk, "load", &url, &["--replace"]));
    assert_rows_match(&desk, &url, 2);
}

#[test]
fn tables_of_another_workload_with_same_name_are_never_dropped() {
    let desk = TestEnv::new();
    let text = |name: &str, table: &str| {
        format!(
            "name = \"{name}\"\n[table.{table}]\nrows = 10\nprimary_key = \"id\"\n[table.{table}.columns]\n\
             id = {{ type = \"integer\", expr = \"row\" }}\n[transaction.look]\nsql = \"SELECT id FROM {table} WHERE id = 1\"\n"
        )
    };
    for (folder, table) in [("one", "first_rows"), ("other", "second_rows")] {
        std::fs::create_dir(desk.file(folder)).unwrap();
        desk.write(&format!("{folder}/workload.toml"), &text("same", table));
    }
    let url = format!("sqlite:{}", desk.file("t.db").display());
    let dyno = |command: &str, folder: &str, more: &[&str]| {
        let folder = format!("workload.folder={folder}");
        desk.dyno(&[&[command, "--target", &url, "--set", &folder][..], more].concat())
    };
    assert_success(&dyno("load", "one", &[]));
    for (command, more) in [("load", &[][..]), ("load", &["--replace"]), ("drop", &["--yes"]), ("run", &[])] {
        let refused = dyno(command, "other", more);
        assert!(refused.code != 0, "{command} {more:?}: {refused:#?}");
        let words = "another workload named same created first_rows on the target, and this workload \
                     describes none of them";
        assert!(refused.err.contains(words), "{refused:#?}");
        assert!(refused.err.contains("change name = "), "{refused:#?}");
        assert_eq!(query_value(&url, "SELECT COUNT(*) FROM first_rows"), "10");
    }
    // With another name both exist, and each is dropped separately.
    desk.write("other/workload.toml", &text("another", "second_rows"));
    assert_success(&dyno("load", "other", &[]));
    assert_success(&dyno("drop", "one", &["--yes"]));
    assert_eq!(query_value(&url, "SELECT COUNT(*) FROM second_rows"), "10");
    // A changed folder keeps at least one of its tables, and is replaced as usual.
    desk.write("other/workload.toml", &text("another", "second_rows").replace("rows = 10", "rows = 20"));
    assert_success(&dyno("load", "other", &["--replace"]));
    assert_eq!(query_value(&url, "SELECT COUNT(*) FROM second_rows"), "20");
}
