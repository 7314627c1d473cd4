//! A program that was built without several driver hosts drives alone.

use std::sync::Arc;

use dyno_campaign::{Agents, Error};
use dyno_drive::Muster;
use dyno_plan::Plan;

use crate::cli::{Hosts, Met};
use crate::talk::Talk;

/// Nobody.
pub(crate) fn gathered(_: &Hosts, _: &str, _: &Talk) -> anyhow::Result<Option<Arc<dyn Muster>>> {
    Ok(None)
}

/// Nobody knows any.
pub(crate) fn agents(_: Option<&Met>) -> Option<Arc<dyn Agents>> {
    None
}

/// Nothing has to be refused.
pub(crate) fn refuse_unfit(_: &Hosts, _: &Plan) -> Result<(), Error> {
    Ok(())
}
