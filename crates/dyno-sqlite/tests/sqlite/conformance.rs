//! Runs the conformance tests that every engine must pass.

use crate::common::{folder, open, url};
use dyno_plan::Commit;
use dyno_workload::conformance;

#[test]
fn sqlite_files_and_memory_pass_engine_conformance() {
    let folder = folder();
    for (name, parameters) in [("wal.db", ""), ("delete.db", "journal=delete")] {
        assert_conforms(&url(&folder.path().join(name), parameters));
    }
    assert_conforms("sqlite::memory:");
}

fn assert_conforms(url: &str) {
    let findings = conformance::check(open(url).as_ref(), None, &[Commit::Wait], &[]).unwrap();
    let wanted = [&conformance::EVERYWHERE[..], &["read-only sessions"]].concat();
    assert_eq!(conformance::failed_checks(&findings, &wanted), [""; 0], "{url}");
}
