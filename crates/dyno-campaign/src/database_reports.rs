//! Stores the database's own reports of a run next to the repository, under the run's name.

use std::path::Path;
use std::time::Duration;

use dyno_engine::{OwnReport, Reporter, bounded_query};

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};
use crate::files;

/// How long a database may take to write its reports.
const REPORT_MAX: Duration = Duration::from_secs(300);

/// Takes the last snapshot and writes the reports to files called `name`. If that fails, the run still
/// counts.
pub(crate) fn store_reports(
    reporter: Box<dyn Reporter>,
    name: &str,
    repository: &Path,
    lead: &CampaignContext<'_>,
) {
    let finish = move || reporter.finish();
    match bounded_query::within(REPORT_MAX, &lead.cancel, "fetching its report", finish) {
        Ok(reports) => reports.into_iter().for_each(|report| write(report, name, repository, lead)),
        Err(error) => lead.emit(CampaignEvent::Warning(Warning::NoOwnReport(error.to_string()))),
    }
}

/// Writes one report to a file, and reports the path.
fn write(report: OwnReport, name: &str, repository: &Path, lead: &CampaignContext<'_>) {
    if report.file_ending.is_empty() {
        return lead.emit(CampaignEvent::OwnReport(report.name, None));
    }
    let path = repository.with_file_name(format!("{name}.{}", report.file_ending));
    lead.emit(match files::replace(&path, report.text.as_bytes()) {
        Ok(()) => CampaignEvent::OwnReport(report.name, Some(path)),
        Err(error) => {
            CampaignEvent::Warning(Warning::OwnReportNotWritten(error.to_string(), report.name, path))
        }
    });
}
