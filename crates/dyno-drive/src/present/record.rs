//! The record of a watch.

use std::collections::{BTreeMap, BTreeSet};

use dyno_host::HostDelta;
use dyno_record::{
    Host, Kind, Role, RunRecord, Scope, Series, Status, TargetFacts, Waits, Watched, Whose, Window,
    now_rfc3339,
};

use super::Present;
use super::known::Known;
use crate::cover::Cover;
use crate::far::FarHost;
use crate::hosts;
use crate::metrics::{self, Metrics};

/// The record before anything is seen.
pub(super) fn draft(present: &Present) -> RunRecord {
    let facts = TargetFacts {
        url: present.target.url(),
        engine: present.target.engine().to_owned(),
        identity: present.identity.clone(),
        ..TargetFacts::default()
    };
    RunRecord {
        kind: Kind::Watch,
        id: present.begun.id.clone(),
        started_at: present.begun.started_at.clone(),
        ended_at: now_rfc3339(),
        dyno_version: present.dyno_version.clone(),
        targets: vec![facts],
        hosts: host(present).into_iter().collect(),
        series: Series { interval_s: present.interval_s, ..Series::default() },
        watched: Some(Watched::default()),
        ..RunRecord::blank(Status::Interrupted, present.begun.plan.clone())
    }
}

/// The database's machine, where it is this one, or another one that is looked at.
fn host(present: &Present) -> Option<Host> {
    if let Some(far) = &present.far {
        return Some(far_host(far, None));
    }
    let paths: Vec<_> =
        present.host_paths.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    present
        .identity
        .same_host
        .then(|| Host { roles: BTreeSet::from([Role::Database]), ..dyno_host::facts(&paths) })
}

/// The other one; with counters where it was read at both ends and nothing is unknown in between.
fn far_host(far: &FarHost, known: Option<&Known>) -> Host {
    let mut host = match known {
        Some(known) => hosts::host_of(far, Some(&known.first), Some(&known.last)),
        None => hosts::host_of(far, None, None),
    };
    if known.is_some_and(|known| known.gaps_all > 0) {
        host.counters.clear();
    }
    hosts::named_for(&mut host, far, 1, false);
    host
}

/// The record of all that is `known`; it was `stopped` before its end or not.
pub(super) fn record(present: &Present, mut known: Known, stopped: bool) -> RunRecord {
    let unread = known.unread();
    let (counters, known_s) = known.counters();
    let (series, mut spreads) = known.series(present.interval_s);
    let seconds = known.last.at_ns().saturating_sub(known.first.at_ns()) as f64 / 1e9;
    let waits = match (&known.no_samples, known.samples.count) {
        (Some(why), 0) => Waits::Absent { absent: why.clone() },
        _ => std::mem::take(&mut known.samples).into_waits(present.samples_per_s),
    };
    let mut figures = Metrics::new();
    let mut draft = draft(present);
    if known_s > 0.0 {
        figures = metrics::of_database(&counters, &Cover::all(known_s));
        metrics::of_waits(&mut figures, &waits);
        of_host(&mut figures, present, &known, known_s, &spreads);
        // Ratios are of all that was counted, and no mean of means.
        for (name, spread) in &mut spreads {
            if let Some(mean) = figures.get(name).and_then(dyno_record::Metric::value) {
                spread.mean = mean;
            }
        }
    }
    let us = |taken: &crate::observe::Taken| (taken.ended_ns - taken.began_ns) as f64 / 1e3;
    if let Some(far) = &present.far {
        draft.hosts = vec![far_host(far, Some(&known))];
    } else if let Some(host) = draft.hosts.first_mut()
        && known.gaps_all == 0
    {
        host.counters = HostDelta::between(&known.first.host, &known.last.host, seconds).counters();
    }
    let (own_commits, looks) = known.cost;
    let reasons = if stopped { vec!["stopped by the user before its end".to_owned()] } else { Vec::new() };
    RunRecord {
        status: if stopped { Status::Interrupted } else { Status::Valid },
        reasons,
        ended_at: now_rfc3339(),
        window: (known_s > 0.0).then(|| Window {
            seconds,
            begin: known.first.at.clone(),
            end: known.last.at.clone(),
            snapshot_us: (us(&known.first), us(&known.last)),
            ..Window::default()
        }),
        whose: whose(present, &figures),
        metrics: figures,
        counters,
        waits,
        series,
        watched: Some(Watched {
            known_s,
            gaps: std::mem::take(&mut known.gaps),
            gaps_all: known.gaps_all,
            spreads,
            unread,
            own_commits,
            looks,
        }),
        ..draft
    }
}

/// What part of all that is known has to be known of the machine, too, for a mean of it to stand for the whole.
const KNOWN_SHARE: f64 = 0.9;

/// Figures of the machine: means of what its intervals told, so that a gap is no part of them.
fn of_host(
    figures: &mut Metrics,
    present: &Present,
    known: &Known,
    known_s: f64,
    spreads: &BTreeMap<String, dyno_record::Spread>,
) {
    let seconds = known.last.at_ns().saturating_sub(known.first.at_ns()) as f64 / 1e9;
    let delta = match &present.far {
        Some(far) => hosts::far_delta(far, &known.first, &known.last),
        None if present.identity.same_host => {
            Ok(HostDelta::between(&known.first.host, &known.last.host, seconds))
        }
        None => Err("the database runs on another host".to_owned()),
    };
    let told = delta.as_ref().map_err(String::as_str);
    metrics::of_processors(figures, told);
    metrics::of_device(figures, told);
    let of_host = metrics::cpu_names().chain(metrics::device_names());
    for name in of_host.filter(|name| *name != metrics::CLIENT) {
        let Some(spread) = spreads.get(name) else { continue };
        let is_whole = known.gaps_all == 0 && delta.is_ok();
        if let Some(dyno_record::Metric::Value { value, .. }) = figures.get_mut(name) {
            if !is_whole {
                *value = spread.mean;
            }
        } else if delta.is_err() && spread.seconds >= KNOWN_SHARE * known_s {
            // Its very first or last answer was not there in time; all others were.
            metrics::put(figures, name, spread.mean, metrics::unit_of_machine(name));
        }
    }
}

/// What each figure was counted over.
fn whose(present: &Present, figures: &Metrics) -> BTreeMap<String, Whose> {
    let instance = present.target.instance().ok().flatten();
    let of_host: BTreeSet<&str> = metrics::cpu_names().chain(metrics::device_names()).collect();
    let scope = |name: &str| {
        if of_host.contains(name) {
            return Scope::Host;
        }
        let counter = match name {
            "redo_mb_per_s" | "redo_sync_latency_us" => Some(dyno_record::Counter::RedoBytes),
            "physical_read_latency_us" | "buffer_hit_pct" => Some(dyno_record::Counter::PhysicalReads),
            "physical_write_latency_us" => Some(dyno_record::Counter::PhysicalWrites),
            name => metrics::counter_of(name),
        };
        let own = instance.as_ref().filter(|instance| !instance.scope.is_empty());
        match (own, counter) {
            (Some(instance), Some(counter)) if !instance.server_wide.contains(&counter) => Scope::Database,
            _ => Scope::Server,
        }
    };
    let one = |name: &String| {
        (name.clone(), Whose { scope: scope(name), others_pct: None, marked: false, why: String::new() })
    };
    figures.keys().map(one).collect()
}
