//! Membership of a run in a campaign: a sweep, a search, a soak, an A/B test, a suite or a study.
//!
//! Each record contains its campaign and the settings of its point. Curves and comparisons need only the records, from
//! whatever source.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::new_run_id;

/// The name of a campaign: its kind, start in UTC and four random hex digits, `sweep-20260321-142501-7f3a`.
pub type SweepId = String;

/// The purpose of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SweepKind {
    /// A grid of settings, measured point by point.
    Sweep,
    /// The highest load that keeps a latency limit.
    Search,
    /// One setting, measured for hours.
    Soak,
    /// Two settings, measured in alternating order.
    Ab,
    /// Tests of a catalog, run one after another.
    Suite,
    /// Variants of the platform, measured in alternating order.
    Study,
}

dyno_plan::names! {
    /// The name in records: `sweep`.
    SweepKind { Sweep = "sweep", Search = "search", Soak = "soak", Ab = "ab", Suite = "suite", Study = "study" }
}

/// One setting of a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PointSetting {
    /// The key in the plan: `workload.update_pct`; `sessions` means sessions over all schemas.
    pub key: String,
    /// The value as a plan spells it, such as `20`.
    pub value: String,
}

/// The position of a run in its campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartOf {
    /// The name of the campaign.
    pub id: SweepId,
    /// The kind of the campaign.
    pub kind: SweepKind,
    /// Number of the point, from 1, in the order of settings instead of time.
    pub point: u32,
    /// Number of this run among the runs of its point, from 1.
    pub repeat: u32,
    /// The side of an A/B test: `a` or `b`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// The settings that distinguish this point, slowest first; the plan contains all values, too.
    pub settings: Vec<PointSetting>,
}

/// The name of a campaign from its kind, its start time and sixteen random bits.
pub fn new_sweep_id(kind: SweepKind, now: Timestamp, random: u16) -> SweepId {
    format!("{}-{}", kind.name(), new_run_id(now, random))
}
