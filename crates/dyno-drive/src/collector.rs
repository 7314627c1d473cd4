//! The series: sessions' intervals added up, with the counters of the same time beside them.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use dyno_record::{Series, SeriesPoint};

use crate::recorder::Interval;
use crate::tally::Tally;

/// Intervals of a series at most; a longer run keeps counting in its totals, and its series ends here.
const POINTS_MAX: u64 = 1_000_000;

/// Adds up sessions' intervals.
pub(crate) struct Collector {
    full: Receiver<Box<Interval>>,
    /// Where used intervals go back to, by session; a session takes them from there.
    empty: Vec<Sender<Box<Interval>>>,
    next_empty: usize,
    /// All sessions together first; behind them those of each target, where there are several.
    lines: Vec<Line>,
}

/// The points of one series while it is made.
#[derive(Default)]
struct Line {
    points: Vec<Point>,
    spare: Vec<Tally>,
    /// The first interval whose percentiles are not final yet, and the one behind the last that a session has reported.
    open_from: usize,
    reported: usize,
    /// The first final interval that nobody has asked for.
    untold: usize,
}

/// One interval of all sessions.
#[derive(Default)]
struct Point {
    ops: u64,
    errors: u64,
    latency: Option<Tally>,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
    metrics: BTreeMap<String, f64>,
}

/// Intervals that stay open for sessions that report late (in a long operation) before their tallies are given back.
const OPEN_INTERVALS: usize = 64;

/// A last interval shorter than this share of one belongs to the point before it: rates over a sliver are noise.
pub(crate) const SLIVER: f64 = 0.1;

impl Collector {
    /// For sessions on so many targets.
    pub(crate) fn new(
        targets: usize,
        full: Receiver<Box<Interval>>,
        empty: Vec<Sender<Box<Interval>>>,
    ) -> Self {
        let lines = if targets > 1 { 1 + targets } else { 1 };
        Self { full, empty, next_empty: 0, lines: (0..lines).map(|_| Line::default()).collect() }
    }

    /// Takes in everything that sessions have sent so far.
    pub(crate) fn drain(&mut self) {
        self.drain_unless(&|| false);
    }

    /// Takes in what sessions have sent so far, unless it `is_time` for something else: sessions that have all processors
    /// may send faster than the one thread takes in. What is left waits for the next call.
    pub(crate) fn drain_unless(&mut self, is_time: &dyn Fn() -> bool) {
        while !is_time() {
            let Ok(mut interval) = self.full.try_recv() else { return };
            if interval.index < POINTS_MAX {
                self.lines[0].add(&interval);
                if let Some(own) = self.lines.get_mut(1 + interval.target) {
                    own.add(&interval);
                }
            }
            interval.clear();
            if !self.empty.is_empty() {
                self.next_empty = (self.next_empty + 1) % self.empty.len();
                // A session that has ended takes none back.
                let _ = self.empty[self.next_empty].send(interval);
            }
        }
    }

    /// Notes rates of database and host in interval `index`: of all targets, then of each where there are several.
    pub(crate) fn note_metrics(&mut self, index: usize, metrics: Vec<BTreeMap<String, f64>>) {
        for (line, metrics) in self.lines.iter_mut().zip(metrics) {
            if (index as u64) < POINTS_MAX {
                line.extend_to(index);
                line.points[index].metrics = metrics;
            }
        }
    }

    /// What is known so far of interval `index`: operations, median and 99th percentile in µs.
    pub(crate) fn peek(&mut self, index: usize) -> (u64, Option<f64>, Option<f64>) {
        let Some(point) = self.lines[0].points.get_mut(index) else { return (0, None, None) };
        point.summarise();
        (point.ops, point.p50_us, point.p99_us)
    }

    /// Intervals of all sessions that have become final since this was last asked, but for the counters of those without
    /// any yet.
    pub(crate) fn take_final(&mut self, interval_s: f64) -> Vec<SeriesPoint> {
        let line = &mut self.lines[0];
        let from = std::mem::replace(&mut line.untold, line.open_from);
        let points = line.points[from..line.open_from].iter().enumerate();
        points.map(|(i, point)| point.to_series((from + i) as f64 * interval_s, interval_s)).collect()
    }

    /// Failed operations so far.
    pub(crate) fn errors(&self) -> u64 {
        self.lines[0].points.iter().map(|point| point.errors).sum()
    }

    /// The series of a window that lasted `seconds`: of all targets, then of each where there are several.
    pub(crate) fn finish(mut self, interval_s: f64, seconds: f64) -> Vec<Series> {
        self.drain();
        self.lines.into_iter().map(|line| line.finish(interval_s, seconds)).collect()
    }
}

impl Line {
    fn add(&mut self, interval: &Interval) {
        let index = interval.index as usize;
        self.extend_to(index);
        let point = &mut self.points[index];
        point.ops += interval.ops;
        point.errors += interval.errors;
        if interval.latency.len() > 0 {
            let spare = &mut self.spare;
            let tally = point.latency.get_or_insert_with(|| spare.pop().unwrap_or_else(Tally::coarse));
            tally.add(&interval.latency);
        }
        self.reported = self.reported.max(index + 1);
        while self.reported > self.open_from + OPEN_INTERVALS {
            let point = &mut self.points[self.open_from];
            point.summarise();
            if let Some(mut tally) = point.latency.take() {
                tally.clear();
                self.spare.push(tally);
            }
            self.open_from += 1;
        }
    }

    fn extend_to(&mut self, index: usize) {
        if self.points.len() <= index {
            self.points.resize_with(index + 1, Point::default);
        }
    }

    fn finish(mut self, interval_s: f64, seconds: f64) -> Series {
        let wanted = (seconds / interval_s - SLIVER).ceil().max(1.0).min(POINTS_MAX as f64) as usize;
        self.extend_to(wanted - 1);
        // What ended a moment after the last full interval belongs to the last point: sessions cross the edge one by one.
        while self.points.len() > wanted {
            let Some(extra) = self.points.pop() else { break };
            self.points[wanted - 1].absorb(extra);
        }
        let points = self.points.into_iter().enumerate().map(|(i, point)| {
            let at_s = i as f64 * interval_s;
            let length_s = if i + 1 == wanted { seconds - at_s } else { interval_s };
            point.into_series(at_s, length_s)
        });
        Series { interval_s, points: points.collect() }
    }
}

impl Point {
    fn summarise(&mut self) {
        if let Some(tally) = &self.latency {
            let us = |quantile| tally.quantile(quantile).map(|ns| ns as f64 / 1_000.0);
            (self.p50_us, self.p99_us, self.max_us) = (us(0.5), us(0.99), us(1.0));
        }
    }

    fn absorb(&mut self, other: Self) {
        self.ops += other.ops;
        self.errors += other.errors;
        match (&mut self.latency, other.latency) {
            (Some(own), Some(tally)) => own.add(&tally),
            (own @ None, Some(tally)) if self.ops == other.ops => *own = Some(tally),
            _ => {}
        }
    }

    fn into_series(mut self, at_s: f64, seconds: f64) -> SeriesPoint {
        self.summarise();
        self.to_series(at_s, seconds)
    }

    fn to_series(&self, at_s: f64, seconds: f64) -> SeriesPoint {
        SeriesPoint {
            at_s,
            seconds,
            ops: self.ops,
            errors: self.errors,
            p50_us: self.p50_us,
            p99_us: self.p99_us,
            max_us: self.max_us,
            metrics: self.metrics.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn interval(index: u64, latencies_ns: &[u64]) -> Box<Interval> {
        let mut interval = Interval::new(0);
        interval.index = index;
        for &latency in latencies_ns {
            interval.ops += 1;
            interval.latency.record(latency);
        }
        Box::new(interval)
    }

    #[test]
    fn sessions_add_up_and_empty_intervals_are_points_too() {
        let (send, full) = channel();
        let mut collector = Collector::new(1, full, Vec::new());
        send.send(interval(0, &[1_000, 2_000])).unwrap();
        send.send(interval(0, &[3_000])).unwrap();
        send.send(interval(3, &[5_000])).unwrap();
        collector.drain();
        let series = collector.finish(1.0, 4.5).remove(0);
        let ops: Vec<_> = series.points.iter().map(|p| p.ops).collect();
        assert_eq!(ops, [3, 0, 0, 1, 0]);
        assert_eq!(series.points[0].p50_us, Some(2.0));
        assert!((series.points[4].seconds - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_taken_in_in_time_is_taken_in_later() {
        let (send, full) = channel();
        let mut collector = Collector::new(1, full, Vec::new());
        for index in 0..200 {
            send.send(interval(index, &[1_000])).unwrap();
        }
        let taken = std::cell::Cell::new(0);
        collector.drain_unless(&|| taken.replace(taken.get() + 1) == 3);
        assert_eq!((collector.peek(2).0, collector.peek(3).0), (1, 0));
        // Counters are there before the sessions' parts are.
        collector.note_metrics(199, vec![BTreeMap::new()]);
        send.send(interval(150, &[3_008])).unwrap();
        let series = collector.finish(1.0, 200.0).remove(0);
        assert_eq!(series.points.iter().map(|p| p.ops).sum::<u64>(), 201);
        assert_eq!((series.points[5].p50_us, series.points[150].max_us), (Some(1.0), Some(3.008)));
    }

    #[test]
    fn what_ends_after_the_last_interval_is_not_lost() {
        let (send, full) = channel();
        let mut collector = Collector::new(1, full, Vec::new());
        send.send(interval(0, &[1_000])).unwrap();
        send.send(interval(2, &[2_000, 2_000])).unwrap();
        collector.drain();
        let series = collector.finish(1.0, 2.0).remove(0);
        assert_eq!(series.points.iter().map(|p| p.ops).sum::<u64>(), 3);
        assert_eq!(series.points.len(), 2);
    }

    #[test]
    fn targets_have_series_of_their_own_that_add_up() {
        let (send, full) = channel();
        let mut collector = Collector::new(2, full, Vec::new());
        for (target, latency_ns) in [(0, 1_000), (1, 3_008), (1, 3_008)] {
            send.send(Box::new(Interval { target, ..*interval(0, &[latency_ns]) })).unwrap();
        }
        let of = |key: &str, value: f64| BTreeMap::from([(key.to_owned(), value)]);
        collector.note_metrics(0, vec![of("x", 3.0), of("x", 1.0), of("x", 2.0)]);
        let series = collector.finish(1.0, 1.0);
        let points: Vec<_> = series.iter().map(|series| &series.points[0]).collect();
        assert_eq!(points.iter().map(|point| point.ops).collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!(
            points.iter().map(|point| point.max_us).collect::<Vec<_>>(),
            [Some(3.008), Some(1.0), Some(3.008)]
        );
        assert_eq!(points.iter().map(|point| point.metrics["x"]).collect::<Vec<_>>(), [3.0, 1.0, 2.0]);
    }

    #[test]
    fn used_intervals_go_back_empty() {
        let (send, full) = channel();
        let (back, empty) = channel();
        let mut collector = Collector::new(1, full, vec![back]);
        send.send(interval(0, &[1_000])).unwrap();
        collector.drain();
        let used = empty.try_recv().unwrap();
        assert_eq!((used.ops, used.latency.len()), (0, 0));
    }
}
