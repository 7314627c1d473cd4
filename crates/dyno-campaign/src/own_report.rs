//! The report that a database makes of itself around a run: kept beside the repository, under the run's name.

use std::path::Path;
use std::time::Duration;

use dyno_engine::{Cancel, Reporter, patience};

use crate::talk::Talk;

/// How long a database may take to write its report.
const REPORT_MAX: Duration = Duration::from_secs(300);

/// Takes the last snapshot, writes the report to a file called `name`, and says what it is. The run counts whatever comes of it.
pub(crate) fn keep(reporter: Box<dyn Reporter>, name: &str, repository: &Path, cancel: &Cancel, talk: &Talk) {
    let finish = move || reporter.finish();
    let report = match patience::within(REPORT_MAX, cancel, "taking its report", finish) {
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
