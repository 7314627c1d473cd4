use std::sync::Arc;

use dyno_engine::{BlockOp, ErrorClass, OpError};
use dyno_workload::ClassId;
use proptest::prelude::*;

use super::*;
use crate::scene::{SPEC, Scene, SceneRun};
use crate::scripted::Act;

fn row(before: i64, acknowledged: u64, version_now: i64) -> RowCheck {
    RowCheck { schema: 1, key: 1, before, acknowledged, found: version_now }
}

fn account(rows: &[(RowCheck, u64, bool)]) -> RowComparison {
    let mut account = RowComparison { work_unit: 1, ..RowComparison::default() };
    for &(row, unknown, is_stamped) in rows {
        account.commits_acknowledged += row.acknowledged;
        account.add_row(row, unknown, is_stamped);
    }
    account
}

#[test]
fn acknowledged_rows_that_are_found_are_complete() {
    let account = account(&[(row(5, 3, 8), 0, true), (row(0, 0, 0), 0, false), (row(2, 1, 4), 1, true)]);
    assert!(account.is_whole(), "{account:?}");
    assert_eq!((account.rows_found, account.rows_unknown_found, account.commits_lost()), (5, 1, 0));
}

#[test]
fn lost_update_and_duplicate_update_do_not_cancel_out() {
    let account = account(&[(row(0, 2, 1), 0, true), (row(0, 2, 3), 0, true)]);
    assert_eq!(account.rows_found, 4);
    assert_eq!((account.rows_lost, account.rows_surplus), (1, 1));
    assert!(!account.is_whole());
    assert_eq!(account.example, Some(row(0, 2, 1)));
}

#[test]
fn value_from_another_writer_is_detected() {
    assert_eq!(account(&[(row(0, 1, 1), 0, false)]).values_wrong, 1);
    assert_eq!(account(&[(row(4, 0, 4), 0, true)]).values_wrong, 1);
}

#[test]
fn version_below_the_initial_one_is_a_loss() {
    for found in [3, -1, i64::MIN] {
        let account = account(&[(row(4, 0, found), 0, false)]);
        assert!(account.rows_lost >= 1, "{account:?}");
        assert!(!account.is_whole(), "{account:?}");
    }
}

#[test]
fn lost_commit_loses_its_whole_work_unit() {
    let account =
        RowComparison { rows_lost: 16, work_unit: 8, commits_acknowledged: 10, ..RowComparison::default() };
    assert_eq!((account.commits_lost(), account.commits_found()), (2, 8));
}

proptest! {
    #[test]
    fn row_comparison_counts_exactly_the_provable_losses(
        rows in prop::collection::vec((-2i64..5, 0u64..6, 0u64..6, 0u64..3, 0u64..3), 1..50)
    ) {
        // For each row: version before, acknowledged and present, acknowledged and lost, unknown and present,
        // unknown and absent.
        let mut account = RowComparison { work_unit: 1, ..RowComparison::default() };
        let (mut lost, mut hidden) = (0, 0);
        for (before, there, gone, unknown_there, unknown_not) in rows {
            let version_now = before + (there + unknown_there) as i64;
            account.add_row(row(before, there + gone, version_now), unknown_there + unknown_not, version_now > before);
            lost += gone;
            hidden += unknown_there.min(gone);
        }
        prop_assert_eq!(account.rows_lost, lost - hidden);
        prop_assert_eq!(account.rows_surplus, 0);
        prop_assert_eq!(account.is_whole(), lost == hidden);
    }
}

fn seen(spec: &DataSpec) -> SeenRows<'_> {
    SeenRows::new(spec, (spec.rows * u64::from(spec.schemas)) as usize)
}

#[test]
fn missing_duplicate_and_foreign_rows_are_counted() {
    let spec = DataSpec {
        schemas: 2,
        rows: 40,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 1,
        secondary: false,
        copied: false,
    };
    let mut seen_rows = seen(&spec);
    for (schema, key) in [(1, 1), (1, 40), (2, 1), (2, 40)] {
        assert!(seen_rows.place(schema, key).is_some());
    }
    for (schema, key) in [(1, 1), (1, 0), (1, 41), (3, 1), (0, 1)] {
        assert_eq!(seen_rows.place(schema, key), None);
    }
    assert_eq!((seen_rows.foreign, seen_rows.missing(), seen_rows.absent().count()), (5, 76, 76));
    assert!(!seen_rows.absent().any(|place| [0, 39, 40, 79].contains(&place)));
}

#[test]
fn ack_ledger_records_acknowledged_and_unknown_outcomes() {
    let fail = |class| Act::Fail(OpError { class, code: "E1".into(), message: "scripted".into() });
    let scene = Scene::new().set("run.sessions_per_schema=3").set("workload.update_pct=60").script(
        move |_, number, op| match (op, number % 50) {
            (BlockOp::Update { .. }, 10) => fail(ErrorClass::Retryable),
            (_, 20) => fail(ErrorClass::Connection),
            _ => Act::Take(0),
        },
    );
    let ack_ledger = Arc::new(AckLedger::new(&SPEC, 8));
    let SceneRun { record, ledger, .. } = scene.run_once(Some(Arc::clone(&ack_ledger))).unwrap();
    let updates = ledger.life().class(ClassId::UPDATE);
    assert_eq!(ack_ledger.commits(), updates.count);
    let rows: u64 = (0..1_000).map(|place| ack_ledger.acknowledged_of(place)).sum();
    assert_eq!((rows, ack_ledger.short_rows()), (updates.rows, 0));
    assert_eq!(rows, record.whole.unwrap().rows_updated);
    let lost = ledger.life().errors[&(ErrorClass::Connection, "E1".to_owned())];
    assert_eq!(ack_ledger.lost_connections(), lost);
    let undone = ledger.life().errors[&(ErrorClass::Retryable, "E1".to_owned())];
    let (unknown, by_row) = ack_ledger.close();
    assert_eq!(unknown, updates.errors - undone, "updates whose connection was lost");
    assert_eq!(by_row.values().sum::<u64>(), unknown * 8);
}

#[test]
fn hanging_update_has_unknown_outcome() {
    let scene = Scene::new()
        .set("workload.update_pct=100")
        .set("run.drain=100ms")
        .script(|_, number, _| if number == 5 { Act::Hang } else { Act::Take(0) });
    let ledger = Arc::new(AckLedger::new(&SPEC, 8));
    scene.run_once(Some(Arc::clone(&ledger))).unwrap();
    assert_eq!(ledger.commits(), 5);
    assert_eq!(ledger.close().0, 1);
}
