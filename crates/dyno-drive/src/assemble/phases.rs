//! Builds the record's part on the phases of a schedule.

use std::collections::BTreeMap;

use dyno_plan::Stage;
use dyno_record::{PhaseStats, Series};
use dyno_workload::Classes;

use super::operations::WorkStats;
use crate::fold::ResultSum;
use crate::job::DriveJob;
use crate::measured::RunMeasurement;

/// Counter rates that a phase reports if its ends coincide with those of intervals.
const METRICS: [&str; 6] = [
    "commits_per_s",
    "logical_reads_per_s",
    "physical_reads_per_s",
    "rows_read_per_s",
    "rows_written_per_s",
    "redo_mb_per_s",
];

/// How far apart the ends of an interval and a phase may be to count as equal: this share of the phase, and
/// at most this many seconds. A window begins some tenths of a millisecond late, and counters are read some
/// milliseconds after an interval's end.
const SAME: (f64, f64) = (0.01, 0.005);

/// Every phase that had begun when the window ended, in order; empty where the plan has none.
pub(super) fn phases(
    (job, classes): (&DriveJob<'_>, &Classes),
    measured: &RunMeasurement,
    results: &ResultSum,
    series: &Series,
) -> Vec<PhaseStats> {
    let lead = job.plan.run.warmup.0;
    let (Some(curve), Some(opens_ns), Some(origin_ns), Some(end_ns)) = (
        job.plan.workload.curve(lead.as_secs_f64()),
        measured.gate_opened_ns,
        measured.origin_ns,
        results.sessions.moments.edge_ns[1],
    ) else {
        return Vec::new();
    };
    let first_ns = opens_ns + lead.as_nanos() as u64;
    let seconds = |from_ns: u64, to_ns: u64| to_ns.saturating_sub(from_ns) as f64 / 1e9;
    let (late_s, end_s) = (seconds(first_ns, origin_ns), seconds(first_ns, end_ns));
    let of_phase = |at: usize| results.threads.phases.get(at).cloned().unwrap_or_default();
    let mut behind = of_phase(0).behind;
    let started_stages = curve.stages().iter().enumerate().filter(|(_, stage)| stage.begin_s < end_s);
    started_stages
        .map(|(at, stage)| {
            let part = of_phase(at + 1);
            let until_s = stage.end_s.min(end_s);
            let arrivals_until = |s: f64| curve.arrivals(lead.as_secs_f64() + s);
            behind += part.behind;
            let stretch = Stage { begin_s: stage.begin_s - late_s, end_s: until_s - late_s, ..stage.clone() };
            let (metrics, no_metrics) = match counters(series, &stretch) {
                Ok(metrics) => (metrics, None),
                Err(why) => (BTreeMap::new(), Some(why.to_owned())),
            };
            let work = WorkStats::of_phase(job, classes, &part, until_s - stage.begin_s);
            PhaseStats {
                name: stage.name.clone(),
                begin_s: stretch.begin_s,
                end_s: stretch.end_s,
                asked: arrivals_until(until_s) - arrivals_until(stage.begin_s),
                due: part.due,
                behind: behind.max(0) as u64,
                ops: work.classes,
                workloads: work.workloads,
                metrics,
                no_metrics,
            }
        })
        .collect()
}

/// Rates of the database's counters in a phase, if intervals of the series begin and end with it.
fn counters(series: &Series, stretch: &Stage) -> Result<BTreeMap<String, f64>, &'static str> {
    let same_s = ((stretch.end_s - stretch.begin_s) * SAME.0).min(SAME.1);
    let inside = |at_s: f64| stretch.begin_s - same_s <= at_s && at_s < stretch.end_s - same_s;
    let points: Vec<_> = series.points.iter().filter(|point| inside(point.at_s)).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err("the phase contains no interval of the series");
    };
    let is_last = series.points.last().is_some_and(|point| point.at_s == last.at_s);
    let end_s = last.at_s + last.seconds;
    // The window's last interval ends with the window, which is slightly longer than planned.
    let ends = (end_s - stretch.end_s).abs() <= same_s || (is_last && end_s > stretch.end_s);
    if (first.at_s - stretch.begin_s).abs() > same_s || !ends {
        return Err("its ends are not ends of intervals: choose an observe.interval that divides the phases");
    }
    let seconds: f64 = points.iter().map(|point| point.seconds).sum();
    let rate = |name: &str| {
        let parts = points.iter().map(|point| Some(point.metrics.get(name)? * point.seconds));
        Some(parts.sum::<Option<f64>>()? / seconds)
    };
    let rates: BTreeMap<String, f64> =
        METRICS.iter().filter_map(|name| Some(((*name).to_owned(), rate(name)?))).collect();
    if rates.is_empty() {
        Err("the counters of an interval in the phase could not be read")
    } else {
        Ok(rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::SeriesPoint;

    fn series(metrics: &[f64]) -> Series {
        let point = |(at, rate): (usize, &f64)| SeriesPoint {
            at_s: at as f64,
            seconds: if at + 1 == metrics.len() { 1.01 } else { 1.0 },
            metrics: BTreeMap::from([("commits_per_s".to_owned(), *rate), ("cpu_pct".to_owned(), 1.0)]),
            ..SeriesPoint::default()
        };
        let points = metrics.iter().enumerate().map(point).collect();
        Series { interval_s: 1.0, points, full: None }
    }

    #[test]
    fn phase_counters_are_those_of_its_intervals_or_absent() {
        let series = series(&[10.0, 20.0, 40.0, 80.0]);
        let phase_counters =
            |begin_s: f64, end_s: f64| counters(&series, &Stage { name: String::new(), begin_s, end_s });
        let commits = |begin_s, end_s| phase_counters(begin_s, end_s).unwrap()["commits_per_s"];
        assert_eq!((commits(0.0, 2.0), commits(1.0, 3.0)), (15.0, 30.0));
        assert_eq!((commits(-0.001, 1.999), commits(0.996, 2.996)), (15.0, 30.0), "a window that began late");
        assert!((commits(2.0, 4.0) - 60.0).abs() < 0.2, "the last interval ends with the window");
        assert_eq!(phase_counters(0.0, 2.0).unwrap().len(), 1, "of the database only");
        for (begin_s, end_s) in [(0.5, 2.0), (0.0, 1.5), (1.2, 1.8), (-0.2, 1.0), (0.98, 2.98)] {
            assert!(phase_counters(begin_s, end_s).unwrap_err().contains("interval"), "{begin_s} {end_s}");
        }
    }
}
