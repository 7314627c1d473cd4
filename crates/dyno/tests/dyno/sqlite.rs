//! The main commands on the embedded engine, one by one.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema, assert_passes, short_run_args};

const DATA: [&str; 2] = ["--set", "data.scale=2000 blocks"];

fn load_data() -> TestEnv {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let load = desk.dyno(&[&["load"][..], &DATA].concat());
    assert_eq!(load.code, 0, "{load:#?}");
    desk
}

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&short_run_args(&["run"])[..], &DATA, more].concat()
}

#[test]
fn sqlite_commands_complete_from_init_to_drop() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let check_first = desk.dyno(&["check"]);
    assert_eq!(check_first.code, 0, "{check_first:#?}");
    assert!(check_first.out.contains("dyno load"), "{}", check_first.out);

    let load = desk.dyno(&["load"]);
    assert_eq!(load.code, 0, "{load:#?}");
    assert!(load.out.contains("1.000"), "rows per block are measured and shown: {}", load.out);
    let again = desk.dyno(&["load"]);
    assert!(again.err.contains("already"), "{again:#?}");

    let run = desk.dyno(&short_run_args(&[
        "run",
        "--set",
        "workload.update_pct=20",
        "--set",
        "run.sessions_per_schema=2",
    ]));
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.out.contains("operations"), "{}", run.out);
    assert!(run.out.contains("commits"), "{}", run.out);
    let list = desk.dyno(&["list"]);
    assert!(list.out.contains("valid"), "{}", list.out);
    let show = desk.dyno(&["show"]);
    assert!(show.out.contains("time series"), "{}", show.out);
    crate::common::assert_fits_width(&show.out);

    let refused = desk.dyno(&["drop"]);
    assert_eq!(refused.code, 2, "without a terminal it does not ask: {refused:#?}");
    assert_eq!(desk.dyno(&["drop", "--yes"]).code, 0);
    assert!(!desk.file("dyno.db").exists());
    assert!(desk.dyno(&["drop", "--yes"]).err.contains("nothing"));
}

#[test]
fn record_is_printed_on_stdout_and_matches_schema() {
    let desk = load_data();
    let (code, record) =
        desk.json(&run(&["--set", "workload.update_pct=30", "--set", "workload.lookup_pct=50"]));
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_fits_schema(&record);
    assert_eq!(record["status"], "valid");
    for metric in [
        "logical_reads_per_s",
        "physical_read_requests_per_s",
        "physical_read_mb_per_s",
        "redo_bytes_per_s",
        "redo_syncs_per_s",
        "commits_per_s",
        "buffer_hit_pct",
        "cpu_busy_pct",
    ] {
        let value = &record["metrics"][metric];
        assert!(value["value"].is_number() || value["absent"].is_string(), "{metric}: {value}");
    }
    let (_, shown) = desk.json(&["show", "last"]);
    assert_eq!(shown, record, "what is stored is what was printed");
}

#[test]
fn client_and_sqlite_counts_match_exactly() {
    let desk = load_data();
    let (_, record) =
        desk.json(&run(&["--set", "workload.update_pct=20", "--set", "run.sessions_per_schema=2"]));
    for name in
        ["commits", "commits_whole", "rows_updated", "rows_updated_whole", "update_values", "work_unit"]
    {
        assert_passes(&record, name);
    }
    let commits = &record["counters"]["portable"]["commits"];
    assert_eq!(commits["delta"], record["window"]["counted"]["commits"]);
}

#[test]
fn sqlite_run_executes_every_operation_class() {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let data = ["--set", "data.scale=2000 blocks", "--set", "data.scan_scale=50 blocks"];
    assert_eq!(desk.dyno(&[&["load"][..], &data].concat()).code, 0);
    let mix = [
        "--set",
        "workload.scan_pct=10",
        "--set",
        "workload.lookup_pct=30",
        "--set",
        "workload.update_pct=10",
    ];
    let (code, record) =
        desk.json(&[&short_run_args(&["run", "--set", "workload.redo=heavy"])[..], &data, &mix].concat());
    assert_eq!(code, 0, "{}", record["reasons"]);
    for class in ["select", "lookup", "scan", "update", "commit"] {
        assert!(record["ops"][class]["count"].count() > 0, "{class}");
        assert!(record["ops"][class]["service_us"]["p99"].number() > 0.0, "{class}");
    }
    let scan = &record["ops"]["scan"];
    assert_eq!(scan["rows"].count(), scan["count"].count() * 50);
}

#[test]
fn open_loop_run_keeps_its_rate() {
    let desk = load_data();
    let (code, record) = desk.json(&run(&["--set", "workload.rate=200/s", "--set", "workload.work_unit=1"]));
    assert_eq!(code, 0, "{}", record["reasons"]);
    let count = record["ops"]["all"]["count"].number();
    let expected = 200.0 * record["window"]["work_s"].number();
    // Five standard deviations of a Poisson count.
    assert!((count - expected).abs() < 5.0 * expected.sqrt() + 2.0, "{count} arrivals, {expected} expected");
}

#[test]
fn in_memory_database_loads_and_runs_in_one_command() {
    let desk = TestEnv::new();
    let args = run(&["--target", "sqlite::memory:", "--set", "workload.lookup_pct=100"]);
    let (code, record) = desk.json(&args);
    assert_eq!(code, 0, "{}", record["reasons"]);
    assert_eq!(record["targets"][0]["url"], "sqlite::memory:");
}

#[test]
fn server_drive_is_refused_for_embedded_database() {
    let desk = load_data();
    let output = desk.dyno(&run(&["--set", "workload.drive=server"]));
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("workload.drive=client"), "{}", output.err);
}

#[test]
fn run_without_loaded_data_suggests_load() {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let output = desk.dyno(&run(&[]));
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("hint: `dyno load`"), "{}", output.err);
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "nothing was started, so nothing is listed");
}

#[test]
fn data_differing_from_plan_is_refused_before_run() {
    let desk = load_data();
    let output = desk.dyno(&short_run_args(&["run", "--set", "data.scale=3000 blocks"]));
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("2000"), "{}", output.err);
    assert!(output.err.contains("3000"), "{}", output.err);
    let refused = desk.dyno(&["load", "--set", "data.scale=3000 blocks"]);
    assert_eq!(refused.code, 3);
    assert!(refused.err.contains("--replace"), "{}", refused.err);
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=3000 blocks", "--replace"]).code, 0);
}

#[test]
fn show_lists_several_runs_in_one_table() {
    let desk = load_data();
    for sessions in ["run.sessions_per_schema=1", "run.sessions_per_schema=2"] {
        assert_eq!(desk.dyno(&run(&["--set", sessions])).code, 0);
    }
    let table = desk.dyno(&["show", "last~1", "last"]);
    assert_eq!(table.code, 0, "{table:#?}");
    crate::common::assert_fits_width(&table.out);
    for head in ["sessions", "ops", "p99", "busy", "iowait", "logical", "physical", "syncs", "elapsed"] {
        assert!(table.out.contains(head), "{head} in\n{}", table.out);
    }
    let (_, records) = desk.json(&["show", "last~1", "last"]);
    assert_eq!(records.items().len(), 2);
}

#[test]
fn each_run_has_new_seed_unless_plan_sets_one() {
    let desk = load_data();
    let seeds = |args: &[&str]| {
        let seed = || {
            assert_eq!(desk.dyno(&run(args)).code, 0);
            let (_, record) = desk.json(&["show", "last"]);
            record["plan"]["workload"]["seed"].count()
        };
        (seed(), seed())
    };
    let (one, other) = seeds(&[]);
    assert_ne!(one, other, "a second run would find what the first one has read in every cache");
    assert_eq!(seeds(&["--set", "workload.seed=7"]), (7, 7));
    // Different random draws do not make runs different: they are repeats of one point.
    let output = desk.dyno(&["compare", "last~3", "last~2", "--json"]);
    let comparisons: serde_json::Value =
        serde_json::from_str(&output.out).unwrap_or_else(|e| panic!("{e}: {output:#?}"));
    assert_eq!(comparisons[0]["differed"].as_array().map(Vec::len), Some(0), "{comparisons:#}");
}

#[test]
fn writes_by_another_process_to_sqlite_file_are_found() {
    for journal in ["wal", "delete"] {
        let desk = TestEnv::new();
        let path = desk.file("shared.db");
        // Without syncs, which hold the file as long as a busy disk takes. A process that waits for the file
        // only polls it, and might never find it free in the whole window.
        let url = format!("sqlite:{}?journal={journal}&sync=off", path.display());
        let data = ["--set", "data.scale=500 blocks", "--target", &url];
        let load = desk.dyno(&[&["load"][..], &data].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        let run = [
            "run",
            "--set",
            "run.time=2s",
            "--set",
            "run.warmup=200ms",
            "--set",
            "workload.update_pct=50",
            "--set",
        ];
        // Few enough that the file is free for others most of the time.
        let run = [&run[..], &["workload.rate=20/s"], &data].concat();
        let alone = desk.dyno(&run);
        assert_eq!(alone.code, 0, "{journal}: {alone:#?}");
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let other = rusqlite::Connection::open(&path).unwrap();
                other.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
                other.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE mine (a)").unwrap();
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    other.execute_batch("INSERT INTO mine VALUES (1)").unwrap();
                }
            });
            desk.dyno(&run);
            over.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        let record = desk.json(&["show", "last"]).1;
        assert_eq!(record["status"], "invalid", "{journal}");
        let commits = crate::common::find_check(&record, "commits");
        assert!(commits["detail"].text().contains("of another process"), "{journal}: {commits}");
    }
}
