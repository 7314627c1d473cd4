//! A series of any length in a bounded number of points.
//!
//! Until the bound is reached every interval is a point. Then neighbours are merged two by two, so that each point stands for
//! twice as many intervals, and so on. All points but the last stand for the same number, a power of two.

use super::{Merge, Series, SeriesPoint};

/// The most points that a record's series has, unless it has the series of many targets: two hours of seconds.
pub const OVERVIEW_POINTS_MAX: usize = 7_200;

/// The least bound: with fewer, nothing is seen.
const POINTS_MIN: usize = 16;

/// Intervals in at most so many points.
#[derive(Debug, Clone)]
pub struct Overview<P> {
    points: Vec<P>,
    points_max: usize,
    /// Intervals in each point, and in the last.
    each: u64,
    last: u64,
}

impl<P: Merge> Overview<P> {
    /// Of no intervals yet, and never more than about `points_max` points.
    pub fn new(points_max: usize) -> Self {
        // An even number, so that a full one halves without a rest.
        let points_max = points_max.max(POINTS_MIN) & !1;
        Self { points: Vec::new(), points_max, each: 1, last: 1 }
    }

    /// Takes in the next interval.
    pub fn push(&mut self, interval: P) {
        if let Some(last) = self.points.last_mut()
            && self.last < self.each
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

    /// Merges neighbours; each point is complete.
    fn halve(&mut self) {
        let all = std::mem::take(&mut self.points);
        let mut all = all.into_iter();
        while let Some(mut first) = all.next() {
            if let Some(second) = all.next() {
                first.merge(second);
            }
            self.points.push(first);
        }
        self.each *= 2;
        self.last = self.each;
    }

    /// Intervals that a point stands for; the last may stand for fewer.
    pub fn each(&self) -> u64 {
        self.each
    }

    /// Intervals in all.
    pub fn intervals(&self) -> u64 {
        match self.points.len() as u64 {
            0 => 0,
            points => (points - 1) * self.each + self.last,
        }
    }

    /// The point that stands for the interval of this number, from 0.
    pub fn of_interval(&mut self, interval: u64) -> Option<&mut P> {
        self.points.get_mut(usize::try_from(interval / self.each).ok()?)
    }

    /// The points so far, in order.
    pub fn points(&self) -> &[P] {
        &self.points
    }

    /// The points, in order.
    pub fn into_points(self) -> Vec<P> {
        self.points
    }
}

impl Overview<SeriesPoint> {
    /// As a record's series, where an interval was `interval_s` long.
    pub fn into_series(self, interval_s: f64) -> Series {
        let (each, intervals) = (self.each, self.intervals());
        Series::thinned(self.into_points(), interval_s, each, intervals)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::merge::tests::points;
    use super::*;

    #[test]
    fn up_to_the_bound_every_interval_is_a_point() {
        let mut overview = Overview::new(POINTS_MIN);
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
    fn thirty_days_of_seconds_take_no_more_than_the_bound() {
        let mut overview = Overview::new(OVERVIEW_POINTS_MAX);
        let days_30 = 30 * 86_400u64;
        for at in 0..days_30 {
            overview.push(SeriesPoint { at_s: at as f64, seconds: 1.0, ops: at, ..SeriesPoint::default() });
        }
        assert_eq!(overview.intervals(), days_30);
        let ops: u64 = (0..days_30).sum();
        let series = overview.into_series(1.0);
        assert!(series.points.len() <= OVERVIEW_POINTS_MAX && series.points.len() > OVERVIEW_POINTS_MAX / 2);
        assert_eq!(series.points.iter().map(|point| point.ops).sum::<u64>(), ops);
        assert_eq!(series.interval_s, 512.0);
    }

    proptest! {
        #[test]
        fn an_overview_keeps_counts_time_order_and_the_largest(all in points(1..300)) {
            let mut overview = Overview::new(POINTS_MIN);
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
