//! Reduces a series of any length to a bounded number of points.
//!
//! Up to the bound every interval is a point. Then neighbors are merged in pairs, so that each point combines twice as many
//! intervals, and so on. All points but the last combine the same number of intervals, a power of two.

use super::{Merge, Series, SeriesPoint};

/// The largest number of points in a record's series, except with many targets: two hours of seconds.
pub const OVERVIEW_POINTS_MAX: usize = 7_200;

/// The smallest bound: fewer points show nothing.
const POINTS_MIN: usize = 16;

/// Intervals reduced to a limited number of points.
#[derive(Debug, Clone)]
pub struct SeriesOverview<P> {
    points: Vec<P>,
    points_max: usize,
    /// Number of intervals in each point, and in the last point.
    intervals_per_point: u64,
    last: u64,
}

impl<P: Merge> SeriesOverview<P> {
    /// An empty overview with at most about `points_max` points.
    pub fn new(points_max: usize) -> Self {
        // An even number, so that halving leaves no remainder.
        let points_max = points_max.max(POINTS_MIN) & !1;
        Self { points: Vec::new(), points_max, intervals_per_point: 1, last: 1 }
    }

    /// Adds the next interval at the end.
    pub fn push(&mut self, interval: P) {
        if let Some(last) = self.points.last_mut()
            && self.last < self.intervals_per_point
        {
            last.merge(interval);
            self.last += 1;
            return;
        }
        if self.points.len() == self.points_max {
            self.halve();
            return self.push(interval);
        }
        self.points.push(interval);
        self.last = 1;
    }

    /// Merges pairs of neighbors; all points are complete.
    fn halve(&mut self) {
        let all = std::mem::take(&mut self.points);
        let mut all = all.into_iter();
        while let Some(mut first) = all.next() {
            if let Some(second) = all.next() {
                first.merge(second);
            }
            self.points.push(first);
        }
        self.intervals_per_point *= 2;
        self.last = self.intervals_per_point;
    }

    /// Number of intervals per point; the last point may have fewer.
    pub fn each(&self) -> u64 {
        self.intervals_per_point
    }

    /// Number of intervals in all points.
    pub fn intervals(&self) -> u64 {
        match self.points.len() as u64 {
            0 => 0,
            points => (points - 1) * self.intervals_per_point + self.last,
        }
    }

    /// The point that contains the interval with this number, from 0.
    pub fn of_interval(&mut self, interval: u64) -> Option<&mut P> {
        self.points.get_mut(usize::try_from(interval / self.intervals_per_point).ok()?)
    }

    /// The points so far, in order.
    pub fn points(&self) -> &[P] {
        &self.points
    }

    /// All points, in order.
    pub fn into_points(self) -> Vec<P> {
        self.points
    }
}

impl SeriesOverview<SeriesPoint> {
    /// Converts it to a record's series with intervals of `interval_s` seconds.
    pub fn into_series(self, interval_s: f64) -> Series {
        let (each, intervals) = (self.intervals_per_point, self.intervals());
        Series::thinned(self.into_points(), interval_s, each, intervals)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::merge::tests::points;
    use super::*;

    #[test]
    fn every_interval_is_a_point_up_to_the_limit() {
        let mut overview = SeriesOverview::new(POINTS_MIN);
        let point = |at| SeriesPoint { at_s: f64::from(at), seconds: 1.0, ops: 1, ..SeriesPoint::default() };
        (0..16).for_each(|at| overview.push(point(at)));
        assert_eq!((overview.each(), overview.clone().into_points().len()), (1, 16));
        assert!(overview.clone().into_series(1.0).full.is_none());
        overview.push(point(16));
        let series = overview.into_series(1.0);
        assert_eq!((series.interval_s, series.points.len(), series.intervals()), (2.0, 9, 17));
        assert_eq!(series.measured_interval_s(), 1.0);
        assert_eq!((series.points[8].at_s, series.points[8].ops, series.points[7].ops), (16.0, 1, 2));
    }

    #[test]
    fn series_of_thirty_days_stays_within_point_limit() {
        let mut overview = SeriesOverview::new(OVERVIEW_POINTS_MAX);
        let days_30 = 30 * 86_400u64;
        for at in 0..days_30 {
            overview.push(SeriesPoint { at_s: at as f64, seconds: 1.0, ops: at, ..SeriesPoint::default() });
        }
        assert_eq!(overview.intervals(), days_30);
        let ops: u64 = (0..days_30).sum();
        let series = overview.into_series(1.0);
        assert!(series.points.len() <= OVERVIEW_POINTS_MAX);
        assert!(series.points.len() > OVERVIEW_POINTS_MAX / 2);
        assert_eq!(series.points.iter().map(|point| point.ops).sum::<u64>(), ops);
        assert_eq!(series.interval_s, 512.0);
    }

    proptest! {
        #[test]
        fn overview_keeps_counts_time_order_and_maximum(all in points(1..300)) {
            let mut overview = SeriesOverview::new(POINTS_MIN);
            all.iter().for_each(|point| overview.push(point.clone()));
            prop_assert_eq!(overview.intervals(), all.len() as u64);
            for (at, point) in all.iter().enumerate() {
                let within = overview.of_interval(at as u64).unwrap();
                prop_assert!(within.at_s <= point.at_s && point.at_s < within.at_s + within.seconds);
            }
            let series = overview.into_series(1.0);
            prop_assert!(series.points.len() <= POINTS_MIN);
            prop_assert_eq!(series.intervals(), all.len() as u64);
            let ops = |points: &[SeriesPoint]| points.iter().map(|point| point.ops).sum::<u64>();
            let seconds = |points: &[SeriesPoint]| points.iter().map(|point| point.seconds).sum::<f64>();
            let most = |points: &[SeriesPoint]| points.iter().filter_map(|point| point.max_us).reduce(f64::max);
            prop_assert_eq!(ops(&series.points), ops(&all));
            prop_assert!((seconds(&series.points) - seconds(&all)).abs() < 1e-6);
            prop_assert_eq!(most(&series.points), most(&all));
            prop_assert!(series.points.windows(2).all(|two| two[0].at_s < two[1].at_s));
        }
    }
}
