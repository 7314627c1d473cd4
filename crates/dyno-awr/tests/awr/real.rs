//! Real reports, where they are at hand.

use std::path::{Path, PathBuf};

/// Where they are: the folder that `DYNO_AWR_REPORTS` names, or one beside the repository. Where there is none, `what` is
/// counted as not run: they cannot be installed, for they are others' property.
pub(crate) fn folder(what: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/awr");
    let named = std::env::var_os("DYNO_AWR_REPORTS").map(PathBuf::from);
    let found = named.into_iter().chain([beside]).find(|folder| folder.is_dir());
    if found.is_none() {
        dyno_testbed::cannot(what, "no folder of real reports is here (DYNO_AWR_REPORTS names one)");
    }
    found
}
