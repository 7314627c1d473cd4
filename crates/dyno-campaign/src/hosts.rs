//! Machines of targets that are not this one: found in the plan, reached, and read by a run.

use std::sync::Arc;

use dyno_drive::FarHost;
use dyno_engine::Clock;
use dyno_host::far::Place;
use dyno_plan::{HostSpec, Plan};
use dyno_record::Identity;

use crate::error::Error;
use crate::targets::Reached;

/// The machine that `plan` names for the target at `at`.
pub(crate) fn spec(plan: &Plan, at: usize) -> Option<&HostSpec> {
    plan.observe.hosts.iter().find(|host| host.is_of(at))
}

/// The places on it that matter to the target: what the plan names, else what the database says.
pub(crate) fn places(spec: &HostSpec, identity: &Identity) -> Vec<Place> {
    let named = [("data", &spec.data, &identity.data_path), ("redo", &spec.redo, &identity.redo_path)];
    let path = |(name, own, told): (&str, &Option<String>, &Option<String>)| {
        let path = own.clone().or_else(|| told.clone().filter(|path| path.starts_with('/')))?;
        Some((name.to_owned(), path))
    };
    named.into_iter().filter_map(path).collect()
}

/// Reaches the machines of all targets, in their order.
///
/// # Errors
/// One cannot be reached, or says nothing that can be used.
pub(crate) fn reach(
    plan: &Plan,
    targets: &[Reached],
    clock: &Arc<dyn Clock>,
) -> Result<Vec<Option<Arc<FarHost>>>, Error> {
    let one = |(at, reached): (usize, &Reached)| {
        let Some(spec) = spec(plan, at) else { return Ok(None) };
        let host = FarHost::reach(&spec.url, &places(spec, &reached.identity), clock);
        reached.named(host.map(|host| Some(Arc::new(host))))
    };
    targets.iter().enumerate().map(one).collect()
}
