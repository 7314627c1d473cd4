use std::collections::BTreeMap;

use dyno_record::{ReportedLoad, Window};

use super::*;
use crate::fixture::sqlite;

/// A report of one hour.
fn report(snap: u32, calls: f64) -> RunRecord {
    let event = |event: &str, time_s: f64, waits: f64| ReportedEvent {
        event: event.into(),
        time_s: Some(time_s),
        time_step_s: Some(1.0),
        waits: Some(waits),
        mean_us: Some(time_s * 1e6 / waits),
        mean_step_us: Some(1e6 / waits),
        ..ReportedEvent::default()
    };
    let load = |name: &str, per_s: f64, per_txn: f64| ReportedLoad {
        name: name.into(),
        per_s,
        per_s_step: Some(0.1),
        per_txn: Some(per_txn),
        per_txn_step: Some(0.1),
    };
    let reported = Reported {
        load_profile: vec![load("user calls", calls, 2.0), load("logons", 0.1, 0.0)],
        top_events: vec![event("log file sync", 360.0, 7_200.0)],
        ..Reported::default()
    };
    let labels = [
        ("db_name", "SHOP".to_owned()),
        ("dbid", "1".to_owned()),
        ("instance", "shop1".to_owned()),
        ("startup_time", "01-Mar-24 02:00".to_owned()),
        ("report_type", "awr".to_owned()),
        ("begin_snap", snap.to_string()),
    ];
    let mut record = sqlite();
    record.id = format!("report-{snap}");
    record.window = Some(Window { seconds: 3_600.0, ..Window::default() });
    record.imported = Some(ImportSource {
        labels: labels.map(|(name, text)| (name.to_owned(), text)).into(),
        reported: Some(reported),
        ..ImportSource::default()
    });
    record.counters.native = BTreeMap::from([
        ("table scans".to_owned(), 7_200.0),
        ("foreground_time_s.log file sync".to_owned(), 360.0),
        ("foreground_waits.log file sync".to_owned(), 7_200.0),
    ]);
    record
}

fn label(record: &mut RunRecord, name: &str, text: &str) {
    record.imported.as_mut().unwrap().labels.insert(name.into(), text.into());
}

fn value(reading: Option<PrintedNumber>) -> Option<f64> {
    reading.map(|reading| (reading.value * 1e6).round() / 1e6)
}

#[test]
fn report_diff_lines_have_both_values_and_difference() {
    let (a, b) = (report(700, 100.0), report(701, 150.0));
    let between = compare_intervals(&a, &b).unwrap();
    assert!(between.is_comparable(), "{between:?}");
    assert!(between.mismatches.is_empty(), "{between:?}");
    let calls = &between.load[0];
    assert_eq!((value(calls.per_s.difference()), calls.per_s.percent()), (Some(50.0), Some(50.0)));
    assert_eq!((calls.per_txn.difference(), calls.per_txn.percent()), (None, None));
    let sync = &between.events[0];
    assert_eq!(
        (value(sync.waited.a), value(sync.waits.b), value(sync.mean_us.a)),
        (Some(0.1), Some(2.0), Some(50_000.0))
    );
    assert_eq!(
        between.statistics.iter().map(|line| (&*line.name, value(line.a))).collect::<Vec<_>>(),
        [("table scans", Some(2.0))]
    );
}

#[test]
fn value_in_only_one_report_has_no_difference() {
    let (mut a, b) = (report(700, 100.0), report(701, 100.0));
    let reported = a.imported.as_mut().unwrap().reported.as_mut().unwrap();
    reported.load_profile.remove(1);
    reported.top_events.clear();
    // Not among the top events, but in the list of all events.
    let listed = compare_intervals(&a, &b).unwrap();
    assert_eq!(value(listed.events[0].waited.a), Some(0.1));
    assert_eq!((listed.load[1].per_s.a, listed.load[1].per_s.difference()), (None, None));
    // In neither list: no session waited for it.
    a.counters.native.retain(|name, _| !name.contains("sync"));
    a.counters.native.insert("foreground_time_s.other".into(), 1.0);
    let unlisted = compare_intervals(&a, &b).unwrap();
    assert!(unlisted.events[0].waited.a.is_none());
    assert!(unlisted.events[0].is_certain);
    // Without that list, the report leaves it open.
    a.counters.native.retain(|name, _| !name.starts_with("foreground_"));
    assert!(!compare_intervals(&a, &b).unwrap().events[0].is_certain);
}

#[test]
fn reports_across_restart_or_databases_are_not_comparable() {
    let cases = [
        ("db_name", "TILL"),
        ("dbid", "2"),
        ("report_type", "awr_rac_global"),
        ("startup_time", "05-Mar-24 02:00"),
    ];
    for (name, text) in cases {
        let (a, mut b) = (report(700, 100.0), report(701, 100.0));
        label(&mut b, name, text);
        let between = compare_intervals(&a, &b).unwrap();
        assert!(!between.is_comparable(), "{name}: {:?}", between.mismatches);
        assert!(between.mismatches.len() == 1, "{name}: {:?}", between.mismatches);
    }
    let same = compare_intervals(&report(700, 1.0), &report(700, 1.0)).unwrap();
    assert_eq!(
        same.mismatches,
        [IntervalMismatch::SameInterval],
        "it is reported, and the printed forms may be compared"
    );
    assert!(same.is_comparable());
}

#[test]
fn report_diff_notes_other_instance_and_length_and_compares() {
    let (a, mut b) = (report(700, 100.0), report(701, 100.0));
    label(&mut b, "instance", "shop2");
    label(&mut b, "startup_time", "05-Mar-24 02:00");
    b.window.as_mut().unwrap().seconds = 1_800.0;
    let between = compare_intervals(&a, &b).unwrap();
    let instance = IntervalMismatch::Instance("shop1".into(), "shop2".into());
    assert_eq!(between.mismatches, [instance, IntervalMismatch::Length(60.0, 30.0)]);
    assert!(between.is_comparable());
}

#[test]
fn run_without_report_has_no_interval_comparison() {
    assert!(compare_intervals(&sqlite(), &report(700, 1.0)).is_none());
}

#[test]
fn number_without_given_precision_is_known_to_its_last_digit() {
    for (value, step) in [(16_400.0, 100.0), (0.25, 0.01), (5.0, 1.0), (1_234.5, 0.1), (0.0, 0.0)] {
        assert!((last_digit(value) - step).abs() < 1e-9, "{value}");
    }
}

#[test]
fn parameter_names_truncated_in_text_do_not_differ() {
    let mut html = report(1, 5.0);
    let mut text = report(2, 5.0);
    label(&mut html, "form", "html");
    label(&mut text, "form", "text");
    let set = |record: &mut RunRecord, name: &str, value: &str| {
        record.targets[0].identity.settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    };
    set(&mut html, "_optimizer_adaptive_cursor_sharing", "FALSE");
    set(&mut text, "_optimizer_adaptive_cursor_sh", "FALSE");
    assert_eq!(compare_intervals(&html, &text).unwrap().parameters, []);
    set(&mut text, "_optimizer_adaptive_cursor_sh", "TRUE");
    assert_eq!(compare_intervals(&html, &text).unwrap().parameters.len(), 1);
}
