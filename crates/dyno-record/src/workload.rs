//! A workload of the user's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a record says of the workload of the user's own that its sessions ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnWorkload {
    /// Its name.
    pub name: String,
    /// SHA-256 of its files, as far as the run read them: the same for the same workload.
    pub digest: String,
    /// Whether it may change data.
    pub writes: bool,
    /// What must be the same before and after a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<Invariant>,
}

/// Digits of a digest that tell two workloads apart.
const SHORT: usize = 12;

impl OwnWorkload {
    /// Name and beginning of the digest: `shop e0aa0cbb8730`.
    pub fn version(&self) -> String {
        let digest: String = self.digest.chars().take(SHORT).collect();
        format!("{} {digest}", self.name)
    }
}

/// A question whose answer must be the same before and after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invariant {
    /// Its name; of several targets behind that of the target.
    pub name: String,
    /// The answer before the run.
    pub before: String,
    /// The answer after it, or why there is none.
    pub after: Result<String, String>,
}
