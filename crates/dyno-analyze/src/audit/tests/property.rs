//! Tests that the audit of any record terminates and gives the same result twice.

use std::collections::BTreeMap;

use dyno_plan::DriveMode;
use proptest::prelude::*;

use super::counting::{commits, statements};
use super::*;

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0u64..10_000]
}

fn any_real() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY), any::<f64>(), 0.0f64..1e6]
}

/// A record with all its checks is a long case.
fn cases() -> ProptestConfig {
    let all = std::env::var("DYNO_TEST_ALL").is_ok_and(|value| !value.is_empty() && value != "0");
    ProptestConfig::with_cases(if all { 512 } else { 128 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn audit_never_panics_and_is_idempotent(
        numbers in prop::collection::vec(any_number(), 24),
        reals in prop::collection::vec(any_real(), 12),
        counting in prop_oneof![
            Just(fixture::postgres().targets.remove(0).identity.counting),
            Just(fixture::sqlite().targets.remove(0).identity.counting),
            Just(commits()),
            Just(statements()),
            Just(Default::default()),
        ],
        server: bool,
        backwards: bool,
    ) {
        let mut record = fixture::postgres();
        record.targets[0].identity.counting = counting;
        record.plan.workload.drive = if server { DriveMode::Server } else { DriveMode::Client };
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
        record.hosts[0].counters.insert("device.vda.read_bytes".into(), reals[11]);
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
