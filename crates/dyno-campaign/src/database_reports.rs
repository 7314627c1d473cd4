//! Takes the database's own snapshots around a window, stores the reports between them next to the repository,
//! and reads from the first one what the record keeps.

use std::path::Path;
use std::time::Duration;

use dyno_engine::{OwnReport, Reporter, TargetError, bounded_query};
use dyno_record::DatabaseReport;
use parking_lot::Mutex;

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};
use crate::{awr_report, files};

/// How long a database may take to write its reports, or to take one snapshot.
const REPORT_MAX: Duration = Duration::from_secs(300);

/// The reporters of a run, one for each target that has one.
#[derive(Default)]
pub(crate) struct WindowReporters(Mutex<Vec<Option<Box<dyn Reporter>>>>);

impl WindowReporters {
    pub(crate) fn new(reporters: Vec<Option<Box<dyn Reporter>>>) -> Self {
        Self(Mutex::new(reporters))
    }

    /// Whether any target has one.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().iter().all(Option::is_none)
    }

    /// Takes the first snapshots. A target that fails gets no report, and the run goes on.
    pub(crate) fn begin(&self, ctx: &CampaignContext<'_>) {
        self.each(ctx, "taking its first snapshot", |reporter| reporter.begin());
    }

    /// Takes the last snapshots.
    pub(crate) fn end(&self, ctx: &CampaignContext<'_>) {
        self.each(ctx, "taking its last snapshot", |reporter| reporter.end());
    }

    fn each(
        &self,
        ctx: &CampaignContext<'_>,
        doing: &str,
        take: fn(&mut dyn Reporter) -> Result<(), TargetError>,
    ) {
        for slot in self.0.lock().iter_mut() {
            let Some(mut reporter) = slot.take() else { continue };
            let ask = move || take(reporter.as_mut()).map(|()| reporter);
            match bounded_query::within(REPORT_MAX, &ctx.cancel, doing, ask) {
                Ok(reporter) => *slot = Some(reporter),
                Err(error) => ctx.emit(CampaignEvent::Warning(Warning::NoOwnReport(error.to_string()))),
            }
        }
    }

    /// Writes the reports to files called `name`, with the target's number if there are several. Returns what
    /// the report of a single target says. If that fails, the run still counts.
    pub(crate) fn store(
        self,
        name: &str,
        repository: &Path,
        ctx: &CampaignContext<'_>,
    ) -> Option<DatabaseReport> {
        let reporters = self.0.into_inner();
        let is_several = reporters.len() > 1;
        let mut read = None;
        for (number, reporter) in (1..).zip(reporters) {
            let Some(reporter) = reporter else { continue };
            let name = if is_several { format!("{name}-{number}") } else { name.to_owned() };
            let finish = move || reporter.finish();
            match bounded_query::within(REPORT_MAX, &ctx.cancel, "fetching its report", finish) {
                Ok(reports) => {
                    let first = reports.first().filter(|_| !is_several);
                    read = first.and_then(|report| awr_report::read(report, ctx));
                    reports.into_iter().for_each(|report| write(report, &name, repository, ctx));
                }
                Err(error) => ctx.emit(CampaignEvent::Warning(Warning::NoOwnReport(error.to_string()))),
            }
        }
        read
    }
}

/// Writes one report to a file, and reports the path.
fn write(report: OwnReport, name: &str, repository: &Path, ctx: &CampaignContext<'_>) {
    if report.file_ending.is_empty() {
        return ctx.emit(CampaignEvent::OwnReport(report.name, None));
    }
    let path = repository.with_file_name(format!("{name}.{}", report.file_ending));
    ctx.emit(match files::replace(&path, report.text.as_bytes()) {
        Ok(()) => CampaignEvent::OwnReport(report.name, Some(path)),
        Err(error) => {
            CampaignEvent::Warning(Warning::OwnReportNotWritten(error.to_string(), report.name, path))
        }
    });
}
