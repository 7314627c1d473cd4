//! Empty options for a build without distributed runs.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct DriverHostArgs {
    #[command(flatten)]
    pub(crate) met: AgentAccessArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentAccessArgs {}
