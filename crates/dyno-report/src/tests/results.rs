//! Tests of results, records, loads and advice.

use super::*;

const RESULT_TABLE: &str = "                                       ────── service time ──────
run  sessions  updates    ops    rows   mean    p50    p95    p99  elapsed  status
                     %     /s      /s     µs     µs     µs     µs        s
───────────────────────────────────────────────────────────────────────────────────
  1         4       20  1,000  64,000  3,918  3,918  5,681  5,841     10.0  valid
  2         3       20                                                      invalid
  sessions: 4 planned, 3 started
  littles_law: 3.92 of 3 sessions busy on average (131 % of the time): more than there was time for

                        ───────── CPU ──────────  ────────── reads ──────────  ──── redo ────
run  sessions  updates  busy  user   sys  iowait  logical  physical  physical  written  syncs
                     %     %     %     %       %       /s        /s      MB/s     MB/s     /s
─────────────────────────────────────────────────────────────────────────────────────────────
  1         4       20  61.5  41.0  18.0     7.5   70,400     2,000      16.4     5.12    100
";

const LOAD: &str = "\
table          rows  blocks  rows per block      size
─────────────────────────────────────────────────────
dyno_1.rows  10,000  10,000           1.000  81.1 MiB
dyno_1.scan     500     500           1.000  4.05 MiB
all          10,500  10,500           1.000  85.1 MiB
";

#[test]
fn result_table_has_two_blocks_without_figures_of_invalid_runs() {
    let rows = [ResultRow::from(&postgres()), ResultRow::from(&invalid())];
    assert_eq!(result_table(&rows, &Style::default()), RESULT_TABLE);
}

#[test]
fn a_wide_terminal_gets_one_table_and_a_narrow_one_three() {
    let rows = [ResultRow::from(&postgres())];
    let heads = |width| result_table(&rows, &Style { color: false, width }).matches("sessions").count();
    assert_eq!((heads(170), heads(100), heads(80)), (1, 2, 3));
}

const CARD: &str = "  sessions                        4           logical reads              70,400 /s
  updates                        20 %         cache hit ratio              97.2 %
  elapsed                      10.0 s         physical reads              2,000 /s
  operations                  1,000 /s        physical reads               16.4 MB/s
  rows                       64,000 /s        redo                         5.12 MB/s
  commits                     1,000 /s        redo syncs                    100 /s
  service time, mean          3,918 µs        CPU busy                     61.5 %
  service time, p50           3,918 µs        CPU user                     41.0 %
  service time, p95           5,681 µs        CPU sys                      18.0 %
  service time, p99           5,841 µs        CPU iowait                    7.5 %
";

#[test]
fn single_run_is_shown_as_card() {
    assert_eq!(result_card(&ResultRow::from(&postgres()), &Style::default()), CARD);
    let invalid = result_card(&ResultRow::from(&invalid()), &Style::default());
    assert!(invalid.starts_with("  invalid: this run has no result\n  sessions: 4 planned"), "{invalid}");
    assert!(!invalid.contains("64,000"), "{invalid}");
}

#[test]
fn absent_figures_are_dashes_and_long_ones_are_shortened() {
    let mut record = postgres();
    record.metrics.remove("redo_mb_per_s");
    record.metrics.insert("rows_per_s".into(), Metric::Value { value: 1e9, unit: Unit::RowsPerSecond });
    let table = result_table(&[ResultRow::from(&record)], &Style::default());
    let cells: Vec<&str> = table.lines().nth(4).unwrap().split_whitespace().collect();
    assert_eq!(cells[3], "1.00G");
    let last: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(last[last.len() - 2..], ["–", "100"]);
}

#[test]
fn interrupted_run_shows_figures_unless_its_audit_failed() {
    let mut record = postgres();
    record.status = Status::Interrupted;
    assert!(ResultRow::from(&record).figures.is_some());
    record.gate.sessions = 3;
    judge(&mut record);
    assert!(ResultRow::from(&record).figures.is_none());
}

/// The checks of [`AUDIT`]: a new check does not change it.
const AUDIT_CHECKS: [&str; 20] = [
    "operations",
    "sessions",
    "settings",
    "shape",
    "errors",
    "invariants",
    "work_unit",
    "mix",
    "series_sum",
    "untimed",
    "logical_reads",
    "logical_reads_whole",
    "heap_reads_whole",
    "commits",
    "rows_updated",
    "update_values",
    "redo_grew",
    "physical_reads",
    "littles_law",
    "active_sessions",
];

const AUDIT: &str = "\
audit: 2 failed, 1 warning, 15 passed, 2 skipped
  ✗ fail  sessions: 4 planned, 3 started
  ✗ fail  Little's law: 3.92 of 3 sessions busy on average (131 % of the time): more than there was
          time for
  ! warn  active sessions: 3.10 active in 100 samples, 3.92 busy as seen by the client: more than
          the 3 sessions there were
  ✓ logical reads: 640,000 rows of one block each touched, database counted 1,280,000 logical reads,
    2.00 per row (the excess is index and catalog blocks)
  ✓ commits: 2,000 acknowledged, database counted 2,000
  ✓ rows updated: 128,000 acknowledged, database counted 128,000
  ✓ update values: 256 rows of the last updates read back, 256 hold a value of this run
  ✓ redo grew: 503 MiB of redo for 128,000 rows updated, 4,120 bytes per row
  ✓ physical reads: database read 20,000 blocks (81.9 MB) from outside its cache; vda served 20,100
    reads (82.3 MB)
  ✓ also passed: operations, settings, schema changes, errors, work unit, mix, series sum,
    operation times, logical reads (whole run)
  – skipped: invariants, table block reads (whole run)
";

#[test]
fn audit_output_is_plain_and_lists_failures_first() {
    let mut audit = invalid().audit;
    audit.retain(|check| AUDIT_CHECKS.contains(&check.check.as_str()));
    assert_eq!(audit_words(&audit, &Style::default()), AUDIT);
    let full = audit_full(&invalid().audit, &Style::default());
    assert!(full.contains("  – open loop: closed loop: each operation"), "{full}");
    let table = audit_table(&audit, &Style::default());
    assert!(table.lines().nth(2).unwrap().starts_with("sessions             ✗ fail     4 "), "{table}");
}

#[test]
fn complete_record_shows_all_sections() {
    let text = show(&postgres(), &Style::default());
    let audit = format!("audit: {}", crate::audit_summary(&postgres().audit));
    let titles = [
        "run 20260321-142501-7f3a  valid",
        "plan",
        "result",
        "operations",
        "service time",
        "time series",
        "metrics",
        "waits",
        "settings",
        "host",
        audit.as_str(),
    ];
    let mut lines = text.lines();
    for title in titles {
        assert!(lines.any(|line| line == title), "no section {title:?} in its place in\n{text}");
    }
    for part in [
        "  database     PostgreSQL 15.10 (Debian 15.10-0+deb12u1)",
        "    2.15–4.64 ms  6,340   63.4        68.4  ████",
        "  physical_read_requests_per_s  version 15 does not count read requests",
        "  IO:DataFileRead          35.5      1.10  ███",
        "  shared_buffers  128MB",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let invalid = show(&invalid(), &Style::default());
    assert!(invalid.contains("these figures are not a result"), "{invalid}");
}

#[test]
fn result_shows_thread_placement() {
    let assert_shown = |placement, words: &str| {
        let mut record = postgres();
        record.gate.placement = placement;
        if placement.is_some_and(|placed: ThreadPlacement| placed.kept == 0) {
            record.plan.run.placement = dyno_plan::Placement::None;
        }
        let text = show(&record, &Style::default()).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains(words), placement.is_some(), "{text}");
    };
    let pinned_threads = ThreadPlacement { kept: 2, told: 8, beside: 7 };
    assert_shown(Some(pinned_threads), "2 threads pinned; 7 of 8 sessions run on their backend's CPU");
    let alone = ThreadPlacement { kept: 0, told: 8, beside: 0 };
    assert_shown(Some(alone), "threads placed by the operating system alone (run.placement = none)");
    assert_shown(None, "kept on a processor");
}

#[test]
fn show_output_of_long_series_is_bounded() {
    let mut record = postgres();
    record.series.points = vec![record.series.points[0].clone(); 3_600];
    let text = show(&record, &Style::default());
    assert!(
        text.contains("… and 3,580 more (--json shows all)") || text.contains("… and 3580 more"),
        "{text}"
    );
    assert!(text.lines().count() < 210);
}

#[test]
fn load_table_shows_measured_density_and_total() {
    let row = |table: &str, rows, blocks, bytes| LoadRow { table: table.into(), rows, blocks, bytes };
    let good = [row("dyno_1.rows", 10_000, 10_000, 85_000_000), row("dyno_1.scan", 500, 500, 4_250_000)];
    assert_eq!(load_table(&good, &Style::default()), LOAD);
    let bad = load_table(&[row("t", 500, 250, 1)], &Style { color: true, width: 100 });
    assert!(bad.contains("\x1b[31m2.000\x1b[0m"), "{bad:?}");
}

#[test]
fn drop_table_lists_every_object() {
    let rows: Vec<DropRow> =
        (0..100).map(|i| DropRow { kind: "table".into(), name: format!("t{i}"), bytes: None }).collect();
    assert_eq!(drop_table(&rows, &Style::default()).lines().count(), 102);
}

#[test]
fn live_line_shows_progress_of_the_run() {
    let live = LiveFigures {
        phase: "",
        elapsed_s: 12.0,
        length_s: Some(60.0),
        until_s: Some(11.0),
        ops_per_s: Some(31_204.2),
        p50_us: Some(61.0),
        p99_us: Some(210.0),
        errors: 0,
        remaining_s: Some(48.0),
    };
    assert_eq!(
        live_line(&live, &Style::default()),
        "  12 s / 60 s  at 11 s: ops/s 31,204  p50 61 µs  p99 210 µs  errors 0  ETA 48 s"
    );
    let warmup =
        LiveFigures { phase: "warm-up", elapsed_s: 1.7, length_s: Some(2.0), ..LiveFigures::default() };
    assert_eq!(
        live_line(&warmup, &Style::default()),
        "  warm-up  1 s / 2 s  ops/s –  p50 –  p99 –  errors 0"
    );
}

#[test]
fn advice_lists_most_severe_first_with_remedy() {
    let advice = |check: &str, severity, way_out: &str| Advice {
        check: check.into(),
        severity,
        found: "as found".into(),
        way_out: way_out.into(),
    };
    let list = [
        advice("reach", Severity::Ok, ""),
        advice("space", Severity::Fail, "free 2 GiB on /data"),
        advice("track_io_timing", Severity::Warn, "SET track_io_timing = on"),
    ];
    let text = "  ✗ fail space: as found
         → free 2 GiB on /data
  ! warn track_io_timing: as found
         → SET track_io_timing = on
  ✓ ok   reach: as found
";
    assert_eq!(advice_table(&list, &Style::default()), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn result_table_fits_width_for_any_text(text in "\\PC{0,80}|[\\x00-\\x7f]{0,80}") {
        assert_fits(&hostile(&text));
    }
}

#[test]
fn unknown_value_is_shown_without_a_unit() {
    let mut record = postgres();
    let all = record.ops.get_mut("all").unwrap();
    (all.service_us.p50, all.service_us.p99) = (None, None);
    let card = result_card(&ResultRow::from(&record), &Style::default());
    assert!(!card.contains("– µs"), "{card}");
    assert!(card.contains('–'), "{card}");
}
