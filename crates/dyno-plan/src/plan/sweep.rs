//! Section `[sweep]`: runs over a grid of settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::words;
use crate::units::TimeSpan;

/// Section `[sweep]`: runs over a grid of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepSettings {
    /// Keys and their values, in the order of the plan.
    pub axes: Vec<SweepGridAxis>,
    /// When a ramp of sessions stops.
    pub until: Until,
    /// Number of runs of each point.
    pub repeats: u32,
    /// The order in which points run.
    pub order: SweepPointOrder,
    /// Seed of the random order.
    pub seed: u64,
    /// Pause between two runs of the sweep.
    pub pause: TimeSpan,
}

/// One axis of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepGridAxis {
    /// The key, such as `workload.update_pct`; `sessions` means sessions over all schemas.
    pub key: String,
    /// Its values, as a plan spells them.
    pub values: Vec<String>,
}

/// When a ramp of sessions stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// After its last value, without looking at results.
    End,
    /// Two steps after throughput stops rising.
    Saturation,
}

/// The order in which a sweep's points run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SweepPointOrder {
    /// Shuffled by the seed, differently for each repeat.
    Random,
    /// As written, with sessions rising fastest.
    Up,
    /// Up, then down in the next repeat.
    UpDown,
}

impl Default for SweepSettings {
    /// A sweep without axes, as for one run.
    fn default() -> Self {
        Self {
            axes: Vec::new(),
            until: Until::End,
            repeats: 1,
            order: SweepPointOrder::Random,
            seed: 1,
            pause: TimeSpan(std::time::Duration::ZERO),
        }
    }
}

words! {
    Until { End = "end", Saturation = "saturation" }
    SweepPointOrder { Random = "random", Up = "up", UpDown = "up-down" }
}
