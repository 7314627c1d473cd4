//! Computes totals over several targets: figures that cannot be added are absent, with the reason.
//!
//! Counters are added. A rate is the sum of the targets' rates, each divided by the time that its counts
//! cover. A share or a mean comes from the added counters, never from other shares and means. A figure that
//! one target lacks is absent in the totals.

use std::collections::{BTreeMap, BTreeSet};

use dyno_observe::CoveredSeconds;
use dyno_observe::metrics::{self, MetricMap};
use dyno_record::{
    Counter, CounterDelta, CounterReset, Counters, ForeignActivity, Histogram, MarkChange, Metric,
    OtherSessions, Unit, WaitTime, Waits,
};

use crate::job::DriveJob;

/// The sum of the targets' counters, which are in target order.
pub(crate) fn counters(job: &DriveJob<'_>, parts: &[&Counters]) -> Counters {
    let mut total = Counters::default();
    for counter in Counter::ALL {
        if parts.iter().any(|part| part.portable.contains_key(&counter)) {
            total.portable.insert(counter, sum(job, counter, parts));
        }
    }
    total.own = sum_deltas(parts, |part| &part.own);
    total.observer = sum_deltas(parts, |part| &part.observer);
    // If two targets are on one server, each would appear as foreign to the other.
    if shared_by(job, None).is_none() {
        total.elsewhere = sum_deltas(parts, |part| &part.elsewhere);
    }
    // Figures of one server under one name would count twice if two targets are on it.
    if shared_by(job, None).is_none() {
        for (name, moved) in parts.iter().flat_map(|part| &part.native) {
            *total.native.entry(name.clone()).or_default() += moved;
        }
    }
    let names: BTreeSet<&String> = parts.iter().flat_map(|part| part.latencies.keys()).collect();
    for name in names {
        let mut merged = Histogram::new();
        let texts = parts.iter().filter_map(|part| part.latencies.get(name)?.histogram.as_deref());
        for text in texts {
            // A histogram that Dyno encoded can always be decoded.
            let _ = merged.add_encoded(text);
        }
        total.latencies.insert(name.clone(), merged.summary());
    }
    for (at, part) in parts.iter().enumerate() {
        let named = |name: &String| format!("{}{name}", job.label(at));
        let changes =
            part.changes.iter().map(|change| MarkChange { name: named(&change.name), ..change.clone() });
        total.changes.extend(changes);
        let unread = part.unread.iter().map(|(source, reason)| (named(source), reason.clone()));
        total.unread.extend(unread);
        total
            .falls
            .extend(part.falls.iter().map(|fall| CounterReset { name: named(&fall.name), ..fall.clone() }));
    }
    total
}

/// The sums of the counters that all parts have.
fn sum_deltas(
    parts: &[&Counters],
    deltas_of: fn(&Counters) -> &BTreeMap<Counter, i64>,
) -> BTreeMap<Counter, i64> {
    let sum = |&counter: &Counter| {
        let deltas =
            parts.iter().map(|part| deltas_of(part).get(&counter).copied()).collect::<Option<Vec<_>>>()?;
        Some((counter, deltas.into_iter().fold(0i64, i64::saturating_add)))
    };
    if parts.is_empty() { BTreeMap::new() } else { Counter::ALL.iter().filter_map(sum).collect() }
}

/// The sum of one counter over the targets.
fn sum(job: &DriveJob<'_>, counter: Counter, parts: &[&Counters]) -> CounterDelta {
    if let Some((first, second)) = shared_by(job, Some(counter)) {
        let absent = format!(
            "targets {} and {} are on one server, which counts it for both together: see the figures of each \
             target",
            first + 1,
            second + 1
        );
        return CounterDelta::Absent { absent };
    }
    let (mut begin_sum, mut end_sum, mut delta_sum) = (0u64, 0u64, 0i64);
    for (at, part) in parts.iter().enumerate() {
        match part.portable.get(&counter) {
            Some(CounterDelta::Moved { begin, end, delta, .. }) => {
                begin_sum = begin_sum.saturating_add(*begin);
                end_sum = end_sum.saturating_add(*end);
                delta_sum = delta_sum.saturating_add(*delta);
            }
            Some(CounterDelta::Absent { absent }) => {
                return CounterDelta::Absent { absent: format!("{}{absent}", job.label(at)) };
            }
            None => {
                return CounterDelta::Absent { absent: format!("{}it was not read", job.label(at)) };
            }
        }
    }
    CounterDelta::Moved { begin: begin_sum, end: end_sum, delta: delta_sum, unit: counter.unit() }
}

/// The first two targets on one server that counts `counter` for the whole server; any counter for `None`.
fn shared_by(job: &DriveJob<'_>, counter: Option<Counter>) -> Option<(usize, usize)> {
    let instances: Vec<_> = job.targets.iter().map(|context| context.instance.as_ref()).collect();
    for (second, own) in instances.iter().enumerate() {
        let Some(own) = own else { continue };
        let same = |other: &Option<&dyno_engine::CounterScope>| {
            other.is_some_and(|other| {
                other.shares_server(own) && counter.is_none_or(|counter| own.server_wide.contains(&counter))
            })
        };
        if let Some(first) = instances[..second].iter().position(same) {
            return Some((first, second));
        }
    }
    None
}

/// Figures of all targets, from their added `counters` and from their own figures.
pub(crate) fn metrics(counters: &Counters, parts: &[&MetricMap]) -> MetricMap {
    // Only figures that do not depend on a time are kept of these.
    let mut total = metrics::of_database(counters, &CoveredSeconds::all(1.0));
    let names: BTreeSet<&String> = parts.iter().flat_map(|part| part.keys()).collect();
    for name in names {
        let reason = match total.get(name) {
            Some(Metric::Absent { absent }) => Some(absent.clone()),
            _ => None,
        };
        let figures: Vec<Option<(f64, Unit)>> = parts
            .iter()
            .map(|part| match part.get(name) {
                Some(Metric::Value { value, unit }) => Some((*value, *unit)),
                _ => None,
            })
            .collect();
        let unit = figures.iter().flatten().map(|(_, unit)| *unit).next();
        let of_counters = total.contains_key(name);
        let metric = match (unit, reason) {
            (_, Some(absent)) => Metric::Absent { absent },
            (Some(Unit::Percent | Unit::Microseconds), _) if of_counters => continue,
            (Some(unit), None) => match figures.into_iter().collect::<Option<Vec<_>>>() {
                Some(values) => Metric::Value { value: values.iter().map(|(value, _)| value).sum(), unit },
                None => Metric::Absent { absent: first_reason(name, parts) },
            },
            (None, None) if of_counters => continue,
            (None, None) => Metric::Absent { absent: first_reason(name, parts) },
        };
        total.insert(name.clone(), metric);
    }
    total
}

/// The reason of the first target that lacks `name`.
fn first_reason(name: &str, parts: &[&MetricMap]) -> String {
    let reasons = parts.iter().enumerate().filter_map(|(at, part)| match part.get(name) {
        Some(Metric::Value { .. }) => None,
        Some(Metric::Absent { absent }) => Some(format!("target {}: {absent}", at + 1)),
        None => Some(format!("target {} does not report it", at + 1)),
    });
    reasons.into_iter().next().unwrap_or_default()
}

/// The waits of all targets' sessions; the sessions in each event are added.
pub(crate) fn waits(job: &DriveJob<'_>, parts: &[&Waits]) -> Waits {
    let mut events: BTreeMap<(String, String), f64> = BTreeMap::new();
    let (mut samples_min, mut rate, mut active) = (u64::MAX, 0.0, 0.0);
    let mut companies = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Waits::Absent { absent } => {
                return Waits::Absent { absent: format!("{}{absent}", job.label(at)) };
            }
            Waits::Sampled { samples, asked_per_s, average_active_sessions, events: own, company } => {
                companies.push(company);
                samples_min = samples_min.min(*samples);
                rate = *asked_per_s;
                active += average_active_sessions;
                for wait in own {
                    *events.entry((wait.class.clone(), wait.event.clone())).or_default() +=
                        wait.average_sessions;
                }
            }
        }
    }
    let share = |sessions: f64| if active > 0.0 { 100.0 * sessions / active } else { 0.0 };
    let mut events: Vec<WaitTime> = events
        .into_iter()
        .map(|((class, event), sessions)| WaitTime {
            class,
            event,
            average_sessions: sessions,
            share_pct: share(sessions),
        })
        .collect();
    events.sort_by(|a, b| {
        b.average_sessions.total_cmp(&a.average_sessions).then_with(|| a.event.cmp(&b.event))
    });
    let company = foreign_activity(job, &companies);
    Waits::Sampled {
        samples: samples_min,
        asked_per_s: rate,
        average_active_sessions: active,
        events,
        company,
    }
}

/// Foreign sessions on the servers of all targets. Targets on one server count each other's sessions as
/// foreign, so there only each target's own part is meaningful.
fn foreign_activity(job: &DriveJob<'_>, parts: &[&ForeignActivity]) -> ForeignActivity {
    if let Some((first, second)) = shared_by(job, None) {
        let absent = format!(
            "targets {} and {} are on one server and see each other's sessions: see the figures of each \
             target",
            first + 1,
            second + 1
        );
        return ForeignActivity::Absent { absent };
    }
    let (mut active, mut all) = (0.0, Vec::new());
    for (at, part) in parts.iter().enumerate() {
        match part {
            ForeignActivity::Absent { absent } => {
                return ForeignActivity::Absent { absent: format!("{}{absent}", job.label(at)) };
            }
            ForeignActivity::Sampled { average_active_sessions, seen } => {
                active += average_active_sessions;
                let labelled = |other: &OtherSessions| OtherSessions {
                    database: format!("{}{}", job.label(at), other.database),
                    ..other.clone()
                };
                all.extend(seen.iter().map(labelled));
            }
        }
    }
    all.sort_by(|a, b| b.average_sessions.total_cmp(&a.average_sessions));
    ForeignActivity::Sampled { average_active_sessions: active, seen: all }
}
