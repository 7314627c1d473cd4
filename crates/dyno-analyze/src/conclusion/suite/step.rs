//! One step of a test, as the tables print it.

use std::collections::BTreeMap;

use dyno_record::{RunRecord, WaitTime};
use serde::{Deserialize, Serialize};

use super::SuiteTestInfo;
use super::costs::costs;
use crate::points::MeasuredPoint;

/// Figures of a step, in the order of tables: load on the processors, throughput, times, reads,
/// writes, redo, cache.
pub const FIGURES: [&str; 24] = [
    "cpu_busy_pct",
    "cpu_user_pct",
    "cpu_sys_pct",
    "cpu_idle_pct",
    "rows_per_s",
    "ops_per_s",
    "service_mean_us",
    "service_p95_us",
    "service_p99_us",
    "logical_reads_per_s",
    "physical_reads_per_s",
    "physical_read_requests_per_s",
    "physical_read_mb_per_s",
    "physical_writes_per_s",
    "physical_write_requests_per_s",
    "physical_write_mb_per_s",
    "device_reads_per_s",
    "device_read_mb_per_s",
    "device_writes_per_s",
    "device_write_mb_per_s",
    "device_util_pct",
    "redo_writes_per_s",
    "redo_mb_per_s",
    "buffer_hit_pct",
];

/// Wait events that are kept for a step.
const EVENTS: usize = 5;

/// One step of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteTestStep {
    /// Sessions of this step (#J in the document).
    pub sessions: u32,
    pub runs: Vec<String>,
    /// The key figure; absent where its runs lack it.
    pub key: Option<f64>,
    /// The measured figures, by the names of [`FIGURES`]; unknown ones are absent.
    pub figures: BTreeMap<String, f64>,
    /// The costs of one operation, by name.
    pub costs: BTreeMap<String, f64>,
    /// Mean length of its runs' windows, s.
    pub elapsed_s: f64,
    /// The wait events of the first run, the longest first.
    pub events: Vec<WaitTime>,
    /// Names of the figures that include background activity, or may include it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<String>,
}

impl SuiteTestStep {
    pub(super) fn of(page: &SuiteTestInfo, point: &MeasuredPoint, records: &[RunRecord]) -> Self {
        let read_figure = |name: &&str| Some(((*name).to_owned(), point.get(name)?));
        let runs: Vec<&RunRecord> =
            records.iter().filter(|record| point.runs.iter().any(|run| run.id == record.id)).collect();
        let elapsed_s: f64 = runs.iter().filter_map(|run| Some(run.window.as_ref()?.seconds)).sum();
        let events = point.runs.first().map(|run| run.waits.iter().take(EVENTS).cloned().collect());
        Self {
            sessions: point.sessions,
            runs: point.runs.iter().map(|run| run.id.clone()).collect(),
            key: page.key(point),
            figures: FIGURES.iter().filter_map(read_figure).collect(),
            costs: costs(point, runs.first().copied()),
            elapsed_s: elapsed_s / runs.len().max(1) as f64,
            events: events.unwrap_or_default(),
            marked: FIGURES.iter().filter(|name| point.is_marked(name)).map(|name| (*name).into()).collect(),
        }
    }
}
