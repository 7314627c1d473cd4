//! Charts of a suite, one for each unit.

use dyno_analyze::conclusion::suite::{SuiteResult, SuiteTestResult};
use dyno_analyze::number;

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};
use crate::markup::slug;

use super::overview::{SuiteGroup, groups};

/// Ratio of the largest to the smallest figure from which the axis is logarithmic.
const LOG_FROM: f64 = 20.0;

/// The charts of one group: one for each unit, with the key figure of each test over sessions.
pub(crate) fn small(group: &SuiteGroup<'_>) -> Vec<Chart> {
    let mut units: Vec<(String, Vec<&SuiteTestResult>)> = Vec::new();
    for test in group.tests.iter().copied().filter(|test| test.unfit.is_none()) {
        let unit = test.page.words(0.0).1;
        match units.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, tests)) => tests.push(test),
            None => units.push((unit, vec![test])),
        }
    }
    units.iter().filter_map(|(unit, tests)| of_unit(group, unit, tests)).collect()
}

/// The charts of all groups.
pub(crate) fn all(suite: &SuiteResult) -> Vec<Chart> {
    groups(suite).iter().flat_map(small).collect()
}

/// The key figures of these tests, which share a unit; `None` for a single point.
fn of_unit(group: &SuiteGroup<'_>, unit: &str, tests: &[&SuiteTestResult]) -> Option<Chart> {
    let series: Vec<ChartSeries> =
        tests.iter().enumerate().map(|(style, test)| series(test, style)).collect();
    let values: Vec<f64> = series.iter().flat_map(|series| &series.points).map(|point| point.y).collect();
    let sessions: Vec<f64> = series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    if values.len() < 2 {
        return None;
    }
    let (least, most) =
        values.iter().fold((f64::MAX, 0.0f64), |(least, most), value| (least.min(*value), most.max(*value)));
    let is_log = least > 0.0 && most / least >= LOG_FROM;
    let y = if is_log {
        ChartAxis::log(unit, Quantity::Plain(""))
    } else {
        ChartAxis::linear(unit, Quantity::Plain(""))
    };
    Some(Chart {
        id: format!("suite-{}-{}", slug(group.name), slug(unit)),
        title: format!("{}: {unit}", group.title()),
        about: format!("{unit} by sessions{}", if is_log { ", logarithmic" } else { "" }),
        x: ChartAxis::log("sessions", Quantity::Plain("")).ticks_at(sessions),
        y,
        series,
        marks: Vec::new(),
    })
}

/// The key figure of a test over sessions.
fn series(test: &SuiteTestResult, style: usize) -> ChartSeries {
    let keyed = test.steps.iter().filter_map(|step| Some((f64::from(step.sessions), step.key?)));
    let point = |(sessions, value): (f64, f64)| {
        let shown = test.page.words(value).0;
        let hover = format!("{}, {}: {shown}", test.page.id, number::sessions(sessions));
        let link = format!("test-{}", slug(&test.page.id));
        ChartPoint { hover, link, ..ChartPoint::at(sessions, value) }
    };
    let points: Vec<ChartPoint> = keyed.map(point).collect();
    let kind = if points.len() > 1 { SeriesKind::Line } else { SeriesKind::Dots };
    ChartSeries { name: test.page.id.clone(), kind, style, points }
}

/// The chart of one test, if it has enough points for a curve.
pub(crate) fn test_chart(test: &SuiteTestResult) -> Option<Chart> {
    let series = series(test, 0);
    if series.points.len() < 3 {
        return None;
    }
    let unit = test.page.words(0.0).1;
    Some(Chart {
        id: format!("suite-{}", slug(&test.page.id)),
        title: test.page.title.clone(),
        about: format!("{} by sessions", test.page.title),
        x: ChartAxis::log("sessions", Quantity::Plain(""))
            .ticks_at(series.points.iter().map(|point| point.x).collect()),
        y: ChartAxis::linear(&unit, Quantity::Plain("")),
        series: vec![ChartSeries { name: "measured".into(), ..series }],
        marks: Vec::new(),
    })
}
