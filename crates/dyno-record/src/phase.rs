//! The results of each phase of a schedule.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::ALL;
use crate::ops::OpStats;

/// One phase of a run with a schedule. An operation belongs to the phase in which it was due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseStats {
    /// As in the plan: `ramp 0/s..1000/s 30s`; each step of a `steps` phase is a separate phase.
    pub name: String,
    /// Its begin, in seconds after the window's begin.
    pub begin_s: f64,
    /// Its end, in seconds after the window's begin; that of the window if the run stopped earlier.
    pub end_s: f64,
    /// Operations that the schedule asks for: the integral of its rate. With several workloads, the first has the schedule.
    pub asked: f64,
    /// Number of operations that were due in it.
    pub due: u64,
    /// Operations that were due by its end, in this phase or earlier, and had not started by then.
    pub behind: u64,
    /// Operations by class that were due in it and ended in the window; rates are per second of the phase.
    pub ops: BTreeMap<String, OpStats>,
    /// The same for each workload, in the plan's order, if several ran at the same time; the first has the schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<OpStats>,
    /// Rates of the database's counters in it, by metric name; empty if `no_metrics` gives a reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Why there are no rates of counters; absent if there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_metrics: Option<String>,
}

impl PhaseStats {
    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_s - self.begin_s
    }

    /// The mean scheduled rate over all these phases, in operations per second; `None` if their total length is 0.
    pub fn mean_asked_per_s(all: &[Self]) -> Option<f64> {
        let seconds: f64 = all.iter().map(Self::seconds).sum();
        (seconds > 0.0).then(|| all.iter().map(|phase| phase.asked).sum::<f64>() / seconds)
    }

    /// Results of the workload that has the schedule; `None` if unknown.
    pub fn led(&self) -> Option<&OpStats> {
        self.workloads.first().or_else(|| self.ops.get(ALL))
    }

    /// The mean scheduled rate, in operations per second; 0 if the phase has no length.
    pub fn asked_per_s(&self) -> f64 {
        if self.seconds() > 0.0 { self.asked / self.seconds() } else { 0.0 }
    }
}
