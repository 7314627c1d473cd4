//! Divides a long run into minutes. Whether it was steady is decided in
//! [`steady`](mod@crate::steady).

use dyno_record::{RunRecord, SeriesPoint};

use crate::points::median;
use crate::stall::{SlowdownKind, marks};

/// One minute (or another length) of a run.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Minute {
    /// Begin of the part, in seconds after the window began.
    pub at_s: f64,
    pub ops_per_s: f64,
    /// The median and the largest of the intervals' 99th percentiles, µs.
    pub p99_us: Option<(f64, f64)>,
    /// Latency of the longest operation, µs.
    pub max_us: Option<f64>,
    /// Number of operations that failed.
    pub errors: u64,
    pub redo_mb_per_s: Option<f64>,
    /// Number of stalls that began in it.
    pub stalls: u32,
    /// Number of slowdowns that began under a burst of writes, as in a checkpoint.
    pub checkpoints: u32,
}

/// The run in parts of `length_s` (above zero); a last part shorter than half of that is left out.
pub fn minutes(record: &RunRecord, length_s: f64) -> Vec<Minute> {
    // Times are sums of floating-point seconds, so a tiny distance before a boundary counts as the
    // boundary.
    let part_at = |at_s: f64| (at_s / length_s + 1e-9) as usize;
    let mut parts: Vec<Vec<&SeriesPoint>> = Vec::new();
    for point in &record.series.points {
        let part = part_at(point.at_s);
        if parts.len() <= part {
            parts.resize(part + 1, Vec::new());
        }
        parts[part].push(point);
    }
    let seconds = |part: &[&SeriesPoint]| part.iter().map(|point| point.seconds).sum::<f64>();
    let mut minutes: Vec<(usize, Minute)> = parts
        .iter()
        .enumerate()
        .filter(|(i, part)| !part.is_empty() && (i + 1 < parts.len() || seconds(part) >= length_s / 2.0))
        .map(|(i, part)| (i, minute(part, seconds(part))))
        .collect();
    for mark in marks(&record.series) {
        let part = part_at(mark.at_s);
        let Some((_, minute)) = minutes.iter_mut().find(|(i, _)| *i == part) else { continue };
        match mark.mark {
            SlowdownKind::Stall => minute.stalls += 1,
            SlowdownKind::Checkpoint => minute.checkpoints += 1,
            SlowdownKind::Dip => {}
        }
    }
    minutes.into_iter().map(|(_, minute)| minute).collect()
}

fn minute(part: &[&SeriesPoint], seconds: f64) -> Minute {
    let p99: Vec<f64> = part.iter().filter_map(|point| point.p99_us).collect();
    let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let max: Vec<f64> = part.iter().filter_map(|point| point.max_us).collect();
    let redo = part.iter().map(|point| Some(point.metrics.get("redo_mb_per_s")? * point.seconds));
    Minute {
        at_s: part.first().map_or(0.0, |point| point.at_s),
        ops_per_s: part.iter().map(|point| point.ops).sum::<u64>() as f64 / seconds,
        p99_us: median(&p99).map(|median| (median, largest(&p99))),
        max_us: (!max.is_empty()).then(|| largest(&max)),
        errors: part.iter().map(|point| point.errors).sum(),
        redo_mb_per_s: redo.sum::<Option<f64>>().map(|megabytes| megabytes / seconds),
        ..Minute::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn minutes_sum_intervals_and_drop_short_remainder() {
        let mut record = fixture::sqlite();
        let point = |i: u32| SeriesPoint {
            at_s: f64::from(i),
            seconds: 1.0,
            ops: if i == 70 { 0 } else { 100 },
            p99_us: Some(f64::from(i)),
            metrics: [("redo_mb_per_s".to_owned(), 2.0)].into(),
            ..SeriesPoint::default()
        };
        record.series.interval_s = 1.0;
        record.series.points = (0..145).map(point).collect();
        let minutes = minutes(&record, 60.0);
        assert_eq!(minutes.len(), 2);
        assert_eq!(
            (minutes[0].ops_per_s, minutes[0].stalls, minutes[0].redo_mb_per_s),
            (100.0, 0, Some(2.0))
        );
        assert_eq!((minutes[1].at_s, minutes[1].stalls), (60.0, 1));
        assert_eq!(minutes[1].ops_per_s, 100.0 * 59.0 / 60.0);
        assert_eq!(minutes[1].p99_us, Some((89.5, 119.0)));
    }
}
