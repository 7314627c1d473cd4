//! Each limit from records that are made for it, and what is never said.

use dyno_plan::Rate;
use dyno_record::{Host, Metric, Observed, Role, RunRecord, Unit, WaitTime, Waits};
use proptest::prelude::*;

use super::{Component, Confidence, Limited, Limits, limited};
use crate::fixture;

/// A run on a server on this host whose sessions wait for nothing that the samples know.
fn server() -> RunRecord {
    let mut record = fixture::postgres();
    record.ops.remove("commit");
    waits(&mut record, 4.0, &[("CPU", "CPU", 0.6)]);
    record
}

/// `active` sessions, and in what they are of `(class, event, sessions)`.
fn waits(record: &mut RunRecord, active: f64, of: &[(&str, &str, f64)]) {
    let events = of.iter().map(|(class, event, sessions)| WaitTime {
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

fn host(record: &mut RunRecord, figures: &[(&str, f64)]) {
    for (name, value) in figures {
        record.hosts[0].counters.insert((*name).to_owned(), *value);
    }
}

fn metric(record: &mut RunRecord, name: &str, value: f64, unit: Unit) {
    record.metrics.insert(name.to_owned(), Metric::Value { value, unit });
}

/// The fixture's host has 8 processors for 10 s: 80 s of them, of which it says 40.
fn processors(record: &mut RunRecord, own_s: f64, server_s: f64, others_s: f64) {
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

#[test]
fn processors_that_are_used_up() {
    let mut record = server();
    processors(&mut record, 20.0, 56.0, 1.0);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Cpu, Confidence::Sure));
    assert_eq!(
        found.sentence,
        "limited by the CPU: the 8 processors are 96.2 % busy (41.0 % user, 18.0 % system): the database 70.0 %, \
         this program 25.0 %, others 1.2 %"
    );
    assert_eq!(found.used_pct, Some(96.25));
    // The same with others who have most of them: true, but whether the platform would do more is another question.
    processors(&mut record, 5.0, 15.0, 57.0);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Cpu, Confidence::Likely));
    assert_eq!(found.spoiled, ["others had 71.2 % of the processors"]);
    assert_eq!(found.short(), "CPU?");
    // Sessions that wait for a device do not wait for the processors that others have.
    waits(&mut record, 4.0, &[("IO", "DataFileRead", 3.8)]);
    assert_eq!(limited(&record).by, Component::Device);
}

#[test]
fn one_processor_of_eight() {
    let mut record = server();
    processors(&mut record, 3.0, 6.8, 0.0);
    assert_ne!(limited(&record).by, Component::Cpu, "ten of eighty seconds");
    record.hosts[0].cpus_allowed = 1;
    host(&mut record, &[("server.cpus_allowed", 1.0), ("server.cpus_shared", 1.0)]);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Cpu, Confidence::Sure));
    assert!(
        found.sentence.contains("may use 1 of 8 processors, and they are 98.0 % busy"),
        "{}",
        found.sentence
    );
    // Each on a processor of its own: the one of the database is not used up.
    host(&mut record, &[("server.cpus_shared", 0.0)]);
    assert_ne!(limited(&record).by, Component::Cpu);
}

#[test]
fn a_quota_of_processor_time() {
    let mut record = server();
    processors(&mut record, 1.0, 1.98, 0.0);
    let quota = |throttled| {
        [
            ("server.cgroup.quota_cpus", 0.2),
            ("server.cgroup.periods", 100.0),
            ("server.cgroup.throttled_periods", throttled),
        ]
    };
    host(&mut record, &quota(97.0));
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::CpuQuota, Confidence::Sure));
    assert_eq!(
        found.sentence,
        "limited by the CPU quota of the database: 0.20 of 0.20 processors' worth is used, and 97.0 % of the periods \
         were throttled"
    );
    // Ticks that miss the moments in which the server runs tell of processors that were idle.
    host(&mut record, &[("processors.busy_s", 0.1)]);
    assert_eq!(limited(&record).by, Component::CpuQuota, "what a group had is counted, and not sampled");
    processors(&mut record, 1.0, 1.98, 0.0);
    host(&mut record, &quota(10.0));
    assert_ne!(limited(&record).by, Component::CpuQuota, "now and then is no limit");
    // What is handed out to a processor that has nothing to do expires there.
    processors(&mut record, 1.0, 1.3, 0.0);
    host(&mut record, &quota(97.0));
    assert_eq!(limited(&record).by, Component::CpuQuota);
    host(&mut record, &quota(60.0));
    let by = limited(&record).by;
    assert!(by != Component::CpuQuota && by != Component::RoundTrips, "{by:?}");
}

#[test]
fn commits_that_wait_for_the_log() {
    let mut record = server();
    processors(&mut record, 2.0, 8.0, 0.5);
    waits(&mut record, 3.9, &[("IO", "WalSync", 1.0), ("LWLock", "WALWrite", 1.8), ("CPU", "CPU", 0.5)]);
    metric(&mut record, "redo_sync_latency_us", 310.0, Unit::Microseconds);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Commits, Confidence::Sure));
    assert_eq!(
        found.sentence,
        "limited by the commits: 70.0 % of the sessions' time is commits (WALWrite): 310 µs a sync of the log, \
         100 syncs/s; the processors are 13.1 % busy"
    );
    assert_eq!((found.what.as_str(), found.short().as_str()), ("commits (WALWrite)", "commits"));
}

#[test]
fn a_device_and_what_lies_before_it() {
    let mut record = server();
    processors(&mut record, 1.0, 2.0, 0.0);
    waits(&mut record, 3.9, &[("IO", "DataFileRead", 3.7)]);
    metric(&mut record, "device_util_pct", 99.0, Unit::Percent);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Device, Confidence::Sure));
    assert_eq!(found.used_pct, Some(99.0));
    metric(&mut record, "device_util_pct", 9.0, Unit::Percent);
    metric(&mut record, "physical_read_latency_us", 7_900.0, Unit::Microseconds);
    metric(&mut record, "device_read_latency_us", 90.0, Unit::Microseconds);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence, found.used_pct), (Component::Device, Confidence::Sure, None));
    assert!(found.sentence.contains("reads are held back before it"), "{}", found.sentence);
}

#[test]
fn locks_and_latches() {
    for (class, event, by, what) in [
        ("Lock", "transactionid", Component::Locks, "row locks (transactionid)"),
        ("Lock", "relation", Component::Locks, "locks (relation)"),
        ("LWLock", "BufferMapping", Component::Latches, "latches (BufferMapping)"),
    ] {
        let mut record = server();
        processors(&mut record, 1.0, 3.0, 0.0);
        waits(&mut record, 3.9, &[(class, event, 3.2), ("CPU", "CPU", 0.7)]);
        let found = limited(&record);
        assert_eq!((found.by, found.what.as_str(), found.confidence), (by, what, Confidence::Sure));
    }
}

#[test]
fn the_client_and_the_way_to_it() {
    let mut record = server();
    waits(&mut record, 0.4, &[("CPU", "CPU", 0.4)]);
    record.gate.threads = 1;
    processors(&mut record, 9.7, 4.0, 0.0);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Client, Confidence::Sure));
    assert!(found.sentence.contains("the one thread of this program use"), "{}", found.sentence);
    record.gate.threads = 4;
    processors(&mut record, 2.0, 4.0, 0.0);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::RoundTrips, Confidence::Likely));
    record.targets[0].identity.same_host = false;
    assert_eq!(limited(&record).confidence, Confidence::Sure, "nothing else is between them");
}

/// The database on a machine of 16 processors that was looked at from elsewhere, this busy.
fn elsewhere(record: &mut RunRecord, busy_pct: f64) {
    record.targets[0].identity.same_host = false;
    record.hosts[0].roles = [Role::Driver].into();
    let seen = Observed { url: "ssh://db2".into(), targets: [1].into(), ..Observed::default() };
    record.hosts.push(Host {
        name: "db2".into(),
        roles: [Role::Database].into(),
        cpus: 16,
        counters: [("cpu.busy_pct".to_owned(), busy_pct)].into(),
        observed: Some(seen),
        ..Host::default()
    });
    record.hosts[0].counters.remove("server.cpu_s");
}

#[test]
fn of_a_database_elsewhere_its_own_machine_is_what_counts() {
    let mut record = server();
    processors(&mut record, 4.0, 0.0, 1.0);
    elsewhere(&mut record, 98.0);
    let found = limited(&record);
    assert_eq!(
        (found.by, found.confidence),
        (Component::Cpu, Confidence::Likely),
        "whose work it was is not known"
    );
    assert!(
        found.sentence.contains("the 16 processors of db2 (ssh://db2) are 98.0 % busy"),
        "{}",
        found.sentence
    );
    let evidence = |name: &str| found.evidence.iter().find(|one| one.name == name).map(|one| one.value);
    assert_eq!(evidence("cpu_busy_pct"), Some(98.0));
    assert_eq!(evidence("driver_cpu_busy_pct"), Some(6.25));
    // The driver's own processors are used up, and the database's are not.
    let mut record = server();
    processors(&mut record, 70.0, 0.0, 9.0);
    elsewhere(&mut record, 20.0);
    assert_eq!(limited(&record).by, Component::Client);
    // Before anybody looked there, the driver's were all that was known.
    record.hosts.truncate(1);
    assert_eq!(limited(&record).by, Component::Client);
}

#[test]
fn what_was_asked_for() {
    let mut record = server();
    record.plan.workload.rate = Some(Rate(record.ops["all"].rate_per_s));
    assert_eq!(limited(&record).by, Component::Rate);
    let sure = limited(&record);
    assert_eq!((sure.confidence, sure.asked_per_s), (Confidence::Sure, Some(record.ops["all"].rate_per_s)));
    let busy_s = record.window.as_ref().unwrap().busy_s;
    record.window.as_mut().unwrap().overdue = Some((700, 0));
    record.window.as_mut().unwrap().busy_s = busy_s / 2.0;
    let behind = limited(&record);
    assert_eq!((behind.by, behind.confidence), (Component::Rate, Confidence::Likely));
    assert!(behind.spoiled[0].starts_with("700 operations of the warm-up were overdue"), "{behind:?}");
    record.window.as_mut().unwrap().busy_s = busy_s;
    let without_pause = limited(&record);
    assert_ne!(without_pause.by, Component::Rate, "{}", without_pause.sentence);
    assert_eq!(without_pause.asked_per_s, sure.asked_per_s, "no capacity above the rate");
    assert!(without_pause.spoiled.iter().any(|why| why.contains("were overdue")), "{without_pause:?}");
    record.window.as_mut().unwrap().overdue = Some((700, 900));
    let longer = &limited(&record).spoiled;
    let words = "(900 at its end): they are in its response times; ";
    assert!(longer.iter().any(|why| why.contains(words)), "{longer:?}");
    record.window.as_mut().unwrap().overdue = None;
    let silence = dyno_record::Silence { last_answer_s: 1.0, first_answer_s: Some(3.0), length_s: 2.0 };
    record.outages = vec![dyno_record::Outage { silences: vec![silence], ..Default::default() }];
    let lost = limited(&record);
    assert_eq!(lost.confidence, Confidence::Likely);
    assert!(lost.spoiled[0].ends_with("no session had an answer for 2.0 s"), "{lost:?}");
    record.outages.clear();
    record.plan.workload.rate = Some(Rate(record.ops["all"].rate_per_s * 2.0));
    assert_ne!(limited(&record).by, Component::Rate, "it was not reached");
    record.window.as_mut().unwrap().busy_s = 8.0;
    assert_eq!(limited(&record).by, Component::Rate, "chance made fewer arrivals: sessions wait for them");
    record.plan.workload.rate = None;
    metric(&mut record, "think_pct", 80.0, Unit::Percent);
    assert_eq!(limited(&record).by, Component::ThinkTime);
}

#[test]
fn sessions_that_work_without_pause() {
    let mut record = fixture::sqlite();
    record.ops.remove("commit");
    processors(&mut record, 38.0, 0.0, 0.0);
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Sessions, Confidence::Sure));
    assert!(found.sentence.ends_with("so that more sessions would bring more"), "{}", found.sentence);
    record.window.as_mut().unwrap().busy_s = 20.0;
    assert_eq!(
        limited(&record).by,
        Component::Unknown,
        "half of the time nothing was under way, and why is not known"
    );
}

#[test]
fn sessions_that_wait_for_their_turn_to_write() {
    let mut record = fixture::sqlite();
    record.ops.remove("commit");
    record.waits = Waits::Absent { absent: "it has no wait events".into() };
    processors(&mut record, 10.0, 0.0, 0.0);
    assert_eq!(limited(&record).by, Component::Unknown, "most of the time is of operations that read");
    for class in &mut record.classes {
        class.commits = 1;
    }
    let found = limited(&record);
    assert_eq!((found.by, found.what.as_str()), (Component::Locks, "one writer at a time"));
    assert_eq!(found.confidence, Confidence::Likely);
    processors(&mut record, 10.0, 0.0, 55.0);
    assert_ne!(limited(&record).by, Component::Locks, "they may as well wait for a processor");
}

#[test]
fn unknown_rather_than_wrong() {
    let record = server();
    let found = limited(&record);
    assert_eq!((found.by, found.confidence), (Component::Unknown, Confidence::Unknown));
    assert!(
        found.sentence.starts_with("what limited it is unknown: the processors are"),
        "{}",
        found.sentence
    );
    let mut record = server();
    (record.hosts, record.waits) = (Vec::new(), Waits::Absent { absent: "nobody looked".into() });
    record.metrics.clear();
    record.counters = Default::default();
    assert_eq!(limited(&record).by, Component::Unknown);
    assert!(limited(&record).sentence.contains("waits are not known: nobody looked"));
    record.window = None;
    assert_eq!(limited(&record).by, Component::Unknown);
    // Too few looks are none.
    let mut record = server();
    waits(&mut record, 4.0, &[("Lock", "transactionid", 4.0)]);
    assert_eq!(limited(&record).by, Component::Locks);
    if let Waits::Sampled { samples, .. } = &mut record.waits {
        *samples = 5;
    }
    assert_eq!(limited(&record).by, Component::Unknown);
}

#[test]
fn runs_of_one_point_that_disagree_are_less_sure() {
    let (mut cpu, mut locks) = (server(), server());
    processors(&mut cpu, 20.0, 56.0, 0.0);
    waits(&mut locks, 4.0, &[("Lock", "transactionid", 4.0)]);
    let (cpu, locks) = (limited(&cpu), limited(&locks));
    let of = |all: &[&Limited]| {
        let mut limits = Limits::default();
        all.iter().for_each(|limited| limits.add((*limited).clone()));
        limits.together()
    };
    let told = of(&[&locks, &cpu, &cpu]).unwrap();
    assert_eq!((told.by, told.confidence), (Component::Cpu, Confidence::Likely));
    assert_eq!(told.spoiled, ["1 of 3 runs say otherwise: row locks (transactionid)"]);
    assert_eq!(of(&[&locks, &cpu]).map(|told| told.by), Some(Component::Locks), "of equally many the first");
    assert_eq!(of(&[&cpu, &cpu]).unwrap(), cpu);
    assert_eq!(of(&[]), None);
}

proptest! {
    /// Nothing is called used up whose figure is below what makes it so.
    #[test]
    fn no_resource_is_named_whose_figure_is_low(
        own_s in 0.0..40.0f64, server_s in 0.0..40.0f64, others_s in 0.0..40.0f64, threads in 0..9u32,
        cpu in 0.0..4.0f64, log in 0.0..4.0f64, io in 0.0..4.0f64, lock in 0.0..4.0f64, latch in 0.0..4.0f64,
        util in 0.0..100.0f64, throttled in 0.0..100.0f64, same_host: bool, in_process: bool, allowed in 0..9u32,
    ) {
        let mut record = server();
        let waiting =
            [("CPU", "CPU", cpu), ("IO", "WalSync", log), ("IO", "DataFileRead", io), ("Lock", "tuple", lock),
             ("LWLock", "ProcArray", latch)];
        let all: f64 = waiting.iter().map(|(.., sessions)| sessions).sum();
        let fit = (3.9 / all.max(3.9)).min(1.0);
        let waiting = waiting.map(|(class, event, sessions)| (class, event, sessions * fit));
        waits(&mut record, all * fit, &waiting);
        processors(&mut record, own_s, server_s, others_s);
        metric(&mut record, "device_util_pct", util, Unit::Percent);
        host(&mut record, &[("server.cgroup.quota_cpus", 1.0), ("server.cgroup.periods", 100.0),
            ("server.cgroup.throttled_periods", throttled), ("server.cpus_allowed", f64::from(allowed)),
            ("server.cpus_shared", f64::from(allowed))]);
        (record.gate.threads, record.hosts[0].cpus_allowed) = (threads, allowed);
        record.targets[0].identity.same_host = same_host;
        record.targets[0].identity.counting.in_process = in_process;
        let found = limited(&record);
        let of = |name: &str| found.figure(name).unwrap_or(0.0);
        let figure = match found.by {
            Component::Cpu => of("cpu_busy_pct").max(of("confined_cpus_busy_pct")) - 90.0,
            Component::CpuQuota => of("database_quota_throttled_pct") - 50.0,
            Component::Client => of("client_busy_pct").max(of("cpu_busy_pct")) - 85.0,
            Component::Commits => of("time_in_commits_pct").max(of("log_syncing_pct") - 35.0) - 50.0,
            Component::Device => of("time_in_io_pct") - 50.0,
            Component::Locks => (of("time_in_row_locks_pct") + of("time_in_locks_pct"))
                .max(if in_process { 50.0 } else { 0.0 }) - 50.0,
            Component::Latches => of("time_in_latches_pct") - 50.0,
            Component::RoundTrips => of("time_outside_pct") - 50.0,
            Component::Sessions => of("time_on_cpu_pct") - 70.0,
            Component::Rate | Component::ThinkTime => -1.0,
            Component::Unknown => 0.0,
        };
        prop_assert!(figure >= -1e-9, "{:?}: {figure}: {}", found.by, found.sentence);
        prop_assert!(!found.sentence.is_empty() && !found.what.is_empty());
        if found.by == Component::Unknown {
            prop_assert_eq!(found.confidence, Confidence::Unknown);
        }
    }
}
