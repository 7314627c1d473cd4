//! Charts of runs. Each kind has a file with a function from records to a [`Chart`], absent if the records do
//! not contain its data.

mod ab_runs;
mod cpu;
mod curve;
mod distribution;
mod heatmap;
mod multiples;
mod petal;
mod ramp;
mod stack;
mod throughput;
mod time;
mod waits;
mod watch;

use dyno_analyze::attribution::{legend, marked_metrics};
use dyno_analyze::number::ABSENT;
use dyno_analyze::points::{
    AxisValue, Estimate, MeasuredCurve, MeasuredPoint, Points, Repeat, SESSIONS, SettingAxis as PointAxis,
};
use dyno_record::{RecordKind, RunRecord};

use crate::chart::Chart;
use crate::chart::terminal::{Glyphs, text_chart};
use crate::style::Style;

pub(crate) use ab_runs::ab_runs;
pub(crate) use distribution::timed;
pub(crate) use multiples::multiples;
pub use ramp::{OPS, RampCurve, ramps};
pub(crate) use waits::event_name;

/// Charts of one run: its window over time, its distribution, its waits.
pub fn of_run(record: &RunRecord) -> Vec<Chart> {
    if record.kind == RecordKind::Watch {
        return watch::of_watch(record).into_iter().chain(waits::of_run(record)).collect();
    }
    let mut charts: Vec<Option<Chart>> = vec![
        time::throughput(record),
        heatmap::heat(record),
        time::latency(record),
        distribution::histogram(record),
    ];
    charts.extend(distribution::cumulative(record).into_iter().map(Some));
    charts.extend([
        time::cpu(record),
        time::requests(record),
        waits::over_time(record),
        waits::of_run(record),
    ]);
    charts.into_iter().flatten().collect()
}

/// Throughput and petal of several runs as text, for a terminal; empty if they form no curve.
pub fn text_curves(points: &Points, glyphs: Glyphs, style: &Style) -> String {
    if points.points.len() < 2 {
        return String::new();
    }
    let charts = [throughput::throughput(points, &ramps(points)), petal::operations(points)];
    let texts: Vec<String> = charts.iter().flatten().map(|chart| text_chart(chart, glyphs, style)).collect();
    texts.join("\n")
}

/// Charts over all points; none for a single point, which is not a curve.
pub fn of_points(points: &Points, ramps: &[RampCurve<'_>]) -> Vec<Chart> {
    if points.points.len() < 2 {
        return Vec::new();
    }
    // Operations of scans and of lookups cannot share an axis.
    let (lookups, scans) = points.without_scans();
    let mut charts = match &lookups {
        None => vec![throughput::throughput(points, ramps), petal::operations(points)],
        Some(lookups) if lookups.points.is_empty() => Vec::new(),
        Some(lookups) => vec![throughput::throughput(lookups, ramps), petal::operations(lookups)],
    };
    charts.extend(scans.as_ref().map(throughput::of_scans));
    charts.extend(petal::reads(points));
    charts.extend([curve::service_times(points), cpu::of_points(points), waits::of_points(points)]);
    charts.into_iter().flatten().filter(|chart| !chart.is_empty()).collect()
}

/// The axis of the curves: sessions if they differ, else the rate, else the last numeric axis.
pub fn curve_axis(points: &Points) -> Option<&PointAxis> {
    let named = |path: &str| points.axes.iter().find(|axis| axis.path == path);
    let quantities = |place: usize| {
        points.points.iter().all(|p| p.values.get(place).is_some_and(|value| value.number.is_some()))
    };
    let last = || points.axes.iter().enumerate().rev().find(|(i, _)| quantities(*i)).map(|(_, axis)| axis);
    named(points.load_axis()).or_else(last)
}

/// A setting in words: `20 % updates`, `16 sessions`, `block_size 8K`.
pub fn words(axis: &PointAxis, value: &AxisValue) -> String {
    match axis.path.as_str() {
        SESSIONS if value.text == "1" => "1 session".to_owned(),
        SESSIONS => format!("{} sessions", value.text),
        "workload.update_pct" if value.number.is_some() => format!("{} % updates", value.text),
        _ if value.text.is_empty() => format!("{} {ABSENT}", axis.name()),
        _ => format!("{} {}", axis.name(), value.text),
    }
}

/// Name of a curve in a table.
pub(crate) fn curve_name(curve: &MeasuredCurve<'_>) -> String {
    let name = curve_words(curve);
    if name.is_empty() { "all runs".into() } else { name }
}

/// Settings that distinguish a curve, in words; empty for a single curve.
fn curve_words(curve: &MeasuredCurve<'_>) -> String {
    let words: Vec<String> = curve.fixed.iter().map(|(axis, value)| words(axis, value)).collect();
    words.join(", ")
}

/// Position of a point on the axis with this path.
fn place_of(points: &Points, point: &MeasuredPoint, path: &str) -> Option<f64> {
    let place = points.axes.iter().position(|axis| axis.path == path)?;
    point.values.get(place)?.number
}

/// Minimum and maximum of repeats.
fn range(estimate: &Estimate) -> Option<(f64, f64)> {
    (estimate.n() > 1).then(|| (estimate.min(), estimate.max()))
}

/// Anchor of a run's row in a report.
pub fn anchor(id: &str) -> String {
    format!("run-{}", crate::markup::slug(id))
}

/// Legend of the mark for a chart of `measures`; `None` if others had no part in them.
fn foreign_share_legend(points: &Points, measures: &[&str]) -> Option<String> {
    let runs = points.points.iter().flat_map(|point| &point.runs);
    legend(runs.map(|run| &run.marked), |name| measures.contains(&name))
}

/// Legend of the mark for a chart of one run.
fn run_foreign_share_legend(record: &RunRecord, measures: &[&str]) -> Option<String> {
    legend([&marked_metrics(record)], |name| measures.contains(&name))
}

/// The point with the highest throughput, which is the capacity of its curve.
pub fn best(points: &Points) -> Option<&MeasuredPoint> {
    // Imported figures may contain no operations; then reads from storage are the throughput.
    let rate = |point: &MeasuredPoint| {
        let throughput = [OPS, READS].into_iter().find_map(|measure| point.capacity(measure));
        throughput.unwrap_or(f64::NEG_INFINITY)
    };
    points.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

/// The throughput metric of runs whose operations were not counted.
pub(crate) const READS: &str = "physical_read_requests_per_s";

/// The run that represents a point: the one with the median throughput.
pub fn typical(point: &MeasuredPoint) -> &Repeat {
    let mut runs: Vec<&Repeat> = point.runs.iter().collect();
    runs.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    runs[runs.len() / 2]
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{Attribution, AttributionScope, SAMPLED_ACTIVE, WaitTime, Waits};

    use super::*;

    /// A run whose intervals contain processor time and waits.
    fn run() -> RunRecord {
        let mut record = fixture::postgres();
        for (at, point) in record.series.points.iter_mut().enumerate() {
            let waits = [
                ("waiting.CPU:CPU", 2.0),
                ("waiting.IO:WalSync", at as f64),
                (SAMPLED_ACTIVE, 2.0 + at as f64),
            ];
            point.metrics.extend(waits.map(|(name, value)| (name.to_owned(), value)));
            point.metrics.insert("cpu_user_pct".into(), 40.0);
        }
        record.waits = Waits::Sampled {
            samples: 100,
            asked_per_s: 10.0,
            average_active_sessions: 2.0,
            events: vec![WaitTime {
                class: "CPU".into(),
                event: "CPU".into(),
                average_sessions: 2.0,
                share_pct: 100.0,
            }],
            company: dyno_record::ForeignActivity::default(),
        };
        record
    }

    #[test]
    fn wait_and_series_charts_carry_foreign_activity_mark() {
        let mut record = run();
        let about = |record: &RunRecord, id: &str| {
            let charts = of_run(record);
            charts.iter().find(|chart| chart.id == id).unwrap_or_else(|| panic!("no {id}")).about.clone()
        };
        let ids = ["waits-over-time", "waits-of-run", "cpu-over-time"];
        assert!(ids.iter().all(|id| !about(&record, id).contains('†')));
        let attribution = Attribution {
            scope: AttributionScope::Host,
            others_pct: Some(30.0),
            marked: true,
            why: "others".into(),
        };
        record.whose.insert("cpu_busy_pct".into(), attribution);
        for id in ids {
            assert!(about(&record, id).contains("† may include other load"), "{id}: {}", about(&record, id));
        }
    }

    #[test]
    fn wait_chart_shows_each_interval_in_wait_class_colors() {
        let record = run();
        let chart = of_run(&record).into_iter().find(|chart| chart.id == "waits-over-time").unwrap();
        let commits = chart.series.iter().find(|series| series.name == "Commit").unwrap();
        assert_eq!(commits.points.len(), record.series.points.len());
        assert_eq!((commits.points[3].y, commits.style), (3.0, crate::chart::palette::WAIT + 2));
        let mut without = record;
        without.series.points.iter_mut().for_each(|point| point.metrics.clear());
        assert!(
            of_run(&without).iter().all(|chart| chart.id != "waits-over-time"),
            "what was not sampled is not drawn"
        );
    }

    /// Runs of each number of sessions for each share of updates, with their throughput.
    fn grid(updates: &[u32]) -> Vec<RunRecord> {
        let rates = [(1, 1_000.0), (2, 1_900.0), (4, 2_400.0), (8, 2_450.0)];
        let run = |updates: u32, (sessions, rate): (u32, f64)| {
            let mut record = fixture::at_point((updates, sessions));
            let value = rate - f64::from(updates);
            let rate = dyno_record::Metric::Value { value, unit: dyno_record::Unit::PerSecond };
            record.metrics.insert(OPS.into(), rate);
            record
        };
        updates.iter().flat_map(|updates| rates.map(|rate| run(*updates, rate))).collect()
    }

    #[test]
    fn p99_has_one_chart_with_a_line_per_curve() {
        for (updates, id, lines) in [(&[0][..], "percentiles", 4), (&[0, 20], "p99", 2)] {
            let points = dyno_analyze::points(&grid(updates));
            let charts = of_points(&points, &ramps(&points));
            let has_p99 = |chart: &&Chart| {
                chart.y.label.contains("p99") || chart.series.iter().any(|series| series.name == "p99")
            };
            let of_p99: Vec<&Chart> = charts.iter().filter(has_p99).collect();
            assert_eq!(of_p99.iter().map(|chart| chart.id.as_str()).collect::<Vec<_>>(), [id]);
            assert_eq!(of_p99[0].series.len(), lines);
            for series in charts.iter().filter(|chart| chart.id != "petal").flat_map(|chart| &chart.series) {
                assert!(series.points.is_sorted_by(|a, b| a.x < b.x), "a line goes back: {series:?}");
            }
        }
    }

    #[test]
    fn charts_mark_the_knee_of_the_summary() {
        let points = dyno_analyze::points(&grid(&[0, 20]));
        let answers = dyno_analyze::CurveSummaries::of(&points);
        let knees = answers.curves.iter().map(|curve| curve.bend.as_ref().unwrap());
        let knees: Vec<(f64, f64)> = knees.map(|knee| (f64::from(knee.sessions), knee.value)).collect();
        let charts = of_points(&points, &ramps(&points));
        for id in ["throughput", "petal"] {
            let chart = charts.iter().find(|chart| chart.id == id).unwrap();
            let marks = chart.marks.iter().filter(|mark| mark.name.starts_with("knee: "));
            let marked: Vec<(f64, f64)> = marks
                .map(|mark| match mark.at {
                    crate::chart::MarkAt::Knee(x, y) => (x, y),
                    other => panic!("{other:?}"),
                })
                .collect();
            match id {
                "throughput" => assert_eq!(marked, knees),
                _ => assert_eq!(
                    marked.iter().map(|at| at.0).collect::<Vec<_>>(),
                    knees.iter().map(|at| at.1).collect::<Vec<_>>()
                ),
            }
        }
    }
}
