use std::collections::BTreeSet;

use jiff::ToSpan;

use super::*;
use crate::number::PrintedNumber;
use crate::report::AwrReportKind;

fn reading(value: f64) -> PrintedNumber {
    PrintedNumber { value, step: 0.01 }
}

fn point(begin: u64, end: u64, aas: f64) -> AwrTimelinePoint {
    let mut values = vec![None; MEASURES.len()];
    values[0] = Some(reading(aas));
    AwrTimelinePoint {
        series: AwrSeriesKey { kind: AwrReportKind::Awr, database: "1".into(), instance: "a".into() },
        db_name: None,
        file: format!("{begin}-{end}"),
        html: true,
        snaps: Some((begin, end)),
        begin: None,
        end: None,
        minutes: None,
        startup: Some("x".into()),
        values,
        top_event: None,
        rates: Rates::default(),
        classes: BTreeMap::new(),
        plans: BTreeMap::new(),
    }
}

/// The same point with a length of half an hour, this many half hours after an afternoon.
fn at(half_hour: i64, point: AwrTimelinePoint) -> AwrTimelinePoint {
    let begin = jiff::civil::date(2024, 3, 5).at(15, 0, 0, 0) + (30 * half_hour).minutes();
    AwrTimelinePoint { begin: Some(begin), end: Some(begin + 30.minutes()), minutes: Some(30.0), ..point }
}

fn thing(rate_kind: AwrRateKind, name: &str) -> AwrRateSubject {
    AwrRateSubject { kind: rate_kind, name: name.into(), object: None }
}

fn with(mut point: AwrTimelinePoint, rate_kind: AwrRateKind, name: &str, rate: f64) -> AwrTimelinePoint {
    point.rates.0.insert(thing(rate_kind, name), PrintedNumber { value: rate, step: 0.001 });
    point
}

fn flags(timeline: &Timeline) -> Vec<Vec<Flag>> {
    timeline.points.iter().map(|(_, flags)| flags.clone()).collect()
}

fn anomalies(timeline: &Timeline) -> Vec<(usize, Anomaly)> {
    let find_anomaly = |(i, flags): (usize, &Vec<Flag>)| {
        flags.iter().find_map(|flag| {
            if let Flag::Anomaly(anomaly) = flag { Some((i, anomaly.clone())) } else { None }
        })
    };
    flags(timeline).iter().enumerate().filter_map(find_anomaly).collect()
}

fn levels(timeline: &Timeline) -> Vec<usize> {
    let begins = |flags: &Vec<Flag>| flags.iter().any(|flag| matches!(flag, Flag::Level(_)));
    let all = flags(timeline);
    (0..all.len()).filter(|&i| begins(&all[i])).collect()
}

#[test]
fn gaps_overlaps_restarts_and_duplicates_are_flagged() {
    let restarted = AwrTimelinePoint { startup: Some("y".into()), ..point(9, 10, 1.0) };
    let text = AwrTimelinePoint { html: false, file: "text".into(), ..point(1, 2, 1.0) };
    let all = timelines(vec![restarted, point(4, 6, 1.0), text, point(1, 2, 1.0), point(5, 9, 1.0)]);
    let flags = flags(&all[0]);
    assert_eq!(flags[0], [Flag::Twice { file: "text".into() }]);
    assert_eq!(flags[1], [Flag::Gap { snapshots: Some(2), minutes: None }]);
    assert_eq!(flags[2], [Flag::Overlap { snapshots: Some(1), minutes: None }]);
    assert_eq!(flags[3], [Flag::Restart]);
}

#[test]
fn renumbered_snapshots_stay_in_time_order() {
    let old = (0..4).map(|i| at(i, point(900 + i as u64, 901 + i as u64, 1.0)));
    let new = (4..8).map(|i| at(i, point(i as u64 - 3, i as u64 - 2, 1.0)));
    let all = timelines(new.chain(old).collect());
    let begins: Vec<u64> = all[0].points.iter().map(|(point, _)| point.snaps.unwrap().0).collect();
    assert_eq!(begins, [900, 901, 902, 903, 1, 2, 3, 4]);
    let flags = flags(&all[0]);
    assert_eq!(flags[4], [Flag::Renumbered]);
    assert!(flags.iter().enumerate().all(|(i, flags)| i == 4 || flags.is_empty()), "{flags:?}");
}

#[test]
fn gap_at_renumbered_snapshots_is_measured_in_minutes() {
    let all = timelines(vec![at(0, point(900, 901, 1.0)), at(5, point(1, 2, 1.0)), at(9, point(4, 5, 1.0))]);
    let flags = flags(&all[0]);
    assert_eq!(flags[1], [Flag::Renumbered, Flag::Gap { snapshots: None, minutes: Some(120.0) }]);
    assert_eq!(flags[2], [Flag::Gap { snapshots: Some(2), minutes: Some(90.0) }]);
}

#[test]
fn repeated_hour_is_neither_gap_nor_overlap() {
    // The clock goes back an hour after the fourth report.
    let hours = [0, 1, 2, 3, 2, 3, 4, 5];
    let points = (0..).zip(hours).map(|(i, hour)| at(hour, point(i, i + 1, 1.0)));
    let all = timelines(points.collect());
    let begins: Vec<u64> = all[0].points.iter().map(|(point, _)| point.snaps.unwrap().0).collect();
    assert_eq!(begins, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(flags(&all[0]).iter().all(Vec::is_empty), "{:?}", flags(&all[0]));
}

#[test]
fn timeline_flags_only_the_outlier() {
    let mut points: Vec<AwrTimelinePoint> =
        (0..20).map(|i| point(i, i + 1, 10.0 + (i % 3) as f64 * 0.2)).collect();
    points[7].values[0] = Some(reading(40.0));
    let all = timelines(points);
    let flagged = anomalies(&all[0]);
    assert_eq!(flagged.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [7]);
    assert!(flagged[0].1.figures[0].score > 10.0);
}

#[test]
fn few_or_equal_reports_have_no_anomalies() {
    let few: Vec<AwrTimelinePoint> = (0..5).map(|i| point(i, i + 1, i as f64 * 100.0)).collect();
    assert!(flags(&timelines(few)[0]).iter().all(Vec::is_empty));
    let mut equal: Vec<AwrTimelinePoint> = (0..20).map(|i| point(i, i + 1, 5.0)).collect();
    equal[3].values[0] = Some(reading(5.1));
    assert!(flags(&timelines(equal)[0]).iter().all(Vec::is_empty));
}

/// Half idle, half loaded; in four reports of the idle half a statement takes most of the time.
fn idle_and_loaded() -> Vec<AwrTimelinePoint> {
    let make_point = |i: u64| {
        let odd = [(2, 3.8), (9, 8.1), (11, 3.4), (18, 7.6)].into_iter().find(|(at, _)| *at == i);
        let load = if i < 23 { odd.map_or(1.1, |(_, load)| load) } else { 18.0 + (i * 5 % 7) as f64 };
        let mut point = at(i as i64, point(100 + i, 101 + i, load));
        point.values[2] = Some(reading(if odd.is_some() { 79.0 } else { 15.0 + (i % 3) as f64 }));
        // A one-digit figure without significance.
        point.values[13] = Some(PrintedNumber { value: if i % 7 == 3 { 0.3 } else { 0.2 }, step: 0.1 });
        let waits = if i < 23 { 0.9 } else { 0.7 * load };
        let point = with(point, AwrRateKind::Event, "db file sequential read", waits);
        let point = with(point, AwrRateKind::Counter, "user calls", 40.0 * load);
        let point = with(point, AwrRateKind::Statement, "aaaaaaaaaaaaa", 0.9);
        if odd.is_some() { with(point, AwrRateKind::Statement, "bbbbbbbbbbbbb", load - 1.0) } else { point }
    };
    (0..44).map(make_point).collect()
}

#[test]
fn timeline_flags_odd_idle_reports_and_treats_load_as_level() {
    let all = timelines(idle_and_loaded());
    let flagged = anomalies(&all[0]);
    assert_eq!(flagged.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [2, 9, 11, 18]);
    assert_eq!(levels(&all[0]), [23]);
    for (i, anomaly) in &flagged {
        let figures: Vec<usize> = anomaly.figures.iter().map(|figure| figure.measure).collect();
        assert!(figures.contains(&0), "{i}: {figures:?}");
        assert!(figures.contains(&2), "{i}: {figures:?}");
        let statements: Vec<&AwrRateDeviation> =
            anomaly.moved.iter().filter(|moved| moved.subject.kind == AwrRateKind::Statement).collect();
        assert_eq!(statements.len(), 1);
        assert_eq!((statements[0].subject.name.as_str(), statements[0].usual), ("bbbbbbbbbbbbb", None));
        assert!(statements[0].share_pct.unwrap() > 65.0);
        assert!(
            !anomaly.moved.iter().any(|moved| moved.subject.kind == AwrRateKind::Event),
            "no wait moved: {anomaly:?}"
        );
    }
    assert_eq!(
        all[0].levels[0].iter().map(|span| (span.first, span.last)).collect::<Vec<_>>(),
        [(0, 22), (23, 43)]
    );
}

#[test]
fn figures_that_correlate_with_db_time_are_ranked() {
    let mut points = idle_and_loaded();
    for (i, point) in (0u32..).zip(&mut points) {
        let noise = f64::from(i * 7_919 % 101);
        point.rates.0.insert(thing(AwrRateKind::Counter, "noise"), reading(noise));
    }
    let all = timelines(points);
    let ranked: Vec<&str> = all[0].correlated.iter().map(|of| of.thing.name.as_str()).collect();
    assert_eq!(ranked, ["db file sequential read", "user calls"]);
    let first = &all[0].correlated[1];
    assert!((first.over_all.rho - 1.0).abs() < 1e-9);
    assert!(first.within.unwrap().rho > 0.99);
}

#[test]
fn new_execution_plan_is_flagged() {
    let plans = |plans: &[&str]| {
        BTreeMap::from([(
            "bbbbbbbbbbbbb".to_owned(),
            plans.iter().map(|p| (*p).to_owned()).collect::<BTreeSet<_>>(),
        )])
    };
    let points = [&["1"][..], &["1"], &[], &["1", "2"], &["1"]];
    let points = (0..).zip(points).map(|(i, of)| {
        let plans = if of.is_empty() { BTreeMap::new() } else { plans(of) };
        AwrTimelinePoint { plans, ..point(i, i + 1, 1.0) }
    });
    let all = timelines(points.collect());
    let flag =
        Flag::Plan { statement: "bbbbbbbbbbbbb".into(), new: vec!["2".into()], before: vec!["1".into()] };
    assert_eq!(flags(&all[0]), [vec![], vec![], vec![], vec![flag], vec![]]);
}

/// Two weeks of half hours: loaded by day, quiet by night, a ramp in between; one unusual night and
/// one unusual day.
#[test]
fn day_and_night_load_are_separate_levels() {
    let make_point = |i: i64| {
        let hour = (i + 30) % 48 / 2;
        let quiet = 2.0 + (i * 7 % 5) as f64 * 0.04;
        let load = match (hour, i) {
            (_, 307) => 9.0,
            (_, 339) => 55.0,
            (8..20, _) => 10.0 * quiet,
            (20, _) => 4.0 * quiet,
            _ => quiet,
        };
        at(i, point(i as u64, i as u64 + 1, load))
    };
    let all = timelines((0..672).map(make_point).collect());
    assert_eq!(anomalies(&all[0]).iter().map(|(i, _)| *i).collect::<Vec<_>>(), [307, 339]);
    assert!((26..=30).contains(&all[0].levels[0].len()), "{:?}", all[0].levels[0]);
}

#[test]
fn anomaly_events_are_compared_with_normal_reports() {
    let points: Vec<(AwrTimelinePoint, Vec<Flag>)> = (0..12u64)
        .map(|i| {
            let (load, wait) = if i == 6 { (9.0, 8.3) } else { (1.0, 1.2) };
            (with(point(i, i + 1, load), AwrRateKind::Event, "log file sync", wait), Vec::new())
        })
        .collect();
    let level_map = levels::find(&points);
    let odd = [0, 1, 2, 3, 4, 6, 8, 9, 10, 11];
    let moved_of = |odd: &[usize]| changes::moved(&points, 6, odd, &level_map);
    assert_eq!(moved_of(&odd).unwrap()[0].subject.name, "log file sync");
    let all: Vec<usize> = (0..12).collect();
    assert_eq!(moved_of(&all), None, "there is no report to compare with");
}

#[test]
fn restart_ends_level_but_is_step_only_if_figures_differ() {
    let points = (0..12u64).map(|i| AwrTimelinePoint {
        startup: Some(if i < 6 { "first" } else { "second" }.into()),
        ..point(i, i + 1, 2.0)
    });
    let [line] = &timelines(points.collect())[..] else { panic!() };
    let begins: Vec<usize> = line.levels[0].iter().map(|span| span.first).collect();
    assert_eq!(begins, [0, 6]);
    assert!(!flags(line).iter().flatten().any(|flag| matches!(flag, Flag::Level(_))));
}

#[test]
fn level_change_causes_are_ranked_by_share_of_increase() {
    let points = (0..24u64).map(|i| {
        let high = i >= 12;
        // Both waits follow the load closely; one contributes nine times as much.
        let load = if high { 11.0 } else { 1.0 } + 0.01 * (i % 5) as f64;
        let point = with(point(i, i + 1, load), AwrRateKind::Event, "gc buffer busy acquire", 0.8 * load);
        with(
            with(point, AwrRateKind::Event, "a little one", 0.01 * load),
            AwrRateKind::Event,
            "another",
            0.09 * load,
        )
    });
    let [line] = &timelines(points.collect())[..] else { panic!() };
    let causes = line.causes.get(&12).unwrap();
    assert_eq!(causes[0].subject.name, "gc buffer busy acquire");
    assert!((causes[0].share_pct.unwrap() - 80.0).abs() < 1.0, "{:?}", causes[0]);
    let ranked: Vec<&str> = line.correlated.iter().map(|of| of.thing.name.as_str()).collect();
    assert_eq!(ranked, ["gc buffer busy acquire", "another", "a little one"]);
    assert!((line.correlated[0].slope - 0.8).abs() < 0.01);
}

#[test]
fn anomaly_lists_section_rows_that_changed() {
    let waits = "latches.wait_s.cache buffers chains";
    let idle = "latches.wait_s.session idle bit";
    let points = (0..20).map(|i| {
        let is_odd = i == 7;
        let point = point(i, i + 1, if is_odd { 40.0 } else { 10.0 + (i % 3) as f64 * 0.2 });
        let point = with(point, AwrRateKind::SectionTotal, waits, if is_odd { 25.0 } else { 0.2 });
        // Three times the usual value, and far below one percent of DB time.
        let point = with(point, AwrRateKind::SectionTotal, idle, if is_odd { 0.06 } else { 0.02 });
        with(
            point,
            AwrRateKind::SectionLevel,
            "gc_transfers.cr_ms.2 data block",
            if is_odd { 8.0 } else { 0.5 },
        )
    });
    let all = timelines(points.collect());
    let moved = &anomalies(&all[0])[0].1.moved;
    let names: Vec<_> = moved.iter().map(|moved| moved.subject.name.as_str()).collect();
    assert_eq!(names, [waits, "gc_transfers.cr_ms.2 data block"]);
}
