//! The options with which a controller reserves driver hosts.

use std::time::Duration;

use crate::share::Weights;
use crate::wire::Access;

#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// The NATS server, and the credentials for it.
    pub access: Access,
    /// The group name of the agents.
    pub group: String,
    /// Number of driver hosts to reserve.
    pub hosts: usize,
    /// How sessions are distributed over the hosts.
    pub weights: Weights,
    /// How long agents and controller tolerate hearing nothing from each other.
    pub silence: Duration,
    /// How long the controller waits for missing agents.
    pub wait: Duration,
    /// Whether a run continues without a host that was lost.
    pub allow_short: bool,
    /// Whether a run with fewer sessions than hosts uses only some hosts, as the first steps of a load test
    /// do.
    pub fewer_for_few: bool,
    pub version: String,
}
