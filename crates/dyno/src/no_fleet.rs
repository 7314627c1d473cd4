//! A build without distributed runs drives all sessions itself.

use std::sync::Arc;

use dyno_campaign::{Agents, Error};
use dyno_drive::WorkerPoolFactory;
use dyno_plan::Plan;

use crate::cli::{AgentAccessArgs, DriverHostArgs};
use crate::console::Console;

pub(crate) fn gathered(
    _: &DriverHostArgs,
    _: &str,
    _: &Console,
) -> anyhow::Result<Option<Arc<dyn WorkerPoolFactory>>> {
    Ok(None)
}

pub(crate) fn agents(_: Option<&AgentAccessArgs>) -> Option<Arc<dyn Agents>> {
    None
}

/// Accepts every plan, as there are no driver hosts.
pub(crate) fn refuse_unfit(_: &DriverHostArgs, _: &Plan) -> Result<(), Error> {
    Ok(())
}
