//! `dyno calibrate`: raw limits of this machine.

use std::path::Path;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use serde_json::Value;

fn figures(record: &Value) -> impl Iterator<Item = &Value> {
    record["calibration"]["figures"].items().iter()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Asserts that these figures exist, or that none does and the reason is given.
fn assert_reported(figure: &Value, names: &[&str]) {
    let is_refused = figure["refused"].is_string();
    for name in names {
        assert_eq!(
            figure[*name].as_f64().is_some_and(|value| value > 0.0),
            !is_refused,
            "{name}: {figure:#}"
        );
    }
}

#[test]
fn calibration_is_stored_as_its_own_kind_of_record() {
    let desk = TestEnv::new();
    let folder = tempfile::tempdir_in(desk.file("")).unwrap();
    let at = folder.path().to_str().unwrap();
    let quick = ["calibrate", at, "--quick", "--size", "64M", "--step", "60ms", "--variant", "raw"];
    let (code, record) = desk.json(&quick);
    assert_eq!((code, record["kind"].as_str()), (0, Some("component")), "{record:#}");
    assert!(is_empty(folder.path()), "nothing of it is left");
    crate::common::assert_fits_schema(&record);
    let test_figures =
        |test: &str| figures(&record).filter(|figure| figure["test"] == test).collect::<Vec<_>>();
    test_figures("memory_read")
        .into_iter()
        .for_each(|figure| assert_reported(figure, &["mb_per_s", "median_mb_per_s"]));
    for test in ["commit", "group_commit"] {
        assert!(!test_figures(test).is_empty());
        test_figures(test)
            .into_iter()
            .for_each(|figure| assert_reported(figure, &["per_s", "mean_us", "p99_us"]));
    }
    let left_out = record["calibration"]["left_out"].to_string();
    if left_out.contains("fio is not installed") {
        dyno_testbed::skip("the device is measured", "fio is not installed");
    } else if left_out.contains("O_DIRECT") || left_out.contains("tmpfs") {
        dyno_testbed::skip_unsupported("the device is measured", &left_out);
    } else {
        for (test, blocks) in
            [("random_read", vec![4096, 8192, 16_384]), ("large_read", vec![1 << 20]), ("mixed", vec![8192])]
        {
            for block in blocks {
                let block_figures: Vec<_> =
                    test_figures(test).into_iter().filter(|figure| figure["block_bytes"] == block).collect();
                assert!(!block_figures.is_empty(), "{test} {block}: {record:#}");
                block_figures
                    .into_iter()
                    .for_each(|figure| assert_reported(figure, &["per_s", "mb_per_s", "p95_us"]));
            }
        }
    }
    assert!(desk.dyno(&["list"]).out.contains("valid"));
    let shown = desk.dyno(&["show", "last"]);
    assert!(shown.out.contains("memory copied"), "{shown:#?}");
    assert!(shown.out.contains("quick mode"), "{shown:#?}");
    let page = desk.dyno(&["report", "last", "-o", "-", "--format", "html"]);
    assert!(page.out.contains("Raw limits of a machine"));
    assert!(page.out.contains("commits of one shared log"));
    // It is neither a run nor a point of one.
    let compared = desk.dyno(&["compare", "last", "last"]);
    assert_eq!(compared.code, 2, "{compared:#?}");
    assert!(compared.err.contains("names raw limits of a machine, not a run"), "{compared:#?}");
}

#[test]
fn suite_results_are_shown_as_share_of_calibrated_limits() {
    let desk = TestEnv::new();
    let at = desk.path().to_str().unwrap();
    let (code, record) = desk.json(&["calibrate", at, "--quick", "--only", "commit", "--step", "100ms"]);
    assert_eq!(code, 0, "{record:#}");
    let has_limit =
        figures(&record).any(|figure| figure["test"] == "group_commit" && figure["per_s"].is_f64());
    if !has_limit {
        return dyno_testbed::skip_unsupported(
            "a share of what the machine gives",
            &record["calibration"].to_string(),
        );
    }
    let url = format!("sqlite:{}", desk.file("share.db").display());
    let test =
        ["suite", "--quick", "--target", &url, "--test", "storage-redo-commit", "--test", "cpu-integer"];
    let (code, suite_result) =
        desk.json(&[&test[..], &["--set", "run.warmup=200ms", "--set", "run.time=1s"]].concat());
    assert_eq!(code, 0, "{suite_result:#}");
    let suite_test =
        |id: &str| suite_result["tests"].items().iter().find(|test| test["page"]["id"] == id).unwrap();
    let share = &suite_test("storage-redo-commit")["of_raw"];
    assert_eq!(share["calibration"], record["id"]);
    let (value, limit) = (share["value"].number(), share["limit"].number());
    assert!((share["share_pct"].number() - value / limit * 100.0).abs() < 1e-6, "{share:#}");
    assert!(suite_test("cpu-integer")["of_raw"].is_null(), "a processor is no device");
    let shown = desk.dyno(&["show", "suite-"]);
    assert!(shown.out.contains("of raw"), "{shown:#?}");
    assert!(shown.out.contains("commits of one shared log"), "{shown:#?}");
}

#[test]
fn calibrate_skips_device_on_tmpfs() {
    let folder = match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) if std::fs::read_to_string("/proc/mounts").unwrap().contains(" /dev/shm tmpfs ") => folder,
        _ => {
            return dyno_testbed::skip_unsupported(
                "calibrate_skips_device_on_tmpfs",
                "there is no /dev/shm in memory",
            );
        }
    };
    let at = folder.path().to_str().unwrap();
    let desk = TestEnv::new();
    let (code, record) = desk.json(&["calibrate", at, "--quick", "--only", "device", "--only", "commit"]);
    assert_eq!((code, figures(&record).count()), (3, 0), "{record:#}");
    assert_eq!(record["reasons"][0], "nothing could be measured");
    assert!(record["calibration"]["left_out"][0].text().contains("is a tmpfs, which is in memory"));
}

#[test]
fn calibrate_ctrl_c_keeps_results_and_leaves_no_files() {
    let desk = TestEnv::new();
    let folder = tempfile::tempdir_in(desk.file("")).unwrap();
    let at = folder.path().to_str().unwrap();
    let mut made =
        desk.start(&["-v", "calibrate", at, "--json", "--only", "commit", "--step", "150ms", "--p99", "2ms"]);
    made.wait_for_line("2 writers");
    assert!(is_empty(folder.path()), "the file has no name while it is used, either");
    made.signal("INT");
    let output = made.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let record: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(record["status"], "interrupted");
    assert!(figures(&record).count() > 0);
    assert!(is_empty(folder.path()));
}

#[test]
fn invalid_calibration_settings_are_refused_before_writing() {
    let desk = TestEnv::new();
    for (arguments, words) in [
        (&["/there/is/none"][..], "/there/is/none is not a usable folder"),
        (&[".", "--size", "1M"], "less than 64.0 MiB fits in the device's own cache"),
        (&[".", "--size", "1000T"], "free, and a file of"),
        (&[".", "--commit-size", "5000"], "a power of two"),
        (&[".", "--only", "disk"], "use one of memory, device, commit"),
    ] {
        let output = desk.dyno(&[&["calibrate"], arguments].concat());
        assert_eq!(output.code, 2, "{output:#?}");
        assert!(output.err.contains(words), "{output:#?}");
    }
}
