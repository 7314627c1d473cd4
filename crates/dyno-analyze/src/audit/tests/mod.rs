//! Runs each check on a record whose figures agree, and on the same record with one figure spoiled.

mod company;
mod concentrated;
mod counting;
mod counts;
mod database_report;
mod empty_commits;
mod few;
mod nothing;
mod physical;
mod property;
mod runs;
mod workloads;

use dyno_record::{
    AuditCheck, CheckStatus, Counter, CounterDelta, CounterReset, ErrorTally, MarkChange, MarkKind, OpStats,
    RunRecord, Status,
};

use super::{audit, check_names, judge};
use crate::fixture::{self, moved};

use CheckStatus::{Fail, Pass, Skipped, Warn};

fn find(record: &RunRecord, name: &str) -> AuditCheck {
    audit(record).into_iter().find(|check| check.check == name).unwrap_or_else(|| panic!("no check {name}"))
}

/// Adds `by` to a counter of the window; it may be negative.
fn shift(record: &mut RunRecord, counter: Counter, delta: i64) {
    let now = record.counters.get(counter).unwrap();
    record.counters.portable.insert(counter, moved(counter, u64::try_from(now + delta).unwrap()));
}

/// The same for the counter of the whole run.
fn shift_whole(record: &mut RunRecord, counter: Counter, delta: i64) {
    let counters = &mut record.whole.as_mut().unwrap().counters;
    let now = counters.get(counter).unwrap();
    counters.portable.insert(counter, moved(counter, u64::try_from(now + delta).unwrap()));
}

fn window(record: &mut RunRecord) -> &mut dyno_record::Window {
    record.window.as_mut().unwrap()
}

fn ops<'a>(record: &'a mut RunRecord, class: &str) -> &'a mut OpStats {
    record.ops.get_mut(class).unwrap()
}

/// Requests this percentage of `class` in the mix.
fn asked(record: &mut RunRecord, class: &str, percent: u32) {
    record.classes.iter_mut().find(|one| one.name == class).unwrap().share.percent = Some(percent);
}

fn tally(class: &str, count: u64, reconnects: u64) -> ErrorTally {
    ErrorTally {
        class: class.into(),
        code: "40001".into(),
        message: "deadlock".into(),
        count,
        reconnects,
        retried: 0,
        in_doubt: 0,
    }
}

/// The PostgreSQL fixture after `spoil` has changed it.
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
fn good_records_have_no_audit_warnings_or_failures() {
    for record in [fixture::postgres(), fixture::sqlite()] {
        let bad: Vec<_> = audit(&record).into_iter().filter(|c| matches!(c.status, Warn | Fail)).collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }
}

#[test]
fn good_records_skip_only_inapplicable_checks() {
    let skipped = |record: &RunRecord| -> Vec<String> {
        audit(record).into_iter().filter(|c| c.status == Skipped).map(|c| c.check).collect()
    };
    // The plan of the fixture has no hot spot and no think time, and neither inserts nor deletes.
    let not_asked = [
        "cached_results",
        "empty_writes",
        "expected",
        "hot",
        "invariants",
        "loaded",
        "rows_churned",
        "rows_churned_whole",
        "rows_found",
        "rows_left",
        "scan_path",
        "think_time",
    ];
    let skipped = |record: &RunRecord| -> Vec<String> {
        skipped(record).into_iter().filter(|name| !not_asked.contains(&name.as_str())).collect()
    };
    assert_eq!(skipped(&fixture::postgres()), ["device_writes", "read_requests", "open_loop"]);
    assert_eq!(
        skipped(&fixture::sqlite()),
        [
            "heap_reads",
            "heap_reads_whole",
            "others",
            "others_test_tables",
            "others_server",
            "device_writes",
            "db_time",
            "open_loop",
            "client_cost"
        ]
    );
}

/// One spoiled record: the check that must detect it, the expected status, and a word of its
/// sentence.
type Case = (&'static str, CheckStatus, &'static str, RunRecord);

/// A mark that changed in an interval.
fn changed(kind: MarkKind, name: &str, from: &str, to: &str) -> MarkChange {
    MarkChange {
        kind,
        name: name.to_owned(),
        from: Some(from.to_owned()),
        to: Some(to.to_owned()),
        seen_s: Some(4.0),
    }
}

/// A counter that decreased in an interval.
fn fell(name: &str, from: f64, to: f64) -> CounterReset {
    CounterReset { name: name.to_owned(), from, to, seen_s: Some(2.0) }
}

fn check_cases(cases: Vec<Case>) {
    for (name, status, word, record) in cases {
        let check = find(&record, name);
        assert_eq!(check.status, status, "{name} ({word}): {}", check.detail);
        assert!(check.detail.contains(word), "{name} does not say {word:?}: {}", check.detail);
    }
}

#[test]
fn reset_outside_window_affects_only_whole_run_checks() {
    let mut record = postgres(|r| {
        let counters = &mut r.whole.as_mut().unwrap().counters;
        counters.changes.push(changed(MarkKind::Epoch, "stats_reset", "a", "b"));
        let back = CounterDelta::Moved { begin: 10, end: 5, delta: -5, unit: Counter::Commits.unit() };
        counters.portable.insert(Counter::Commits, back);
    });
    judge(&mut record);
    assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
    assert_eq!(find(&record, "commits_whole").status, Skipped);
    assert_eq!(find(&record, "commits").status, Pass);
}

#[test]
fn run_without_window_is_not_judged_by_window_checks() {
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
    assert_eq!(
        record.audit.len() + 4,
        check_names().count(),
        "all but those of driver hosts, of machines elsewhere, of instances, and of a database report"
    );
    assert_eq!(find(&record, "commits").detail, "the run ended before its window began");
}

#[test]
fn interrupted_window_without_end_counters_has_no_audit_warnings() {
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
fn audit_gives_reasons_and_never_improves_status() {
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
fn audit_check_names_are_unique_and_lowercase() {
    let mut names: Vec<_> = check_names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
}

#[test]
fn audit_reference_describes_every_check() {
    let manual = include_str!("../../../../../docs/reference/audit-checks.md");
    for name in check_names() {
        assert!(manual.contains(&format!("`{name}`")), "the manual does not explain `{name}`");
    }
}
