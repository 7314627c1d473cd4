//! `dyno check --deep` and what it refuses; the engines run its suite in their own tests.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_workload::conformance;
use serde_json::Value;

/// The findings of a successful deep check, by check.
fn deep_check_findings(desk: &TestEnv, url: &str) -> Vec<(String, String)> {
    let (code, report) = desk.json(&["check", "--deep", "--target", url]);
    assert_eq!(code, 0, "{report:#}");
    let findings = report["advice"].items();
    let text = |finding: &Value, key: &str| finding[key].text().to_owned();
    findings.iter().map(|finding| (text(finding, "check"), text(finding, "severity"))).collect()
}

/// Asserts that each of `checks` succeeded.
fn assert_checks_ok(findings: &[(String, String)], checks: &[&str]) {
    for check in checks {
        assert!(findings.contains(&((*check).to_owned(), "ok".to_owned())), "{check}: {findings:?}");
    }
    assert!(!findings.iter().any(|(_, severity)| severity == "fail"), "{findings:?}");
}

#[test]
fn deep_check_passes_for_sqlite_file_and_memory() {
    let desk = TestEnv::new();
    assert_checks_ok(&deep_check_findings(&desk, "sqlite:deep.db"), &conformance::EVERYWHERE);
    assert_checks_ok(&deep_check_findings(&desk, "sqlite::memory:"), &conformance::EVERYWHERE);
}

#[test]
fn deep_check_refuses_and_keeps_existing_data() {
    let desk = TestEnv::new();
    let size = ["--set", "data.scale=100 blocks", "--target", "sqlite:mine.db"];
    assert_eq!(desk.dyno(&[&["load"], &size[..]].concat()).code, 0);
    let refused = desk.dyno(&["check", "--deep", "--target", "sqlite:mine.db"]);
    assert!(refused.code != 0, "{refused:#?}");
    assert!(refused.err.contains("contains no Dyno data"), "{refused:#?}");
    let again = desk.dyno(&[&["load"], &size[..]].concat());
    assert!(again.err.contains("already exists"), "{again:#?}");
}

#[test]
fn grants_are_printed_for_oracle_without_a_connection() {
    let desk = TestEnv::new();
    let printed = desk.dyno(&["check", "--grants", "--target", "oracle://me@127.0.0.1:1/s"]);
    assert_eq!(printed.code, 0, "{printed:#?}");
    assert!(printed.out.contains("GRANT SELECT ON SYS.V_$SYSSTAT TO me;"), "{printed:#?}");
}
