//! Measures who used the processors in the window.
//!
//! The processes are read right after each snapshot and not with it, since reading every process of the
//! machine takes milliseconds. The two readings include the machine's own times, so the shares are exact for
//! the time between them.

use std::collections::BTreeMap;

use dyno_host::{ProcessTimes, ProcessorShares};
use dyno_record::{Metric, ServerProcesses, Unit};

use crate::job::DriveJob;
use crate::metrics::{self, MetricMap};

/// The name of the metric of other programs' CPU time.
const OTHERS_PCT: &str = "others_cpu_pct";

/// Readings at both ends of the window.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    begin: Option<ProcessTimes>,
    end: Option<ProcessTimes>,
}

impl Processors {
    pub(crate) fn begin(&mut self, job: &DriveJob<'_>, clients: &[u32]) {
        self.begin = read(job, clients);
    }

    pub(crate) fn end(&mut self, job: &DriveJob<'_>, clients: &[u32]) {
        self.end = read(job, clients);
    }

    /// The readings, the latest first.
    pub(crate) fn readings(&self) -> Vec<&ProcessTimes> {
        self.end.iter().chain(&self.begin).collect()
    }

    /// Enters the shares into the figures of a run, if both readings exist.
    pub(crate) fn note(&self, metrics: &mut MetricMap, host_counters: &mut BTreeMap<String, f64>) {
        if metrics.is_empty() {
            return;
        }
        let shares = match (&self.begin, &self.end) {
            (Some(begin), Some(end)) => ProcessorShares::between(begin, end),
            _ => None,
        };
        let Some(shares) = shares else {
            return metrics::absent(
                metrics,
                OTHERS_PCT,
                "this host does not report which processes used its processors",
            );
        };
        host_counters.extend(shares.counters());
        match &shares.others_s {
            Ok(others_s) => {
                let value = 100.0 * others_s / shares.capacity_s;
                // Both cover slightly different times, and a part must not exceed its whole.
                let busy_pct = metrics.get("cpu_busy_pct").and_then(Metric::value);
                let value = busy_pct.map_or(value, |busy_pct| value.min(busy_pct));
                metrics.insert(OTHERS_PCT.to_owned(), Metric::Value { value, unit: Unit::Percent });
            }
            Err(reason) => metrics::absent(metrics, OTHERS_PCT, reason),
        }
    }
}

fn read(job: &DriveJob<'_>, clients: &[u32]) -> Option<ProcessTimes> {
    let servers: Vec<ServerProcesses> =
        job.targets.iter().map(|context| context.identity.processes.clone()).collect();
    ProcessTimes::read(&servers, clients)
}
