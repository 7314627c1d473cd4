//! Tests of the work, the times and the window.

use std::time::Duration;

use dyno_plan::{Arrivals, Rate, TimeSpan};
use dyno_record::{BlocksPerReadRequest, Waits};

use super::*;

#[test]
fn audit_finds_manipulated_work() {
    check_cases(vec![
        ("operations", Fail, "(workload.work_unit, data.scan_scale)", postgres(|r| r.ops.clear())),
        ("work_unit", Fail, "rows are missing", postgres(|r| ops(r, "select").rows -= 1)),
        (
            "mix",
            Fail,
            "0 % updates",
            postgres(|r| {
                r.ops.remove("update");
            }),
        ),
        ("mix", Warn, "larger than chance", postgres(|r| ops(r, "update").count = 2_500)),
        ("mix", Fail, "requested 0 % updates", postgres(|r| asked(r, "update", 0))),
        (
            "series_sum",
            Fail,
            "9,000 operations",
            postgres(|r| {
                r.series.points.pop();
            }),
        ),
        ("series_sum", Warn, "9,999 operations", postgres(|r| r.series.points[0].ops -= 1)),
        (
            "untimed",
            Warn,
            "500 of 2,000 commits have no time of their own: no boundary",
            postgres(|r| {
                ops(r, "commit").service_us.count = 1_500;
                ops(r, "commit").untimed = Some("no boundary".into());
            }),
        ),
        ("untimed", Pass, "50 of 2,000 commits", postgres(|r| ops(r, "commit").service_us.count = 1_950)),
        (
            "physical_reads",
            Warn,
            "other programs read",
            postgres(|r| {
                r.hosts[0].counters.insert("device.vda.read_bytes".into(), 9e9);
            }),
        ),
        ("physical_reads", Skipped, "another host", postgres(|r| r.targets[0].identity.same_host = false)),
        (
            "physical_reads",
            Skipped,
            "no counters of device vdb",
            postgres(|r| {
                r.hosts[0].facts.insert("place.data.device".into(), "vdb".into());
            }),
        ),
    ]);
}

#[test]
fn audit_finds_manipulated_times() {
    check_cases(vec![
        ("littles_law", Fail, "more than there was time", postgres(|r| window(r).busy_s = 41.0)),
        (
            "littles_law",
            Warn,
            "to waiting for a processor, or to Dyno's own requests, which may wait for catalog locks",
            postgres(|r| window(r).busy_s = 30.0),
        ),
        (
            "littles_law",
            Warn,
            "lost connections",
            postgres(|r| {
                window(r).busy_s = 30.0;
                r.errors.push(tally("connection", 2, 2));
            }),
        ),
        (
            "littles_law",
            Pass,
            "at a requested rate",
            postgres(|r| {
                window(r).busy_s = 3.0;
                r.plan.workload.rate = Some(Rate(1_000.0));
            }),
        ),
        ("service_time", Fail, "missing or counted twice", postgres(|r| window(r).busy_s = 20.0)),
        ("service_time", Warn, "missing or counted twice", postgres(|r| window(r).busy_s = 37.0)),
        ("db_time", Warn, "parallel workers", postgres(|r| shift(r, Counter::DbTime, 40_000_000))),
        (
            "active_sessions",
            Warn,
            "more than the 4 sessions",
            postgres(|r| {
                if let Waits::Sampled { average_active_sessions, .. } = &mut r.waits {
                    *average_active_sessions = 6.0;
                }
            }),
        ),
        (
            "active_sessions",
            Pass,
            "until their server process has a processor",
            postgres(|r| {
                if let Waits::Sampled { average_active_sessions, .. } = &mut r.waits {
                    *average_active_sessions = 0.1;
                }
            }),
        ),
        (
            "active_sessions",
            Warn,
            "too slowly",
            postgres(|r| {
                if let Waits::Sampled { asked_per_s, .. } = &mut r.waits {
                    *asked_per_s = 100.0;
                }
            }),
        ),
        (
            "active_sessions",
            Skipped,
            "no such view",
            postgres(|r| {
                r.waits = Waits::Absent { absent: "no such view".into() };
            }),
        ),
        (
            "open_loop",
            Pass,
            "each phase kept up",
            postgres(|r| r.phases = phases([(100.0, 101, 2), (900.0, 899, 3)])),
        ),
        (
            "open_loop",
            Warn,
            "phase 2 was behind by 400 operations at its end",
            postgres(|r| r.phases = phases([(100.0, 100, 0), (900.0, 900, 400)])),
        ),
        (
            "open_loop",
            Fail,
            "phase 2: 880 operations were due, but the schedule requests 900",
            postgres(|r| {
                r.plan.workload.arrivals = Arrivals::Constant;
                r.phases = phases([(100.0, 100, 0), (900.0, 880, 0)]);
            }),
        ),
        (
            "open_loop",
            Fail,
            "phase 1: 160 operations were due",
            postgres(|r| r.phases = phases([(100.0, 160, 0), (900.0, 880, 0)])),
        ),
        ("open_loop", Warn, "saturated", postgres(|r| r.plan.workload.rate = Some(Rate(1_200.0)))),
        (
            "open_loop",
            Warn,
            "700 operations of the warm-up were overdue at the window's begin (3 at its end)",
            postgres(|r| {
                r.plan.workload.rate = Some(Rate(930.0));
                window(r).overdue = Some((700, 3));
            }),
        ),
        (
            "open_loop",
            Pass,
            "999/s requested",
            postgres(|r| {
                r.plan.workload.rate = Some(Rate(999.0));
                window(r).overdue = Some((4, 4));
            }),
        ),
        ("open_loop", Pass, "999/s requested", postgres(|r| r.plan.workload.rate = Some(Rate(999.0)))),
        (
            "open_loop",
            Warn,
            "response times include",
            postgres(|r| {
                r.plan.workload.rate = Some(Rate(1_000.0));
                r.plan.workload.arrivals = Arrivals::Poisson;
                window(r).late_us_max = Some(400_000.0);
            }),
        ),
        (
            "client_cost",
            Warn,
            "drive from another host",
            postgres(|r| {
                r.hosts[0].counters.insert("process.cpu_s".into(), 60.0);
            }),
        ),
        (
            "client_cost",
            Warn,
            "the client is the limit",
            postgres(|r| {
                r.targets[0].identity.same_host = false;
                r.hosts[0].counters.insert("process.cpu_s".into(), 70.0);
            }),
        ),
    ]);
}

#[test]
fn cpu_time_used_by_other_programs_is_reported() {
    let shared = |others_s: f64, busy_s: f64| {
        postgres(|r| {
            r.hosts[0].counters.insert("others.cpu_s".into(), others_s);
            r.hosts[0].counters.insert("others.stress.cpu_s".into(), others_s * 0.9);
            r.hosts[0].counters.insert("processors.busy_s".into(), busy_s);
        })
    };
    let stolen = postgres(|r| {
        r.hosts[0].counters.insert("processors.steal_s".into(), 4.0);
    });
    let unknown = postgres(|r| {
        r.hosts[0].counters.remove("others.cpu_s");
        let absent = "two servers were started at once".to_owned();
        r.metrics.insert("others_cpu_pct".into(), dyno_record::Metric::Absent { absent });
    });
    check_cases(vec![
        ("processor", Pass, "others 0.8 %, largest: sshd", postgres(|_| {})),
        ("processor", Pass, "others 20.0 %", shared(8.0, 20.0)),
        (
            "processor",
            Warn,
            "99.5 % busy: the client 2.2 %, the database 12.7 %, others 84.5 %, largest: stress (76.0 %)",
            shared(33.8, 39.8),
        ),
        ("processor", Warn, "others 7.5 %", shared(3.0, 38.0)),
        ("processor", Warn, "others 30.0 %", shared(12.0, 20.0)),
        ("processor", Warn, "the hypervisor took 10.0 %", stolen),
        ("processor", Skipped, "two servers", unknown),
    ]);
}

/// Two driver hosts; the longest stall of the second is `stall_us`.
fn stalled(stall_us: Option<f64>) -> dyno_record::Fleet {
    let host = |name: &str, stall_us_max| dyno_record::FleetHost {
        name: name.into(),
        stall_us_max,
        stall_s: stall_us_max.map(|us: f64| us / 1e6),
        ..dyno_record::FleetHost::default()
    };
    dyno_record::Fleet {
        hosts: vec![host("db2", Some(1_000.0)), host("db3", stall_us)],
        ..Default::default()
    }
}

/// Counters that were read while most of the work was done.
fn read_late(record: &mut RunRecord) {
    hold(record, 1.0);
    let counted = window(record).counted.clone().unwrap();
    window(record).unsure = Some((dyno_record::window::WorkCounts::default(), counted));
}

#[test]
fn only_rows_updated_during_snapshot_may_be_missing() {
    let missing = |rows: f64| {
        postgres(|r| {
            hold(r, 1.0);
            let unsure = dyno_record::window::WorkCounts { rows_updated: 8_000, ..Default::default() };
            window(r).unsure = Some((unsure, dyno_record::window::WorkCounts::default()));
            *r.counters.native.get_mut("dyno.rows.n_tup_upd").unwrap() -= rows;
        })
    };
    check_cases(vec![
        ("rows_updated", Pass, "8,000 apart", missing(8_000.0)),
        ("rows_updated", Fail, "are missing", missing(10_000.0)),
    ]);
}

#[test]
fn whole_run_is_compared_where_the_window_cannot_be() {
    check_cases(vec![
        ("commits", Skipped, "the whole run is compared", postgres(read_late)),
        ("commits_whole", Pass, "acknowledged", postgres(read_late)),
        // A session that was stuck has not reported what it did besides its operations.
        ("commits", Skipped, "across a window boundary", postgres(|r| window(r).edge_late = (0, 1))),
        ("edges", Warn, "rates of the database's counters are left out", postgres(read_late)),
        (
            "edges",
            Fail,
            "are left out",
            postgres(|r| {
                read_late(r);
                r.whole = None;
            }),
        ),
        (
            "others_test_tables",
            Fail,
            "other sessions read them too",
            postgres(|r| {
                read_late(r);
                let whole = &mut r.whole.as_mut().unwrap().counters.portable;
                let read = CounterDelta::Moved {
                    begin: 0,
                    end: 90_000_000,
                    delta: 90_000_000,
                    unit: Counter::RowsRead.unit(),
                };
                whole.insert(Counter::RowsRead, read);
            }),
        ),
    ]);
}

#[test]
fn audit_finds_manipulated_windows() {
    let moved = "table dyno.rows_1 has 20 of 30 neighbouring keys in neighbouring blocks".to_owned();
    check_cases(vec![
        ("data", Warn, "20 of 30", postgres(|r| r.targets[0].data_note = Some(moved))),
        ("sessions", Fail, "4 planned, 3 started", postgres(|r| r.gate.sessions = 3)),
        ("gate_skew", Warn, "short of processors", postgres(|r| r.gate.skew_us_max = 80_000.0)),
        ("edges", Fail, "is unknown", postgres(|r| window(r).edge_late = (0, 1))),
        ("edges", Warn, "follow from their content", postgres(|r| hold(r, 0.9))),
        ("edges", Fail, "a part of the window only", postgres(|r| hold(r, 0.05))),
        ("edges", Warn, "longer run.time", postgres(|r| window(r).edge_us_max = (90_000.0, 150_000.0))),
        ("edges", Warn, "worked 9.70 s on average", postgres(|r| window(r).work_s = Some(9.7))),
        (
            "edges",
            Warn,
            "reading the counters took 300 ms",
            postgres(|r| window(r).snapshot_us.1 = 300_000.0),
        ),
        (
            "window_length",
            Warn,
            "another time",
            postgres(|r| r.plan.run.time = Some(TimeSpan(Duration::from_secs(60)))),
        ),
        ("stalls", Warn, "starved", postgres(|r| window(r).stall_us_max = 700_000.0)),
        ("stalls", Fail, "suspended", postgres(|r| window(r).stall_us_max = 5_000_000.0)),
        (
            "stalls",
            Fail,
            "stalls took 75.0 % of the window",
            postgres(|r| {
                window(r).stall_s = Some(7.5);
                window(r).suspended_s = Some(7.4);
            }),
        ),
        ("stalls", Warn, "stalls took 6.0 % of the window", postgres(|r| window(r).stall_s = Some(0.6))),
        ("stalls", Warn, "starved", postgres(|r| window(r).stall_s = Some(5.0))),
        ("stalls", Pass, "stalls took 0.5", postgres(|r| window(r).stall_s = Some(0.05))),
        (
            "stalls",
            Fail,
            "on driver host db3 was 2.50 s",
            postgres(|r| r.fleet = Some(stalled(Some(2_500_000.0)))),
        ),
        (
            "stalls",
            Warn,
            "on driver host db3 was 27.7 ms, and stalls took 6.0 % of the window",
            postgres(|r| {
                let mut fleet = stalled(Some(27_700.0));
                fleet.hosts[1].stall_s = Some(0.6);
                r.fleet = Some(fleet);
            }),
        ),
        ("stalls", Skipped, "stalls of db3 are not known", postgres(|r| r.fleet = Some(stalled(None)))),
        (
            "wall_clock",
            Warn,
            "10.00 s by the monotonic clock, -3,590.00 s by the wall clock",
            postgres(|r| window(r).end = "2026-03-21T13:25:13Z".into()),
        ),
        (
            "counters_monotone",
            Fail,
            "commits by -5",
            postgres(|r| {
                let back =
                    CounterDelta::Moved { begin: 10, end: 5, delta: -5, unit: Counter::Commits.unit() };
                r.counters.portable.insert(Counter::Commits, back);
            }),
        ),
        (
            "counters_epoch",
            Fail,
            "in the window: server_start",
            postgres(|r| {
                r.counters.changes.push(changed(MarkKind::Epoch, "server_start", "a", "b"));
            }),
        ),
        (
            "counters_epoch",
            Skipped,
            "restarted during an outage, and its counters started from zero: server.started was a",
            postgres(|r| {
                r.plan.run.on_lost = dyno_plan::OnLost::Reconnect;
                r.outages.push(dyno_record::Outage::default());
                r.counters.changes.push(changed(MarkKind::Epoch, "server.started", "a", "b"));
            }),
        ),
        (
            "counters_monotone",
            Skipped,
            "restarted during an outage",
            postgres(|r| {
                r.plan.run.on_lost = dyno_plan::OnLost::Reconnect;
                r.outages.push(dyno_record::Outage::default());
                r.counters.changes.push(changed(MarkKind::Epoch, "server.started", "a", "b"));
            }),
        ),
        (
            "counters_epoch",
            Fail,
            "in the window: stats_reset",
            postgres(|r| {
                r.plan.run.on_lost = dyno_plan::OnLost::Reconnect;
                r.outages.push(dyno_record::Outage::default());
                r.counters.changes.push(changed(MarkKind::Epoch, "stats_reset", "a", "b"));
            }),
        ),
        (
            "counters_epoch",
            Warn,
            "before or after",
            postgres(|r| {
                let counters = &mut r.whole.as_mut().unwrap().counters;
                counters.changes.push(changed(MarkKind::Epoch, "stats_reset", "a", "b"));
            }),
        ),
        (
            "counters_monotone",
            Fail,
            "file.reads from 29,697 to 12, seen 2.0 s into the window",
            postgres(|r| r.counters.falls.push(fell("file.reads", 29_697.0, 12.0))),
        ),
        (
            "counters_monotone",
            Warn,
            "before or after the window: file.reads",
            postgres(|r| r.whole.as_mut().unwrap().counters.falls.push(fell("file.reads", 2.0, 1.0))),
        ),
        (
            "counters_epoch",
            Pass,
            "no restart",
            postgres(|r| r.counters.changes.push(changed(MarkKind::Setting, "fsync", "on", "off"))),
        ),
        (
            "settings",
            Fail,
            "commit_delay was 0 and became 30000, seen at 4.0 s",
            postgres(|r| r.counters.changes.push(changed(MarkKind::Setting, "commit_delay", "0", "30000"))),
        ),
        (
            "settings",
            Warn,
            "before or after the window",
            postgres(|r| {
                let counters = &mut r.whole.as_mut().unwrap().counters;
                counters.changes.push(changed(MarkKind::Setting, "commit_delay", "0", "30000"));
            }),
        ),
        (
            "settings",
            Warn,
            "changed back between two snapshots is not seen",
            postgres(|r| {
                r.counters.changes.push(changed(MarkKind::Setting, dyno_record::RELOADED, "1", "2"));
            }),
        ),
        (
            "settings",
            Skipped,
            "no privilege",
            postgres(|r| {
                r.counters.unread.insert("settings".into(), "no privilege".into());
            }),
        ),
        (
            "shape",
            Fail,
            "index dyno.mine was created, seen at 4.0 s",
            postgres(|r| {
                let mut change = changed(MarkKind::Shape, "index dyno.mine", "", "1");
                change.from = None;
                r.counters.changes.push(change);
            }),
        ),
        (
            "counters_known",
            Warn,
            "redo_bytes",
            postgres(|r| {
                r.counters.portable.remove(&Counter::RedoBytes);
            }),
        ),
        (
            "errors",
            Pass,
            "repeated",
            postgres(|r| {
                ops(r, "all").errors = 50;
                r.errors.push(tally("retryable", 60, 0));
            }),
        ),
        (
            "errors",
            Warn,
            "2.0 %",
            postgres(|r| {
                ops(r, "all").errors = 200;
                r.errors.push(tally("retryable", 200, 0));
            }),
        ),
        ("errors", Fail, "describe failed operations", postgres(|r| ops(r, "all").errors = 5_000)),
        ("errors", Warn, "reconnects: 1", postgres(|r| r.errors.push(tally("connection", 1, 1)))),
    ]);
}

/// The fixture with this many blocks read and read requests; `each` says what one request returns.
pub(super) fn reading(request_rule: BlocksPerReadRequest, blocks: i64, requests: u64) -> RunRecord {
    postgres(|r| {
        r.targets[0].identity.counting.requests = request_rule;
        let now = r.counters.get(Counter::PhysicalReads).unwrap();
        shift(r, Counter::PhysicalReads, blocks - now);
        r.counters
            .portable
            .insert(Counter::PhysicalReadRequests, moved(Counter::PhysicalReadRequests, requests));
    })
}

#[test]
fn too_few_read_requests_for_blocks_read_fail_the_check() {
    let single_page = || BlocksPerReadRequest::bring(1.0, "each page has a request of its own");
    let many = || BlocksPerReadRequest::bring(16.0, "io_combine_limit is 16 blocks");
    let unknown = BlocksPerReadRequest::absent("neighbouring blocks come with one request");
    let few = "29,697 blocks read, 10,756 read requests counted";
    check_cases(vec![
        ("read_requests", Fail, few, reading(single_page(), 29_697, 10_756)),
        ("read_requests", Pass, "29,697", reading(single_page(), 29_697, 29_500)),
        ("read_requests", Pass, "2,000", reading(many(), 29_697, 2_000)),
        ("read_requests", Fail, "io_combine_limit", reading(many(), 29_697, 1_200)),
        ("read_requests", Skipped, "neighbouring", reading(unknown, 29_697, 2_000)),
    ]);
}

/// Sets the share of the window's operations that its counters hold.
pub(super) fn hold(record: &mut RunRecord, share: f64) {
    let part = |count: u64| (count as f64 * share) as u64;
    let ops = record.ops.iter().filter(|(class, _)| *class != "all");
    let ops = ops.map(|(class, stats)| (class.clone(), part(stats.count))).collect();
    let rows = |class: &str| record.ops.get(class).map_or(0, |stats| part(stats.rows));
    let counted = dyno_record::window::WorkCounts {
        ops,
        rows_read: rows("select"),
        rows_updated: rows("update"),
        commits: record.ops.get("commit").map_or(0, |stats| part(stats.count)),
        ..Default::default()
    };
    window(record).counted = Some(counted);
}

/// Phases of 10 s with requested rate, due operations and backlog.
fn phases<const N: usize>(all: [(f64, u64, u64); N]) -> Vec<dyno_record::PhaseStats> {
    let phase = |(at, (asked, due, behind)): (usize, (f64, u64, u64))| dyno_record::PhaseStats {
        name: format!("phase {}", at + 1),
        begin_s: at as f64 * 10.0,
        end_s: (at + 1) as f64 * 10.0,
        asked,
        due,
        behind,
        ..Default::default()
    };
    all.into_iter().enumerate().map(phase).collect()
}

#[test]
fn audit_compares_counters_with_snapshots_not_window() {
    // One more operation belongs to the window: it was in progress at the begin, and is in the
    // begin snapshot already.
    let mut record = postgres(|r| {
        hold(r, 1.0);
        for class in ["select", "all"] {
            ops(r, class).count += 1;
        }
    });
    judge(&mut record);
    assert_eq!(find(&record, "commits").status, Pass, "{}", find(&record, "commits").detail);
    let mut missing = postgres(|r| {
        hold(r, 1.0);
        *window(r).counted.as_mut().unwrap().ops.get_mut("select").unwrap() += 400;
    });
    judge(&mut missing);
    assert_ne!(find(&missing, "commits").status, Pass);
}
