//! The reports that a database makes of itself around a run: kept beside the repository, under the run's name.

use std::path::Path;
use std::time::Duration;

use dyno_engine::{OwnReport, Reporter, patience};

use crate::event::{Event, Warning};
use crate::files;
use crate::lead::Lead;

/// How long a database may take to write its reports.
const REPORT_MAX: Duration = Duration::from_secs(300);

/// Takes the last snapshot, and writes the reports to files called `name`. The run counts whatever comes of it.
pub(crate) fn keep(reporter: Box<dyn Reporter>, name: &str, repository: &Path, lead: &Lead<'_>) {
    let finish = move || reporter.finish();
    match patience::within(REPORT_MAX, &lead.cancel, "taking its report", finish) {
        Ok(reports) => reports.into_iter().for_each(|report| write(report, name, repository, lead)),
        Err(error) => lead.tell(Event::Warning(Warning::NoOwnReport(error.to_string()))),
    }
}

/// Writes one report, and says where.
fn write(report: OwnReport, name: &str, repository: &Path, lead: &Lead<'_>) {
    if report.file_ending.is_empty() {
        return lead.tell(Event::OwnReport(report.name, None));
    }
    let path = repository.with_file_name(format!("{name}.{}", report.file_ending));
    lead.tell(match files::replace(&path, report.text.as_bytes()) {
        Ok(()) => Event::OwnReport(report.name, Some(path)),
        Err(error) => Event::Warning(Warning::OwnReportNotWritten(error.to_string(), report.name, path)),
    });
}
