//! The options with which an agent starts.

use std::path::PathBuf;

use dyno_engine::Cancel;

use crate::policy::AgentPolicy;
use crate::wire::Access;

#[derive(Debug)]
pub struct AgentOptions {
    /// The NATS server, and the credentials for it.
    pub access: Access,
    /// The group name under which controllers find the agent.
    pub group: String,
    /// The agent's name in records.
    pub name: String,
    /// The agent's position among the agents; absent if its placement assigns none.
    pub place: Option<u32>,
    /// The folder that keeps results until a controller has them.
    pub keep: PathBuf,
    /// Which databases controllers may use from this host.
    pub policy: AgentPolicy,
    pub version: String,
    /// Signals that the agent is to end.
    pub cancel: Cancel,
}
