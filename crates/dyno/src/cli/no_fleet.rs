//! A program that was built without several driver hosts has no options for them.

use clap::Args;

/// None.
#[derive(Debug, Clone, Args)]
pub(crate) struct Hosts {
    #[command(flatten)]
    pub(crate) met: Met,
}

/// None.
#[derive(Debug, Clone, Args)]
pub(crate) struct Met {}
