//! Decides whose machine figures a target has: those of its own machine if that is observed, else those of
//! this one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{Host, HostClock, HostReading, Observed, Role, place_of_target};

use crate::job::{DriveJob, TargetContext};
use crate::metrics::{self, MetricMap};
use crate::observe::TargetSnapshot;
use crate::remote_hosts::{RemoteHost, RemoteHostReading};

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

/// What another machine did between two snapshots of its target.
pub(crate) fn far_delta(
    host: &RemoteHost,
    begin: &TargetSnapshot,
    end: &TargetSnapshot,
) -> Result<HostDelta, String> {
    let remote_reading = |taken: &TargetSnapshot| -> Result<RemoteHostReading, String> {
        let unasked = || Err(format!("{}: its counters were not read", host.url));
        taken.remote.clone().unwrap_or_else(unasked)
    };
    let (begin, end) = (remote_reading(begin)?, remote_reading(end)?);
    let seconds = end.moment.at_ns.saturating_sub(begin.moment.at_ns) as f64 / 1e9;
    Ok(HostDelta::between(&begin.reading.snapshot, &end.reading.snapshot, seconds))
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

/// The record of a machine, with its counters between two snapshots of its target.
pub(crate) fn host_of(
    remote: &RemoteHost,
    begin: Option<&TargetSnapshot>,
    end: Option<&TargetSnapshot>,
) -> Host {
    let status = remote.status().clone();
    let ahead = remote.ahead_s();
    let (steps, step_s_max) = status.clock.steps();
    let counters = match (begin, end) {
        (Some(begin), Some(end)) => {
            far_delta(remote, begin, end).map(|delta| delta.counters()).unwrap_or_default()
        }
        _ => BTreeMap::new(),
    };
    let observed = Observed {
        url: remote.url.clone(),
        targets: Default::default(),
        is_driver: remote.is_driver,
        missing: remote.described.missing.iter().cloned().collect(),
        clock: ahead.map(|(ahead_s, bound_s)| HostClock { ahead_s, bound_s, steps, step_s_max }),
        begin: begin.and_then(reading),
        end: end.and_then(reading),
        readings: status.readings,
        lost: status.lost,
    };
    let described_host = remote.described.host.clone();
    // Places are entered together with their targets.
    let facts = described_host.facts.into_iter().filter(|(name, _)| !name.starts_with(PLACE)).collect();
    Host {
        roles: [Role::Database].into(),
        facts,
        mounts: BTreeMap::new(),
        counters,
        observed: Some(observed),
        ..described_host
    }
}

/// Prefix of the names of facts about a place.
const PLACE: &str = "place.";

/// Enters a target and its places in the machine's record.
pub(crate) fn named_for(host: &mut Host, remote: &RemoteHost, number: usize, several: bool) {
    let name = |place: &str| match several {
        true => place_of_target(number, place),
        false => place.to_owned(),
    };
    let described_host = &remote.described.host;
    for (fact, value) in
        described_host.facts.iter().filter_map(|(name, value)| Some((name.strip_prefix(PLACE)?, value)))
    {
        host.facts.insert(format!("{PLACE}{}", name(fact)), value.clone());
    }
    for (place, mount) in &described_host.mounts {
        host.mounts.insert(name(place), mount.clone());
    }
    if let Some(observed) = &mut host.observed {
        observed.targets.insert(number);
    }
}

/// The time of the machine's reading, relative to the database's counters.
fn reading(snapshot: &TargetSnapshot) -> Option<HostReading> {
    let remote = snapshot.remote.as_ref()?.as_ref().ok()?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    Some(HostReading {
        after_s: (remote.moment.at_ns as f64 - snapshot.at_ns() as f64) / 1e9,
        bound_s: seconds(remote.moment.bound_ns),
        took_s: seconds(remote.reading.answered_ns.saturating_sub(remote.reading.asked_ns)),
    })
}
