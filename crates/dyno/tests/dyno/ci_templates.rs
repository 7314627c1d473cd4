//! The templates for continuous integration: two versions of a project, measured in turn and compared.

use std::path::Path;
use std::process::Command;

use crate::common::TestEnv;

#[test]
fn compare_script_measures_both_versions_and_returns_the_gate() {
    let desk = TestEnv::new();
    for side in ["base", "head"] {
        std::fs::create_dir(desk.file(side)).unwrap();
        let plan = "version = 1\n[target]\nurl = \"sqlite:test.db\"\n[data]\nscale = \"1M\"\n\
            [run]\nwarmup = \"0s\"\nops_per_session = 200\n";
        desk.write(&format!("{side}/dyno.toml"), plan);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/ci/compare.sh");
    let program = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let compare = |gate: &str, results: &str| {
        let output = Command::new("sh")
            .arg(&script)
            .args(["base", "head"])
            .current_dir(desk.file(""))
            .env("PATH", &path)
            .env("DYNO_CI_PAIRS", "2")
            .env("DYNO_CI_GATE", gate)
            .env("DYNO_CI_RESULTS", results)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // Two runs of each side decide nothing, except about a measure that no run has.
    let (code, messages) = compare("ops_per_s >= -5%", "results");
    assert_eq!(code, Some(5), "{messages}");
    let text = std::fs::read_to_string(desk.file("results/compare.md")).unwrap();
    assert!(text.contains("not decided"), "{text}");
    assert!(std::fs::read_to_string(desk.file("results/report.html")).unwrap().contains("<svg"));
    let (_, runs) = desk.json(&["list", "--repository", "results/runs.sqlite3"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(4), "{runs:#}");
    let (code, messages) = compare("no_such_measure >= -5%", "other");
    assert_eq!(code, Some(1), "{messages}");
    std::fs::remove_file(desk.file("head/dyno.toml")).unwrap();
    let (code, messages) = compare("ops_per_s >= -5%", "third");
    assert_eq!(code, Some(2), "{messages}");
}
