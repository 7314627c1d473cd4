//! The lines of a load profile: the activity of a run per second, as database administrators read it.

use dyno_record::{Metric, RunRecord};

use crate::points::figure;

/// One line of a load profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProfileLine {
    /// The metric, for example `commits_per_s`.
    pub metric: &'static str,
    /// What it counts, for example `commits`.
    pub name: &'static str,
    /// Whether it counts bytes.
    pub is_bytes: bool,
}

const fn line(metric: &'static str, name: &'static str) -> LoadProfileLine {
    LoadProfileLine { metric, name, is_bytes: false }
}

/// The lines in their order; time of the database precedes them.
pub static LOAD_LINES: [LoadProfileLine; 16] = [
    line("ops_per_s", "operations"),
    line("rows_per_s", "rows"),
    line("logical_reads_per_s", "logical reads (blocks)"),
    line("physical_reads_per_s", "physical reads (blocks)"),
    line("physical_read_requests_per_s", "read requests"),
    line("physical_writes_per_s", "physical writes (blocks)"),
    line("physical_write_requests_per_s", "write requests"),
    LoadProfileLine { metric: "redo_bytes_per_s", name: "redo", is_bytes: true },
    line("redo_writes_per_s", "redo writes"),
    line("redo_syncs_per_s", "redo syncs"),
    line("commits_per_s", "commits"),
    line("rollbacks_per_s", "rollbacks"),
    line("executions_per_s", "executions"),
    line("rows_read_per_s", "rows read"),
    line("rows_written_per_s", "rows written"),
    line("scans_per_s", "scans"),
];

impl LoadProfileLine {
    /// Its value in a run, per second; absent where the run lacks it.
    pub fn per_s(&self, record: &RunRecord) -> Option<f64> {
        // One metric has two names.
        figure(record, self.metric).map(|(value, _)| value).or_else(|| {
            let (megabytes, _) =
                (self.metric == "redo_bytes_per_s").then(|| figure(record, "redo_mb_per_s"))??;
            Some(megabytes * 1e6)
        })
    }
}

/// Transactions per second as the database counts them: commits and rollbacks.
///
/// # Errors
/// Why they are unknown, or that there were none.
pub fn transactions_per_s(record: &RunRecord) -> Result<f64, String> {
    let figure = |name: &str| match record.metrics.get(name) {
        Some(Metric::Value { value, .. }) => Ok(*value),
        Some(Metric::Absent { absent }) => Err(absent.clone()),
        None => Err("the commits were not counted".to_owned()),
    };
    // An engine without a count of rollbacks has few of them.
    match figure("commits_per_s")? + figure("rollbacks_per_s").unwrap_or(0.0) {
        count if count > 0.0 => Ok(count),
        _ => Err("the database counted neither commits nor rollbacks".to_owned()),
    }
}
