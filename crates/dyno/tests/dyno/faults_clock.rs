//! Steps of the wall clock do not affect any measurement.

use std::path::{Path, PathBuf};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, find_check};
use serde_json::Value;

/// The faketime library, which shows a process a different time of day; the machine's own clock is shared by
/// all.
fn faketime() -> Option<PathBuf> {
    let dirs = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut candidates = dirs.map(|dir| dir.join("faketime/libfaketime.so.1")).filter(|path| path.exists());
    let library = candidates.next();
    if library.is_none() {
        dyno_testbed::skip("steps of the wall clock", "libfaketime is not installed");
    }
    library
}

/// A run of three seconds during which the wall clock is shifted by `step`.
fn run_over(library: &Path, step: &str) -> (i32, Value) {
    let desk = TestEnv::new();
    desk.write("offset", "+0");
    let data = ["--target", "sqlite:a.db", "--set", "data.scale=500 blocks"];
    assert_eq!(desk.dyno(&[&["load"][..], &data].concat()).code, 0);
    let run = ["run", "--set", "run.warmup=0s", "--set", "run.time=3s", "--set", "observe.interval=500ms"];
    let offset = desk.file("offset").display().to_string();
    let env = [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("FAKETIME_TIMESTAMP_FILE", &offset),
        ("FAKETIME_NO_CACHE", "1"),
        // The monotonic clock is not changed, just as when the machine's time is set.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let mut going = desk.start_with(&env, &[&run[..], &data].concat());
    going.wait_for_line("ops/s");
    // In one step, like a clock change: a partly written file would be an invalid time.
    desk.write("offset.new", step);
    std::fs::rename(desk.file("offset.new"), desk.file("offset")).unwrap();
    let output = going.wait();
    assert!(!output.err.contains("panicked"), "{output:#?}");
    (output.code, desk.json(&["show", "last"]).1)
}

#[test]
fn wall_clock_steps_change_no_figure_and_are_reported() {
    let Some(library) = faketime() else { return };
    for (step, seconds) in [("+0", 0.0), ("-3600", -3600.0), ("+86400", 86_400.0)] {
        let (code, record) = run_over(&library, step);
        assert_eq!(code, 0, "{step}: {} {:#}", record["reasons"], record["audit"]);
        let window = &record["window"];
        assert_eq!(find_check(&record, "window_length")["status"], "pass", "{step}: {window}");
        // A step of an hour is no stall, however long a busy machine stalls the client.
        assert!(window["stall_us_max"].number() < 60e6, "{step}: {window}");
        assert!(window["stall_s"].as_f64().unwrap_or(0.0) < 60.0, "{step}: {window}");
        assert_eq!(find_check(&record, "series_sum")["status"], "pass", "{step}");
        // As long as the window with its boundaries, in points of half a second.
        let series_s = record["series"]["points"].items().len() as f64 * 0.5;
        let edges_us: f64 = (0..2).map(|end| window["edge_us_max"][end].number()).sum();
        let apart_s = series_s - window["seconds"].number();
        assert!(apart_s.abs() <= 0.5 + edges_us / 1e6, "{step}: {series_s} s of series, {window}");
        let moment = |name: &str| window[name].text().parse::<jiff::Timestamp>().unwrap();
        let wall_s = moment("end").duration_since(moment("begin")).as_secs_f64();
        assert!((wall_s - seconds).abs() < 600.0, "the clock was set for this process: {window}");
        let finding = find_check(&record, "wall_clock");
        let expected = if seconds == 0.0 { "pass" } else { "warn" };
        assert_eq!(finding["status"], expected, "{step}: {finding}");
    }
}
