//! Decides whose machine figures a target has: those of its own machine if that is observed, else those of
//! this one.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{Host, HostClock, HostReading, Observed, Role, place_of_target};

use crate::job::{DriveJob, TargetContext};
use crate::measured::RunMeasurement;
use crate::metrics::{self, MetricMap};
use crate::observe::TargetSnapshot;
use crate::remote_hosts::{RemoteHost, RemoteHostReading};

/// Why a block device has no figures.
const ELSEWHERE: &str = "the database runs on another host";
/// Why there are figures of each target and none of all.
const APART: &str = "the databases run on several hosts: see the figures of each target";

/// What the machine of a target's database did between two moments, or why that is unknown.
pub(crate) enum Machine<'a> {
    /// This machine, as far as is known.
    Here(&'a HostDelta),
    /// Another machine, whose figures may be missing.
    Far(Result<Box<HostDelta>, String>),
}

impl<'a> Machine<'a> {
    /// The machine of the database of `context` between two of its snapshots; `local_delta` is what this
    /// machine did.
    pub(crate) fn of(
        context: &TargetContext,
        begin: &TargetSnapshot,
        end: &TargetSnapshot,
        local_delta: &'a HostDelta,
    ) -> Self {
        match &context.remote_host {
            None => Self::Here(local_delta),
            Some(host) => Self::Far(far_delta(host, begin, end).map(Box::new)),
        }
    }

    /// Enters the figures of the machine's processors.
    pub(crate) fn put_processors(&self, figures: &mut MetricMap) {
        metrics::of_processors(figures, self.whole());
    }

    /// Enters the figures of the device that holds the data.
    pub(crate) fn put_device(&self, figures: &mut MetricMap, context: &TargetContext) {
        match self {
            Self::Here(_) if !context.identity.same_host => metrics::of_device(figures, Err(ELSEWHERE)),
            _ => metrics::of_device(figures, self.whole()),
        }
    }

    fn whole(&self) -> Result<&HostDelta, &str> {
        match self {
            Self::Here(delta) => Ok(delta),
            Self::Far(delta) => delta.as_deref().map_err(String::as_str),
        }
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
    let machine = Machine::of(first, begin, end, here);
    machine.put_processors(figures);
    match job.targets.iter().find(|first_context| !first_context.identity.same_host) {
        Some(elsewhere) => machine.put_device(figures, elsewhere),
        None => machine.put_device(figures, first),
    }
}

/// The record's machines besides the driver host, each with its targets, facts and counters of the window.
pub(crate) fn of_record(job: &DriveJob<'_>, measured: &RunMeasurement) -> Vec<Host> {
    let mut all: Vec<Host> = Vec::new();
    for (at, (context, target)) in job.targets.iter().zip(&measured.targets).enumerate() {
        let Some(remote) = &context.remote_host else { continue };
        let is_known = |known: &Host| known.observed.as_ref().is_some_and(|seen| seen.url == remote.url);
        let place = all.iter().position(is_known).unwrap_or_else(|| {
            all.push(host_of(remote, target.begin.as_ref(), target.end.as_ref()));
            all.len() - 1
        });
        named_for(&mut all[place], remote, at + 1, job.has_several_targets());
    }
    all
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
