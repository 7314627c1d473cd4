//! Marks on a series: where work stood still, where it slowed down, and where a checkpoint looks like the reason.

use dyno_record::{Series, SeriesPoint};

use crate::number::{fixed, percent, span_s};
use crate::points::median;

/// Below this share of the usual throughput, work stands still, %.
pub const STALL_PCT: f64 = 10.0;

/// Below this share of the usual throughput, work is slow, %.
pub const DIP_PCT: f64 = 70.0;

/// Writes of so many times the usual in a dip look like a checkpoint.
pub const BURST_FACTOR: f64 = 2.0;

/// The measures of writes, the first that a series has: what reaches the device says more than what was asked for.
const WRITES: [&str; 2] = ["device_write_mb_per_s", "physical_write_mb_per_s"];

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Work stood still.
    Stall,
    /// Work was slow while far more than usual was written: a checkpoint does that.
    Checkpoint,
    /// Work was slow.
    Dip,
}

/// A mark on a series.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Marked {
    /// What happened.
    pub mark: Mark,
    /// When it began, seconds after the window began.
    pub at_s: f64,
    /// How long it lasted, s.
    pub seconds: f64,
    /// Throughput meanwhile, % of the usual.
    pub throughput_pct: f64,
}

impl Marked {
    /// The mark in words: `stall of 3 s at 42.0 s: 0 % of the usual throughput`.
    pub fn phrase(&self) -> String {
        let what = match self.mark {
            Mark::Stall => "stall",
            Mark::Checkpoint => "slow with a burst of writes, as in a checkpoint,",
            Mark::Dip => "slow",
        };
        let joint = if self.mark == Mark::Stall { "of" } else { "for" };
        format!(
            "{what} {joint} {} at {} s: {} % of the usual throughput",
            span_s(self.seconds),
            fixed(self.at_s, 1),
            percent(self.throughput_pct)
        )
    }
}

/// The marks of a series, in order; neighbours of one kind are one. What is usual is the median over the series. Of a point of
/// an overview, its slowest interval is looked at where all of it was as usual.
pub fn marks(series: &Series) -> Vec<Marked> {
    // The last interval may be a sliver, whose rate is chance.
    let whole: Vec<&SeriesPoint> =
        series.points.iter().filter(|point| point.seconds >= series.interval_s / 2.0).collect();
    let rate = |point: &SeriesPoint| point.ops as f64 / point.seconds;
    let rates: Vec<f64> = whole.iter().map(|point| rate(point)).collect();
    let Some(usual) = median(&rates).filter(|usual| *usual > 0.0) else { return Vec::new() };
    let writes = WRITES.into_iter().find(|name| whole.iter().any(|point| point.metrics.contains_key(*name)));
    let written = |point: &SeriesPoint| writes.and_then(|name| point.metrics.get(name).copied());
    let all_writes: Vec<f64> = whole.iter().filter_map(|point| written(point)).collect();
    let usual_writes = median(&all_writes).unwrap_or(0.0);
    let mut marks: Vec<Marked> = Vec::new();
    for point in whole {
        let of_all = (100.0 * rate(point) / usual, point.at_s, point.seconds);
        let of_slowest = point.slowest.map(|one| (100.0 * one.rate_per_s() / usual, one.at_s, one.seconds));
        let (throughput_pct, at_s, seconds) = match of_slowest {
            Some(slowest) if of_all.0 >= DIP_PCT => slowest,
            _ => of_all,
        };
        let burst = written(point).is_some_and(|mb| mb > 0.0 && mb >= BURST_FACTOR * usual_writes);
        let mark = match throughput_pct {
            pct if pct < STALL_PCT => Mark::Stall,
            pct if pct < DIP_PCT && burst => Mark::Checkpoint,
            pct if pct < DIP_PCT => Mark::Dip,
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
            _ => marks.push(Marked { mark, at_s, seconds, throughput_pct }),
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
    fn stalls_checkpoints_and_dips_are_told_apart() {
        let mut points = vec![(1_000, 5.0); 20];
        points[3..6].fill((20, 5.0));
        points[10..12].fill((500, 60.0));
        points[15] = (600, 5.0);
        let marks = marks(&series(&points));
        let phrases: Vec<_> = marks.iter().map(Marked::phrase).collect();
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
    fn an_even_series_and_an_empty_one_have_no_marks() {
        assert!(marks(&series(&[(100, 0.0), (95, 0.0), (104, 0.0)])).is_empty());
        assert!(marks(&Series::default()).is_empty());
        assert!(marks(&series(&[(0, 0.0); 5])).is_empty(), "nothing is usual where nothing was done");
    }

    #[test]
    fn a_stall_in_an_overview_is_seen_in_the_slowest_of_its_intervals() {
        let mut overview = dyno_record::Overview::new(16);
        let mut all = series(&[(1_000, 5.0); 256]).points;
        all[37].ops = 0;
        all.into_iter().for_each(|point| overview.push(point));
        let series = overview.into_series(1.0);
        assert_eq!((series.interval_s, series.points.len()), (16.0, 16));
        let phrases: Vec<_> = marks(&series).iter().map(Marked::phrase).collect();
        assert_eq!(phrases, ["stall of 1 s at 37.0 s: 0 % of the usual throughput"]);
    }

    #[test]
    fn a_sliver_at_the_end_is_no_stall() {
        let mut series = series(&[(100, 0.0); 6]);
        series.points[5].seconds = 0.05;
        series.points[5].ops = 0;
        assert!(marks(&series).is_empty());
    }
}
