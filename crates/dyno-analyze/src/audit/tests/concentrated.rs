//! Tests of hot spots, think times, and rows that come and go.

use std::time::Duration;

use dyno_plan::TimeSpan;
use dyno_record::window::{HotOps, ThinkTime};

use super::counting::commits;
use super::*;

/// 10,000 operations: every 4th started in the hot spot and every 10th went to schema 1.
fn hot(spot: u64, schema: u64) -> RunRecord {
    postgres(|r| {
        r.plan.data.schemas = 2;
        r.plan.workload.hot_spot_every = 4;
        r.plan.workload.hot_schema_every = 10;
        window(r).hot = Some(HotOps { spot, keyed: 10_000, schema, movable: 10_000 });
    })
}

/// Sleeps of 10 ms on average after every second of 10,000 operations.
fn asleep(sleeps: u64, seconds: f64) -> RunRecord {
    postgres(|r| {
        r.plan.workload.think_every = 2;
        r.plan.workload.think_min = TimeSpan(Duration::from_millis(5));
        r.plan.workload.think_max = TimeSpan(Duration::from_millis(15));
        window(r).think = Some(ThinkTime { seconds, sleeps });
    })
}

/// 300 rows inserted and 290 deleted; 10 are left.
pub(super) fn churned(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    postgres(|r| {
        r.plan.workload.insert_pct = Some(3);
        asked(r, "insert", 3);
        asked(r, "delete", 3);
        for (class, count) in [("insert", 300), ("delete", 290)] {
            let template = r.ops["update"].clone();
            r.ops.insert(class.into(), OpStats { count, rows: count, ..template });
            r.whole.as_mut().unwrap().ops.insert(class.into(), count);
            ops(r, "all").count += count;
        }
        for counters in [&mut r.counters, &mut r.whole.as_mut().unwrap().counters] {
            counters.native.insert("dyno.rows.n_tup_ins".into(), 300.0);
            counters.native.insert("dyno.rows.n_tup_del".into(), 290.0);
        }
        let whole = r.whole.as_mut().unwrap();
        (whole.rows_inserted, whole.rows_deleted, whole.rows_left) = (300, 290, Some(10));
        spoil(r);
    })
}

#[test]
fn missed_hot_spot_accesses_are_detected() {
    check_cases(vec![
        ("hot", Pass, "2,500 of 10,000 in the hot spot", hot(2_500, 1_000)),
        ("hot", Fail, "not as often", hot(2_000, 1_000)),
        ("hot", Fail, "not as often", hot(2_500, 1_300)),
    ]);
}

#[test]
fn missing_or_overlong_think_times_are_found() {
    check_cases(vec![
        ("think_time", Pass, "5,000 sleeps", asleep(5_000, 50.0)),
        ("think_time", Fail, "more than chance", asleep(4_000, 40.0)),
        ("think_time", Fail, "more than chance", asleep(5_000, 40.0)),
        ("think_time", Warn, "woke late", asleep(5_000, 90.0)),
    ]);
}

#[test]
fn littles_law_check_includes_think_time() {
    let with = |seconds: f64| {
        let mut record = asleep(5_000, seconds);
        window(&mut record).busy_s /= 2.0;
        record
    };
    let half = fixture::postgres().window.unwrap().busy_s / 2.0;
    check_cases(vec![
        ("littles_law", Pass, "in think time", with(half)),
        ("littles_law", Warn, "between two operations", with(0.0)),
        ("littles_law", Fail, "more than there was time for", with(half * 1.5)),
    ]);
}

#[test]
fn inserted_and_deleted_rows_are_checked_on_both_sides() {
    check_cases(vec![
        ("rows_churned", Pass, "300 inserted, database counted 300", churned(|_| ())),
        ("rows_left", Pass, "the tables held 10", churned(|_| ())),
        (
            "rows_churned",
            Skipped,
            "rows_left compares what the tables hold",
            churned(|r| {
                let rows = &mut r.targets[0].identity.counting.rows;
                rows.by_kind = None;
                rows.not_by_kind =
                    Some("no rows are counted; rows_left compares what the tables hold".into());
            }),
        ),
        ("rows_left", Pass, "the tables held 10", churned(|r| r.targets[0].identity.counting = commits())),
        ("redo_grew", Pass, "rows updated or inserted", churned(|_| ())),
        (
            "redo_grew",
            Fail,
            "less than the new values",
            churned(|r| {
                // Enough for the stamps of all updates and of 299 inserted rows; the server was
                // read at the begin itself.
                let window = r.window.as_mut().unwrap();
                (window.edge_us_max.0, window.snapshot_us.0) = (0.0, 0.0);
                let updated = r.ops["update"].rows * 2 * 41;
                r.counters
                    .portable
                    .insert(Counter::RedoBytes, moved(Counter::RedoBytes, updated + 299 * 19 * 41));
            }),
        ),
        ("rows_left", Fail, "applied twice", churned(|r| r.whole.as_mut().unwrap().rows_left = Some(9))),
        (
            "rows_churned_whole",
            Fail,
            "not the same rows",
            churned(|r| {
                let counters = &mut r.whole.as_mut().unwrap().counters;
                counters.native.insert("dyno.rows.n_tup_del".into(), 100.0);
            }),
        ),
    ]);
}
