//! Compares a run with the report that its database wrote.

use dyno_record::{DatabaseReport, Metric, RunRecord, Unit};

use super::{CheckStatus, find};
use crate::fixture;

pub(super) fn with_report(beyond_s: f64, factor: f64) -> RunRecord {
    let mut record = fixture::postgres();
    let seconds = record.window.as_ref().unwrap().seconds + beyond_s;
    let rate = |value| Metric::Value { value, unit: Unit::PerSecond };
    record.metrics.insert("logical_reads_per_s".into(), rate(1_000.0));
    record.metrics.insert("commits_per_s".into(), rate(2.0));
    record.database_report = Some(Box::new(DatabaseReport {
        name: "AWR snapshots 17 to 18".into(),
        seconds: Some(seconds),
        metrics: [("logical_reads_per_s", 1_000.0 * factor), ("commits_per_s", 5.0)]
            .map(|(name, value)| (name.to_owned(), rate(value)))
            .into(),
        ..DatabaseReport::default()
    }));
    record
}

#[test]
fn report_with_the_same_rates_passes_and_others_warn() {
    for (factor, status) in [
        (1.0, CheckStatus::Pass),
        (1.09, CheckStatus::Pass),
        (1.2, CheckStatus::Warn),
        (0.5, CheckStatus::Warn),
    ] {
        let found = find(&with_report(1.0, factor), "database_report");
        assert_eq!(found.status, status, "{factor}: {}", found.detail);
        assert!(found.detail.starts_with("AWR snapshots 17 to 18 "), "{}", found.detail);
        assert_eq!(found.detail.contains("commits"), status == CheckStatus::Pass, "2/s and 5/s say nothing");
    }
}

#[test]
fn report_much_longer_than_window_is_not_compared() {
    let window_s = fixture::postgres().window.unwrap().seconds;
    let found = find(&with_report(window_s + 3.0, 0.6), "database_report");
    assert_eq!(found.status, CheckStatus::Skipped, "{}", found.detail);
}

#[test]
fn run_without_report_has_no_such_check() {
    let mut record = fixture::postgres();
    crate::judge(&mut record);
    assert!(record.audit.iter().all(|check| check.check != "database_report"));
}
