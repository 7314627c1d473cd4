//! A program that was built without several driver hosts drives alone.

use std::sync::Arc;

use dyno_drive::Muster;

use crate::cli::Hosts;
use crate::talk::Talk;

/// Nobody.
pub(crate) fn gathered(_: &Hosts, _: &str, _: &Talk) -> anyhow::Result<Option<Arc<dyn Muster>>> {
    Ok(None)
}
