//! How an agent is started.

use std::path::PathBuf;

use dyno_engine::Cancel;

use crate::policy::AgentPolicy;
use crate::wire::Access;

/// How an agent is started.
#[derive(Debug)]
pub struct AgentOptions {
    /// The meeting point.
    pub access: Access,
    /// The name under which leaders find it.
    pub group: String,
    /// What it is called in records.
    pub name: String,
    /// Its place among the agents, where its placement gives it one.
    pub place: Option<u32>,
    /// Where it keeps what it measured until somebody has it.
    pub keep: PathBuf,
    /// What leaders may do from here.
    pub policy: AgentPolicy,
    /// The version of this program.
    pub version: String,
    /// Asks it to end.
    pub cancel: Cancel,
}
