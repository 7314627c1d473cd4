//! Facts about a custom workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counter::Counter;
use crate::loaded::BulkLoadResult;
use crate::ops::OpStats;

/// Facts about a custom workload that sessions of the run executed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFacts {
    /// Name of the custom workload.
    pub name: String,
    /// SHA-256 of its files as far as the run read them; equal for equal workloads.
    pub digest: String,
    /// The scale that set its table rows and bounds of generators.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: u64,
    /// Options with a value other than the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// All other options, with their default values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usual_options: BTreeMap<String, String>,
    /// A note that must accompany every result, in the words of the workload; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it may change data.
    pub writes: bool,
    /// Whether it creates, changes or drops tables or other objects during the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defines: bool,
    /// Transactions that send several requests without waiting for each answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipelined: Vec<Pipelined>,
    /// Facts about each class of transactions that are known in advance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionFacts>,
    /// The reference figures of the workload, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yardstick: Option<ReferenceFigure>,
    /// Statements about the data that must hold after a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<InvariantResult>,
    /// Time to check them after the run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants_s: Option<f64>,
    /// Expected effect of one transaction of each class: as the workload declares, and as measured before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
    /// The result of its bulk load, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Box<BulkLoadResult>>,
    /// Its share of the run, if several workloads ran at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<WorkloadShareFacts>,
}

/// The share of one of several workloads in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadShareFacts {
    /// Number of sessions that execute it.
    pub sessions: u32,
    /// Requested operations per second, or their mean over the phases; absent for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Totals over all its classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<Box<OpStats>>,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_one(scale: &u64) -> bool {
    *scale == 1
}

/// Number of digits of a digest that distinguish two workloads.
const SHORT: usize = 12;

impl WorkloadFacts {
    /// Name and start of the digest, with a scale other than 1 and the chosen options: `shop e0aa0cbb8730`,
    /// `shop e0aa0cbb8730 scale 10 batched=true`.
    pub fn version(&self) -> String {
        let digest: String = self.digest.chars().take(SHORT).collect();
        let scale = if is_one(&self.scale) { String::new() } else { format!(" scale {}", self.scale) };
        let options: String = self.options.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{} {digest}{scale}{options}", self.name)
    }
}

/// Facts about a class of transactions that are known in advance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionFacts {
    /// Name of the transaction class.
    pub class: String,
    /// Minimum and maximum number of requests to the server; no maximum if it depends on data.
    pub requests: (u64, Option<u64>),
    /// The limit for the 90th percentile of response time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_p90_s: Option<f64>,
    /// What its steps tally; absent if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<String>,
    /// Whether a step may roll it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_roll_back: bool,
    /// Whether it polls: if it finds nothing to do, it does not count as an operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polls: bool,
    /// Keying time before it starts, in seconds.
    #[serde(default, skip_serializing_if = "crate::ops::is_zero")]
    pub keying_s: f64,
    /// Mean think time of the session after it, in seconds.
    #[serde(default, skip_serializing_if = "crate::ops::is_zero")]
    pub think_s: f64,
}

/// The figures that a workload's results are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceFigure {
    /// The class that is counted per minute.
    pub class: String,
    /// The largest possible count per minute and unit of scale, if sessions keep the specified think times.
    pub most_per_minute: f64,
    /// Sessions per unit of scale at which the limits of response times apply, with these think times.
    pub sessions: u32,
    /// Scale per busy session below which sessions wait for the same rows.
    pub roomy: f64,
}

/// How often a transaction with pipelined requests waits for the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pipelined {
    /// Name of the transaction class.
    pub class: String,
    /// Minimum and maximum number of round trips; no maximum if it depends on data.
    pub round_trips: (u64, Option<u64>),
    /// The same if each request were sent after the answer to the one before.
    pub alone: (u64, Option<u64>),
}

/// A query whose result must be the same before and after a run, or have a given value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvariantResult {
    /// Its name; with several targets, prefixed with that of the target.
    pub name: String,
    /// The required result; absent if the result must stay the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The result before the run; absent if it was not queried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The result after the run, or why there is none.
    pub after: Result<String, String>,
}

/// Expected effect of one transaction of a class on the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// Name of the transaction class.
    pub class: String,
    /// The effect that the workload declares, in the counters' units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<Counter, f64>,
    /// Whether it calls procedures, whose commits only the database can count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls: bool,
    /// The effect measured in advance, on one session without other activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
}

/// The measured effect of a class of transactions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Learned {
    /// Number of transactions that succeeded.
    pub transactions: u64,
    /// Mean time of one transaction without waits for others, in µs.
    pub alone_us: f64,
    /// Rows that the statements of one transaction returned or changed, as its session saw them; absent in earlier records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// How much one transaction changes each counter of the database.
    pub counters: BTreeMap<Counter, Mean>,
}

/// A mean over several parts of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mean {
    /// The mean per transaction, in the counter's unit.
    pub mean: f64,
    /// Its standard error, from the differences between the parts.
    pub error: f64,
}

impl Expected {
    /// The expected change of `counter` by one transaction: as declared, or else as measured.
    pub fn of(&self, counter: Counter) -> Option<Mean> {
        let stated = self.said.get(&counter).map(|&mean| Mean { mean, error: 0.0 });
        stated.or_else(|| self.learned.as_ref()?.counters.get(&counter).copied())
    }
}
