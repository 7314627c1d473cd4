//! What users see, as text; and that no record, however odd or hostile, leaves its columns or drives the terminal.

use dyno_analyze::{fixture, judge};
use dyno_record::{
    Advice, AuditCheck, CheckStatus, CpuKind, CpuProfile, ErrorTally, Frame, Histogram, Metric, Placed,
    ProcessShare, Profile, RunRecord, RunSummary, Severity, StackNode, Status, SymbolShare, Unit, WaitTime,
    Waits, Window,
};
use proptest::prelude::*;

use crate::table::{Column, Table};
use crate::text::width;
use crate::*;

/// A run of the given sessions, judged.
fn postgres() -> RunRecord {
    let mut record = fixture::postgres();
    judge(&mut record);
    record
}

/// A run whose audit failed.
fn invalid() -> RunRecord {
    let mut record = fixture::sqlite();
    record.gate.sessions = 3;
    judge(&mut record);
    assert_eq!(record.status, Status::Invalid);
    record
}

/// A run with figures as wide as they get.
fn wide() -> RunRecord {
    let mut record = postgres();
    for metric in record.metrics.values_mut() {
        if let Metric::Value { value, unit } = metric {
            *value = if *unit == Unit::Percent { 100.0 } else { 1_234_567_890.0 };
        }
    }
    let mut histogram = Histogram::new();
    for ns in [1, 1_000, 1_000_000, 1_000_000_000, u64::MAX] {
        histogram.record_ns(ns);
    }
    for ops in record.ops.values_mut() {
        ops.service_us = histogram.summary();
        (ops.count, ops.rows, ops.errors) = (u64::MAX, u64::MAX, u64::MAX);
        ops.rate_per_s = 1e12;
    }
    record.status = Status::Interrupted;
    record.window.as_mut().unwrap().seconds = 8_640_000.0;
    record
}

/// A profile in which every text is an attack, and every figure is impossible.
fn hostile_profile(text: &str) -> CpuProfile {
    let text = || text.to_owned();
    let process =
        ProcessShare { name: text(), kind: CpuKind::Database, samples: u64::MAX / 2, share_pct: f64::NAN };
    let symbol = SymbolShare {
        process: text(),
        process_kind: CpuKind::Database,
        symbol: text(),
        module: text(),
        kind: CpuKind::Kernel,
        samples: 7,
        share_pct: 1e9,
    };
    CpuProfile {
        host: text(),
        event: text(),
        frequency_hz: u32::MAX,
        seconds: f64::INFINITY,
        cpus: u32::MAX,
        samples: u64::MAX,
        weight: 10,
        notes: vec![text()],
        processes: vec![process; 2],
        symbols: vec![symbol; 100],
        frames: vec![Frame { name: text(), module: text(), kind: CpuKind::Other }; 3],
        stacks: (0..300).map(|at| StackNode { depth: at, frame: at % 5, weight: 10 }).collect(),
        ..CpuProfile::default()
    }
}

/// A record in which every text is an attack.
fn hostile(text: &str) -> RunRecord {
    let mut record = postgres();
    let text = || text.to_owned();
    (record.id, record.started_at, record.ended_at, record.dyno_version) = (text(), text(), text(), text());
    record.status = Status::Invalid;
    record.reasons = vec![text(); 30];
    let target = &mut record.targets[0];
    (target.url, target.engine) = (text(), text());
    (target.identity.product, target.identity.version) = (text(), text());
    target.identity.non_default = (0..100).map(|i| format!("{}{i}", text())).collect();
    target.identity.settings = target.identity.non_default.iter().map(|n| (n.clone(), text())).collect();
    let host = &mut record.hosts[0];
    (host.name, host.kernel, host.os, host.cpu_model) = (text(), text(), text(), text());
    host.facts = (0..100).map(|i| (format!("{}{i}", text()), text())).collect();
    host.mounts = [(text(), text())].into();
    record.errors = vec![
        ErrorTally {
            class: text(),
            code: text(),
            message: text(),
            count: u64::MAX,
            reconnects: u64::MAX,
            retried: 0,
        };
        30
    ];
    record.audit = [CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Fail, CheckStatus::Skipped]
        .map(|status| AuditCheck {
            check: text(),
            status,
            expected: text(),
            observed: text(),
            detail: text(),
        })
        .to_vec();
    let event = WaitTime { class: text(), event: text(), average_sessions: 1e9, share_pct: 400.0 };
    record.waits = Waits::Sampled {
        samples: u64::MAX,
        asked_per_s: 1.0,
        average_active_sessions: f64::NAN,
        events: vec![event; 50],
        company: Default::default(),
    };
    record.profile = Some(Profile::Taken(Box::new(hostile_profile(&text()))));
    record.metrics.insert(text(), Metric::Value { value: f64::NAN, unit: Unit::Count });
    record.metrics.insert(format!("{}2", text()), Metric::Absent { absent: text() });
    let ops = record.ops.get_mut("commit").unwrap();
    (ops.untimed, ops.service_us.histogram) = (Some(text()), Some(text()));
    record.ops.get_mut("all").unwrap().service_us.histogram = Some(text());
    let point = record.series.points[0].clone();
    record.series.points = vec![point; 5_000];
    record
}

/// What a list holds of a record.
fn summary(record: &RunRecord) -> RunSummary {
    let all = record.ops.get("all").filter(|_| crate::result::has_result(record));
    RunSummary {
        id: record.id.clone(),
        started_at: record.started_at.clone(),
        status: record.status.into(),
        engine: "postgres".into(),
        database: Some(record.databases()).filter(|name| !name.is_empty()),
        target: record.targets.first().map_or_else(|| record.plan.target.url.to_string(), |t| t.url.clone()),
        sessions: record.plan.sessions(),
        update_pct: record.knows("workload.update_pct").then_some(record.plan.workload.update_pct),
        ops_per_s: all.map(|all| all.rate_per_s),
        p99_us: all.and_then(|all| all.service_us.p99),
        logical_reads_per_s: None,
        physical_reads_per_s: None,
        redo_mb_per_s: None,
        seconds: record.window.as_ref().map(Window::work_seconds),
        reason: record.reasons.first().cloned(),
        undated: !record.is_dated(),
        marked: record.marked().into_iter().map(str::to_owned).collect(),
        variant: record.variant.clone(),
        tags: record.tags.clone(),
        notes: record.notes().collect(),
        part_of: None,
    }
}

/// Everything that can be shown of a record.
fn everything(record: &RunRecord, style: &Style) -> Vec<String> {
    let row = ResultRow::from(record);
    let name = record.id.clone();
    let advice = [Severity::Ok, Severity::Note, Severity::Warn, Severity::Fail].map(|severity| Advice {
        check: name.clone(),
        severity,
        found: name.clone(),
        way_out: name.clone(),
    });
    let load = LoadRow { table: name.clone(), rows: u64::MAX, blocks: u64::MAX, bytes: u64::MAX };
    let drop = DropRow { kind: name.clone(), name: name.clone(), bytes: Some(u64::MAX) };
    let live = Live {
        phase: &name,
        elapsed_s: 1e7,
        length_s: Some(1e7),
        until_s: Some(1e7),
        ops_per_s: Some(1e10),
        p50_us: Some(1e9),
        p99_us: None,
        errors: u64::MAX,
        remaining_s: Some(1e7),
    };
    vec![
        show(record, style),
        result_table(&[row.clone(), ResultRow::from(&postgres())], style),
        result_card(&row, style),
        audit_words(&record.audit, style),
        audit_full(&record.audit, style),
        audit_table(&record.audit, style),
        list_table(&[summary(record)], style),
        advice_table(&advice, style),
        load_table(&vec![load; 50], style),
        drop_table(&[drop], style),
        live_line(&live, style),
    ]
}

fn assert_fits(record: &RunRecord) {
    let style = Style::default();
    for text in everything(record, &style) {
        for line in text.lines() {
            assert!(width(line) <= style.width, "{} columns: {line}", width(line));
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        assert!(text.len() < 60_000, "{} bytes", text.len());
    }
}

#[test]
fn everything_fits_100_columns() {
    for record in [postgres(), invalid(), wide()] {
        assert_fits(&record);
    }
}

#[test]
fn hostile_records_neither_drive_the_terminal_nor_flood_it() {
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
fn a_record_without_anything_is_shown_too() {
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
    assert!(text.contains("audit: nothing was checked"), "{text}");
}

const RESULT_TABLE: &str = "                                       ────── service time ──────
run  sessions  updates    ops    rows   mean    p50    p95    p99  elapsed  status
                     %     /s      /s     µs     µs     µs     µs        s
───────────────────────────────────────────────────────────────────────────────────
  1         4       20  1,000  64,000  3,918  3,918  5,681  5,841     10.0  valid
  2         3       20                                                      invalid
  sessions: 4 planned, 3 passed the gate
  littles_law: 3.92 of 3 sessions busy on average (131 % of the time): more than there was time for

                        ───────── CPU ──────────  ────────── reads ──────────  ──── redo ────
run  sessions  updates  busy  user   sys  iowait  logical  physical  physical  written  syncs
                     %     %     %     %       %       /s        /s      MB/s     MB/s     /s
─────────────────────────────────────────────────────────────────────────────────────────────
  1         4       20  61.5  41.0  18.0     7.5   70,400     2,000      16.4     5.12    100
";

#[test]
fn results_stand_in_two_blocks_and_invalid_runs_have_none() {
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
  updates                        20 %         served by the cache          97.2 %
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
fn one_run_is_a_card() {
    assert_eq!(result_card(&ResultRow::from(&postgres()), &Style::default()), CARD);
    let invalid = result_card(&ResultRow::from(&invalid()), &Style::default());
    assert!(invalid.starts_with("  invalid: this run has no result\n  sessions: 4 planned"), "{invalid}");
    assert!(!invalid.contains("64,000"), "{invalid}");
}

#[test]
fn absent_figures_are_dashes_and_long_ones_short() {
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
fn an_interrupted_run_shows_what_it_measured_unless_its_audit_failed() {
    let mut record = postgres();
    record.status = Status::Interrupted;
    assert!(ResultRow::from(&record).figures.is_some());
    record.gate.sessions = 3;
    judge(&mut record);
    assert!(ResultRow::from(&record).figures.is_none());
}

const AUDIT: &str = "\
audit: 2 failed, 1 warning, 31 passed, 17 skipped
  ✗ fail  sessions: 4 planned, 3 passed the gate
  ✗ fail  littles law: 3.92 of 3 sessions busy on average (131 % of the time): more than there was
          time for
  ! warn  active sessions: 3.10 active in 100 samples, 3.92 busy as seen by the client: more than
          the 3 sessions there were
  ✓ logical reads: 640,000 rows of one block each touched, database counted 1,280,000 logical reads,
    2.00 per row: the rest is no row's own block
  ✓ commits: 2,000 acknowledged, database counted 2,000
  ✓ rows updated: 128,000 acknowledged, database counted 128,000
  ✓ update values: 256 rows of the last updates read back, 256 hold a value of this run
  ✓ redo grew: 503 MiB of redo for 128,000 rows updated, 4,120 bytes per row
  ✓ physical reads: database asked for 20,000 blocks (81.9 MB), vda read 20,100 times (82.3 MB)
  ✓ also passed: operations, counters epoch, counters monotone, counters known, data, settings,
    shape, errors, work unit, mix, series sum, untimed, logical reads (whole run), others sessions,
    commits (whole run), durable commits, rows updated (whole run), read requests, service time,
    window length, edges, gate skew, stalls, wall clock, processor
  – skipped: invariants, expected, loaded, hot, heap reads, heap reads (whole run), others, others
    test tables, others server, rows churned, rows churned (whole run), rows left, scan path, think
    time, db time, open loop, client cost
";

#[test]
fn the_audit_speaks_plainly_and_tells_failures_first() {
    assert_eq!(audit_words(&invalid().audit, &Style::default()), AUDIT);
    let full = audit_full(&invalid().audit, &Style::default());
    assert!(full.contains("  – open loop: closed loop: each operation"), "{full}");
    let table = audit_table(&invalid().audit, &Style::default());
    assert!(table.lines().nth(2).unwrap().starts_with("sessions             ✗ fail     4 "), "{table}");
}

#[test]
fn a_whole_record_has_all_its_sections() {
    let text = show(&postgres(), &Style::default());
    let titles = [
        "run 20260321-142501-7f3a  valid",
        "plan",
        "result",
        "operations",
        "service time",
        "second by second",
        "metrics",
        "waits",
        "settings",
        "host",
        "audit: 40 passed, 11 skipped",
    ];
    let mut lines = text.lines();
    for title in titles {
        assert!(lines.any(|line| line == title), "no section {title:?} in its place in\n{text}");
    }
    for part in [
        "  database     PostgreSQL 15.10 (Debian 15.10-0+deb12u1)",
        "           2 ms – 5 ms   76.4 %   77.5 %  ████",
        "  physical_read_requests_per_s  version 15 does not count read requests",
        "  IO:DataFileRead                      1.10   35.5 %  ███",
        "  shared_buffers  128MB",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let invalid = show(&invalid(), &Style::default());
    assert!(invalid.contains("these figures are no result"), "{invalid}");
}

#[test]
fn a_result_says_how_threads_were_placed() {
    let said = |placement, words: &str| {
        let mut record = postgres();
        record.gate.placement = placement;
        if placement.is_some_and(|placed: Placed| placed.kept == 0) {
            record.plan.run.placement = dyno_plan::Placement::None;
        }
        let text = show(&record, &Style::default()).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains(words), placement.is_some(), "{text}");
    };
    let kept = Placed { kept: 2, told: 8, beside: 7 };
    said(Some(kept), "2 threads kept on a processor each, 7 of 8 sessions beside their server");
    let alone = Placed { kept: 0, told: 8, beside: 0 };
    said(Some(alone), "threads placed by the operating system alone (run.placement = none)");
    said(None, "kept on a processor");
}

#[test]
fn long_series_are_bounded() {
    let mut record = postgres();
    record.series.points = vec![record.series.points[0].clone(); 3_600];
    let text = show(&record, &Style::default());
    assert!(
        text.contains("… and 3,580 more (--json shows all)") || text.contains("… and 3580 more"),
        "{text}"
    );
    assert!(text.lines().count() < 200);
}

const LIST: &str = "\
run                   status   sessions  updates    ops      p99  elapsed
                                               %     /s                 s
─────────────────────────────────────────────────────────────────────────
20260321-142501-7f3a  valid           4       20  1,000  5.84 ms     10.0
  2026-03-21 14:25:01; variant nfs4 over two switches; tags after-patch,
  nightly; version 15.10; postgres://dyno@db1/bench
20260321-142501-7f3a  invalid         4       20      –        –     10.0
  2026-03-21 14:25:01; version 3.50.2; sqlite:/data/dyno.db
  sessions: 4 planned, 3 passed the gate
";

#[test]
fn lists_lose_nothing_at_any_width() {
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
        assert!(list.lines().all(|line| crate::text::width(line) <= width) && !list.contains('…'), "{list}");
    }
    assert_eq!(list_table(&[], &Style::default()), "no runs yet: `dyno run` makes one\n");
}

#[test]
fn a_card_keeps_its_units_at_any_width() {
    let row = ResultRow::from(&postgres());
    for width in [60, 72, 80, 90, 100] {
        let card = result_card(&row, &Style { color: false, width });
        for part in ["70,400 /s", "16.4 MB/s", "5.12 MB/s", "61.5 %", "5,841 µs", "1,000 /s"] {
            assert!(card.contains(part), "no {part:?} at {width}:\n{card}");
        }
        assert!(card.lines().all(|line| crate::text::width(line) <= width), "{width}:\n{card}");
    }
    // Two runs at one load are told apart.
    let rows = [row, ResultRow::from(&postgres())];
    let table = result_table(&rows, &Style { color: false, width: 80 });
    assert!(table.contains("\n  1         4") && table.contains("\n  2         4"), "{table}");
}

const LOAD: &str = "\
table          rows  blocks  rows per block      size
─────────────────────────────────────────────────────
dyno_1.rows  10,000  10,000           1.000  81.1 MiB
dyno_1.scan     500     500           1.000  4.05 MiB
all          10,500  10,500           1.000  85.1 MiB
";

#[test]
fn loads_are_measured_and_summed() {
    let row = |table: &str, rows, blocks, bytes| LoadRow { table: table.into(), rows, blocks, bytes };
    let good = [row("dyno_1.rows", 10_000, 10_000, 85_000_000), row("dyno_1.scan", 500, 500, 4_250_000)];
    assert_eq!(load_table(&good, &Style::default()), LOAD);
    let bad = load_table(&[row("t", 500, 250, 1)], &Style { color: true, width: 100 });
    assert!(bad.contains("\x1b[31m2.000\x1b[0m"), "{bad:?}");
}

#[test]
fn drops_are_shown_whole() {
    let rows: Vec<DropRow> =
        (0..100).map(|i| DropRow { kind: "table".into(), name: format!("t{i}"), bytes: None }).collect();
    assert_eq!(drop_table(&rows, &Style::default()).lines().count(), 102);
}

#[test]
fn the_live_line_says_where_the_run_is() {
    let live = Live {
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
    let warmup = Live { phase: "warm-up", elapsed_s: 1.7, length_s: Some(2.0), ..Live::default() };
    assert_eq!(
        live_line(&warmup, &Style::default()),
        "  warm-up  1 s / 2 s  ops/s –  p50 –  p99 –  errors 0"
    );
}

#[test]
fn advice_is_told_with_its_way_out_the_gravest_first() {
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
    fn no_text_leaves_its_columns(text in "\\PC{0,80}|[\\x00-\\x7f]{0,80}") {
        assert_fits(&hostile(&text));
    }
}

#[test]
fn what_is_not_known_has_no_unit() {
    let mut record = postgres();
    let all = record.ops.get_mut("all").unwrap();
    (all.service_us.p50, all.service_us.p99) = (None, None);
    let card = result_card(&ResultRow::from(&record), &Style::default());
    assert!(!card.contains("– µs") && card.contains('–'), "{card}");
}

/// A run on a server where others wrote, too.
fn with_others() -> RunRecord {
    let mut record = postgres();
    let whose = |scope, others_pct| dyno_record::Whose {
        scope,
        others_pct,
        marked: true,
        why: "another database committed, too".into(),
    };
    record.whose.insert("redo_bytes_per_s".into(), whose(dyno_record::Scope::Server, Some(34.0)));
    record.whose.insert("cpu_busy_pct".into(), whose(dyno_record::Scope::Host, None));
    record
}

fn exported(exporter: &Exporter, report: &Report<'_>) -> String {
    let mut bytes = Vec::new();
    (exporter.export)(report, &Request::default(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn marked_figures_bear_one_mark_with_one_legend_everywhere() {
    let legend = "† others had part in it, or that cannot be excluded: CPU busy";
    let (record, plain, style) = (with_others(), postgres(), Style::default());
    let rows = [ResultRow::from(&record), ResultRow::from(&plain)];
    for text in [result_table(&rows, &style), result_card(&rows[0], &style), show(&record, &style)] {
        assert_eq!(text.matches(legend).count(), 1, "{text}");
        assert!(text.lines().any(|line| !line.contains(legend) && line.contains('†')), "{text}");
        assert!(text.lines().all(|line| width(line) <= style.width), "{text}");
    }
    assert!(
        show(&record, &style).contains("the whole server's, others 34.0 %: another database committed, too")
    );
    assert!(!result_table(&rows[1..], &style).contains('†'), "nothing is marked, so there is no legend");
    let records = [record, plain];
    let report = Report::of(&records);
    for exporter in EXPORTERS.iter().filter(|exporter| ["html", "md"].contains(&exporter.name)) {
        let text = exported(exporter, &report);
        assert!(text.contains(legend), "{} has no legend", exporter.name);
    }
    let csv = EXPORTERS.iter().find(|exporter| exporter.name == "csv").unwrap();
    let text = exported(csv, &report);
    assert!(text.contains(",cpu_busy_pct redo_bytes_per_s,") && !text.contains('†'), "{text}");
}

#[test]
fn digits_stay_under_digits_beside_a_mark() {
    let mut table = Table::new(vec![Column::figures("redo", "MB/s"), Column::text("run")]);
    table.row(["1,234†".into(), "a".into()]);
    table.row(["5".into(), "b".into()]);
    let text = table.render(&Style::default());
    let column = |line: &str, c: char| line.chars().position(|at| at == c).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(column(lines[3], '4'), column(lines[4], '5'), "{text}");
    assert_eq!(column(lines[3], 'a'), column(lines[4], 'b'), "{text}");
}

#[test]
fn an_imported_record_is_called_so_everywhere() {
    let mut record = postgres();
    record.status = Status::Imported;
    record.kind = dyno_record::Kind::Import;
    record.imported = Some(dyno_record::Imported { undated: true, ..Default::default() });
    record.audit = vec![AuditCheck {
        check: "imported".into(),
        status: CheckStatus::Skipped,
        expected: String::new(),
        observed: String::new(),
        detail: "not audited: imported from results.csv line 1".into(),
    }];
    let style = Style { color: true, width: 140 };
    let row = ResultRow::from(&record);
    let texts = [
        show(&record, &style),
        result_table(std::slice::from_ref(&row), &style),
        result_card(&row, &style),
        list_table(&[summary(&record)], &style),
    ];
    for text in &texts {
        assert!(text.contains("\x1b[36mimported") && !text.contains("valid"), "{text}");
    }
    assert!(!texts[3].contains("2026-03-21"), "no moment is made up: {}", texts[3]);
    let records = [record];
    let report = Report::of(&records);
    let answer = report.answer();
    assert!(answer.more.iter().any(|line| line.starts_with("Imported, not audited")), "{answer:?}");
    assert!(answer.more.iter().all(|line| !line.contains("skipped")), "{answer:?}");
    let html = EXPORTERS.iter().find(|exporter| exporter.name == "html").unwrap();
    let page = exported(html, &report);
    assert!(page.contains("class=\"foreign\">imported, not audited") && !page.contains(">valid<"));
    assert!(page.contains("the source does not tell when it was measured"));
}

#[test]
fn an_ab_is_answered_by_its_verdict_and_never_by_the_best_of_a_side() {
    let side = |side: &str, id: &str| {
        let mut record = postgres();
        record.id = id.into();
        record.part_of = Some(dyno_record::PartOf {
            id: "ab-1".into(),
            kind: dyno_record::SweepKind::Ab,
            point: 1,
            repeat: 1,
            side: Some(side.into()),
            settings: Vec::new(),
        });
        record
    };
    let records = [side("a", "run-1"), side("b", "run-2")];
    let without = Report::of(&records).answer();
    assert!(without.line.contains("`dyno compare ab-1/a ab-1/b`"), "{without:?}");
    let runs = |record: &RunRecord| vec![record.id.clone()];
    let figures = dyno_analyze::conclusion::Ab {
        a: dyno_analyze::conclusion::AbSide { name: "a".into(), runs: runs(&records[0]) },
        b: dyno_analyze::conclusion::AbSide { name: "b".into(), runs: runs(&records[1]) },
        comparison: None,
        gates: Vec::new(),
    };
    let stopped = Some("it was stopped with 2 runs made".to_owned());
    let conclusion = dyno_analyze::conclusion::ab::conclusion("ab-1", stopped, figures);
    let mut report = Report::of(&records);
    report.conclusions.push(conclusion.clone());
    let answer = report.answer();
    assert_eq!(answer.line, "No comparison: a side has no valid run.");
    assert!(answer.more[0].contains("it was stopped with 2 runs made"), "{answer:?}");
    let text = conclusion_text(&conclusion, &Style::default());
    assert!(text.starts_with("A/B comparison ab-1\n  no comparison: "), "{text}");
    let json = EXPORTERS.iter().find(|exporter| exporter.name == "json").unwrap();
    let json: serde_json::Value = serde_json::from_str(&exported(json, &report)).unwrap();
    assert_eq!(
        (json["conclusions"][0]["of"].as_str(), json["runs"].as_array().unwrap().len()),
        (Some("ab-1"), 2)
    );
}
