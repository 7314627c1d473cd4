//! What was done in each phase of a schedule.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::ALL;
use crate::ops::OpStats;

/// One phase of a run whose rate goes by a schedule. An operation belongs to the phase in which it was due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseStats {
    /// As the plan says it: `ramp 0/s..1000/s 30s`; one step of several is a phase, too.
    pub name: String,
    /// Its begin, seconds after the window's.
    pub begin_s: f64,
    /// Its end, or that of the window where the run was stopped before.
    pub end_s: f64,
    /// Operations that the schedule asks for in it: the area under its rate. Of several workloads the schedule is the first one's.
    pub asked: f64,
    /// Operations that were due in it.
    pub due: u64,
    /// Operations that had been due by its end, in it or before, and had not begun by then.
    pub behind: u64,
    /// What was done by class of the operations that were due in it, as far as they ended in the window; rates are over its
    /// own seconds.
    pub ops: BTreeMap<String, OpStats>,
    /// The same of each workload, in the order of the plan, where several ran beside each other; the first is what the schedule asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<OpStats>,
    /// Rates of the database's counters in it, by metric name; empty where `no_metrics` says why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Why there are no rates of counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_metrics: Option<String>,
}

impl PhaseStats {
    /// How long it was, s.
    pub fn seconds(&self) -> f64 {
        self.end_s - self.begin_s
    }

    /// The mean rate that the schedule asks for in all these phases, operations per second; nothing where they have no time.
    pub fn mean_asked_per_s(all: &[Self]) -> Option<f64> {
        let seconds: f64 = all.iter().map(Self::seconds).sum();
        (seconds > 0.0).then(|| all.iter().map(|phase| phase.asked).sum::<f64>() / seconds)
    }

    /// What was done of that which the schedule asks for; nothing where nobody tells.
    pub fn led(&self) -> Option<&OpStats> {
        self.workloads.first().or_else(|| self.ops.get(ALL))
    }

    /// The mean rate that the schedule asks for, operations per second; 0 of no time.
    pub fn asked_per_s(&self) -> f64 {
        if self.seconds() > 0.0 { self.asked / self.seconds() } else { 0.0 }
    }
}
