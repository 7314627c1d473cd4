//! Runs the conformance tests that every engine must pass.

use crate::common::{folder, open, url};
use dyno_engine::{Cancel, DataState, TargetErrorKind};
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
    let findings =
        conformance::check(open(url).as_ref(), None, &[Commit::Wait], &[], &Cancel::default()).unwrap();
    let wanted = [&conformance::EVERYWHERE[..], &["read-only sessions"]].concat();
    assert_eq!(conformance::failed_checks(&findings, &wanted), [""; 0], "{url}");
}

#[test]
fn stopped_conformance_check_drops_what_it_loaded() {
    let (folder, cancel) = (folder(), Cancel::default());
    let target = open(&url(&folder.path().join("stopped.db"), ""));
    cancel.cancel();
    let error = conformance::check(target.as_ref(), None, &[Commit::Wait], &[], &cancel).unwrap_err();
    assert_eq!(error.kind, TargetErrorKind::Cancelled, "{error:?}");
    assert_eq!(error.message, "the deep check was stopped; the objects it created were dropped");
    assert!(matches!(target.block_data().unwrap().survey().unwrap(), DataState::Empty));
}
