//! A workload of the user's own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counter::Counter;
use crate::loaded::Loaded;
use crate::ops::OpStats;

/// What a record says of the workload of the user's own that its sessions ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnWorkload {
    /// Its name.
    pub name: String,
    /// SHA-256 of its files, as far as the run read them: the same for the same workload.
    pub digest: String,
    /// What rows of its tables and bounds of its draws were calculated with.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: u64,
    /// What was chosen of its options, where that is not what it takes when nothing is said.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// What it takes of all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usual_options: BTreeMap<String, String>,
    /// What has to stand wherever a result of it does, in the words of the workload; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it may change data.
    pub writes: bool,
    /// Whether it makes, changes or drops tables and the like while it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defines: bool,
    /// Transactions whose requests were sent together, as far as nobody waits for their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipelined: Vec<Pipelined>,
    /// What is known of each class of transactions beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionFacts>,
    /// What its figures are held against, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yardstick: Option<Yardstick>,
    /// What must hold behind a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<Invariant>,
    /// How long it took to ask for them behind the run, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants_s: Option<f64>,
    /// What one transaction of each class does to the database: as the workload says, and as was learned before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
    /// What it loaded, where that is what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Box<Loaded>>,
    /// Its part of the run, where others ran beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<OwnShare>,
}

/// The part that one of several workloads had in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnShare {
    /// Its sessions.
    pub sessions: u32,
    /// Operations per second that were asked of them, of a schedule of phases its mean; absent for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// What its classes did together.
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

/// Digits of a digest that tell two workloads apart.
const SHORT: usize = 12;

impl OwnWorkload {
    /// Name and beginning of the digest, with the scale where it is not 1, and options that were chosen: `shop e0aa0cbb8730`,
    /// `shop e0aa0cbb8730 scale 10 batched=true`.
    pub fn version(&self) -> String {
        let digest: String = self.digest.chars().take(SHORT).collect();
        let scale = if is_one(&self.scale) { String::new() } else { format!(" scale {}", self.scale) };
        let options: String = self.options.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{} {digest}{scale}{options}", self.name)
    }
}

/// What is known of a class of transactions beforehand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionFacts {
    /// The class.
    pub class: String,
    /// Requests to the server at least, and at most; absent where that depends on what is read.
    pub requests: (u64, Option<u64>),
    /// What nine of ten response times are to stay below, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_p90_s: Option<f64>,
    /// What its steps tally, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<String>,
    /// Whether a step may take it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_roll_back: bool,
    /// Whether it polls: where it finds nothing to do, it is no operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polls: bool,
    /// How long it is typed in before it begins, s.
    #[serde(default, skip_serializing_if = "crate::ops::is_zero")]
    pub keying_s: f64,
    /// How long the session rests behind it in the mean, s.
    #[serde(default, skip_serializing_if = "crate::ops::is_zero")]
    pub think_s: f64,
}

/// What the figures of a workload are held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Yardstick {
    /// The class that is counted a minute.
    pub class: String,
    /// As many of it a minute for each of the scale as there are at most where sessions rest as they are to.
    pub most_per_minute: f64,
    /// Sessions for each of the scale with which limits of response times hold, where these rest.
    pub sessions: u32,
    /// Scale for each session that is busy, below which they wait for each other's rows.
    pub roomy: f64,
}

/// How often a transaction waits for the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pipelined {
    /// The class.
    pub class: String,
    /// Round trips of one at least, and at most; absent where that depends on what is read.
    pub round_trips: (u64, Option<u64>),
    /// The same were each request sent when the one before is answered.
    pub alone: (u64, Option<u64>),
}

/// A question whose answer must be the same before and after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invariant {
    /// Its name; of several targets behind that of the target.
    pub name: String,
    /// What it has to be, where it has to be something certain; else it is to be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// The answer before the run; absent where it could not be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The answer after it, or why there is none.
    pub after: Result<String, String>,
}

/// What one transaction of a class does to the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// The class.
    pub class: String,
    /// What the workload says of it, in the counters' units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<Counter, f64>,
    /// Whether it calls procedures, of which nobody but the database can say what they commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls: bool,
    /// What was learned of it, while it ran on one session with nobody beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
}

/// What was learned of a class of transactions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Learned {
    /// Transactions that ended well.
    pub transactions: u64,
    /// Mean time of one, µs: without anybody to wait for.
    pub alone_us: f64,
    /// Rows that the statements of one returned or changed, as its session saw them; absent in earlier records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// What one moves the database's counters by.
    pub counters: BTreeMap<Counter, Mean>,
}

/// A mean over several parts of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mean {
    /// The mean of one transaction, in the counter's unit.
    pub mean: f64,
    /// Its standard error, by what the parts differ.
    pub error: f64,
}

impl Expected {
    /// What one transaction is expected to move `counter` by: what is said, or else what was learned.
    pub fn of(&self, counter: Counter) -> Option<Mean> {
        let said = self.said.get(&counter).map(|&mean| Mean { mean, error: 0.0 });
        said.or_else(|| self.learned.as_ref()?.counters.get(&counter).copied())
    }
}
