//! Marks stalls and slowdowns on a series, and those that a checkpoint probably caused.

use dyno_record::{Series, SeriesPoint};

use crate::number::{fixed, percent, span_s};
use crate::points::median;

/// Throughput, % of the usual, below which the mark is a stall.
pub const STALL_PCT: f64 = 10.0;

/// Throughput, % of the usual, below which work is slow.
pub const DIP_PCT: f64 = 70.0;

/// Writes in a dip that are this many times the usual amount indicate a checkpoint.
pub const BURST_FACTOR: f64 = 2.0;

/// The measures of writes in order of preference: what reaches the device is more relevant than
/// what was requested.
const WRITES: [&str; 2] = ["device_write_mb_per_s", "physical_write_mb_per_s"];

/// The kind of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlowdownKind {
    /// Throughput was below [`STALL_PCT`] % of the usual.
    Stall,
    /// Work was slow while far more than usual was written, as a checkpoint does.
    Checkpoint,
    /// Throughput was low without a burst of writes.
    Dip,
}

/// A mark on a series.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Slowdown {
    pub mark: SlowdownKind,
    /// Begin of the mark, in seconds after the window began.
    pub at_s: f64,
    /// Length of the mark, s.
    pub seconds: f64,
    /// Throughput during the mark, % of the usual.
    pub throughput_pct: f64,
}

impl Slowdown {
    /// The mark in words: `stall of 3 s at 42.0 s: 0 % of the usual throughput`.
    pub fn phrase(&self) -> String {
        let label = match self.mark {
            SlowdownKind::Stall => "stall",
            SlowdownKind::Checkpoint => "slow with a burst of writes, as in a checkpoint,",
            SlowdownKind::Dip => "slow",
        };
        let joint = if self.mark == SlowdownKind::Stall { "of" } else { "for" };
        format!(
            "{label} {joint} {} at {} s: {} % of the usual throughput",
            span_s(self.seconds),
            fixed(self.at_s, 1),
            percent(self.throughput_pct)
        )
    }
}

/// The marks of a series, in order; adjacent ones of one kind are joined. The usual value is the
/// median over the series. For a point of an overview, its slowest interval is checked where the
/// whole point was as usual.
pub fn marks(series: &Series) -> Vec<Slowdown> {
    // The last interval may be very short, so its rate is random.
    let whole: Vec<&SeriesPoint> =
        series.points.iter().filter(|point| point.seconds >= series.interval_s / 2.0).collect();
    let rate = |point: &SeriesPoint| point.ops as f64 / point.seconds;
    let rates: Vec<f64> = whole.iter().map(|point| rate(point)).collect();
    let Some(usual) = median(&rates).filter(|usual| *usual > 0.0) else { return Vec::new() };
    let writes = WRITES.into_iter().find(|name| whole.iter().any(|point| point.metrics.contains_key(*name)));
    let written = |point: &SeriesPoint| writes.and_then(|name| point.metrics.get(name).copied());
    let all_writes: Vec<f64> = whole.iter().filter_map(|point| written(point)).collect();
    let usual_writes = median(&all_writes).unwrap_or(0.0);
    let mut marks: Vec<Slowdown> = Vec::new();
    for point in whole {
        let of_all = (100.0 * rate(point) / usual, point.at_s, point.seconds);
        let of_slowest = point.slowest.map(|one| (100.0 * one.rate_per_s() / usual, one.at_s, one.seconds));
        let (throughput_pct, at_s, seconds) = match of_slowest {
            Some(slowest) if of_all.0 >= DIP_PCT => slowest,
            _ => of_all,
        };
        let burst = written(point).is_some_and(|mb| mb > 0.0 && mb >= BURST_FACTOR * usual_writes);
        let mark = match throughput_pct {
            pct if pct < STALL_PCT => SlowdownKind::Stall,
            pct if pct < DIP_PCT && burst => SlowdownKind::Checkpoint,
            pct if pct < DIP_PCT => SlowdownKind::Dip,
            _ => continue,
        };
        match marks.last_mut() {
            Some(last)
                if last.mark == mark
                    && last.at_s + last.seconds + series.measured_interval_s() / 2.0 > at_s =>
            {
                let together = last.seconds + seconds;
                last.throughput_pct =
                    (last.throughput_pct * last.seconds + throughput_pct * seconds) / together;
                last.seconds = together;
            }
            _ => marks.push(Slowdown { mark, at_s, seconds, throughput_pct }),
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(u64, f64)]) -> Series {
        let point = |(i, &(ops, write_mb)): (usize, &(u64, f64))| SeriesPoint {
            at_s: i as f64,
            seconds: 1.0,
            ops,
            metrics: [("physical_write_mb_per_s".to_owned(), write_mb)].into(),
            ..SeriesPoint::default()
        };
        Series { interval_s: 1.0, points: points.iter().enumerate().map(point).collect(), full: None }
    }

    #[test]
    fn stalls_checkpoints_and_dips_are_distinguished() {
        let mut points = vec![(1_000, 5.0); 20];
        points[3..6].fill((20, 5.0));
        points[10..12].fill((500, 60.0));
        points[15] = (600, 5.0);
        let marks = marks(&series(&points));
        let phrases: Vec<_> = marks.iter().map(Slowdown::phrase).collect();
        assert_eq!(
            phrases,
            [
                "stall of 3 s at 3.0 s: 2.0 % of the usual throughput",
                "slow with a burst of writes, as in a checkpoint, for 2 s at 10.0 s: 50.0 % of the usual throughput",
                "slow for 1 s at 15.0 s: 60.0 % of the usual throughput",
            ]
        );
    }

    #[test]
    fn even_or_empty_series_has_no_stall_marks() {
        assert!(marks(&series(&[(100, 0.0), (95, 0.0), (104, 0.0)])).is_empty());
        assert!(marks(&Series::default()).is_empty());
        assert!(marks(&series(&[(0, 0.0); 5])).is_empty(), "nothing is usual where nothing was done");
    }

    #[test]
    fn stall_is_found_in_slowest_interval_of_an_overview() {
        let mut overview = dyno_record::SeriesOverview::new(16);
        let mut all = series(&[(1_000, 5.0); 256]).points;
        all[37].ops = 0;
        all.into_iter().for_each(|point| overview.push(point));
        let series = overview.into_series(1.0);
        assert_eq!((series.interval_s, series.points.len()), (16.0, 16));
        let phrases: Vec<_> = marks(&series).iter().map(Slowdown::phrase).collect();
        assert_eq!(phrases, ["stall of 1 s at 37.0 s: 0 % of the usual throughput"]);
    }

    #[test]
    fn short_last_interval_is_no_stall() {
        let mut series = series(&[(100, 0.0); 6]);
        series.points[5].seconds = 0.05;
        series.points[5].ops = 0;
        assert!(marks(&series).is_empty());
    }
}
