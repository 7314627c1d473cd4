//! Tests of the report of an A/B test, whose head is about both sides.

use dyno_analyze::Conclusion;
use dyno_analyze::compare::{ComparisonRules, ComparisonSide, compare};
use dyno_analyze::conclusion::{self, AbResult, AbSide};
use dyno_record::{PartOf, SweepKind};

use super::marked::exported;
use super::*;

/// Runs of both sides in the order A B B A …, with these operations per second.
fn runs(a: &[f64], b: &[f64]) -> Vec<RunRecord> {
    let run = |side: &str, repeat: usize, ops_per_s: f64| {
        let mut record = postgres();
        let start_s = 2 * repeat + usize::from((side == "b") == repeat.is_multiple_of(2));
        record.id = format!("20260101-0000{start_s:02}-0000");
        record.started_at = format!("2026-01-01T00:00:{start_s:02}Z");
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
        record.part_of = Some(PartOf {
            id: "ab-1".into(),
            kind: SweepKind::Ab,
            point: if side == "a" { 1 } else { 2 },
            repeat: repeat as u32 + 1,
            side: Some(side.into()),
            settings: Vec::new(),
        });
        record
    };
    let side = |name: &'static str, values: &[f64]| -> Vec<RunRecord> {
        values.iter().enumerate().map(|(repeat, ops)| run(name, repeat, *ops)).collect()
    };
    [side("a", a), side("b", b)].concat()
}

fn concluded(records: &[RunRecord]) -> Conclusion {
    let side_runs = |side: &str| -> Vec<&RunRecord> {
        let is_on_side = |part: &PartOf| part.side.as_deref() == Some(side);
        records.iter().filter(|record| record.part_of.as_ref().is_some_and(is_on_side)).collect()
    };
    let (a, b) = ("a (work_mem = 4MB)", "b (work_mem = 64MB)");
    let [side_a, side_b] = [(a, side_runs("a")), (b, side_runs("b"))]
        .map(|(name, records)| ComparisonSide { name: name.to_owned(), records });
    let ids = |side: &ComparisonSide<'_>| AbSide {
        name: side.name.clone(),
        runs: side.records.iter().map(|record| record.id.clone()).collect(),
    };
    let figures = AbResult {
        a: ids(&side_a),
        b: ids(&side_b),
        comparison: Some(compare(&side_a, &side_b, &ComparisonRules::default())),
        gates: Vec::new(),
        sequential: None,
        server_settings: Vec::new(),
    };
    conclusion::ab::conclusion("ab-1", None, figures)
}

const SLOW: [f64; 5] = [1000.0, 1010.0, 990.0, 1005.0, 995.0];
const FAST: [f64; 5] = [1200.0, 1210.0, 1190.0, 1205.0, 1195.0];

#[test]
fn ab_page_head_has_both_sides_difference_and_decision() {
    let records = runs(&SLOW, &FAST);
    let mut report = Report::of(&records);
    report.conclude(vec![concluded(&records)]);
    let tiles = crate::content::tiles::tiles(&report);
    let shown: Vec<(&str, &str)> = tiles.iter().map(|tile| (tile.label, tile.value.text.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("side A", "1,000 operations/s"),
            ("side B", "1,200 operations/s"),
            ("difference of B from A", "+20.00 %"),
            ("decision", "B is faster"),
        ]
    );
    assert!(tiles[0].note.contains("p99 5.84 ms; work_mem = 4MB; 5 runs"), "{tiles:?}");
    assert!(tiles[2].note.starts_with("95 %: +1"), "{tiles:?}");
    assert!(tiles[3].note.contains("5 + 5 runs"), "{tiles:?}");
}

#[test]
fn ab_main_chart_has_every_run_of_both_sides_in_time_order() {
    let records = runs(&SLOW, &FAST);
    let mut report = Report::of(&records);
    report.conclude(vec![concluded(&records)]);
    let chart = report.main_chart().unwrap();
    assert_eq!(chart.id, "ab-runs");
    let dots = |name: &str| -> Vec<(f64, f64)> {
        let series = chart.series.iter().find(|series| series.name == name).unwrap();
        series.points.iter().map(|point| (point.x, point.y)).collect()
    };
    assert_eq!(
        dots("A: work_mem = 4MB"),
        [1.0, 4.0, 5.0, 8.0, 9.0].into_iter().zip(SLOW).collect::<Vec<_>>()
    );
    assert_eq!(
        dots("B: work_mem = 64MB"),
        [2.0, 3.0, 6.0, 7.0, 10.0].into_iter().zip(FAST).collect::<Vec<_>>()
    );
    assert_eq!(dots("median of A: 1,000 operations/s"), [(1.0, 1000.0), (10.0, 1000.0)]);
}

#[test]
fn ab_report_has_only_next_steps_of_the_test_in_every_format() {
    let records = runs(&[700.0, 1300.0, 900.0], &[1250.0, 800.0, 950.0]);
    let conclusion = concluded(&records);
    let mut report = Report::of(&records);
    report.conclude(vec![conclusion.clone()]);
    assert!(!conclusion.next.is_empty());
    assert_eq!(report.next_lines(), conclusion.next_lines());
    let md = exported(EXPORTERS.iter().find(|exporter| exporter.name == "md").unwrap(), &report);
    assert!(md.contains("| A: work\\_mem = 4MB | B: work\\_mem = 64MB |"), "{md}");
    assert!(!md.contains("ramp of sessions"), "{md}");
}
