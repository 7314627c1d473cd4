//! Tests that messages fit the workload: keys of the block workload have no effect on a custom one.

use dyno_record::{RowEffect, WorkloadFacts};

use super::super::facts::AuditFacts;
use super::*;

/// A run of the custom workload `shop` whose plan has the block workload's `update_pct`.
fn shop(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    postgres(|record| {
        record.workload =
            Some(WorkloadFacts { name: "shop".into(), writes: true, ..WorkloadFacts::default() });
        spoil(record);
    })
}

fn fail_all(record: &mut RunRecord) {
    record.ops.clear();
    record.ops.insert("all".into(), OpStats { errors: 24, ..OpStats::default() });
    record.errors = vec![tally("retryable", 24, 0)];
}

fn busy_client(record: &mut RunRecord) {
    record.targets[0].identity.same_host = false;
    record.hosts[0].counters.insert("process.cpu_s".into(), 1e6);
}

#[test]
fn audit_hints_fit_the_workload() {
    let errors = "24 failed, most often with 40001 (deadlock): fix the cause of the errors";
    for (check, record, expected, unexpected) in [
        ("operations", postgres(|r| r.ops.clear()), "(workload.work_unit, data.scan_scale)", "failed"),
        ("operations", postgres(fail_all), errors, "work_unit"),
        ("operations", shop(|r| r.ops.clear()), "shorten the transactions of shop", "work_unit"),
        ("operations", shop(fail_all), errors, "work_unit"),
        ("client_cost", postgres(busy_client), "workload.drive = \"server\"", "hosts"),
        ("client_cost", shop(busy_client), "drive from several hosts", "workload.drive"),
    ] {
        let audit = audit(&record);
        let finding = audit.iter().find(|one| one.check == check).unwrap();
        assert!(finding.detail.contains(expected), "{check}: {finding:#?}");
        assert!(!finding.detail.contains(unexpected), "{check}: {finding:#?}");
    }
}

#[test]
fn rows_of_failed_operation_are_taken_from_its_class() {
    let most = |record: &RunRecord| {
        AuditFacts::of(record).rows_per_operation(|class| class.rows == RowEffect::Updated)
    };
    assert_eq!(most(&postgres(|_| {})), u64::from(fixture::postgres().plan.workload.work_unit));
    let custom = shop(|record| record.classes.iter_mut().for_each(|class| class.rows_per_op = None));
    assert_eq!(most(&custom), u64::MAX, "its statements decide");
}

#[test]
fn target_writes_are_determined_by_its_workload() {
    let reading = WorkloadFacts { name: "look".into(), ..WorkloadFacts::default() };
    for (name, record, writes) in [
        ("block, writing", postgres(|r| r.plan.workload.update_pct = 20), true),
        (
            "block, inserting",
            postgres(|r| (r.plan.workload.update_pct, r.plan.workload.insert_pct) = (0, Some(5))),
            true,
        ),
        ("block, reading", postgres(|r| r.plan.workload.update_pct = 0), false),
        ("custom, writing", shop(|r| r.plan.workload.update_pct = 0), true),
        ("custom, reading", shop(|r| r.workload = Some(reading.clone())), false),
        (
            "custom, writing beside",
            shop(|r| r.beside = r.workload.replace(reading.clone()).into_iter().collect()),
            true,
        ),
    ] {
        assert_eq!(record.may_write(), writes, "{name}");
    }
}
