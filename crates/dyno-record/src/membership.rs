//! Runs that belong together: a sweep, a search, a soak, an A/B comparison, a suite of tests, a study of variants.
//!
//! Each record says itself where it belongs and which settings make its point, so that curves and comparisons can be
//! made from records alone, wherever they came from.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::new_run_id;

/// The name of runs that belong together: their kind, start in UTC and four random digits, `sweep-20260321-142501-7f3a`.
pub type SweepId = String;

/// What runs were made together for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SweepKind {
    /// A grid of settings.
    Sweep,
    /// The highest load within limits.
    Search,
    /// One setting for hours.
    Soak,
    /// Two sides by turns.
    Ab,
    /// Tests of a catalogue, one after the other.
    Suite,
    /// Variants of the platform by turns.
    Study,
}

dyno_plan::names! {
    /// The word in records: `sweep`.
    SweepKind { Sweep = "sweep", Search = "search", Soak = "soak", Ab = "ab", Suite = "suite", Study = "study" }
}

/// One setting that makes a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The plan's key: `workload.update_pct`; `sessions` is sessions over all schemas.
    pub key: String,
    /// The value as a plan spells it: `20`.
    pub value: String,
}

/// A run's place among the runs it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartOf {
    /// The name they share.
    pub id: SweepId,
    /// What they are.
    pub kind: SweepKind,
    /// Number of the point, from 1, in the order of settings and not of time.
    pub point: u32,
    /// Number of this run among those of its point, from 1.
    pub repeat: u32,
    /// The side of an A/B comparison: `a` or `b`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What makes this point differ from others, slowest first: all values are in the plan, too.
    pub settings: Vec<Setting>,
}

/// A name from kind, the moment of the start and sixteen random bits.
pub fn new_sweep_id(kind: SweepKind, now: Timestamp, random: u16) -> SweepId {
    format!("{}-{}", kind.name(), new_run_id(now, random))
}
