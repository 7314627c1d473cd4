//! Tests of checks whose tolerance is as large as the counts: agreement proves nothing then, and
//! must not pass.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_plan::TimeSpan;
use dyno_record::window::WorkCounts;
use dyno_record::{Fleet, FleetHost, UnreadIntervals};

use super::*;
use crate::audit::cpu_beyond_db_time;

/// A record with this many selects and updates.
fn few(selects: u64, updates: u64, spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    postgres(|record| {
        for (class, done) in [("select", selects), ("update", updates), ("commit", updates)] {
            ops(record, class).count = done;
        }
        ops(record, "all").count = selects + updates;
        spoil(record);
    })
}

/// Sets the selects that the counters of the window hold.
fn counted(record: &mut RunRecord, selects: u64) {
    let ops = BTreeMap::from([("select".to_owned(), selects)]);
    window(record).counted = Some(WorkCounts { ops, ..WorkCounts::default() });
}

#[test]
fn few_commits_within_allowance_skip_the_check() {
    let commits = |counted: u64| {
        move |record: &mut RunRecord| {
            record.counters.portable.insert(Counter::Commits, moved(Counter::Commits, counted + 3));
            record.targets[0].identity.counting.commits_per_session_max = 10;
        }
    };
    check_cases(vec![
        ("commits", Skipped, "database counted 24", few(5, 2, commits(24))),
        ("commits", Pass, "database counted 7", few(5, 2, commits(7))),
        ("commits", Fail, "other sessions commit", few(5, 2, commits(900))),
        ("commits", Pass, "database counted 1,017", few(800, 200, commits(1_017))),
    ]);
}

#[test]
fn edges_check_finds_operations_missing_from_window() {
    let words = "hold 24 operations, 17 more than the window has";
    check_cases(vec![
        ("edges", Warn, words, few(7, 0, |record| counted(record, 24))),
        ("edges", Fail, "24 more than the window has", few(0, 0, |record| counted(record, 24))),
        ("edges", Skipped, "no operation completed without error", few(0, 0, |record| counted(record, 0))),
    ]);
}

#[test]
fn too_short_window_is_not_judged() {
    let short = |seconds: f64| {
        postgres(move |record| {
            record.plan.run.time = Some(TimeSpan(Duration::from_secs_f64(seconds)));
            window(record).seconds = seconds;
            window(record).end = window(record).begin.clone();
        })
    };
    check_cases(vec![
        ("window_length", Skipped, "this short", short(0.2)),
        ("wall_clock", Skipped, "this short", short(0.4)),
        ("stalls", Skipped, "shorter than a stall", short(0.4)),
    ]);
}

#[test]
fn mix_of_few_operations_is_not_judged() {
    check_cases(vec![
        ("mix", Skipped, "7 operations are too few", few(5, 2, |_| ())),
        ("mix", Pass, "requested", few(800, 200, |_| ())),
    ]);
}

#[test]
fn db_time_explained_by_observer_and_sampler_is_skipped() {
    let db_time = |seconds: f64| {
        postgres(move |record| {
            record.gate.sessions = 1;
            let us = (seconds * window(record).seconds * 1e6) as u64;
            record.counters.portable.insert(Counter::DbTime, moved(Counter::DbTime, us));
        })
    };
    check_cases(vec![
        ("db_time", Pass, "of the time that sessions waited", db_time(0.9)),
        ("db_time", Skipped, "observer and sampler", db_time(2.5)),
        ("db_time", Warn, "other sessions", db_time(3.5)),
    ]);
}

#[test]
fn run_without_changes_has_no_durable_commits_to_judge() {
    let reads_only = postgres(|record| {
        let commits = record.window.as_mut().unwrap();
        commits.counted = None;
        record.ops.remove("update");
        record.ops.remove("commit");
    });
    check_cases(vec![("durable_commits", Skipped, "no commit of the run changed data", reads_only)]);
}

#[test]
fn unexplained_device_writes_name_only_what_there_was() {
    let record = postgres(|record| {
        fixture::device_writes(record, 10.0);
        record.hosts[0].counters.insert("device.vda.write_bytes".into(), 1e12);
    });
    let check = audit(&record).into_iter().find(|check| check.check == "device_writes").unwrap();
    assert!(check.detail.contains("MB/s more than the database (pages"), "{check:?}");
    assert!(!check.detail.contains("writes/s"), "{check:?}");
}

#[test]
fn processor_time_beyond_db_time_names_what_db_time_excludes() {
    let server_cpu = |seconds: f64| {
        postgres(move |record| {
            record.targets[0].identity.counting.outside_db_time = Some("background processes".into());
            record.hosts[0].counters.insert("server.cpu_s".into(), seconds);
        })
    };
    check_cases(vec![(
        "db_time",
        Pass,
        "used 35.00 s of processor time, more than the 30.00 s of DB time, which excludes background processes",
        server_cpu(35.0),
    )]);
    assert_eq!(cpu_beyond_db_time(&server_cpu(29.0)), None);
}

#[test]
fn operations_of_a_lost_driver_host_are_not_background() {
    let lost = |record: &mut RunRecord| {
        let host = |name: &str, lost: Option<&str>| FleetHost {
            name: name.into(),
            sessions: 2,
            lost: lost.map(str::to_owned),
            ..FleetHost::default()
        };
        let hosts = vec![host("a1", None), host("a2", Some("no heartbeat"))];
        record.fleet = Some(Fleet { hosts, ..Fleet::default() });
        shift(record, Counter::Commits, 9_000);
        shift_whole(record, Counter::Commits, 9_000);
    };
    let words = "short of 1 of 2 hosts (a2: no heartbeat)";
    check_cases(vec![
        ("commits", Skipped, words, postgres(lost)),
        ("commits_whole", Skipped, words, postgres(lost)),
        ("rows_updated", Skipped, words, postgres(lost)),
        ("others", Skipped, words, postgres(lost)),
        ("hosts", Fail, words, postgres(lost)),
    ]);
}

#[test]
fn intervals_with_unread_counters_are_reported() {
    let unread = |record: &mut RunRecord| {
        let reason = "the counters could not be read: permission denied".into();
        window(record).unread = Some(UnreadIntervals { count: 3, first_s: 2.0, reason });
    };
    let words = "at the end of 3 of the window's intervals they could not be read, first 2.0 s into it: the counters could not be read: permission denied";
    check_cases(vec![("counters_known", Warn, words, postgres(unread))]);
}

#[test]
fn rate_with_few_arrivals_is_not_judged() {
    let rate =
        |per_s: f64| move |record: &mut RunRecord| record.plan.workload.rate = Some(dyno_plan::Rate(per_s));
    // The fixture's window is 10 s long, and it has four sessions.
    check_cases(vec![
        ("open_loop", Skipped, "as many may be missing", few(1, 0, rate(0.3))),
        ("open_loop", Warn, "saturated below the rate", few(1, 0, rate(10.0))),
    ]);
}

#[test]
fn redo_snapshot_read_late_makes_check_skipped() {
    let late = postgres(|record| {
        window(record).edge_us_max.0 = 0.9e6 * window(record).seconds;
        record.whole = None;
    });
    check_cases(vec![("redo_grew", Skipped, "life", late)]);
}

#[test]
fn idle_system_device_writes_are_not_explained_by_database() {
    let writes = |per_s: f64, syncs: u64| {
        postgres(move |record| {
            fixture::device_writes(record, per_s * 10.0);
            for (counter, value) in [
                (Counter::PhysicalWrites, 10),
                (Counter::PhysicalWriteBytes, 10 * 8_192),
                (Counter::RedoWrites, syncs),
                (Counter::RedoSyncs, syncs),
                (Counter::RedoBytes, 0),
            ] {
                record.counters.portable.insert(counter, moved(counter, value));
            }
        })
    };
    check_cases(vec![
        ("device_writes", Skipped, "no more than an idle system may", writes(200.0, 0)),
        ("device_writes", Pass, "explain what vda wrote", writes(200.0, 5_000)),
    ]);
}
