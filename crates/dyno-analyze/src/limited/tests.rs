//! Tests each limit with records made for it, and what must never be reported.

use dyno_plan::Rate;
use dyno_record::{Unit, Waits};
use proptest::prelude::*;

use super::scripted::{elsewhere, host, metric, processors, server, step, timed, waits};
use super::{Bottleneck, BottleneckEvidence, BottleneckTally, Component, Confidence, limited};
use crate::fixture;

#[test]
fn exhausted_processors_are_reported_as_cpu_limit() {
    let mut record = server();
    processors(&mut record, 20.0, 56.0, 1.0);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Cpu, Confidence::Sure));
    assert_eq!(
        bottleneck.sentence,
        "limited by the CPU: the 8 processors are 96.2 % busy: the database 70.0 %, \
         Dyno 25.0 %, other processes 1.2 %"
    );
    assert_eq!(bottleneck.used_pct, Some(96.25));
    // The same where others use most of them: the processors are the limit, but the platform might
    // not do more without the others.
    processors(&mut record, 5.0, 15.0, 57.0);
    let contended = limited(&record);
    assert_eq!((contended.by, contended.confidence), (Component::Cpu, Confidence::Likely));
    assert_eq!(contended.spoiled, ["other programs used 71.2 % of the processors"]);
    assert_eq!(contended.short(), "CPU?");
    // Sessions that wait for a device do not wait for the processors that others use.
    waits(&mut record, 4.0, &[("IO", "DataFileRead", 3.8)]);
    assert_eq!(limited(&record).by, Component::Device);
}

#[test]
fn process_limited_to_one_of_eight_cpus_is_cpu_bound() {
    let mut record = server();
    processors(&mut record, 3.0, 6.8, 0.0);
    assert_ne!(limited(&record).by, Component::Cpu, "ten of eighty seconds");
    record.hosts[0].cpus_allowed = 1;
    host(&mut record, &[("server.cpus_allowed", 1.0), ("server.cpus_shared", 1.0)]);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Cpu, Confidence::Sure));
    assert!(
        bottleneck.sentence.contains("may use 1 of 8 processors, and they are 98.0 % busy"),
        "{}",
        bottleneck.sentence
    );
    // Each has its own processors: those of the database are not exhausted.
    host(&mut record, &[("server.cpus_shared", 0.0)]);
    assert_ne!(limited(&record).by, Component::Cpu);
}

#[test]
fn cpu_quota_is_identified_as_limit() {
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
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::CpuQuota, Confidence::Sure));
    assert_eq!(
        bottleneck.sentence,
        "limited by the CPU quota of the database: 0.20 of 0.20 processors' worth is used, and 97.0 % of the periods \
         were throttled"
    );
    // Ticks that miss the moments in which the server runs report the processors as idle.
    host(&mut record, &[("processors.busy_s", 0.1)]);
    assert_eq!(limited(&record).by, Component::CpuQuota, "what a group had is counted, and not sampled");
    processors(&mut record, 1.0, 1.98, 0.0);
    host(&mut record, &quota(10.0));
    assert_ne!(limited(&record).by, Component::CpuQuota, "now and then is no limit");
    // Time that is assigned to an idle processor expires there.
    processors(&mut record, 1.0, 1.3, 0.0);
    host(&mut record, &quota(97.0));
    assert_eq!(limited(&record).by, Component::CpuQuota);
    host(&mut record, &quota(60.0));
    let component = limited(&record).by;
    assert!(component != Component::CpuQuota, "{component:?}");
    assert!(component != Component::RoundTrips, "{component:?}");
}

#[test]
fn bottleneck_is_commits_waiting_for_log() {
    let mut record = server();
    processors(&mut record, 2.0, 8.0, 0.5);
    waits(&mut record, 3.9, &[("IO", "WalSync", 1.0), ("LWLock", "WALWrite", 1.8), ("CPU", "CPU", 0.5)]);
    metric(&mut record, "redo_sync_latency_us", 310.0, Unit::Microseconds);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Commits, Confidence::Sure));
    assert_eq!(
        bottleneck.sentence,
        "limited by commits: sessions spend 70.0 % of their time in commits (WALWrite): 310 µs per log sync, \
         100 syncs/s; second: work on a processor 12.5 %; the processors are 13.1 % busy"
    );
    assert_eq!((bottleneck.what.as_str(), bottleneck.short().as_str()), ("commits (WALWrite)", "commits"));
}

#[test]
fn device_use_and_waits_before_device_are_named_as_limit() {
    let mut record = server();
    processors(&mut record, 1.0, 2.0, 0.0);
    waits(&mut record, 3.9, &[("IO", "DataFileRead", 3.7)]);
    metric(&mut record, "device_util_pct", 99.0, Unit::Percent);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Device, Confidence::Sure));
    assert_eq!(bottleneck.used_pct, Some(99.0));
    metric(&mut record, "device_util_pct", 9.0, Unit::Percent);
    metric(&mut record, "physical_read_latency_us", 7_900.0, Unit::Microseconds);
    metric(&mut record, "device_read_latency_us", 90.0, Unit::Microseconds);
    let throttled = limited(&record);
    assert_eq!(
        (throttled.by, throttled.confidence, throttled.used_pct),
        (Component::Device, Confidence::Sure, None)
    );
    assert!(throttled.sentence.contains("reads wait before they reach it"), "{}", throttled.sentence);
}

#[test]
fn bottleneck_distinguishes_locks_and_latches() {
    for (class, event, by, what) in [
        ("Lock", "transactionid", Component::Locks, "row locks (transactionid)"),
        ("Lock", "relation", Component::Locks, "locks (relation)"),
        ("LWLock", "BufferMapping", Component::Latches, "latches (BufferMapping)"),
    ] {
        let mut record = server();
        processors(&mut record, 1.0, 3.0, 0.0);
        waits(&mut record, 3.9, &[(class, event, 3.2), ("CPU", "CPU", 0.7)]);
        let bottleneck = limited(&record);
        assert_eq!(
            (bottleneck.by, bottleneck.what.as_str(), bottleneck.confidence),
            (by, what, Confidence::Sure)
        );
    }
}

#[test]
fn client_and_network_bottlenecks_are_identified() {
    let mut record = server();
    waits(&mut record, 0.4, &[("CPU", "CPU", 0.4)]);
    record.gate.threads = 1;
    processors(&mut record, 9.7, 4.0, 0.0);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Client, Confidence::Sure));
    assert!(bottleneck.sentence.contains("the one thread of this program use"), "{}", bottleneck.sentence);
    record.gate.threads = 4;
    processors(&mut record, 2.0, 4.0, 0.0);
    let idle_client = limited(&record);
    assert_eq!((idle_client.by, idle_client.confidence), (Component::RoundTrips, Confidence::Likely));
    record.targets[0].identity.same_host = false;
    assert_eq!(limited(&record).confidence, Confidence::Sure, "nothing else is between them");
}

#[test]
fn bottleneck_uses_cpu_of_remote_database_host() {
    let mut record = server();
    processors(&mut record, 4.0, 0.0, 1.0);
    elsewhere(&mut record, 98.0);
    let bottleneck = limited(&record);
    assert_eq!(
        (bottleneck.by, bottleneck.confidence),
        (Component::Cpu, Confidence::Likely),
        "whose work it was is not known"
    );
    assert!(
        bottleneck.sentence.contains("the 16 processors of db2 (ssh://db2) are 98.0 % busy"),
        "{}",
        bottleneck.sentence
    );
    let evidence = |name: &str| bottleneck.evidence.iter().find(|one| one.name == name).map(|one| one.value);
    assert_eq!(evidence("cpu_busy_pct"), Some(98.0));
    assert_eq!(evidence("driver_cpu_busy_pct"), Some(6.25));
    // The driver's own processors are exhausted, but the database's are not.
    let mut record = server();
    processors(&mut record, 70.0, 0.0, 9.0);
    elsewhere(&mut record, 20.0);
    assert_eq!(limited(&record).by, Component::Client);
    // Before that host was observed, only the driver's processors were known.
    record.hosts.truncate(1);
    assert_eq!(limited(&record).by, Component::Client);
}

#[test]
fn requested_rate_is_reported_as_the_limit() {
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
fn sessions_without_pause_are_the_limit() {
    let mut record = fixture::sqlite();
    record.ops.remove("commit");
    processors(&mut record, 38.0, 0.0, 0.0);
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Sessions, Confidence::Sure));
    assert!(
        bottleneck.sentence.ends_with("so more sessions would increase throughput"),
        "{}",
        bottleneck.sentence
    );
    record.window.as_mut().unwrap().busy_s = 20.0;
    assert_eq!(
        limited(&record).by,
        Component::Unknown,
        "half of the time nothing was under way, and why is not known"
    );
}

#[test]
fn sessions_waiting_to_write_are_limited_by_single_writer() {
    let mut record = fixture::sqlite();
    record.ops.remove("commit");
    record.waits = Waits::Absent { absent: "it has no wait events".into() };
    processors(&mut record, 10.0, 0.0, 0.0);
    assert_eq!(limited(&record).by, Component::Unknown, "most of the time is of operations that read");
    for class in &mut record.classes {
        class.commits = 1;
    }
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.what.as_str()), (Component::Locks, "one writer at a time"));
    assert_eq!(bottleneck.confidence, Confidence::Likely);
    processors(&mut record, 10.0, 0.0, 55.0);
    assert_ne!(limited(&record).by, Component::Locks, "they may as well wait for a processor");
}

#[test]
fn bottleneck_is_unknown_without_evidence() {
    let record = server();
    let bottleneck = limited(&record);
    assert_eq!((bottleneck.by, bottleneck.confidence), (Component::Unknown, Confidence::Unknown));
    assert!(
        bottleneck.sentence.starts_with("the bottleneck is unknown: the processors are"),
        "{}",
        bottleneck.sentence
    );
    let mut record = server();
    (record.hosts, record.waits) = (Vec::new(), Waits::Absent { absent: "nobody looked".into() });
    record.metrics.clear();
    record.counters = Default::default();
    assert_eq!(limited(&record).by, Component::Unknown);
    assert!(limited(&record).sentence.contains("waits are unknown: nobody looked"));
    record.window = None;
    assert_eq!(limited(&record).by, Component::Unknown);
    // Too few samples count as none.
    let mut record = server();
    waits(&mut record, 4.0, &[("Lock", "transactionid", 4.0)]);
    assert_eq!(limited(&record).by, Component::Locks);
    if let Waits::Sampled { samples, .. } = &mut record.waits {
        *samples = 5;
    }
    assert_eq!(limited(&record).by, Component::Unknown);
}

#[test]
fn disagreeing_runs_of_one_point_lower_confidence() {
    let (mut cpu, mut locks) = (server(), server());
    processors(&mut cpu, 20.0, 56.0, 0.0);
    waits(&mut locks, 4.0, &[("Lock", "transactionid", 4.0)]);
    let (cpu, locks) = (limited(&cpu), limited(&locks));
    let combine = |all: &[&Bottleneck]| {
        let mut limits = BottleneckTally::default();
        all.iter().for_each(|limited| limits.add((*limited).clone()));
        limits.combine()
    };
    let combined = combine(&[&locks, &cpu, &cpu]).unwrap();
    assert_eq!((combined.by, combined.confidence), (Component::Cpu, Confidence::Likely));
    assert_eq!(combined.spoiled, ["1 of 3 runs say otherwise: row locks (transactionid)"]);
    assert_eq!(
        combine(&[&locks, &cpu]).map(|told| told.by),
        Some(Component::Locks),
        "of equally many the first"
    );
    assert_eq!(combine(&[&cpu, &cpu]).unwrap(), cpu);
    assert_eq!(combine(&[]), None);
}

proptest! {
    /// Nothing is reported as exhausted if its figure is below the threshold.
    #[test]
    fn resource_with_low_figure_is_never_named_bottleneck(
        own_s in 0.0..40.0f64, server_s in 0.0..40.0f64, others_s in 0.0..40.0f64, threads in 0..9u32,
        cpu in 0.0..4.0f64, log in 0.0..4.0f64, io in 0.0..4.0f64, lock in 0.0..4.0f64, latch in 0.0..4.0f64,
        commit_us in 0.0..30_000.0f64, read_s in 0.0..60.0f64, util in 0.0..100.0f64, throttled in 0.0..100.0f64, same_host: bool, in_process: bool, allowed in 0..9u32,
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
        step(&mut record, "commit", 2_000, commit_us);
        timed(&mut record, dyno_record::Counter::PhysicalReadTime, read_s);
        metric(&mut record, "device_util_pct", util, Unit::Percent);
        host(&mut record, &[("server.cgroup.quota_cpus", 1.0), ("server.cgroup.periods", 100.0),
            ("server.cgroup.throttled_periods", throttled), ("server.cpus_allowed", f64::from(allowed)),
            ("server.cpus_shared", f64::from(allowed))]);
        (record.gate.threads, record.hosts[0].cpus_allowed) = (threads, allowed);
        record.targets[0].identity.same_host = same_host;
        record.targets[0].identity.counting.in_process = in_process;
        let bottleneck = limited(&record);
        let figure_or_zero = |name: &str| bottleneck.figure(name).unwrap_or(0.0);
        let waits = ["commits", "io", "row_locks", "locks", "latches", "other_waits"];
        let together: f64 = waits.iter().map(|name| figure_or_zero(&format!("time_in_{name}_pct"))).sum();
        // Where several waits dominate together, the largest needs a quarter.
        let due = if together >= 50.0 { 25.0 } else { 50.0 };
        let figure = match bottleneck.by {
            Component::Cpu => figure_or_zero("cpu_busy_pct").max(figure_or_zero("confined_cpus_busy_pct")) - 90.0,
            Component::CpuQuota => figure_or_zero("database_quota_throttled_pct") - 50.0,
            Component::Client => figure_or_zero("client_busy_pct").max(figure_or_zero("cpu_busy_pct")) - 85.0,
            Component::Commits => figure_or_zero("time_in_commits_pct").max(figure_or_zero("log_syncing_pct") - 35.0) - due,
            Component::Device => figure_or_zero("time_in_io_pct") - due,
            // Where nothing in the database takes longer, a fifth is enough.
            Component::Locks => (figure_or_zero("time_in_row_locks_pct") + figure_or_zero("time_in_locks_pct"))
                .max(if in_process { 50.0 } else { 0.0 }) - due.min(20.0),
            Component::Latches => figure_or_zero("time_in_latches_pct") - due,
            Component::Waits => figure_or_zero("time_in_other_waits_pct") - due,
            Component::Connections => figure_or_zero("time_connecting_pct") - 50.0,
            Component::RoundTrips => figure_or_zero("time_outside_pct") - 50.0,
            Component::Sessions => figure_or_zero("processor_time_pct") - 70.0,
            Component::Rate | Component::ThinkTime => -1.0,
            Component::Unknown => 0.0,
        };
        prop_assert!(figure >= -1e-9, "{:?}: {figure}: {}", bottleneck.by, bottleneck.sentence);
        let of_time = |one: &&BottleneckEvidence| one.name.starts_with("time_");
        let parts_pct: f64 = bottleneck.evidence.iter().filter(of_time).map(|one| one.value).sum();
        prop_assert!(parts_pct <= 100.0 + 1e-6, "{parts_pct} %: {:?}", bottleneck.evidence);
        prop_assert!(!bottleneck.sentence.is_empty() && !bottleneck.what.is_empty());
        if bottleneck.by == Component::Unknown {
            prop_assert_eq!(bottleneck.confidence, Confidence::Unknown);
        }
    }
}
