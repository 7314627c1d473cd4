//! Tests a real series of half-hourly reports, where available: half of it idle with four unusual
//! reports, half of it loaded.

use dyno_awr::timeline::{AwrRateDeviation, AwrRateKind, AwrTimelinePoint, Flag, timelines};

#[test]
fn awr_series_flags_odd_reports_but_not_load() {
    let Some(folder) = crate::real::folder("a series of reports") else { return };
    let folder = folder.join("series");
    if !folder.is_dir() {
        return dyno_testbed::skip_unsupported(
            "a series of reports",
            "the folder of real reports has no series",
        );
    }
    let mut points = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        for report in dyno_awr::read_file(&entry.unwrap().path()).unwrap() {
            points.push(AwrTimelinePoint::of(&report.unwrap()));
        }
    }
    let [line] = &timelines(points)[..] else { panic!("one instance") };
    assert_eq!(line.points.len(), 44);
    let snap = |point: &AwrTimelinePoint| point.snaps.unwrap().0;
    let mut odd = Vec::new();
    for (point, flags) in &line.points {
        for flag in flags {
            assert!(!matches!(flag, Flag::Gap { .. } | Flag::Overlap { .. } | Flag::Renumbered), "{flag:?}");
            let Flag::Anomaly(anomaly) = flag else { continue };
            let led: Vec<&AwrRateDeviation> =
                anomaly.moved.iter().filter(|moved| moved.subject.kind == AwrRateKind::Statement).collect();
            if anomaly.figures.iter().any(|figure| figure.measure == 0)
                && led.first().is_some_and(|led| led.share_pct > Some(60.0))
            {
                assert_eq!(led[0].subject.name, "6frynf9v1m655");
                odd.push(snap(point));
            }
            assert!(
                snap(point) < 184 || anomaly.figures.iter().all(|figure| figure.measure != 0),
                "load is a level: {anomaly:?}"
            );
        }
    }
    assert_eq!(odd, [162, 169, 171, 178]);
    // In these four, 55 to 79 % of DB time are neither CPU nor waits.
    for (point, _) in line.points.iter().filter(|(point, _)| odd.contains(&snap(point))) {
        assert!((54.0..80.0).contains(&point.value(2).unwrap()), "{:?}", point.value(2));
    }
    let begins = line.levels[0].iter().map(|span| snap(&line.points[span.first].0)).collect::<Vec<_>>();
    assert!(begins.iter().any(|begin| (183..=184).contains(begin)), "{begins:?}");
    assert!(
        line.correlated
            .iter()
            .any(|of| of.thing.kind == AwrRateKind::Event && of.thing.name == "log file sync")
    );
}
