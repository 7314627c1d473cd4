//! What one of several targets did.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::AuditCheck;
use crate::counter::Counters;
use crate::metric::Metric;
use crate::ops::{ErrorTally, OpStats};
use crate::series::Series;
use crate::waits::Waits;
use crate::whose::Whose;
use crate::window::{Gate, Whole, Window};

/// What one of several targets did, in the words of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnPart {
    /// Sessions that the plan deals to it.
    pub sessions: u32,
    /// Why it got reads only, if it did: `the server is a standby in recovery`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_only: Option<String>,
    /// The common start, of its sessions.
    pub gate: Gate,
    /// The measured interval, between its own two snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Its operations by class.
    pub ops: BTreeMap<String, OpStats>,
    /// Its figures.
    pub metrics: BTreeMap<String, Metric>,
    /// Its counters over the window.
    pub counters: Counters,
    /// Its counters over its sessions' whole life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
    /// Counters of the devices that hold its data, where it runs on the driving host: `device.vda.reads`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_counters: BTreeMap<String, f64>,
    /// What its sessions waited for.
    pub waits: Waits,
    /// Its window interval by interval.
    pub series: Series,
    /// Its errors by code.
    pub errors: Vec<ErrorTally>,
    /// Whose work the figures in `metrics` tell; one that is not here is the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whose: BTreeMap<String, Whose>,
    /// Whether its numbers agree.
    #[serde(default)]
    pub audit: Vec<AuditCheck>,
}
