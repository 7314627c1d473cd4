//! Words and charts of cards.

use dyno_record::{PartOf, PointSetting, RecordKind, RunState, RunSummary, SweepKind};

use crate::card_chart::CardChart;
use crate::card_words::what_ran;

/// A run of a campaign with these settings, and its operations per second.
fn run(kind: SweepKind, point: u32, settings: &[(&str, &str)], ops_per_s: f64) -> RunSummary {
    let value = |key: &str| settings.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let number = |key: &str| value(key).and_then(|value| value.parse().ok());
    let settings = settings.iter().filter(|(key, _)| *key != "side");
    let setting =
        |(key, value): &(&str, &str)| PointSetting { key: (*key).to_owned(), value: (*value).to_owned() };
    RunSummary {
        id: "20260101-000000-abcd".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        status: RunState::Valid,
        kind: RecordKind::Run,
        engine: "sqlite".into(),
        database: None,
        target: "sqlite:x.db".into(),
        sessions: number("sessions").unwrap_or(1),
        update_pct: Some(number("workload.update_pct").unwrap_or(0)),
        ops_per_s: Some(ops_per_s),
        p99_us: None,
        logical_reads_per_s: None,
        physical_reads_per_s: None,
        redo_mb_per_s: None,
        seconds: None,
        reason: None,
        undated: false,
        marked: Vec::new(),
        variant: None,
        tags: Vec::new(),
        notes: Vec::new(),
        part_of: Some(PartOf {
            id: "sweep-1".into(),
            kind,
            point,
            repeat: 1,
            side: value("side").map(str::to_owned),
            settings: settings.map(setting).collect(),
        }),
    }
}

/// A sweep over updates and sessions, newest run first.
fn sweep_over_two_keys() -> Vec<RunSummary> {
    let points = [("0", "1", 10.0), ("0", "2", 20.0), ("20", "1", 5.0), ("20", "2", 8.0), ("20", "10", 9.0)];
    let runs = points.iter().enumerate().map(|(at, (updates, sessions, rate))| {
        let settings = [("workload.update_pct", *updates), ("sessions", *sessions)];
        run(SweepKind::Sweep, at as u32, &settings, *rate)
    });
    runs.rev().collect()
}

#[test]
fn sweep_over_two_keys_has_a_curve_for_each_value() {
    let runs = sweep_over_two_keys();
    let chart = CardChart::of_campaign(SweepKind::Sweep, &runs.iter().collect::<Vec<_>>());
    assert_eq!((chart.over.as_str(), chart.dots), ("over sessions", false));
    let curves: Vec<_> =
        chart.curves.iter().map(|curve| (curve.name.as_str(), curve.points.clone())).collect();
    assert_eq!(
        curves,
        [
            ("update_pct 0", vec![(0.0, 10.0), (0.5, 20.0)]),
            ("update_pct 20", vec![(0.0, 5.0), (0.5, 8.0), (1.0, 9.0)])
        ]
    );
}

#[test]
fn card_words_name_the_range_of_each_setting() {
    let words = |runs: &[RunSummary]| what_ran("", &runs.iter().collect::<Vec<_>>());
    assert_eq!(words(&sweep_over_two_keys()), "0 or 20 % updates, 1 to 10 sessions");
    let campaign = |kind, key: &str, values: &[&str]| -> Vec<RunSummary> {
        let runs = values.iter().enumerate().map(|(at, value)| run(kind, at as u32, &[(key, *value)], 1.0));
        runs.collect()
    };
    assert_eq!(
        words(&campaign(SweepKind::Sweep, "workload.scan_pct", &["100", "0", "50"])),
        "block reads, scan_pct 0 to 100, 1 session"
    );
    assert_eq!(
        words(&campaign(SweepKind::Ab, "workload.commit", &["wait", "nowait"])),
        "block reads, commit wait or nowait, 1 session"
    );
    assert_eq!(words(&campaign(SweepKind::Suite, "test", &["a", "b", "c", "d"])), "4 tests, 1 session");
    let mut sides = campaign(SweepKind::Ab, "workload.work_unit", &["32"]);
    sides.push(run(SweepKind::Ab, 0, &[], 1.0));
    assert_eq!(words(&sides), "block reads, work_unit 32 or unchanged, 1 session");
    let runs = campaign(SweepKind::Sweep, "workload.folder", &["x", "y"]);
    let name = what_ran("x", &runs.iter().collect::<Vec<_>>());
    assert_eq!(name, "folder x or y, 1 session", "the name of one run is not that of all");
}

#[test]
fn sides_and_separate_points_are_dots() {
    let sides = [("b", 3.0), ("a", 1.0), ("a", 2.0)]
        .map(|(side, rate)| run(SweepKind::Ab, 0, &[("side", side)], rate));
    let chart = CardChart::of_campaign(SweepKind::Ab, &sides.iter().collect::<Vec<_>>());
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!((chart.dots, names), (true, vec!["a", "b"]));
    assert_eq!(chart.curves[0].points, [(0.0, 2.0), (0.5, 1.0)], "oldest first");
    let words = ["wait", "nowait"].map(|word| run(SweepKind::Sweep, 0, &[("workload.commit", word)], 1.0));
    let chart = CardChart::of_campaign(SweepKind::Sweep, &words.iter().collect::<Vec<_>>());
    assert_eq!((chart.over.as_str(), chart.dots), ("over commit", true));
    let suite = CardChart::of_campaign(SweepKind::Suite, &words.iter().collect::<Vec<_>>());
    assert!(suite.curves.is_empty(), "tests of a suite are not comparable");
}
