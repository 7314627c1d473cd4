//! Audit findings: whether a run's numbers agree with each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// The numbers agree.
    Pass,
    /// It could not be checked; the detail says why.
    Skipped,
    /// They agree only with a reservation, or something is worth knowing before trusting a figure.
    Warn,
    /// They disagree: the run is invalid.
    Fail,
}

/// One check of a run's numbers against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditCheck {
    /// The check's stable name: `commits`.
    pub check: String,
    /// What it came to.
    pub status: CheckStatus,
    /// The figure one side gives, as shown.
    pub expected: String,
    /// The figure the other side gives, as shown.
    pub observed: String,
    /// The finding in plain words.
    pub detail: String,
}
