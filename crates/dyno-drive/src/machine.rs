//! Decides whose machine figures a target has: those of its own machine if that is observed, else those of
//! this one.

use std::borrow::Cow;

use dyno_host::HostDelta;
use dyno_observe::TargetSnapshot;
use dyno_observe::machine::far_delta;
use dyno_observe::metrics::{self, MetricMap};

use crate::job::{DriveJob, TargetContext};

/// Why a block device has no figures.
const ELSEWHERE: &str = "the database runs on another host";
/// Why there are figures of each target and none of all.
const APART: &str = "the databases run on several hosts: see the figures of each target";

/// What the machine of a target's database did between two moments.
pub(crate) struct Machine<'a> {
    /// Absent with the reason if another machine could not be read.
    delta: Result<Cow<'a, HostDelta>, String>,
    /// Whether it is known to hold the data.
    has_data: bool,
}

impl<'a> Machine<'a> {
    /// The machine of the database of `context` between two of its snapshots: another one if that is observed,
    /// else this machine, which did `local_delta`.
    pub(crate) fn of(
        context: &TargetContext,
        begin: &TargetSnapshot,
        end: &TargetSnapshot,
        local_delta: &'a HostDelta,
    ) -> Self {
        match &context.remote_host {
            None => Self { delta: Ok(Cow::Borrowed(local_delta)), has_data: context.identity.same_host },
            Some(host) => Self { delta: far_delta(host, begin, end).map(Cow::Owned), has_data: true },
        }
    }

    /// Enters the figures of the machine's processors.
    pub(crate) fn put_processors(&self, figures: &mut MetricMap) {
        metrics::of_processors(figures, self.delta());
    }

    /// Enters the figures of the device that holds the data.
    pub(crate) fn put_device(&self, figures: &mut MetricMap) {
        metrics::of_device(figures, if self.has_data { self.delta() } else { Err(ELSEWHERE) });
    }

    fn delta(&self) -> Result<&HostDelta, &str> {
        self.delta.as_deref().map_err(String::as_str)
    }
}

/// Enters the machine figures of all targets, if they share one. `here` is what this machine did; `each`
/// yields the two snapshots of each target.
pub(crate) fn of_all<'t>(
    figures: &mut MetricMap,
    job: &DriveJob<'_>,
    here: &HostDelta,
    each: impl Iterator<Item = (&'t TargetSnapshot, &'t TargetSnapshot)>,
) {
    let first = &job.targets[0];
    let url = |context: &TargetContext| context.remote_host.as_ref().map(|host| host.url.clone());
    if job.targets.iter().any(|target_context| url(target_context) != url(first)) {
        metrics::of_processors(figures, Err(APART));
        return metrics::of_device(figures, Err(APART));
    }
    let Some((begin, end)) = each.into_iter().next() else { return };
    // On one machine, the device has the data of all targets or does not count.
    let elsewhere = job.targets.iter().find(|context| !context.identity.same_host);
    let machine = Machine::of(elsewhere.unwrap_or(first), begin, end, here);
    machine.put_processors(figures);
    machine.put_device(figures);
}
