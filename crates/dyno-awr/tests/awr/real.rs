//! Finds real reports, where available.

use std::path::{Path, PathBuf};

/// Their folder: the one that `DYNO_AWR_REPORTS` names, or one beside the repository. Without a
/// folder, `what` counts as not run. The reports cannot be distributed, because they belong to
/// others.
pub(crate) fn folder(scenario: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/awr");
    let named = std::env::var_os("DYNO_AWR_REPORTS").map(PathBuf::from);
    let report_folder = named.into_iter().chain([beside]).find(|folder| folder.is_dir());
    if report_folder.is_none() {
        dyno_testbed::skip_unsupported(
            scenario,
            "no folder of real reports is here (DYNO_AWR_REPORTS names one)",
        );
    }
    report_folder
}
