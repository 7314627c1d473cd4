//! Maps the place of the operation loop: SLOB and pgio run it inside the database.

use super::options::KitImportOptions;
use super::sheet::{KitPlanWriter, ParameterNote};

/// Sets the server drive, as in SLOB and pgio, if the target supports it.
pub(super) fn drive(sheet: &mut KitPlanWriter, options: &KitImportOptions, words: &str) {
    let is_embedded =
        options.target.as_deref().is_some_and(|target| target.trim_start().starts_with("sqlite:"));
    if is_embedded {
        sheet.put_bare("workload.drive", "client");
        sheet.note(
            "workload.drive",
            ParameterNote::method("SQLite runs in Dyno's own process, so there is no other drive."),
        );
    } else {
        sheet.put_bare("workload.drive", "server");
        sheet.note("workload.drive", ParameterNote::method(words));
    }
}
