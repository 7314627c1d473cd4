//! Which machine's figures are whose: of a target whose machine is looked at elsewhere they are that machine's, else this one's.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::{Host, HostClock, HostReading, Observed, Role, place_of_target};

use crate::far::{FarHost, FarTaken};
use crate::job::{Aim, Job};
use crate::measured::Measured;
use crate::metrics::{self, Metrics};
use crate::observe::Taken;

/// Why there are no figures of a block device.
const ELSEWHERE: &str = "the database runs on another host";
/// Why there is one figure of each target and none of all.
const APART: &str = "the databases run on several hosts: see each target's own";

/// The machine of a target's database between two moments: what it did, or why nobody knows.
pub(crate) enum Machine<'a> {
    /// It is this one, as far as anybody was told.
    Here(&'a HostDelta),
    /// It is another one.
    Far(Result<Box<HostDelta>, String>),
}

impl<'a> Machine<'a> {
    /// Of the database of `aim` between two of its snapshots; `here` is what this machine did.
    pub(crate) fn of(aim: &Aim, begin: &Taken, end: &Taken, here: &'a HostDelta) -> Self {
        match &aim.far {
            None => Self::Here(here),
            Some(host) => Self::Far(far_delta(host, begin, end).map(Box::new)),
        }
    }

    /// Enters the figures of its processors.
    pub(crate) fn put_processors(&self, figures: &mut Metrics) {
        metrics::of_processors(figures, self.whole());
    }

    /// Enters the figures of the device that holds the data.
    pub(crate) fn put_device(&self, figures: &mut Metrics, aim: &Aim) {
        match self {
            Self::Here(_) if !aim.identity.same_host => metrics::of_device(figures, Err(ELSEWHERE)),
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
pub(crate) fn far_delta(host: &FarHost, begin: &Taken, end: &Taken) -> Result<HostDelta, String> {
    let taken = |taken: &Taken| -> Result<FarTaken, String> {
        let unasked = || Err(format!("{}: it was not asked", host.url));
        taken.far.clone().unwrap_or_else(unasked)
    };
    let (begin, end) = (taken(begin)?, taken(end)?);
    let seconds = end.moment.at_ns.saturating_sub(begin.moment.at_ns) as f64 / 1e9;
    Ok(HostDelta::between(&begin.reading.snapshot, &end.reading.snapshot, seconds))
}

/// Enters the figures of the machine of all targets, where it is one; `here` is what this machine did, and `each` target's two
/// snapshots.
pub(crate) fn of_all<'t>(
    figures: &mut Metrics,
    job: &Job<'_>,
    here: &HostDelta,
    each: impl Iterator<Item = (&'t Taken, &'t Taken)>,
) {
    let first = &job.targets[0];
    let url = |aim: &Aim| aim.far.as_ref().map(|host| host.url.clone());
    if job.targets.iter().any(|aim| url(aim) != url(first)) {
        metrics::of_processors(figures, Err(APART));
        return metrics::of_device(figures, Err(APART));
    }
    let Some((begin, end)) = each.into_iter().next() else { return };
    let machine = Machine::of(first, begin, end, here);
    machine.put_processors(figures);
    match job.targets.iter().find(|aim| !aim.identity.same_host) {
        Some(elsewhere) => machine.put_device(figures, elsewhere),
        None => machine.put_device(figures, first),
    }
}

/// The machines of the record beside the driving one, each with its targets: what they are, and what they counted in the window.
pub(crate) fn of_record(job: &Job<'_>, measured: &Measured) -> Vec<Host> {
    let mut all: Vec<Host> = Vec::new();
    for (at, (aim, target)) in job.targets.iter().zip(&measured.targets).enumerate() {
        let Some(far) = &aim.far else { continue };
        let known = |known: &Host| known.observed.as_ref().is_some_and(|seen| seen.url == far.url);
        let place = all.iter().position(known).unwrap_or_else(|| {
            all.push(host_of(far, target.begin.as_ref(), target.end.as_ref()));
            all.len() - 1
        });
        named_for(&mut all[place], far, at + 1, job.is_several());
    }
    all
}

/// A machine, and what it counted between two snapshots of its target.
pub(crate) fn host_of(far: &FarHost, begin: Option<&Taken>, end: Option<&Taken>) -> Host {
    let kept = far.kept().clone();
    let ahead = far.ahead_s();
    let (steps, step_s_max) = kept.clock.steps();
    let counters = match (begin, end) {
        (Some(begin), Some(end)) => {
            far_delta(far, begin, end).map(|delta| delta.counters()).unwrap_or_default()
        }
        _ => BTreeMap::new(),
    };
    let observed = Observed {
        url: far.url.clone(),
        targets: Default::default(),
        is_driver: far.is_driver,
        missing: far.described.missing.iter().cloned().collect(),
        clock: ahead.map(|(ahead_s, bound_s)| HostClock { ahead_s, bound_s, steps, step_s_max }),
        begin: begin.and_then(reading),
        end: end.and_then(reading),
        readings: kept.readings,
        lost: kept.lost,
    };
    let own = far.described.host.clone();
    // Places are entered with the targets that they are of.
    let facts = own.facts.into_iter().filter(|(name, _)| !name.starts_with(PLACE)).collect();
    Host {
        roles: [Role::Database].into(),
        facts,
        mounts: BTreeMap::new(),
        counters,
        observed: Some(observed),
        ..own
    }
}

/// What names of facts about a place begin with.
const PLACE: &str = "place.";

/// Enters that a target is on the machine, and its places.
pub(crate) fn named_for(host: &mut Host, far: &FarHost, number: usize, several: bool) {
    let name = |place: &str| match several {
        true => place_of_target(number, place),
        false => place.to_owned(),
    };
    let own = &far.described.host;
    for (fact, value) in own.facts.iter().filter_map(|(name, value)| Some((name.strip_prefix(PLACE)?, value)))
    {
        host.facts.insert(format!("{PLACE}{}", name(fact)), value.clone());
    }
    for (place, mount) in &own.mounts {
        host.mounts.insert(name(place), mount.clone());
    }
    if let Some(observed) = &mut host.observed {
        observed.targets.insert(number);
    }
}

/// When the machine was read, against the database's own counters.
fn reading(taken: &Taken) -> Option<HostReading> {
    let far = taken.far.as_ref()?.as_ref().ok()?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    Some(HostReading {
        after_s: (far.moment.at_ns as f64 - taken.at_ns() as f64) / 1e9,
        bound_s: seconds(far.moment.bound_ns),
        took_s: seconds(far.reading.answered_ns.saturating_sub(far.reading.asked_ns)),
    })
}
