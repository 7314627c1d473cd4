//! Audit findings: whether the figures of a run agree with each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of one audit check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// The figures agree with each other.
    Pass,
    /// The check was not possible; the detail says why.
    Skipped,
    /// The figures agree only within a limitation, or the user should know something before using one.
    Warn,
    /// The figures disagree; the run is invalid.
    Fail,
}

/// One audit check, which compares figures of the run with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditCheck {
    /// The check's stable name, such as `commits`.
    pub check: String,
    /// The result of the check.
    pub status: CheckStatus,
    /// The figure of one source, as displayed.
    pub expected: String,
    /// The figure of the other source, as displayed.
    pub observed: String,
    /// The finding as a sentence.
    pub detail: String,
}
