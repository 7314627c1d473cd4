//! No record, however odd or hostile, exceeds its columns or controls the terminal.

use super::*;

const LIST: &str = "\
run                   status   sessions  updates    ops      p99  elapsed
                                               %     /s                 s
─────────────────────────────────────────────────────────────────────────
20260321-142501-7f3a  valid           4       20  1,000  5.84 ms     10.0
  2026-03-21 14:25:01; variant nfs4 over two switches; tags after-patch,
  nightly; version 15.10; postgres://dyno@db1/bench
20260321-142501-7f3a  invalid         4       20      –        –     10.0
  2026-03-21 14:25:01; version 3.50.2; sqlite:/data/dyno.db
  sessions: 4 planned, 3 started
";

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
fn run_list_is_complete_at_any_width() {
    let mut rows = [summary(&postgres()), summary(&invalid())];
    rows[0].variant = Some("nfs4 over two switches".into());
    rows[0].tags = vec!["after-patch".into(), "nightly".into()];
    rows[1].variant = None;
    rows[1].tags = Vec::new();
    assert_eq!(list_table(&rows, &Style { color: false, width: 80 }), LIST);
    for width in [80, 100, 120, 160, 200] {
        let list = list_table(&rows, &Style { color: false, width });
        let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "20260321-142501-7f3a",
            "2026-03-21 14:25:01",
            "nfs4 over two switches",
            "after-patch, nightly",
            "15.10",
            "postgres://dyno@db1/bench",
            "5.84 ms 10.0",
        ] {
            assert!(words.contains(part), "no {part:?} at {width}:\n{list}");
        }
        assert!(list.lines().all(|line| crate::text::width(line) <= width), "{list}");
        assert!(!list.contains('…'), "{list}");
    }
    assert_eq!(list_table(&[], &Style::default()), "no runs yet: `dyno run` makes one\n");
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
