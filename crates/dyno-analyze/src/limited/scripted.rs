//! Records made for a situation, for the tests of the rules.

use dyno_record::{Host, Metric, Observed, Role, RunRecord, Unit, WaitTime, Waits};

use crate::fixture;

/// A run on a server on this host, whose sessions wait for nothing that the samples know.
pub(super) fn server() -> RunRecord {
    let mut record = fixture::postgres();
    record.ops.remove("commit");
    waits(&mut record, 4.0, &[("CPU", "CPU", 0.6)]);
    record
}

/// Sets `active` sessions, and the waits they are in as `(class, event, sessions)`.
pub(super) fn waits(record: &mut RunRecord, active: f64, sessions_by_event: &[(&str, &str, f64)]) {
    let events = sessions_by_event.iter().map(|(class, event, sessions)| WaitTime {
        class: (*class).into(),
        event: (*event).into(),
        average_sessions: *sessions,
        share_pct: 100.0 * sessions / active,
    });
    let Waits::Sampled { average_active_sessions, events: its, .. } = &mut record.waits else {
        unreachable!("the fixture has waits")
    };
    (*average_active_sessions, *its) = (active, events.collect());
}

pub(super) fn host(record: &mut RunRecord, figures: &[(&str, f64)]) {
    for (name, value) in figures {
        record.hosts[0].counters.insert((*name).to_owned(), *value);
    }
}

pub(super) fn metric(record: &mut RunRecord, name: &str, value: f64, unit: Unit) {
    record.metrics.insert(name.to_owned(), Metric::Value { value, unit });
}

/// The fixture's host has 8 processors for 10 s: 80 s of processor time, of which 40 are reported
/// as used.
pub(super) fn processors(record: &mut RunRecord, own_s: f64, server_s: f64, others_s: f64) {
    let all = [
        ("processors.capacity_s", 80.0),
        ("processors.busy_s", own_s + server_s + others_s),
        ("own.cpu_s", own_s),
        ("process.cpu_s", own_s),
        ("server.cpu_s", server_s),
        ("others.cpu_s", others_s),
    ];
    host(record, &all);
}

/// The database on an observed remote host with 16 processors, busy to this percentage.
pub(super) fn elsewhere(record: &mut RunRecord, busy_pct: f64) {
    record.targets[0].identity.same_host = false;
    record.hosts[0].roles = [Role::Driver].into();
    let observation = Observed { url: "ssh://db2".into(), targets: [1].into(), ..Observed::default() };
    record.hosts.push(Host {
        name: "db2".into(),
        roles: [Role::Database].into(),
        cpus: 16,
        counters: [("cpu.busy_pct".to_owned(), busy_pct)].into(),
        observed: Some(observation),
        ..Host::default()
    });
    record.hosts[0].counters.remove("server.cpu_s");
}

/// The mean time of a step of the operations (`commit`, `connect`), as `(number, µs)`.
pub(super) fn step(record: &mut RunRecord, name: &str, count: u64, mean_us: f64) {
    let mut steps = record.ops["all"].clone();
    (steps.count, steps.service_us.mean) = (count, Some(mean_us));
    record.ops.insert(name.to_owned(), steps);
}

/// The control group of the `server` or the client (`own`): its quota in processors, and its throttled
/// periods of 100.
pub(super) fn group(record: &mut RunRecord, owner: &str, quota_cpus: f64, throttled: f64) {
    for (name, value) in [("quota_cpus", quota_cpus), ("periods", 100.0), ("throttled_periods", throttled)] {
        host(record, &[(&format!("{owner}.cgroup.{name}"), value)]);
    }
}

/// The database's count of the time in this counter, s.
pub(super) fn timed(record: &mut RunRecord, counter: dyno_record::Counter, seconds: f64) {
    record.counters.portable.insert(counter, fixture::moved(counter, (seconds * 1e6) as u64));
}
