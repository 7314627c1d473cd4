//! Who had the processors in the window.
//!
//! Read right after either snapshot and not with it: looking at every process of the machine takes milliseconds. The two
//! readings hold the machine's own times too, so the shares are exact for the time between them.

use std::collections::BTreeMap;

use dyno_host::{ProcessTimes, ProcessorShares};
use dyno_record::{Metric, ServerProcesses, Unit};

use crate::job::Job;
use crate::metrics::{self, Metrics};

/// The metric.
const OTHERS_PCT: &str = "others_cpu_pct";

/// Readings at both ends of the window.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    begin: Option<ProcessTimes>,
    end: Option<ProcessTimes>,
}

impl Processors {
    pub(crate) fn begin(&mut self, job: &Job<'_>, clients: &[u32]) {
        self.begin = read(job, clients);
    }

    pub(crate) fn end(&mut self, job: &Job<'_>, clients: &[u32]) {
        self.end = read(job, clients);
    }

    /// What was read, the last first.
    pub(crate) fn readings(&self) -> Vec<&ProcessTimes> {
        self.end.iter().chain(&self.begin).collect()
    }

    /// Enters what the readings tell into the figures of a run that has some.
    pub(crate) fn note(&self, metrics: &mut Metrics, host_counters: &mut BTreeMap<String, f64>) {
        if metrics.is_empty() {
            return;
        }
        let shares = match (&self.begin, &self.end) {
            (Some(begin), Some(end)) => ProcessorShares::between(begin, end),
            _ => None,
        };
        let Some(shares) = shares else {
            return metrics::absent(metrics, OTHERS_PCT, "this host does not tell whose its processors were");
        };
        host_counters.extend(shares.counters());
        match &shares.others_s {
            Ok(others_s) => {
                let value = 100.0 * others_s / shares.capacity_s;
                // Both are read over slightly different times, and a part never exceeds its whole.
                let busy_pct = metrics.get("cpu_busy_pct").and_then(Metric::value);
                let value = busy_pct.map_or(value, |busy_pct| value.min(busy_pct));
                metrics.insert(OTHERS_PCT.to_owned(), Metric::Value { value, unit: Unit::Percent });
            }
            Err(reason) => metrics::absent(metrics, OTHERS_PCT, reason),
        }
    }
}

fn read(job: &Job<'_>, clients: &[u32]) -> Option<ProcessTimes> {
    let servers: Vec<ServerProcesses> =
        job.targets.iter().map(|aim| aim.identity.processes.clone()).collect();
    ProcessTimes::read(&servers, clients)
}
