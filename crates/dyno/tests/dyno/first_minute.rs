//! What users do first: the demo, the inspection of the machine, and the program's description of itself.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;

#[test]
fn demo_measures_in_its_own_folder_and_writes_a_page() {
    let desk = TestEnv::new();
    let demo = desk.dyno(&["demo", "--dir", "first"]);
    // 1: on a busy machine, the audit may find a run invalid.
    assert!([0, 1].contains(&demo.code), "{demo:#?}");
    assert!(demo.err.contains("$ dyno load --plan dyno.toml"), "{demo:#?}");
    assert!(demo.out.contains("highest throughput"), "{demo:#?}");
    let page = std::fs::read_to_string(desk.file("first/report.html")).unwrap();
    assert!(page.contains("<svg"));
    let name = desk.file("first/report.html").canonicalize().unwrap();
    assert!(demo.out.contains(&format!("file://{}", name.display())), "{demo:#?}");
    let repository = desk.file("first/runs.sqlite3");
    let (code, runs) = desk.json(&["list", "--repository", &repository.display().to_string()]);
    assert_eq!((code, runs.items().len()), (0, 6), "{runs:#}");
    assert!(!desk.file("dyno.toml").exists(), "the demo writes into its folder only");

    let again = desk.dyno(&["demo", "--dir", "first"]);
    assert_eq!(again.code, 2, "{again:#?}");
    assert!(again.err.contains("hint: --dir names a folder that does not exist yet"), "{again:#?}");
}

#[test]
fn doctor_gives_each_finding_a_hint() {
    let desk = TestEnv::new();
    let (code, answer) = desk.json(&["doctor"]);
    assert_eq!(code, 0, "{answer:#}");
    assert!(answer["host"]["cpus"].count() > 0, "{answer:#}");
    let advice = answer["advice"].items();
    let checks: Vec<&str> = advice.iter().map(|one| one["check"].text()).collect();
    for check in ["processors", "others", "open files", "perf"] {
        assert!(checks.contains(&check), "{check} in {checks:?}");
    }
    for one in advice {
        assert_eq!(one["way_out"] == "", one["severity"] == "ok", "{one:#}");
    }
    let shown = desk.dyno(&["doctor"]);
    assert!(shown.out.contains("open files: "), "{shown:#?}");
}

#[test]
fn version_describes_the_program_for_bug_reports() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["-V"]).out.lines().count(), 1);
    let described = desk.dyno(&["--version", "--verbose"]).out;
    assert!(described.starts_with("dyno "), "{described}");
    for line in ["commit: ", "build: ", "engines:  sqlite, ", "features: "] {
        assert!(described.contains(line), "{line} in {described}");
    }
}
