//! No record, however odd or hostile, exceeds its columns or controls the terminal.

use dyno_record::{PartOf, PointSetting, RecordKind, SweepKind};

use super::*;

#[test]
fn show_output_fits_100_columns() {
    for record in [postgres(), invalid(), wide()] {
        assert_fits(&record);
    }
}

#[test]
fn hostile_records_cannot_control_or_flood_terminal() {
    let attacks = [
        "\x1b[2J\x1b]0;owned\x07".to_owned(),
        "line\nline\r\n\tline".to_owned(),
        "\u{202e}\u{9b}31m\u{200b}\u{2028}".to_owned(),
        "数据库🐘".repeat(40),
        "x".repeat(10_240),
        "word ".repeat(2_048),
        String::new(),
    ];
    for attack in attacks {
        assert_fits(&hostile(&attack));
    }
}

#[test]
fn empty_record_is_still_shown() {
    let mut record = postgres();
    record.window = None;
    record.whole = None;
    record.targets.clear();
    record.ops.clear();
    record.metrics.clear();
    record.series.points.clear();
    record.audit.clear();
    record.waits = Waits::Absent { absent: "not asked for".into() };
    record.status = Status::Failed;
    record.reasons = vec!["the server is gone".into()];
    assert_fits(&record);
    let text = show(&record, &Style::default());
    assert!(text.contains("none: the run ended before its window began"), "{text}");
    assert!(text.contains("audit: no checks were made"), "{text}");
}

#[test]
fn run_list_has_one_line_a_run_at_any_width() {
    let mut rows = [summary(&postgres()), summary(&invalid()), summary(&postgres())];
    for (row, tags) in rows.iter_mut().zip([&["after-patch", "nightly"][..], &[], &["nightly"]]) {
        row.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        row.variant = Some("nfs4 over two switches".into());
        row.database = Some("PostgreSQL 15.10".into());
        row.target = "postgres://dyno@db1/bench".into();
    }
    rows[2].part_of = Some(PartOf {
        id: "ab-20260321-142501-7f3a".into(),
        kind: SweepKind::Ab,
        point: 1,
        repeat: 1,
        side: Some("a".into()),
        settings: vec![PointSetting { key: "workload.redo".into(), value: "lite".into() }],
    });
    for width in [80, 100, 120, 160, 200] {
        let list = list_table(&rows, &Style { color: false, width });
        assert!(list.lines().all(|line| crate::text::width(line) <= width), "{list}");
        let common = "target postgres://dyno@db1/bench; version 15.10; variant nfs4 over two switches";
        assert_eq!(list.lines().next(), Some(common), "{list}");
        let runs = list.lines().filter(|line| line.starts_with("20260321-142501-7f3a")).count();
        assert_eq!(runs, 3, "{list}");
        for part in ["invalid", "4 planned, 3 started", "1,000", "5.84 ms", "single", "ab"] {
            assert!(list.contains(part), "no {part:?} at {width}:\n{list}");
        }
        if width >= 120 {
            for part in ["after-patch, nightly", "ab a redo=lite", "10.0"] {
                assert!(list.contains(part), "no {part:?} at {width}:\n{list}");
            }
            assert!(!list.contains("left out"), "{list}");
        }
    }
    let narrow = list_table(&rows, &Style { color: false, width: 80 });
    assert!(narrow.contains("left out at 80 columns: updates, elapsed; --json shows all"), "{narrow}");
    assert_eq!(list_table(&[], &Style::default()), "no runs yet: `dyno run` makes one\n");
}

#[test]
fn run_list_calls_a_watch_a_watch() {
    let mut watch = summary(&postgres());
    (watch.kind, watch.sessions, watch.ops_per_s) = (RecordKind::Watch, 0, None);
    let list = list_table(&[watch.clone()], &Style::default());
    assert!(list.contains("watch"), "{list}");
    let list = list_table(&[watch, summary(&postgres())], &Style::default());
    assert!(list.contains("watch") && list.contains("single"), "{list}");
}

#[test]
fn result_card_keeps_units_at_any_width() {
    let row = ResultRow::from(&postgres());
    for width in [60, 72, 80, 90, 100] {
        let card = result_card(&row, &Style { color: false, width });
        for part in ["70,400 /s", "16.4 MB/s", "5.12 MB/s", "61.5 %", "5,841 µs", "1,000 /s"] {
            assert!(card.contains(part), "no {part:?} at {width}:\n{card}");
        }
        assert!(card.lines().all(|line| crate::text::width(line) <= width), "{width}:\n{card}");
    }
    // Two runs at one load can be distinguished.
    let rows = [row, ResultRow::from(&postgres())];
    let table = result_table(&rows, &Style { color: false, width: 80 });
    assert!(table.contains("\n  1         4"), "{table}");
    assert!(table.contains("\n  2         4"), "{table}");
}
