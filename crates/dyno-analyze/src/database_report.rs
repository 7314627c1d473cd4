//! Compares the figures of a run with those of the database's own report about the same time.

use dyno_record::{Counter, DatabaseReport, Metric, RunRecord};

/// Metrics that both sides have, with the counters from which the run computed them, and their names.
const COMPARED: [(&str, Counter, &str); 5] = [
    ("logical_reads_per_s", Counter::LogicalReads, "logical reads"),
    ("physical_reads_per_s", Counter::PhysicalReads, "physical reads"),
    ("redo_bytes_per_s", Counter::RedoBytes, "redo bytes"),
    ("commits_per_s", Counter::Commits, "commits"),
    ("executions_per_s", Counter::Executions, "executions"),
];

/// Part of a rate by which both sides may differ: the report covers a little more than the window, and a
/// snapshot is work, too.
const SHARE_MAX: f64 = 0.1;

/// Rates below this, per second, show only background activity of the database.
const RATE_MIN: f64 = 10.0;

/// One rate as the run and the database's report have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportedRate {
    /// The name of the metric in records.
    pub metric: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The rate over the window, per second.
    pub measured: f64,
    /// The rate in the report, per second.
    pub reported: f64,
}

impl ReportedRate {
    /// The reported rate minus the measured one, as a part of the measured one; absent if that is 0.
    pub fn difference(&self) -> Option<f64> {
        (self.measured > 0.0).then(|| self.reported / self.measured - 1.0)
    }

    /// Whether the two rates can be of the same load.
    pub fn agrees(&self) -> bool {
        let larger = self.measured.max(self.reported);
        larger < RATE_MIN || (self.measured - self.reported).abs() <= larger * SHARE_MAX
    }
}

/// The rates that both the run and its database report have.
pub fn rates(record: &RunRecord) -> Vec<ReportedRate> {
    let Some(report) = record.database_report.as_deref() else { return Vec::new() };
    let value = |metric: Option<&Metric>| match metric {
        Some(Metric::Value { value, .. }) => Some(*value),
        _ => None,
    };
    let rate = |&(metric, counter, name): &(&'static str, Counter, &'static str)| {
        // A rate whose counter did not move is 0, whatever the record says.
        let moved = record.counters.get(counter).is_ok_and(|by| by > 0);
        let measured = value(record.metrics.get(metric))?;
        let measured = if moved { measured } else { 0.0 };
        Some(ReportedRate { metric, name, measured, reported: value(report.metrics.get(metric))? })
    };
    COMPARED.iter().filter_map(rate).collect()
}

/// Seconds that the report covers beyond the window; absent if the report does not say, or no window exists.
pub fn seconds_beyond(record: &RunRecord, report: &DatabaseReport) -> Option<f64> {
    Some(report.seconds? - record.window.as_ref()?.seconds)
}
