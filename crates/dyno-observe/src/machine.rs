//! What another machine did, and its part of a record.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{Host, HostClock, HostReading, Observed, Role, place_of_target};

use crate::remote_hosts::{RemoteHost, RemoteHostReading};
use crate::snapshot::TargetSnapshot;

/// What another machine did between two snapshots of its target.
pub fn far_delta(
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

/// The record of a machine, with its counters between two snapshots of its target.
pub fn host_of(remote: &RemoteHost, begin: Option<&TargetSnapshot>, end: Option<&TargetSnapshot>) -> Host {
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
pub fn named_for(host: &mut Host, remote: &RemoteHost, number: usize, several: bool) {
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
