//! The report that a database makes of itself around a run: kept beside the repository, under the run's name.

use std::path::Path;

use dyno_target::Reporter;

use crate::talk::Talk;

/// Takes the last snapshot, writes the report to a file called `name`, and says what it is. The run counts whatever comes of it.
pub(crate) fn keep(reporter: Box<dyn Reporter>, name: &str, repository: &Path, talk: &Talk) {
    let report = match reporter.finish() {
        Ok(report) => report,
        Err(error) => return talk.say(&format!("warning: the database's own report cannot be had: {error}")),
    };
    if report.file_ending.is_empty() {
        return talk.say(&format!("this run lies between {}", report.name));
    }
    let path = repository.with_file_name(format!("{}.{}", name, report.file_ending));
    talk.say(&match crate::files::replace(&path, report.text.as_bytes()) {
        Ok(()) => format!("this run lies between {}, reported in {}", report.name, path.display()),
        Err(error) => {
            format!("warning: the report of {} cannot be written to {}: {error}", report.name, path.display())
        }
    });
}
