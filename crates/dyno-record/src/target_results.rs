//! The results of one of several targets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attribution::Attribution;
use crate::audit::AuditCheck;
use crate::counter::Counters;
use crate::metric::Metric;
use crate::ops::{ErrorTally, OpStats};
use crate::series::Series;
use crate::table_activity::TableActivity;
use crate::top_statements::TopStatements;
use crate::waits::Waits;
use crate::window::{LifetimeTotals, StartGate, Window};

/// The results of one of several targets, with the same fields as a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFigures {
    /// Number of sessions that the plan assigns to it.
    pub sessions: u32,
    /// Why it received only reads; absent otherwise: `the server is a standby in recovery`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_only: Option<String>,
    /// The common start of its sessions.
    pub gate: StartGate,
    /// The measured interval between its own two snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Operations of its sessions by class.
    pub ops: BTreeMap<String, OpStats>,
    /// Its figures over the window, by metric name.
    pub metrics: BTreeMap<String, Metric>,
    /// Its database counters over the window.
    pub counters: Counters,
    /// Its database counters over the whole lifetime of its sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<LifetimeTotals>,
    /// Counters of the devices with its data, if it runs on the driver host: `device.vda.reads`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_counters: BTreeMap<String, f64>,
    /// Wait events of its sessions.
    pub waits: Waits,
    /// The statements that used its server's time in the window; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<TopStatements>,
    /// What happened to tables and indexes in the window; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<TableActivity>,
    /// Its series of intervals over the window.
    pub series: Series,
    /// Errors of its sessions by code.
    pub errors: Vec<ErrorTally>,
    /// Attribution of the figures in `metrics`; a figure that is not listed is the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whose: BTreeMap<String, Attribution>,
    /// Audit checks of its figures.
    #[serde(default)]
    pub audit: Vec<AuditCheck>,
}
