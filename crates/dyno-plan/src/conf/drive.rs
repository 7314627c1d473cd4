//! Where the loop runs, which both kits leave to the database.

use super::options::Options;
use super::sheet::{Note, Sheet};

/// Writes that the loop runs inside the database, as in both kits, where the target has that.
pub(super) fn drive(sheet: &mut Sheet, options: &Options, words: &str) {
    let is_embedded =
        options.target.as_deref().is_some_and(|target| target.trim_start().starts_with("sqlite:"));
    if is_embedded {
        sheet.put_bare("workload.drive", "client");
        sheet.note(
            "workload.drive",
            Note::method("SQLite runs in Dyno's own process, so there is no other drive."),
        );
    } else {
        sheet.put_bare("workload.drive", "server");
        sheet.note("workload.drive", Note::method(words));
    }
}
