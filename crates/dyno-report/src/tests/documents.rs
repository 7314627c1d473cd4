//! Documents of many kinds, each in all renderings.

use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::compare::{ComparisonRules, ComparisonSide, ComparisonVerdict, MeasureComparison, compare};
use dyno_analyze::conclusion::study::{StudyResult, StudyRow, StudyVariant, Worth};
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};
use dyno_analyze::differences::{Area, ConfigDifference};
use dyno_analyze::intervals::{EventLine, IntervalComparison, LoadLine};
use dyno_analyze::points;
use dyno_analyze::reading::{PrintedNumber, ReadingChange};
use dyno_analyze::side_by_side::side_by_side;
use dyno_analyze::trend::{ChangePointOptions, trend};
use dyno_record::{
    Fleet, FleetHost, ImportedMetric, ImportedPoint, ImportedWithin, InstanceLoad, LockBlocker,
    LongTransaction, Reported, ReportedEvent, ReportedLoad, Spread, TargetFigures, WatchSummary,
};

use super::marked::with_others;
use super::*;
use crate::model::document::PageSection;
use crate::model::table::Grid;
use crate::render::html::pages;

/// Wide enough that no terminal table drops or shortens a column.
const WIDE: Style = Style { color: false, width: 400 };

const READS: &str = "physical_reads_per_s";

/// One document in all four renderings.
pub(super) struct Renderings {
    pub(super) terminal: String,
    pub(super) page: String,
    pub(super) markdown: String,
    pub(super) workbook: Vec<u8>,
}

impl Renderings {
    pub(super) fn of_records(records: &[RunRecord], conclusion: Option<Conclusion>) -> Self {
        let mut report = Report::of(records);
        let points = points(records);
        let mut terminal = answer_text(&CurveSummaries::of(&points), &WIDE) + &ramp_tables(&points, &WIDE);
        terminal.push_str(&point_table(&points, &WIDE));
        terminal.extend(conclusion.iter().map(|conclusion| conclusion_text(conclusion, &WIDE)));
        for record in records {
            terminal.push_str(&(show(record, &WIDE) + &targets_table(record, &WIDE)));
        }
        report.conclusions.extend(conclusion);
        let export = |name: &str| {
            let exporter = EXPORTERS.iter().find(|exporter| exporter.name == name).unwrap();
            let mut bytes = Vec::new();
            (exporter.export)(&report, &ReportRequest::default(), &mut bytes).unwrap();
            bytes
        };
        let text = |name: &str| String::from_utf8(export(name)).unwrap();
        Self { terminal, page: text("html"), markdown: text("md"), workbook: export("xlsx") }
    }

    pub(super) fn of_sections(terminal: String, sections: &[PageSection]) -> Self {
        let grids: Vec<_> = sections.iter().flat_map(|section| section.grids.clone()).collect();
        Self {
            terminal,
            page: pages("title", "", sections),
            markdown: sections_markdown("title", sections),
            workbook: workbook(&grids).unwrap(),
        }
    }
}

/// Two targets, the second read-only; a figure of the first includes activity of others.
pub(super) fn targets() -> RunRecord {
    let (mut record, single) = (postgres(), with_others());
    let part = |sessions, reads_only: Option<&str>| TargetFigures {
        sessions,
        reads_only: reads_only.map(str::to_owned),
        gate: single.gate.clone(),
        window: single.window.clone(),
        ops: single.ops.clone(),
        metrics: single.metrics.clone(),
        counters: single.counters.clone(),
        whole: None,
        host_counters: Default::default(),
        waits: single.waits.clone(),
        statements: None,
        tables: None,
        series: single.series.clone(),
        errors: Vec::new(),
        whose: single.whose.clone(),
        audit: single.audit.clone(),
    };
    record.targets = vec![record.targets[0].clone(); 2];
    record.targets[0].own = Some(Box::new(part(5, None)));
    record.targets[1].own = Some(Box::new(part(3, Some("a standby"))));
    record
}

pub(super) fn cluster() -> RunRecord {
    let mut record = postgres();
    let load = |instance: &str, ops, us| InstanceLoad {
        instance: Some(instance.into()),
        sessions: 4,
        ops,
        service_p99_us: Some(us),
    };
    record.targets[0].instances = vec![load("orcl1", 7_500, 250.0), load("orcl2", 2_500, 1_250_000.0)];
    record
}

pub(super) fn distributed() -> RunRecord {
    let mut record = postgres();
    let host = |name: &str, ops| FleetHost { name: name.into(), sessions: 4, ops, ..FleetHost::default() };
    record.fleet = Some(Fleet { group: "g".into(), hosts: vec![host("c1", 31_234), host("c2", 1_000)] });
    record
}

pub(super) fn with_imported_metrics() -> RunRecord {
    let mut record = postgres();
    record.imported_metrics = vec![ImportedMetric {
        name: "CPU".into(),
        statistic: "Average".into(),
        unit: "Percent".into(),
        file: "rds.csv".into(),
        period_s: Some(60.0),
        within: Some(ImportedWithin { periods: 2, mean: 42.512, least: 1.25, most: 99.99 }),
        points: vec![ImportedPoint { at_s: 0.0, value: 42.5 }],
        ..ImportedMetric::default()
    }];
    record
}

pub(super) fn awr() -> RunRecord {
    let mut record = postgres();
    record.status = Status::Imported;
    record.kind = dyno_record::RecordKind::Import;
    record.imported = Some(dyno_record::ImportSource {
        reported: Some(Reported {
            db_time_s: Some(1_234.5),
            load_profile: vec![ReportedLoad {
                name: "logical reads (blocks)".into(),
                per_s: 123_456.78,
                per_txn: Some(7.25),
                ..ReportedLoad::default()
            }],
            top_events: vec![ReportedEvent {
                event: "log file sync".into(),
                class: "Commit".into(),
                waits: Some(1_000.0),
                time_s: Some(20.25),
                mean_us: Some(20_250.0),
                share_pct: Some(16.4),
                ..ReportedEvent::default()
            }],
            ..Reported::default()
        }),
        ..Default::default()
    });
    record
}

pub(super) fn sweep() -> Vec<RunRecord> {
    let points = [0, 20].into_iter().flat_map(|updates| [1, 2, 4].map(|sessions| (updates, sessions)));
    let run = |at: (u32, u32)| {
        let mut record = fixture::at_point(at);
        let ops = 1_234.567 * f64::from(at.1);
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops, unit: Unit::PerSecond });
        record
    };
    points.map(run).collect()
}

pub(super) fn comparison() -> Renderings {
    let (a, mut b) = (sweep(), sweep());
    for (at, record) in b.iter_mut().enumerate() {
        record.id = format!("b-{at}");
        let value = 2_345.678 + at as f64;
        record.metrics.insert("ops_per_s".into(), Metric::Value { value, unit: Unit::PerSecond });
    }
    let side = |name: &str, records| ComparisonSide { name: name.into(), records };
    let rules = ComparisonRules::default();
    let comparison = compare(&side("a", a.iter().collect()), &side("b", b.iter().collect()), &rules);
    let answers = CurveSummaries::of_sides([("a", CurveSummaries::of(&points(&a)))]);
    let sides = [side("a", a.iter().collect()), side("b", b.iter().collect())];
    let beside = side_by_side(&sides[0], &sides[1], &comparison);
    let report = DifferenceReport { comparison: &comparison, beside: &beside, gates: &[], next: &[] };
    let terminal = sections_text(&difference_sections(&report, RowFilter::All), &WIDE);
    Renderings::of_sections(terminal, &compare_sections(&answers, &[report], RowFilter::All))
}

/// A variant that is better in one figure, with activity of others during its runs.
pub(super) fn study() -> Renderings {
    let variant = |name: &str, worth| StudyVariant {
        name: name.into(),
        what: format!("sets {name}"),
        again: false,
        worth,
        failed: Vec::new(),
        verified: vec!["verified".into()],
        not_durable: Vec::new(),
        background: Vec::new(),
        differed: vec![difference()],
    };
    let compared = MeasureComparison {
        measure: "ops_per_s".into(),
        unit: Unit::PerSecond,
        a: Some(1_000.5),
        b: Some(1_234.567),
        a_runs: vec![1_000.0, 1_001.0],
        b_runs: vec![1_200.0, 1_269.134],
        difference: Some(234.067),
        difference_pct: Some(23.395),
        marked: (false, true),
        interval_pct: Some((20.25, 26.5)),
        p: Some(0.01),
        p_adjusted: Some(0.02),
        verdict: ComparisonVerdict::Faster,
    };
    let row = StudyRow {
        task: "load".into(),
        measure: "ops_per_s".into(),
        unit: Unit::PerSecond,
        base: compared.a_runs.clone(),
        cells: vec![None, Some(compared)],
    };
    let result = StudyResult {
        title: "title".into(),
        base: 0,
        repeats: 2,
        margin_pct: 2.0,
        state: "loaded again".into(),
        variants: vec![variant("plain", None), variant("huge pages", Some(Worth::WorthDoing))],
        rows: vec![row],
        order: Vec::new(),
        caveats: Vec::new(),
        others: None,
    };
    let figures = ConclusionFigures::Study(Box::new(result.clone()));
    let conclusion = Conclusion {
        of: "study-1".into(),
        stopped: None,
        line: "done".into(),
        words: Vec::new(),
        next: Vec::new(),
        figures,
    };
    let sections = study_document(&conclusion, &result).sections;
    Renderings::of_sections(conclusion_text(&conclusion, &WIDE), &sections)
}

fn difference() -> ConfigDifference {
    ConfigDifference {
        area: Area::Setting,
        name: "huge_pages".into(),
        a: vec!["off".into()],
        b: vec!["on".into(), "try".into()],
    }
}

pub(super) fn differing() -> Renderings {
    let differed = [difference(), ConfigDifference { a: Vec::new(), ..difference() }];
    let section = PageSection {
        grids: vec![("differences".into(), differences_grid(&differed))],
        ..PageSection::default()
    };
    Renderings::of_sections(differences(&differed, &WIDE), &[section])
}

/// A history whose figure drops in its middle; one run includes activity of others.
pub(super) fn history() -> Renderings {
    let run = |at: u32| {
        let mut record = if at == 2 { with_others() } else { postgres() };
        record.id = format!("run-{at:02}");
        record.started_at = format!("2026-03-21T14:{at:02}:00Z");
        let value = if at < 6 { 5_000.25 } else { 4_000.75 } + f64::from(at);
        record.metrics.insert("cpu_busy_pct".into(), Metric::Value { value, unit: Unit::Percent });
        record
    };
    let records: Vec<RunRecord> = (0..12).map(run).collect();
    let trend = trend(&records.iter().collect::<Vec<_>>(), "cpu_busy_pct", &ChangePointOptions::default());
    assert!(!trend.changes.is_empty());
    assert!(trend.points.iter().any(|point| point.marked));
    let section = PageSection { grids: vec![("runs".into(), trend_grid(&trend))], ..PageSection::default() };
    Renderings::of_sections(trend_text(&trend, &WIDE), &[section])
}

/// Two intervals of a database's own reports.
pub(super) fn intervals() -> Renderings {
    let change = |a: f64, b: Option<f64>| {
        let reading = |value| PrintedNumber { value, step: 0.1 };
        ReadingChange { name: "redo".into(), a: Some(reading(a)), b: b.map(reading) }
    };
    let between = IntervalComparison {
        load: vec![LoadLine {
            name: "redo (bytes)".into(),
            per_s: change(1_234.5, Some(2_000.0)),
            per_txn: change(7.5, None),
        }],
        events: vec![EventLine {
            name: "log file sync".into(),
            class: "Commit".into(),
            waited: change(0.5, Some(0.5)),
            waits: change(100.5, Some(110.5)),
            mean_us: change(5_000.0, Some(4_500.0)),
            is_certain: true,
        }],
        statistics: vec![change(10.5, Some(12.5))],
        ..IntervalComparison::default()
    };
    let sections = interval_sections(&between, Differences::of(&between, false));
    let text = |(_, grid): &(String, Grid)| grid.render(&WIDE);
    let terminal = sections.iter().flat_map(|section| &section.grids).map(text).collect();
    Renderings::of_sections(terminal, &sections)
}

pub(super) fn watch() -> RunRecord {
    let mut record = fixture::at_point((0, 1));
    record.kind = dyno_record::RecordKind::Watch;
    let spread = Spread {
        seconds: 10.0,
        mean: 1_234.567,
        p50: 1_000.0,
        p95: 1_800.25,
        peak: 2_500.125,
        peak_at_s: 2.0,
        busiest_minute: Some(1_900.5),
        busiest_minute_at_s: Some(0.0),
    };
    let spreads = [(READS.to_owned(), spread)].into();
    record.counters.native.insert("pg_stat_wal.wal_bytes".into(), 117_460_412.0);
    record.counters.native.insert("pg_stat_bgwriter.checkpoint_write_time".into(), 2_512.0);
    record.counters.native.insert("pg_stat_database.tup_updated".into(), 43_520.0);
    let blocker = LockBlocker {
        session: "4711".into(),
        name: "nightly etl@db2".into(),
        state: "idle in transaction".into(),
        object: "shop.stock".into(),
        from_s: 2.0,
        until_s: 8.0,
        readings: 7,
        waiting_max: 3,
        chain_max: 2,
    };
    let transaction = LongTransaction {
        session: "4711".into(),
        name: "nightly etl@db2".into(),
        state: "idle in transaction".into(),
        age_s: 95.4,
        at_s: 8.0,
    };
    record.watched = Some(WatchSummary {
        known_s: 10.0,
        spreads,
        blockers: vec![blocker],
        transactions: vec![transaction],
        ..WatchSummary::default()
    });
    record
}

pub(super) fn capacity() -> Renderings {
    let mut measured = sweep()[..3].to_vec();
    for record in &mut measured {
        let value = 1_234.567 * f64::from(record.sessions());
        record.metrics.insert(READS.into(), Metric::Value { value, unit: Unit::BlocksPerSecond });
        record.part_of = Some(dyno_record::PartOf {
            id: "suite-1".into(),
            kind: dyno_record::SweepKind::Suite,
            point: record.sessions(),
            repeat: 1,
            side: None,
            settings: vec![dyno_record::PointSetting { key: "test".into(), value: "reads".into() }],
        });
    }
    let keys = [("reads".to_owned(), READS.to_owned())].into();
    let capacity = dyno_analyze::capacity::capacity(&measured, &[watch()], &keys);
    Renderings::of_sections(capacity_text(&capacity, &WIDE), &capacity_sections(&capacity))
}
