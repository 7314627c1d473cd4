//! How the hosts of a command are got together, as whoever leads it says.

use std::time::Duration;

use crate::share::Weights;
use crate::wire::Access;

/// How the hosts of a command are got together.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// The meeting point.
    pub access: Access,
    /// The name under which they meet.
    pub group: String,
    /// How many hosts there are to be.
    pub hosts: usize,
    /// How sessions are shared out.
    pub weights: Weights,
    /// For how long agents and leader go on without hearing of each other.
    pub silence: Duration,
    /// How long to wait for agents that are not there.
    pub wait: Duration,
    /// Whether a run goes on without a host that is lost.
    pub allow_short: bool,
    /// Whether a run of too few sessions for all hosts is led from those that have some, as the first steps of a load are.
    pub fewer_for_few: bool,
    /// The version of this program.
    pub version: String,
}
