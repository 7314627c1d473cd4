//! The load of one instance of a database that several instances serve (Oracle RAC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the sessions on one instance did in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceLoad {
    /// The instance's name, as the server reports it; absent for sessions that reconnected to another instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Number of sessions that it served.
    pub sessions: u32,
    /// Their operations without an error in the window.
    pub ops: u64,
    /// The 99th percentile of their service time in µs; absent if single operations were not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_p99_us: Option<f64>,
}
