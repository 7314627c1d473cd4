//! A suite of tests as a user runs it: on each engine, interrupted and resumed, with user folders.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

/// Short steps, so that a test is short.
const SHORT: [&str; 6] =
    ["--set", "run.warmup=200ms", "--set", "run.time=1s", "--set", "observe.interval=200ms"];

/// One test of every kind: custom SQL with and without engine-specific files, statements about tables, the
/// block workload in and out of the cache, a background workload, a ready workload, connections.
const SOME: [&str; 11] = [
    "load-bulk",
    "cpu-date",
    "cpu-loop",
    "server-delete",
    "server-connect",
    "server-logical-reads",
    "storage-random-read",
    "storage-redo-commit",
    "oltp-beside-writes",
    "load-index",
    "analytics-join",
];

fn test_args<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    ids.iter().flat_map(|id| ["--test", id]).collect()
}

fn suite_args<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["suite", "--quick", "--target", url, "--set", "data.scale=2M"][..], &SHORT, more].concat()
}

fn by_id<'v>(tests: &'v Value, id: &str) -> &'v Value {
    tests.items().iter().find(|test| test["page"]["id"] == id).unwrap()
}

/// On PostgreSQL: its own SQL, a background workload, connections, and the block workload out of the cache.
/// SQLite runs the rest, whose SQL is the same on all engines.
const ON_POSTGRES: [&str; 8] = [
    "load-bulk",
    "cpu-date",
    "cpu-loop",
    "server-connect",
    "storage-random-read",
    "oltp-beside-writes",
    "load-index",
    "analytics-join",
];

/// On MySQL and MariaDB: tests whose SQL differs between servers that speak one protocol run on both, the
/// others on one of them.
const ON_MYSQL: [&[&str]; 2] = [
    &["load-bulk", "cpu-date", "cpu-loop", "server-delete", "oltp-beside-writes", "load-index"],
    &["load-bulk", "cpu-date", "server-connect", "server-logical-reads", "load-index"],
];

/// All runs are valid. On a busy machine a session may wait for a lock during the whole of one short window,
/// which then has no result: one step may say so.
fn assert_runs_valid(code: i32, tests: &Value) {
    let notes = tests.items().iter().filter_map(|test| test["notes"].as_array()).flatten();
    let invalid: Vec<&str> =
        notes.filter_map(Value::as_str).filter(|note| note.contains("not all of its runs")).collect();
    match invalid[..] {
        [] => assert_eq!(code, 0, "no step is invalid"),
        [note] => assert!(code == 1 && note.contains(": invalid: edges: "), "exit code {code}: {note}"),
        _ => panic!("exit code {code}: {invalid:#?}"),
    }
}

/// Runs `some` tests on one target; each has a result or a reason, and leaves nothing there.
fn assert_suite_results(url: &str, some: &[&str], absent: &[&str]) {
    let desk = TestEnv::new();
    let (code, suite_result) = desk.json(&suite_args(url, &test_args(some)));
    assert_eq!(suite_result["done"], true);
    assert_runs_valid(code, &suite_result["tests"]);
    for id in some {
        let test = by_id(&suite_result["tests"], id);
        let why_not = &test["page"]["why_not"];
        assert_eq!(!why_not.is_null(), absent.contains(id), "{id}: {why_not}");
        if why_not.is_null() {
            // So little data is in a server's cache, and storage is idle.
            let least = if *id == "storage-random-read" { -1.0 } else { 0.0 };
            // If reading the counters took long, their rates are left out of short windows, and the notes say
            // so.
            let notes_text = test["notes"].to_string();
            let is_told = !notes_text.contains("done while the counters were read");
            let most = test["most"]["value"].as_f64();
            assert!(
                if is_told { most > Some(least) } else { most.is_none_or(|most| most > least) },
                "{id}: {test:#}"
            );
            assert!(test["single_us"].as_f64() > Some(0.0), "{id}: {test:#}");
            // A test below its minimum time gives the reason instead of a figure.
            if let Some(least_s) = test["page"]["least"]["seconds"].as_f64() {
                let took_s = match *id {
                    "load-bulk" => test["steps"][0]["elapsed_s"].number(),
                    _ => test["single_us"].number() / 1e6,
                };
                let unfit = test["unfit"].as_str().unwrap_or_default();
                assert_eq!(unfit.starts_with("too small to measure"), took_s < least_s, "{id}: {test:#}");
            }
        }
    }
    let dropped = desk.dyno(&["drop", "--yes", "--target", url]);
    assert!(dropped.err.contains("contains nothing that Dyno created"), "{dropped:#?}");
    // The stored suite shows what was printed then.
    let (_, shown) = desk.json(&["show", "suite-"]);
    assert_eq!(shown["conclusions"][0]["figures"]["tests"], suite_result["tests"]);
    let page = desk.dyno(&["report", "suite-", "-o", "-", "--format", "html"]);
    assert!(page.out.contains("<section id=\"tests\">"));
    assert!(page.out.contains(some[0]));
    assert!(!page.out.contains("<section id=\"results\">"), "tests are no points of one curve");
}

#[test]
fn a_suite_runs_on_sqlite() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    assert_suite_results(&url, &SOME, &["cpu-loop"]);
    assert!(!desk.file("suite.db").exists(), "the suite created the file, so it removes it");
}

#[test]
fn a_suite_runs_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off"), ("shared_buffers", "1MB")]);
        assert_suite_results(&server.url(), &ON_POSTGRES, &[]);
        let left = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
        assert_eq!(server.psql(left), "0");
    }
}

#[test]
fn a_suite_runs_on_mysql_and_mariadb() {
    for (version, some) in MySql::available().into_iter().zip(ON_MYSQL) {
        let server = MySql::start(&version, &[]);
        assert_suite_results(&server.url(), some, &[]);
        let left = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
        assert_eq!(server.sql(left), "0");
    }
}

#[test]
fn database_only_suite_does_not_observe_host() {
    let desk = TestEnv::new();
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    let only = [&["--database-only"][..], &test_args(&["server-update"])].concat();
    let (code, suite_result) = desk.json(&suite_args(&server.url(), &only));
    assert_eq!(code, 0, "{suite_result:#}");
    let step = &by_id(&suite_result["tests"], "server-update")["steps"][0];
    assert!(step["figures"]["ops_per_s"].as_f64() > Some(0.0));
    assert!(step["figures"]["device_util_pct"].is_null());
    assert!(step["costs"]["database_cpu_us"].is_null(), "{step:#}");
    let (_, shown) = desk.json(&["show", "last"]);
    assert_eq!(shown["hosts"][0]["roles"], serde_json::json!(["driver"]), "{}", shown["hosts"]);
    let embedded = desk.dyno(&["suite", "--database-only", "--target", "sqlite::memory:"]);
    assert!(embedded.code == 2, "{embedded:#?}");
    assert!(embedded.err.contains("runs inside this program"), "{embedded:#?}");
}

#[test]
fn interrupted_suite_resumes_where_it_stopped() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let some = test_args(&["cpu-integer", "server-lookup"]);
    let args = suite_args(&url, &some);
    let mut running = desk.start(&args);
    running.wait_for_line("run 3 of 4");
    running.signal("INT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    assert!(output.err.contains("`dyno suite --resume"), "{output:#?}");
    assert!(!desk.file("suite.db").exists(), "a suite that was cut off leaves no data");
    let (code, suite_result) = desk.json(&["suite", "--resume"]);
    assert_eq!((code, &suite_result["done"]), (0, &Value::Bool(true)), "{suite_result:#}");
    for id in ["cpu-integer", "server-lookup"] {
        assert_eq!(by_id(&suite_result["tests"], id)["steps"].items().len(), 2, "{id}");
    }
    let (_, listed) = desk.json(&["list", "--sweep", "last", "--limit", "100"]);
    let valid = listed.items().iter().filter(|run| run["status"] == "valid").count();
    assert_eq!(valid, 4, "what was done is not done again");
}

#[test]
fn failed_suite_leaves_no_data() {
    let desk = TestEnv::new();
    let dir = write_tests(&desk, PAGE);
    // More tests than the allowed consecutive failures have an error in their statement.
    let bad = |at: usize| {
        format!("[test.mine-{at}]\nstresses = \"nothing much\"\ntitle = \"One that fails\"\nmix = \"bad\"\n")
    };
    let pages: String = (0..7).map(bad).collect();
    let page = format!("group = \"mine\"\nlimit = \"p95 <= 10ms\"\n{pages}");
    std::fs::write(format!("{dir}/tests.toml"), page).unwrap();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let output = desk.dyno(&suite_args(&url, &["--from", &dir]));
    assert!(output.code == 3, "{output:#?}");
    assert!(output.err.contains("given up after 6 failures"), "{output:#?}");
    assert!(!desk.file("suite.db").exists(), "the data of a suite that was given up is removed");
}

#[test]
fn two_suites_resume_alternately_a_few_runs_each() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let some = test_args(&["server-lookup", "cpu-integer"]);
    let ids = ["old", "new"].map(|variant| {
        let args =
            suite_args(&url, &[&some[..], &["--keep-data", "--runs", "1", "--variant", variant]].concat());
        let (code, begun) = desk.json(&args);
        assert_eq!((code, &begun["done"]), (0, &Value::Bool(false)), "{begun:#}");
        begun["suite"].text().to_owned()
    });
    for (id, runs) in [(1, "2"), (0, "3"), (1, "9")] {
        let (code, went_on) = desk.json(&["suite", "--resume", &ids[id], "--runs", runs]);
        // Both together are four runs, one of them before the resume.
        assert_eq!((code, &went_on["done"]), (0, &Value::Bool(runs != "2")), "{went_on:#}");
    }
    let (_, listed) = desk.json(&["list", "--limit", "100"]);
    let mut order: Vec<&str> = listed.items().iter().map(|run| run["variant"].text()).collect();
    order.reverse();
    assert_eq!(order, ["old", "new", "new", "new", "old", "old", "old", "new"]);
    let no_runs = desk.dyno(&["suite", "--resume", &ids[0], "--runs", "0"]);
    assert_eq!(no_runs.code, 2, "{no_runs:#?}");
}

/// A folder with two tests: one works everywhere, the statement of the other fails when executed.
fn write_tests(desk: &TestEnv, page: &str) -> String {
    let dir = desk.file("mine");
    std::fs::create_dir_all(&dir).unwrap();
    let workload = "name = \"mine\"\nmix = \"good\"\n[mixes]\ngood = { good = 1 }\nbad = { bad = 1 }\n\
        [table.mine_rows]\nrows = 100\nprimary_key = \"id\"\n[table.mine_rows.columns]\nid = { type = \"integer\", expr = \"row\" }\n\
        [transaction.good]\nsteps = [{ sql = \"SELECT id FROM mine_rows WHERE id = 1\", rows = 1 }]\n\
        [transaction.bad]\nsteps = [{ sql = \"SELECT id FROM mine_rows WHERE id = 1000\", rows = 1 }]\n";
    std::fs::write(dir.join("workload.toml"), workload).unwrap();
    std::fs::write(dir.join("tests.toml"), page).unwrap();
    dir.display().to_string()
}

const PAGE: &str = "group = \"mine\"\nlimit = \"p95 <= 10ms\"\n\
    [test.mine-bad]\nstresses = \"nothing much\"\ntitle = \"One that fails\"\nmix = \"bad\"\n\
    [test.mine-good]\ntitle = \"One that works\"\nstresses = \"not much\"\nunit = \"rows\"\nunits = 2\nmix = \"good\"\n";

#[test]
fn failing_suite_test_is_marked_and_ends_no_other() {
    let desk = TestEnv::new();
    let dir = write_tests(&desk, PAGE);
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let (code, suite_result) = desk.json(&suite_args(&url, &["--from", &dir]));
    assert_eq!(code, 3, "{suite_result:#}");
    let (bad, good) = (by_id(&suite_result["tests"], "mine-bad"), by_id(&suite_result["tests"], "mine-good"));
    let why = bad["page"]["failed"].text();
    assert!(why.contains("bad_1 touched 0 rows, but must touch 1"), "{why}");
    // A unit is two rows of each operation.
    let step = &good["steps"][0];
    let (key, ops) = (step["key"].number(), step["figures"]["ops_per_s"].number());
    assert!((key / ops - 2.0).abs() < 1e-9, "{good:#}");
    let line = suite_result["line"].text();
    assert!(line.starts_with("1 of 2 tests have a result, 1 have none; what limits most: "), "{line}");
}

#[test]
fn suite_page_error_is_located_before_any_run() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    for (from, to, words) in [
        (
            "mix = \"good\"",
            "mixx = \"good\"",
            "tests.toml:12:1: test.mine-good.mixx: unknown key; did you mean mix?",
        ),
        ("p95 <= 10ms", "p95 <= soon", "tests.toml:3: test.mine-bad: invalid limit \"p95 <= soon\""),
        ("units = 2", "units = 0", "tests.toml:11:9: test.mine-good.units: 0 is not a whole number from 1"),
        ("unit = \"rows\"", "metric = \"iops\"", "test.mine-good: unknown measure iops"),
        ("title = \"One that works\"\n", "", "test.mine-good: title is missing; write title = "),
        ("test.mine-good", "test.Mine", "a test is named by small letters, digits and -"),
        ("mix = \"good\"", "plan = { \"workload.work_units\" = 1 }", "unknown key workload.work_units"),
    ] {
        let dir = write_tests(&desk, &PAGE.replace(from, to));
        let output = desk.dyno(&suite_args(&url, &["--from", &dir]));
        assert_eq!(output.code, 2, "{output:#?}");
        let squeezed = output.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains(words), "{words}: {squeezed}");
        assert!(!desk.file("suite.db").exists(), "nothing was run");
    }
    let unknown = desk.dyno(&suite_args(&url, &["--test", "cpu-integr"]));
    assert!(unknown.code == 2, "{unknown:#?}");
    assert!(unknown.err.contains("did you mean cpu-integer?"), "{unknown:#?}");
    let own_load = desk.dyno(&suite_args(&url, &["--set", "workload.update_pct=50"]));
    assert!(own_load.code == 2, "{own_load:#?}");
    assert!(own_load.err.contains("[workload]"), "{own_load:#?}");
}

#[test]
fn suite_list_gives_reason_for_tests_that_do_not_apply() {
    let desk = TestEnv::new();
    let (_, listed) = desk.json(&["suite", "list", "--target", "sqlite:x.db"]);
    let pages = listed["tests"].items();
    assert!(pages.len() >= 48, "{}", pages.len());
    let regex = pages.iter().find(|page| page["id"] == "cpu-regex").unwrap();
    assert_eq!(regex["why_not"], "SQLite has no regular expressions of its own");
    // Without a plan or a target, the embedded database is used.
    let output = desk.dyno(&["suite", "list", "--group", "oltp"]);
    assert!(output.out.contains("oltp-heavy"), "{output:#?}");
    assert!(!output.out.contains("cpu-integer"), "{output:#?}");
}

#[test]
fn suite_keeps_existing_data_and_reports_conflicts_first() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let set = |scale: &'static str| ["--set", "workload.folder=@tpcb", "--set", scale];
    let load = |scale| [&["load", "--replace", "--target", &url][..], &set(scale)].concat();
    // A commit may take longer than a second on a busy device, and a window without any is invalid.
    let tests = ["--test", "oltp-medium", "--test", "cpu-float", "--set", "run.time=3s"];
    let args = suite_args(&url, &tests);

    assert_eq!(desk.dyno(&load("workload.scale=3")).code, 0);
    let output = desk.dyno(&args);
    assert!(output.code == 2, "{output:#?}");
    assert!(output.err.contains("that the suite did not create (scale 3)"), "{output:#?}");
    assert_eq!(desk.dyno(&["list"]).out.trim(), "", "nothing was run before that was seen");

    assert_eq!(desk.dyno(&load("workload.scale=2")).code, 0);
    let (code, suite_result) = desk.json(&args);
    assert_eq!(code, 0, "{suite_result:#}");
    let left = |folder: &str| {
        let set = format!("workload.folder={folder}");
        desk.dyno(&["drop", "--yes", "--target", &url, "--set", &set, "--set", "workload.scale=2"]).err
    };
    assert!(left("@suite/cpu").contains("contains nothing that Dyno created"));
    assert!(left("@tpcb").contains("removed "), "it was there before");
}

#[test]
fn health_compares_suite_with_recorded_expectations() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("suite.db").display());
    let no_baseline = desk.dyno(&["health"]);
    assert!(no_baseline.code == 3, "{no_baseline:#?}");
    assert!(no_baseline.err.contains("the file does not exist"), "{no_baseline:#?}");
    let (code, _) = desk.json(&suite_args(&url, &test_args(&["cpu-integer", "cpu-regex"])));
    assert_eq!(code, 0);
    let written = desk.dyno(&["health", "--init", "--room", "50"]);
    assert!(written.code == 0, "{written:#?}");
    assert!(written.err.contains("1 expectations"), "{written:#?}");
    let again = desk.dyno(&["health", "--init"]);
    assert!(again.code == 2, "{again:#?}");
    assert!(again.err.contains("already exists"), "{again:#?}");
    let page = desk.file("sheet.html");
    let good = desk.dyno(&["health", "last", "-o", &page.display().to_string()]);
    assert!(good.code == 0, "{good:#?}");
    assert!(good.out.contains("1 of 1 expectations are met"), "{good:#?}");
    assert!(std::fs::read_to_string(page).unwrap().contains("cpu-integer &gt;= "));

    // Expectations of another product are compared, but not silently.
    let baseline = std::fs::read_to_string(desk.file("expect.toml")).unwrap();
    assert!(baseline.contains("\ndatabase = \"SQLite "), "{baseline}");
    desk.write("expect.toml", &baseline.replace("\"SQLite ", "\"Oracle Database "));
    let other = desk.dyno(&["health"]);
    let says = "with reservation: the expectations are of Oracle Database ";
    assert!(other.code == 0, "{other:#?}");
    assert!(other.out.contains(says), "{other:#?}");

    let too_much =
        "expect = [\n  \"cpu-integer >= 1e15\",\n  \"cpu-regex >= 1\",\n  \"cpu-integer.alone <= 1h\",\n]\n";
    desk.write("expect.toml", too_much);
    let (code, held) = desk.json(&["health"]);
    assert_eq!((code, &held["met"]), (1, &Value::Bool(false)));
    let met: Vec<_> = held["answers"].items().iter().map(|answer| answer["met"] == true).collect();
    assert_eq!(met, [false, false, true]);
    assert_eq!(held["answers"][1]["measured"]["Err"], "SQLite has no regular expressions of its own");
    desk.write("expect.toml", "expect = [\n  \"cpu-integer >= 5\",\n  \"cpu-integer => 5\",\n]\n");
    let wrong = desk.dyno(&["health"]);
    assert!(wrong.code == 2, "{wrong:#?}");
    assert!(wrong.err.contains("expect.toml:3:3: invalid expectation \"cpu-integer => 5\""), "{wrong:#?}");
}

#[test]
fn suite_runs_the_same_tests_on_one_and_all_targets() {
    let (desk, urls) = (TestEnv::new(), ["sqlite:one.db", "sqlite:two.db"]);
    let more =
        [&["--target", urls[1]][..], &test_args(&["cpu-date", "server-lookup", "server-sequence"])].concat();
    let (code, suite_result) = desk.json(&suite_args(urls[0], &more));
    assert_eq!(code, 0, "{suite_result:#}");
    let all = suite_result["tests"].items();
    let ids: Vec<&str> = all.iter().filter_map(|test| test["page"]["id"].as_str()).collect();
    let expected = [
        "cpu-date@1",
        "cpu-date@2",
        "server-lookup@1",
        "server-lookup@2",
        "server-sequence@1",
        "server-sequence@2",
    ];
    assert_eq!(ids, expected);
    for test in &all[..4] {
        assert_eq!(test["steps"][0]["sessions"], test["page"]["nodes"], "{test:#}");
        assert!(test["most"]["value"].as_f64() > Some(0.0), "{test:#}");
        assert!(test["single_us"].as_f64() > Some(0.0), "{test:#}");
        let (_, runs) = desk.json(&["show", test["steps"][0]["runs"][0].text()]);
        let targets = runs["targets"].as_array().map(Vec::len);
        assert_eq!(targets, test["page"]["nodes"].as_u64().map(|nodes| nodes as usize), "{runs:#}");
    }
    let shown = desk.dyno(&["show", "suite-"]).out;
    assert!(
        shown.contains("several targets compared with one") || shown.contains("what one target does"),
        "{shown}"
    );
    for url in urls {
        let dropped = desk.dyno(&["drop", "--yes", "--target", url]);
        assert!(dropped.err.contains("contains nothing that Dyno created"), "{dropped:#?}");
    }
    // Expectations refer to tests by name.
    assert_eq!(desk.dyno(&["health", "--init", "suite-"]).code, 0);
    let held = desk.dyno(&["health", "suite-"]);
    assert_eq!(held.code, 0, "{held:#?}");
}
