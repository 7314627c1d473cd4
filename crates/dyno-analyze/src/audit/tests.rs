//! Each check is shown a record whose numbers agree, and the same record with one number spoiled.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_plan::{Arrivals, Drive, Rate, Span};
use dyno_record::{
    AuditCheck, CheckStatus, Counter, CounterDelta, ErrorTally, OpStats, RunRecord, Status, Waits,
};
use proptest::prelude::*;

use super::{audit, check_names, judge};
use crate::fixture::{self, moved};

use CheckStatus::{Fail, Pass, Skipped, Warn};

fn find(record: &RunRecord, name: &str) -> AuditCheck {
    audit(record).into_iter().find(|check| check.check == name).unwrap_or_else(|| panic!("no check {name}"))
}

/// Adds to a counter of the window, or takes away.
fn shift(record: &mut RunRecord, counter: Counter, by: i64) {
    let now = record.counters.get(counter).unwrap();
    record.counters.portable.insert(counter, moved(counter, u64::try_from(now + by).unwrap()));
}

/// The same over the whole life.
fn shift_whole(record: &mut RunRecord, counter: Counter, by: i64) {
    let counters = &mut record.whole.as_mut().unwrap().counters;
    let now = counters.get(counter).unwrap();
    counters.portable.insert(counter, moved(counter, u64::try_from(now + by).unwrap()));
}

fn window(record: &mut RunRecord) -> &mut dyno_record::Window {
    record.window.as_mut().unwrap()
}

fn ops<'a>(record: &'a mut RunRecord, class: &str) -> &'a mut OpStats {
    record.ops.get_mut(class).unwrap()
}

fn tally(class: &str, count: u64, reconnects: u64) -> ErrorTally {
    ErrorTally { class: class.into(), code: "40001".into(), message: "deadlock".into(), count, reconnects }
}

/// A record where `spoil` was done to the PostgreSQL fixture.
fn postgres(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    let mut record = fixture::postgres();
    spoil(&mut record);
    record
}

fn sqlite(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    let mut record = fixture::sqlite();
    spoil(&mut record);
    record
}

#[test]
fn good_records_have_nothing_against_them() {
    for record in [fixture::postgres(), fixture::sqlite()] {
        let bad: Vec<_> = audit(&record).into_iter().filter(|c| matches!(c.status, Warn | Fail)).collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }
}

#[test]
fn good_records_skip_only_what_cannot_be_checked() {
    let skipped = |record: &RunRecord| -> Vec<String> {
        audit(record).into_iter().filter(|c| c.status == Skipped).map(|c| c.check).collect()
    };
    assert_eq!(skipped(&fixture::postgres()), ["open_loop"]);
    assert_eq!(
        skipped(&fixture::sqlite()),
        ["heap_reads", "heap_reads_whole", "db_time", "open_loop", "client_cost"]
    );
}

#[test]
fn counts_are_said_in_plain_words() {
    let cases = [
        (fixture::sqlite(), "commits", "2,000 acknowledged, database counted 2,000"),
        (
            fixture::postgres(),
            "commits",
            "10,000 acknowledged (8,000 reads and 2,000 updates, each a transaction), database counted 10,000 (3 of Dyno's own left out)",
        ),
        (fixture::postgres(), "rows_updated", "128,000 acknowledged, database counted 128,000"),
        (
            fixture::postgres(),
            "logical_reads",
            "640,000 rows of one block each touched, database counted 704,000 logical reads, 1.10 per row: the rest is index and catalog",
        ),
        (
            fixture::postgres(),
            "work_unit",
            "8,000 selects × 64 = 512,000 rows, 2,000 updates × 64 = 128,000 rows: all touched",
        ),
    ];
    for (record, name, words) in cases {
        assert_eq!(find(&record, name).detail, words);
    }
}

#[test]
fn the_page_cache_is_made_visible() {
    let record = postgres(|r| {
        r.host_counters.insert("device.vda.reads".into(), 600.0);
        r.host_counters.insert("device.vda.read_bytes".into(), 600.0 * 8_192.0);
    });
    let check = find(&record, "physical_reads");
    assert_eq!(check.status, Warn);
    assert_eq!(
        check.detail,
        "database asked for 20,000 blocks (164 MB), vda read 600 times (4.92 MB): 97.0 % came from the operating system's page cache, so physical reads are not the storage's"
    );
}

/// One spoiled record: the check that must see it, what it must come to, and a word that its sentence must hold.
type Case = (&'static str, CheckStatus, &'static str, RunRecord);

fn check_cases(cases: Vec<Case>) {
    for (name, status, word, record) in cases {
        let check = find(&record, name);
        assert_eq!(check.status, status, "{name} ({word}): {}", check.detail);
        assert!(check.detail.contains(word), "{name} does not say {word:?}: {}", check.detail);
    }
}

#[test]
fn spoiled_counts_are_found() {
    use Counter::{Commits, LogicalReads, RedoBytes, RedoSyncs, RowsWritten};
    let native = |name: &'static str, by: f64| {
        move |r: &mut RunRecord| *r.counters.native.get_mut(name).unwrap() += by
    };
    check_cases(vec![
        ("commits", Fail, "are missing", sqlite(|r| shift(r, Commits, -500))),
        ("commits", Warn, "1 are missing", sqlite(|r| shift(r, Commits, -1))),
        ("commits", Fail, "more: others", sqlite(|r| shift(r, Commits, 500))),
        ("commits", Fail, "are missing", postgres(|r| shift(r, Commits, -500))),
        ("commits", Pass, "8 more are within", postgres(|r| shift(r, Commits, 8))),
        ("commits", Pass, "3 fewer, as some", postgres(|r| shift(r, Commits, -3))),
        ("commits", Warn, "4 are missing", postgres(|r| shift(r, Commits, -4))),
        ("commits", Warn, "more: others", postgres(|r| shift(r, Commits, 300))),
        ("commits", Fail, "more: others", postgres(|r| shift(r, Commits, 5_000))),
        ("commits_whole", Fail, "1 are missing", sqlite(|r| shift_whole(r, Commits, -1))),
        ("commits_whole", Fail, "1 are missing", postgres(|r| shift_whole(r, Commits, -1))),
        (
            "commits_whole",
            Pass,
            "3 failed operations",
            sqlite(|r| {
                shift_whole(r, Commits, 3);
                r.whole.as_mut().unwrap().errors = 3;
            }),
        ),
        ("logical_reads", Fail, "fewer than the rows", postgres(|r| shift(r, LogicalReads, -100_000))),
        ("logical_reads", Warn, "old versions", postgres(|r| shift(r, LogicalReads, 9_000_000))),
        ("logical_reads_whole", Fail, "fewer", sqlite(|r| shift_whole(r, LogicalReads, -1_400_000))),
        ("heap_reads", Fail, "fewer than the rows", postgres(native("dyno.rows.heap_blks_hit", -20_000.0))),
        ("rows_updated", Fail, "are missing", postgres(native("dyno.rows.n_tup_upd", -2_000.0))),
        (
            "rows_updated",
            Fail,
            "128,000 are missing",
            postgres(|r| {
                r.counters.native.remove("dyno.rows.n_tup_upd");
            }),
        ),
        ("rows_updated", Fail, "more: others", sqlite(|r| shift(r, RowsWritten, 50_000))),
        ("rows_updated_whole", Fail, "1 are missing", sqlite(|r| shift_whole(r, RowsWritten, -1))),
        ("update_values", Fail, "255 hold", sqlite(|r| r.whole.as_mut().unwrap().verified_rows.1 -= 1)),
        (
            "update_values",
            Warn,
            "none was read back",
            sqlite(|r| r.whole.as_mut().unwrap().verified_rows = (0, 0)),
        ),
        (
            "redo_grew",
            Fail,
            "0 B of redo",
            sqlite(|r| {
                r.counters.portable.insert(RedoBytes, moved(RedoBytes, 0));
            }),
        ),
        (
            "redo_grew",
            Fail,
            "less than the new values",
            postgres(|r| {
                r.counters.portable.insert(RedoBytes, moved(RedoBytes, 128_000));
            }),
        ),
        (
            "durable_commits",
            Warn,
            "synchronous=full",
            sqlite(|r| {
                r.counters.portable.insert(RedoSyncs, moved(RedoSyncs, 3));
            }),
        ),
    ]);
}

#[test]
fn dead_row_versions_show_in_read_only_runs() {
    let record = postgres(|r| {
        r.ops.remove("update");
        r.ops.remove("commit");
        r.counters.native.insert("dyno.rows.heap_blks_hit".into(), 700_000.0);
    });
    let check = find(&record, "heap_reads");
    assert_eq!((check.status, check.detail.contains("dead versions")), (Warn, true), "{}", check.detail);
}

#[test]
fn spoiled_work_is_found() {
    check_cases(vec![
        ("operations", Fail, "none ended well", postgres(|r| r.ops.clear())),
        ("work_unit", Fail, "rows are missing", postgres(|r| ops(r, "select").rows -= 1)),
        (
            "mix",
            Fail,
            "0 % updates",
            postgres(|r| {
                r.ops.remove("update");
            }),
        ),
        ("mix", Warn, "more than chance", postgres(|r| ops(r, "update").count = 2_500)),
        ("mix", Fail, "asked for 0 % updates", postgres(|r| r.plan.workload.update_pct = 0)),
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
            "others read",
            postgres(|r| {
                r.host_counters.insert("device.vda.read_bytes".into(), 9e9);
            }),
        ),
        ("physical_reads", Skipped, "another host", postgres(|r| r.targets[0].identity.same_host = false)),
        (
            "physical_reads",
            Skipped,
            "no counters of device vdb",
            postgres(|r| {
                r.host.facts.insert("place.data.device".into(), "vdb".into());
            }),
        ),
    ]);
}

#[test]
fn spoiled_times_are_found() {
    check_cases(vec![
        ("littles_law", Fail, "more than there was time", postgres(|r| window(r).busy_s = 41.0)),
        ("littles_law", Warn, "between two operations", postgres(|r| window(r).busy_s = 30.0)),
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
            "with a rate",
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
        ("open_loop", Warn, "saturated", postgres(|r| r.plan.workload.rate = Some(Rate(1_200.0)))),
        ("open_loop", Pass, "999/s asked for", postgres(|r| r.plan.workload.rate = Some(Rate(999.0)))),
        (
            "open_loop",
            Warn,
            "response times contain",
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
                r.host_counters.insert("process.cpu_s".into(), 60.0);
            }),
        ),
        (
            "client_cost",
            Warn,
            "the client is the limit",
            postgres(|r| {
                r.targets[0].identity.same_host = false;
                r.host_counters.insert("process.cpu_s".into(), 70.0);
            }),
        ),
    ]);
}

#[test]
fn spoiled_windows_are_found() {
    check_cases(vec![
        ("sessions", Fail, "4 planned, 3 passed", postgres(|r| r.gate.sessions = 3)),
        ("gate_skew", Warn, "short of processors", postgres(|r| r.gate.skew_us_max = 80_000.0)),
        ("edges", Warn, "approximate", postgres(|r| window(r).edge_late = (0, 1))),
        ("edges", Warn, "longer run.time", postgres(|r| window(r).edge_us_max = (90_000.0, 150_000.0))),
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
            postgres(|r| r.plan.run.time = Some(Span(Duration::from_secs(60)))),
        ),
        ("stalls", Warn, "starved", postgres(|r| window(r).stall_us_max = 700_000.0)),
        ("stalls", Fail, "suspended", postgres(|r| window(r).stall_us_max = 5_000_000.0)),
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
                r.counters.epoch_changes.insert("server_start".into(), ("a".into(), "b".into()));
            }),
        ),
        (
            "counters_epoch",
            Warn,
            "before or after",
            postgres(|r| {
                let counters = &mut r.whole.as_mut().unwrap().counters;
                counters.epoch_changes.insert("stats_reset".into(), ("a".into(), "b".into()));
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
            "done anew",
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
        ("errors", Fail, "describe failing", postgres(|r| ops(r, "all").errors = 5_000)),
        ("errors", Warn, "opened anew: 1", postgres(|r| r.errors.push(tally("connection", 1, 1)))),
    ]);
}

#[test]
fn a_reset_outside_the_window_spoils_only_the_whole_run() {
    let mut record = postgres(|r| {
        let counters = &mut r.whole.as_mut().unwrap().counters;
        counters.epoch_changes.insert("stats_reset".into(), ("a".into(), "b".into()));
        let back = CounterDelta::Moved { begin: 10, end: 5, delta: -5, unit: Counter::Commits.unit() };
        counters.portable.insert(Counter::Commits, back);
    });
    judge(&mut record);
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    assert_eq!(find(&record, "commits_whole").status, Skipped);
    assert_eq!(find(&record, "commits").status, Pass);
}

#[test]
fn slices_are_counted_as_transactions_of_their_own() {
    let server = |r: &mut RunRecord| {
        r.plan.workload.drive = Drive::Server;
        r.ops.insert("slice".into(), OpStats { count: 100, ..OpStats::default() });
        ops(r, "commit").untimed = Some("inside the database".into());
        // 100 slices, 2,000 commits inside them, 3 of Dyno's own.
        r.counters.portable.insert(Counter::Commits, moved(Counter::Commits, 2_103));
    };
    let record = postgres(server);
    let check = find(&record, "commits");
    assert_eq!(check.status, Pass);
    assert!(check.detail.starts_with(
        "2,100 acknowledged (100 slices and 2,000 commits inside them), database counted 2,100"
    ));
    assert_eq!(find(&record, "untimed").status, Pass);
}

#[test]
fn servers_that_cannot_flush_get_a_second_of_room() {
    let late = |version: &str| {
        postgres(|r| {
            r.targets[0].identity.version = version.into();
            shift(r, Counter::Commits, -900);
        })
    };
    assert_eq!(find(&late("14.9"), "commits").status, Pass);
    assert_eq!(find(&late("PostgreSQL 13.12"), "commits").status, Pass);
    assert_eq!(find(&late("15.10"), "commits").status, Fail);
}

#[test]
fn a_run_without_a_window_is_not_judged_by_one() {
    let mut record = postgres(|r| {
        r.window = None;
        r.ops.clear();
        r.whole = None;
        r.gate.sessions = 0;
        r.status = Status::Failed;
        r.reasons = vec!["the server is gone".into()];
    });
    judge(&mut record);
    assert_eq!(record.status, Status::Failed);
    assert_eq!(record.reasons, ["the server is gone"]);
    assert_eq!(record.audit.len(), check_names().count());
    assert_eq!(find(&record, "commits").detail, "the run ended before its window began");
}

#[test]
fn an_interrupted_window_is_not_held_against_counters_that_were_never_read() {
    let record = postgres(|r| {
        r.status = Status::Interrupted;
        r.counters = Default::default();
        r.whole = None;
    });
    let bad: Vec<_> = audit(&record).into_iter().filter(|c| c.status == Fail || c.status == Warn).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(find(&record, "commits").detail, "the run ended before the end snapshot of its window");
}

#[test]
fn judging_says_why_and_never_excuses() {
    let mut record = sqlite(|r| shift_whole(r, Counter::Commits, -1));
    judge(&mut record);
    assert_eq!(record.status, Status::Invalid);
    assert_eq!(
        record.reasons,
        [
            "commits_whole: 4,000 acknowledged, database counted 3,999; 1 are missing: acknowledged, but not counted"
        ]
    );
    for status in [Status::Failed, Status::Interrupted, Status::Invalid] {
        let mut record = fixture::postgres();
        record.status = status;
        judge(&mut record);
        assert_eq!(record.status, status);
    }
}

#[test]
fn names_are_stable_and_unique() {
    let mut names: Vec<_> = check_names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
}

#[test]
fn the_manual_names_every_check() {
    let manual = include_str!("../../../../docs/reading-a-result.md");
    for name in check_names() {
        assert!(manual.contains(&format!("`{name}`")), "docs/reading-a-result.md does not explain `{name}`");
    }
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0u64..10_000]
}

fn any_real() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY), any::<f64>(), 0.0f64..1e6]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn judging_never_panics_and_is_idempotent(
        numbers in prop::collection::vec(any_number(), 24),
        reals in prop::collection::vec(any_real(), 12),
        engine in prop_oneof![Just("postgres"), Just("sqlite"), Just("oracle")],
        server: bool,
        backwards: bool,
    ) {
        let mut record = fixture::postgres();
        record.targets[0].engine = engine.into();
        record.plan.workload.drive = if server { Drive::Server } else { Drive::Client };
        for (i, name) in ["all", "select", "update", "commit", "slice", "scan"].into_iter().enumerate() {
            let stats = record.ops.entry(name.to_owned()).or_default();
            (stats.count, stats.rows, stats.errors) = (numbers[i], numbers[i + 6], numbers[i + 12]);
        }
        for (i, counter) in Counter::ALL.into_iter().enumerate() {
            let (begin, end) = (numbers[i % 24], numbers[(i * 7 + 3) % 24]);
            let delta = if backwards { i64::MIN } else { (i128::from(end) - i128::from(begin)) as i64 };
            let moved = CounterDelta::Moved { begin, end, delta, unit: counter.unit() };
            record.counters.portable.insert(counter, moved);
        }
        record.counters.native = BTreeMap::from([
            ("dyno.own_commits".to_owned(), reals[0]),
            ("dyno.rows.heap_blks_hit".to_owned(), reals[1]),
            ("dyno.rows.n_tup_upd".to_owned(), reals[2]),
        ]);
        let window = record.window.as_mut().unwrap();
        (window.seconds, window.busy_s, window.stall_us_max) = (reals[3], reals[4], reals[5]);
        (window.edge_us_max, window.snapshot_us) = ((reals[6], reals[7]), (reals[8], reals[9]));
        record.gate.sessions = numbers[20] as u32;
        record.series.points[0].ops = numbers[21];
        record.series.points[0].seconds = reals[10];
        record.host_counters.insert("device.vda.read_bytes".into(), reals[11]);
        let whole = record.whole.as_mut().unwrap();
        (whole.errors, whole.commits, whole.verified_rows) = (numbers[22], numbers[23], (numbers[18], numbers[19]));

        judge(&mut record);
        let once = record.clone();
        judge(&mut record);
        prop_assert_eq!(once.audit, record.audit);
        prop_assert_eq!(once.status, record.status);
        prop_assert_eq!(once.reasons, record.reasons);
    }
}
