//! Builds the record of an observation.

use std::collections::{BTreeMap, BTreeSet};

use dyno_observe::metrics::{self, MetricMap};
use dyno_observe::{CoveredSeconds, RemoteHost, TargetSnapshot, machine};
use dyno_record::{
    Attribution, AttributionScope, Host, RecordKind, Role, RunRecord, Series, Status, TargetFacts, Waits,
    WatchSummary, Window, now_rfc3339,
};

use crate::job::ObservationJob;
use crate::observed::ObservationState;

/// The record before the first reading.
pub(crate) fn draft(present: &ObservationJob) -> RunRecord {
    let facts = TargetFacts {
        url: present.target.url(),
        engine: present.target.engine().to_owned(),
        identity: present.identity.clone(),
        ..TargetFacts::default()
    };
    RunRecord {
        kind: RecordKind::Watch,
        id: present.begun.id.clone(),
        started_at: present.begun.started_at.clone(),
        ended_at: now_rfc3339(),
        dyno_version: present.dyno_version.clone(),
        targets: vec![facts],
        hosts: host(present).into_iter().collect(),
        series: Series { interval_s: present.interval_s, ..Series::default() },
        watched: Some(WatchSummary::default()),
        ..RunRecord::blank(Status::Interrupted, present.begun.plan.clone())
    }
}

/// The database's machine: this one, or another one that is observed.
fn host(present: &ObservationJob) -> Option<Host> {
    if let Some(remote) = &present.remote_host {
        return Some(remote_host_record(remote, None));
    }
    let paths: Vec<_> =
        present.host_paths.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    present
        .identity
        .same_host
        .then(|| Host { roles: BTreeSet::from([Role::Database]), ..dyno_host::facts(&paths) })
}

/// The other machine; with counters if it was read at both ends and there was no gap in between.
fn remote_host_record(remote: &RemoteHost, observation: Option<&ObservationState>) -> Host {
    let mut host = match observation {
        Some(known) => machine::host_of(remote, Some(&known.first), Some(&known.last)),
        None => machine::host_of(remote, None, None),
    };
    if observation.is_some_and(|known| known.gap_count > 0) {
        host.counters.clear();
    }
    machine::named_for(&mut host, remote, 1, false);
    host
}

/// The record of the whole `observation`; `stopped` if it ended early.
pub(crate) fn record(
    present: &ObservationJob,
    mut observation: ObservationState,
    stopped: bool,
) -> RunRecord {
    let unread = observation.unread();
    let (counters, known_s) = observation.counters();
    let (series, mut spreads) = observation.series(present.interval_s);
    let seconds = observation.last.at_ns().saturating_sub(observation.first.at_ns()) as f64 / 1e9;
    let waits = match (&observation.no_samples, observation.samples.count) {
        (Some(why), 0) => Waits::Absent { absent: why.clone() },
        _ => std::mem::take(&mut observation.samples).into_waits(present.samples_per_s),
    };
    let mut figures = MetricMap::new();
    let mut draft = draft(present);
    if known_s > 0.0 {
        figures = metrics::of_database(&counters, &CoveredSeconds::all(known_s));
        metrics::of_waits(&mut figures, &waits);
        of_host(&mut figures, present, &observation, known_s, &spreads);
        // Ratios come from all counts together, not from a mean of means.
        for (name, spread) in &mut spreads {
            // The ratio of the sums, unless intervals without the figure put it outside of what was seen.
            let mean = figures.get(name).and_then(dyno_record::Metric::value);
            spread.mean = mean.filter(|mean| *mean <= spread.peak * (1.0 + 1e-9)).unwrap_or(spread.mean);
        }
    }
    let us = |taken: &TargetSnapshot| (taken.ended_ns - taken.began_ns) as f64 / 1e3;
    if let Some(remote) = &present.remote_host {
        draft.hosts = vec![remote_host_record(remote, Some(&observation))];
    } else if let Some(host) = draft.hosts.first_mut()
        && observation.gap_count == 0
    {
        host.counters = observation.first.host_delta_to(&observation.last).counters();
    }
    let (own_commits, looks) = observation.cost;
    let (blockers, transactions) = std::mem::take(&mut observation.locks).into_record();
    let reasons = if stopped { vec!["stopped by the user before its end".to_owned()] } else { Vec::new() };
    RunRecord {
        status: if stopped { Status::Interrupted } else { Status::Valid },
        reasons,
        ended_at: now_rfc3339(),
        window: (known_s > 0.0).then(|| Window {
            seconds,
            begin: observation.first.at.clone(),
            end: observation.last.at.clone(),
            snapshot_us: (us(&observation.first), us(&observation.last)),
            ..Window::default()
        }),
        whose: attribution(present, &figures),
        metrics: figures,
        counters,
        waits,
        statements: observation.statements,
        tables: observation.tables,
        series,
        watched: Some(WatchSummary {
            known_s,
            gaps: std::mem::take(&mut observation.gaps),
            gaps_all: observation.gap_count,
            spreads,
            unread,
            own_commits,
            looks,
            blockers,
            transactions,
        }),
        ..draft
    }
}

/// The share of the observed time for which the machine's figures must be known, so that their mean
/// represents all of it.
const KNOWN_SHARE: f64 = 0.9;

/// Figures of the machine: means over its intervals, so that gaps do not count.
fn of_host(
    figures: &mut MetricMap,
    present: &ObservationJob,
    known: &ObservationState,
    known_s: f64,
    spreads: &BTreeMap<String, dyno_record::Spread>,
) {
    let delta = match &present.remote_host {
        Some(remote) => machine::far_delta(remote, &known.first, &known.last),
        None if present.identity.same_host => Ok(known.first.host_delta_to(&known.last)),
        None => Err("the database runs on another host".to_owned()),
    };
    let host_delta = delta.as_ref().map_err(String::as_str);
    metrics::of_processors(figures, host_delta);
    metrics::of_device(figures, host_delta);
    let of_host = metrics::cpu_names().chain(metrics::device_names());
    for name in of_host.filter(|name| *name != metrics::CLIENT) {
        let Some(spread) = spreads.get(name) else { continue };
        let is_whole = known.gap_count == 0 && delta.is_ok();
        if let Some(dyno_record::Metric::Value { value, .. }) = figures.get_mut(name) {
            if !is_whole {
                *value = spread.mean;
            }
        } else if delta.is_err() && spread.seconds >= KNOWN_SHARE * known_s {
            // Only its very first or last answer was late.
            metrics::put(figures, name, spread.mean, metrics::unit_of_machine(name));
        }
    }
}

/// The attribution of each figure.
fn attribution(present: &ObservationJob, figures: &MetricMap) -> BTreeMap<String, Attribution> {
    let instance = present.target.instance().ok().flatten();
    let of_host: BTreeSet<&str> = metrics::cpu_names().chain(metrics::device_names()).collect();
    let scope = |name: &str| {
        if of_host.contains(name) {
            return AttributionScope::Host;
        }
        let counter = match name {
            "redo_mb_per_s" | "redo_sync_latency_us" => Some(dyno_record::Counter::RedoBytes),
            "physical_read_latency_us" | "buffer_hit_pct" => Some(dyno_record::Counter::PhysicalReads),
            "physical_write_latency_us" => Some(dyno_record::Counter::PhysicalWrites),
            name => metrics::counter_of(name),
        };
        let database_scope = instance.as_ref().filter(|instance| !instance.scope.is_empty());
        match (database_scope, counter) {
            (Some(instance), Some(counter)) if !instance.server_wide.contains(&counter) => {
                AttributionScope::Database
            }
            _ => AttributionScope::Server,
        }
    };
    let attribution = |name: &String| {
        (
            name.clone(),
            Attribution { scope: scope(name), others_pct: None, marked: false, why: String::new() },
        )
    };
    figures.keys().map(attribution).collect()
}
