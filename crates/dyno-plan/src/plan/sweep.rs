//! Section `[sweep]`: runs over a grid of settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::words;
use crate::units::Span;

/// Section `[sweep]`: runs over a grid of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Keys and their values, in the order in which they were written.
    pub axes: Vec<Axis>,
    /// How far the sessions rise.
    pub until: Until,
    /// Runs of every point.
    pub repeats: u32,
    /// The order of the points in time.
    pub order: Order,
    /// Seed of the random order.
    pub seed: u64,
    /// Rest between two runs.
    pub pause: Span,
}

/// One axis of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// The key: `workload.update_pct`; `sessions` is sessions over all schemas.
    pub key: String,
    /// Its values as a plan spells them.
    pub values: Vec<String>,
}

/// How far the sessions of a sweep rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// To the last value.
    End,
    /// Two steps further than throughput rises.
    Saturation,
}

/// The order of a sweep's points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Shuffled.
    Random,
    /// As written, sessions rising.
    Up,
    /// Up, and with the next repeat down.
    UpDown,
}

impl Default for Sweep {
    /// No axes.
    fn default() -> Self {
        Self {
            axes: Vec::new(),
            until: Until::End,
            repeats: 1,
            order: Order::Random,
            seed: 1,
            pause: Span(std::time::Duration::ZERO),
        }
    }
}

words! {
    Until { End = "end", Saturation = "saturation" }
    Order { Random = "random", Up = "up", UpDown = "up-down" }
}
