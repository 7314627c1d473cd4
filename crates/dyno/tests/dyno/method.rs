//! Hot spots, hot schemas, think time, key distributions, inserts and deletes, on every installed engine.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, find_check};
use dyno_testbed::{MySql, Postgres, Version};
use serde_json::Value;

const DATA: [&str; 6] =
    ["--set", "data.scale=1000 blocks", "--set", "data.scan_scale=50 blocks", "--set", "data.schemas=2"];

const RUN: [&str; 10] = [
    "--set",
    "run.sessions_per_schema=2",
    "--set",
    "workload.work_unit=8",
    "--set",
    "run.warmup=200ms",
    "--set",
    "run.time=1s",
    "--set",
    "observe.interval=500ms",
];

/// Runs the test on a real database of every installed engine, one after the other.
fn on_each_engine(test: impl Fn(&str, &TestEnv, &str)) {
    on_versions(Postgres::newest_or_all(), test);
}

/// Runs the test with sets of options of its operation loop on every installed engine, and on the oldest
/// PostgreSQL, which has separate procedures. Of the two `in_server`, MySQL and MariaDB share the text of the
/// procedures and run one each; the client sends all versions of PostgreSQL the same.
fn on_each_version(
    in_client: &'static [&'static str],
    in_server: [&'static [&'static str]; 2],
    test: impl Fn(&str, &TestEnv, &str, &[&[&str]]),
) {
    test("sqlite", &TestEnv::new(), "sqlite:dyno.db", &[in_client]);
    let versions = Postgres::available();
    for (at, version) in versions.iter().enumerate() {
        let server = Postgres::start(version, &[]);
        let is_newest = at + 1 == versions.len();
        let sets: &[&[&str]] = if is_newest { &[in_client, in_server[0], in_server[1]] } else { &in_server };
        test("postgres", &TestEnv::new(), &server.url(), sets);
    }
    for (version, in_server) in MySql::available().into_iter().zip(in_server) {
        let server = MySql::start(&version, &[]);
        test("mysql", &TestEnv::new(), &server.url(), &[in_client, in_server]);
    }
}

fn on_versions(versions: Vec<Version>, test: impl Fn(&str, &TestEnv, &str)) {
    let desk = TestEnv::new();
    test("sqlite", &desk, "sqlite:dyno.db");
    for version in versions {
        let server = Postgres::start(&version, &[]);
        test("postgres", &TestEnv::new(), &server.url());
    }
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        test("mysql", &TestEnv::new(), &server.url());
    }
}

fn load(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&[&["load", "--target", url], &DATA[..]].concat());
    assert_eq!(load.code, 0, "{load:#?}");
}

/// The record of a valid run with these settings.
fn run(desk: &TestEnv, url: &str, settings: &[&str]) -> Value {
    run_that_passes(desk, url, settings, &[])
}

/// Like [`run`], with checks that must pass.
fn run_that_passes(desk: &TestEnv, url: &str, settings: &[&str], passes: &[&str]) -> Value {
    let by_ops = settings.iter().any(|setting| setting.starts_with("run.ops_per_session"));
    // A plan has only one kind of length.
    let length = if by_ops { &RUN[..6] } else { &RUN };
    let sets: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let args = [&["run", "--target", url], &DATA[..], length, &sets].concat();
    let mut outcome = desk.json(&args);
    // On a machine that is too busy for the sessions, boundaries and snapshots drift apart; another test
    // covers that.
    let starved = |record: &Value| {
        ["stalls", "edges", "window_length"].iter().any(|name| find_check(record, name)["status"] != "pass")
    };
    let spoiled = |(code, record): &(i32, Value)| {
        *code != 0 || passes.iter().any(|name| find_check(record, name)["status"] != "pass")
    };
    for _ in 0..4 {
        if !(spoiled(&outcome) && starved(&outcome.1)) {
            break;
        }
        outcome = desk.json(&args);
    }
    let (code, record) = outcome;
    assert_eq!(code, 0, "{url} {settings:?}: {} {:#}", record["reasons"], record["audit"]);
    assert_fits_schema(&record);
    assert_all_pass(&record, passes);
    record
}

fn assert_all_pass(record: &Value, names: &[&str]) {
    for name in names {
        crate::common::assert_passes(record, name);
    }
}

/// None of these checks fails; a busy machine wakes sessions late, which is a warning.
fn assert_holds(record: &Value, names: &[&str]) {
    for name in names {
        let status = &find_check(record, name)["status"];
        assert!(status == "pass" || status == "warn", "{:#}", find_check(record, name));
    }
}

fn number(record: &Value, path: &str) -> f64 {
    record.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {record:#}"))
}

#[test]
fn access_skew_matches_the_plan() {
    on_each_engine(|engine, desk, url| {
        load(desk, url);
        let hot = [
            "workload.keys=zipf",
            "workload.hot_spot_every=3",
            "workload.hot_spot_offset=100",
            "workload.hot_spot_size=20",
            "workload.hot_schema_every=4",
            "workload.update_pct=10",
            "workload.lookup_pct=40",
            "run.ops_per_session=250",
        ];
        let passes = ["hot", "work_unit", "rows_updated_whole", "commits_whole", "update_values"];
        let record = run_that_passes(desk, url, &hot, &passes);
        let hot_ops = &record["window"]["hot"];
        assert!(hot_ops["spot"].count() > 10, "{hot_ops}");
        assert!(hot_ops["schema"].count() > 10, "{hot_ops}");
        if engine != "sqlite" {
            let server =
                run_that_passes(desk, url, &[&hot[..], &["workload.drive=server"]].concat(), &passes);
            assert!(server["window"]["hot"]["schema"].count() > 10);
        }
    });
}

#[test]
fn think_time_is_applied_and_accounted_for() {
    on_each_engine(|engine, desk, url| {
        load(desk, url);
        let think: &[&str] = &[
            "workload.think_every=2",
            "workload.think_min=20ms",
            "workload.think_max=60ms",
            "workload.lookup_pct=100",
        ];
        let record = run(desk, url, think);
        assert_holds(&record, &["think_time", "littles_law"]);
        assert!(number(&record, "/metrics/think_pct/value") > 30.0, "{:#}", record["metrics"]["think_pct"]);
        // With one thread for all sessions, a sleeping session must not block another.
        if engine != "sqlite" {
            let single_thread_run = run(desk, url, &[think, &["run.threads=1"]].concat());
            assert_holds(&single_thread_run, &["think_time", "littles_law"]);
            // If four sessions waited for each other's sleeps of 40 ms on average, the number of sleeps would
            // be limited by their total time.
            let (sleeps, seconds) = (
                number(&single_thread_run, "/window/think/sleeps"),
                number(&single_thread_run, "/window/seconds"),
            );
            assert!(sleeps * 0.040 > 1.3 * seconds, "{sleeps} sleeps of 40 ms in {seconds} s");
            let server = run(desk, url, &[think, &["workload.drive=server"]].concat());
            assert_holds(&server, &["think_time"]);
        }
        let paced = run(desk, url, &[think, &["workload.think_compensated=true"]].concat());
        assert_holds(&paced, &["think_time"]);
    });
}

#[test]
fn inserts_and_deletes_leave_tables_as_loaded() {
    // Inside the database each kind of redo is a separate procedure.
    const CLIENT: &[&str] = &["workload.drive=client", "workload.redo=lite"];
    const SERVER: [&[&str]; 2] =
        [&["workload.drive=server", "workload.redo=lite"], &["workload.drive=server", "workload.redo=heavy"]];
    on_each_version(CLIENT, SERVER, |engine, desk, url, loops| {
        load(desk, url);
        // A number of operations, and not a time: a busy machine does few in a second.
        let churn = [
            "workload.insert_pct=20",
            "workload.update_pct=10",
            "workload.lookup_pct=30",
            "run.ops_per_session=400",
        ];
        let exact = [
            "rows_left",
            "rows_updated_whole",
            "commits_whole",
            "commits",
            "work_unit",
            "mix",
            "update_values",
        ];
        for options in loops {
            let record = run_that_passes(desk, url, &[&churn[..], options].concat(), &exact);
            // Removing old row versions also reads blocks, at an unpredictable time.
            assert_holds(&record, &["logical_reads"]);
            if engine == "postgres" {
                assert_all_pass(&record, &["rows_churned", "rows_churned_whole"]);
            }
            let (inserts, deletes) =
                (number(&record, "/ops/insert/count"), number(&record, "/ops/delete/count"));
            assert!(inserts > 20.0, "{inserts} inserts");
            assert!(deletes > 0.0, "{deletes} deletes");
            for class in ["insert", "delete"] {
                assert_eq!(record["ops"][class]["count"], record["ops"][class]["rows"], "{class}");
            }
            let whole = &record["whole"];
            let left = whole["rows_inserted"].count() - whole["rows_deleted"].count();
            assert_eq!(whole["rows_left"].as_u64(), Some(left));
        }
        // The data is recognized, which a missing or extra row would prevent.
        let proved = desk.dyno(
            &[&["prove", "updates", "--target", url], &DATA[..], &RUN, &["--set", "workload.update_pct=50"]]
                .concat(),
        );
        assert_eq!(proved.code, 0, "{proved:#?}");
    });
}

#[test]
fn secondary_key_lookup_finds_25_rows() {
    // The rest of the mix does not change how a lookup is executed; a single class uses another path in the
    // server.
    const ALONE: &[&str] = &["workload.drive=server", "workload.secondary_pct=100"];
    const MIXED: [&[&str]; 2] = [
        &[
            "workload.drive=client",
            "workload.secondary_pct=50",
            "workload.update_pct=10",
            "workload.insert_pct=5",
            "workload.hot_schema_every=3",
        ],
        &[
            "workload.drive=server",
            "workload.secondary_pct=50",
            "workload.update_pct=10",
            "workload.insert_pct=5",
            "workload.hot_schema_every=3",
        ],
    ];
    on_each_version(MIXED[0], [MIXED[1], ALONE], |_, desk, url, loops| {
        load(desk, url);
        let passes = ["work_unit", "mix", "logical_reads", "rows_left", "commits_whole", "hot"];
        for options in loops {
            let passes = if *options == ALONE { &passes[..3] } else { &passes };
            let record = run_that_passes(desk, url, options, passes);
            let (lookups, rows) =
                (number(&record, "/ops/secondary/count"), number(&record, "/ops/secondary/rows"));
            assert!(lookups > 10.0, "{rows} rows in {lookups} lookups");
            assert!(rows == 25.0 * lookups, "{rows} rows in {lookups} lookups");
        }
    });
}

#[test]
fn reload_creates_missing_procedures() {
    let assert_needs_reload = |procedure: &str, desk: &TestEnv, url: &str, drop: &dyn Fn(&str)| {
        load(desk, url);
        drop(procedure);
        let plan = ["workload.drive=server", "workload.insert_pct=10", "workload.secondary_pct=10"];
        let sets: Vec<&str> = plan.iter().flat_map(|set| ["--set", set]).collect();
        let output = desk.dyno(&[&["run", "--target", url], &DATA[..], &RUN, &sets].concat());
        let words = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.code == 3, "{output:#?}");
        assert!(words.contains("load the data"), "{output:#?}");
        load(desk, url);
        run_that_passes(desk, url, &plan, &["rows_left", "work_unit"]);
    };
    for version in Postgres::available().into_iter().take(1) {
        let server = Postgres::start(&version, &[]);
        assert_needs_reload("slice_any_lite_2", &TestEnv::new(), &server.url(), &|name| {
            server
                .psql(&format!("DROP PROCEDURE dyno.{name}; DELETE FROM dyno.objects WHERE name = '{name}'"));
        });
    }
    for version in MySql::available().into_iter().take(1) {
        let server = MySql::start(&version, &[]);
        assert_needs_reload("dyno_slice_any_lite_2", &TestEnv::new(), &server.url(), &|name| {
            server.sql(&format!("DROP PROCEDURE {name}; DELETE FROM dyno_objects WHERE name = '{name}'"));
        });
    }
}

#[test]
fn data_without_secondary_key_works_if_workload_needs_none() {
    for version in Postgres::available().into_iter().take(1) {
        let server = Postgres::start(&version, &[]);
        let (desk, url) = (TestEnv::new(), server.url());
        load(&desk, &url);
        server.psql(
            "DROP INDEX dyno.rows_1_sec; DROP INDEX dyno.rows_2_sec;
             DELETE FROM dyno.objects WHERE name LIKE '%_sec'; DELETE FROM dyno.meta WHERE key = 'secondary'",
        );
        run(&desk, &url, &["workload.insert_pct=5"]);
        let needs = [
            "run",
            "--target",
            &url,
            "--set",
            "workload.secondary_pct=5",
            "--set",
            "run.sessions_per_schema=2",
        ];
        let output = desk.dyno(&[&needs[..], &DATA].concat());
        assert!(output.code != 0, "{output:#?}");
        assert!(output.err.contains("secondary keys 0 instead of 1"), "{output:#?}");
        assert!(output.err.contains("dyno load --replace"), "{output:#?}");
    }
}

#[test]
fn scans_report_their_own_figures() {
    on_each_engine(|_, desk, url| {
        load(desk, url);
        let record = run(desk, url, &["workload.scan_pct=30", "run.ops_per_session=100"]);
        let (scans, blocks) = (
            number(&record, "/metrics/scans_per_s/value"),
            number(&record, "/metrics/scan_blocks_per_s/value"),
        );
        assert!((blocks / scans - 50.0).abs() < 1e-6, "{blocks} blocks/s in {scans} scans/s");
        let block_size = number(&record, "/targets/0/data/block_size");
        let megabytes = number(&record, "/metrics/scan_mb_per_s/value");
        assert!((megabytes * 1e6 / blocks - block_size).abs() < 1e-3, "{megabytes} MB/s");
    });
}

#[test]
fn run_by_operations_supports_inserts_updates_and_think_time() {
    on_each_engine(|_, desk, url| {
        load(desk, url);
        let record = run(
            desk,
            url,
            &[
                "run.ops_per_session=400",
                "workload.insert_pct=10",
                "workload.update_pct=10",
                "workload.keys=latest",
                "workload.think_every=20",
                "workload.think_min=1ms",
                "workload.think_max=2ms",
            ],
        );
        assert_all_pass(&record, &["rows_left", "work_unit"]);
        assert_holds(&record, &["think_time"]);
        assert!(number(&record, "/ops/all/count") >= 4.0 * 400.0);
    });
}

#[test]
fn hook_commands_run_at_each_phase_of_a_run() {
    let desk = TestEnv::new();
    load(&desk, "sqlite:dyno.db");
    desk.write(
        "dyno.toml",
        "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\n\
         pre = \"echo pre $DYNO_RUN $DYNO_STATUS >> said.txt\"\n\
         post = \"echo post $DYNO_RUN $DYNO_STATUS >> said.txt\"\n\
         after_run = \"echo after $DYNO_RUN $DYNO_STATUS >> said.txt\"\n\
         end = \"echo end of $DYNO_RUNS $DYNO_STATUS >> said.txt\"\n\
         [sweep]\nsessions = [2, 4]\norder = \"up\"\n",
    );
    // There is no consent yet, and no terminal to ask at.
    let sweep = [&["sweep"], &DATA[..], &RUN[2..]].concat();
    let refused = desk.dyno(&sweep);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(refused.err.contains("hooks.pre runs: echo pre"), "{refused:#?}");
    assert!(refused.err.contains("--allow-hooks"), "{refused:#?}");
    assert!(!desk.file("said.txt").exists(), "{refused:#?}");
    let sweep = desk.dyno(&[&sweep[..], &["--allow-hooks"]].concat());
    assert_eq!(sweep.code, 0, "{sweep:#?}");
    let log = std::fs::read_to_string(desk.file("said.txt")).unwrap();
    let words: Vec<&str> = log.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(words, ["pre", "post", "after", "pre", "post", "after", "end"], "{log}");
    let runs: Vec<&str> = log.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert!(runs[0].len() > 8, "{log}");
    assert!(runs[..3].iter().all(|run| *run == runs[0]), "{log}");
    assert!(runs[3] != runs[0], "{log}");
    assert!(log.ends_with("end of 2 valid\n"), "{log}");

    // Consent given once in this folder is not requested again. A potentially long run stores its series,
    // with another process between the commands and the run.
    let long = ["--set", "run.ops_per_session=50"];
    let long_run = desk.dyno(&[&["run"], &DATA[..], &RUN[..6], &long].concat());
    assert_eq!(long_run.code, 0, "{long_run:#?}");
    let second_log = std::fs::read_to_string(desk.file("said.txt")).unwrap();
    let words: Vec<&str> = second_log.lines().skip(7).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(words, ["pre", "post", "after", "end"], "{second_log}");

    desk.write(
        "dyno.toml",
        "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\npre = \"echo too early >&2; exit 3\"\nend = \"touch ended\"\n",
    );
    let failed = desk.dyno(&[&["run"], &DATA[..], &RUN].concat());
    assert_eq!(failed.code, 2, "other commands need consent again: {failed:#?}");
    let failed = desk.dyno(&[&["run", "--allow-hooks"], &DATA[..], &RUN].concat());
    assert_eq!(failed.code, 3, "{failed:#?}");
    assert!(failed.out.contains("hooks.pre"), "{failed:#?}");
    assert!(failed.out.contains("too early"), "{failed:#?}");
    assert!(desk.file("ended").exists());
}

#[test]
fn invalid_block_workload_settings_are_refused_before_start() {
    let desk = TestEnv::new();
    let refused = |sets: &[&str], words: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let output = desk.dyno(&[&["run", "--target", "sqlite:dyno.db"], &sets[..]].concat());
        assert_eq!(output.code, 2, "{output:#?}");
        assert!(words.iter().all(|word| output.err.contains(word)), "{words:?}: {output:#?}");
    };
    refused(&["workload.insert_pct=5", "workload.delete_pct=4"], &["would change the size of the tables"]);
    refused(&["workload.insert_pct=40", "workload.update_pct=30"], &["add up to 110 %"]);
    refused(&["workload.think_every=2", "workload.rate=100/s"], &["think"]);
    refused(&["workload.think_min=2s", "workload.think_max=1s"], &["longer than the longest"]);
    refused(
        &["workload.hot_spot_every=2", "workload.hot_spot_offset=9990", "workload.hot_spot_size=20"],
        &["ends at key 10,010"],
    );
}
