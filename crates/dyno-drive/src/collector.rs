//! Builds the series: adds up the threads' intervals, and adds the counters of the same time.
//!
//! An interval stays open while sessions may still report on it. Then it is reported to the listener and
//! added to an overview, whose length is bounded for runs of any length.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use dyno_record::{Series, SeriesPoint};

use crate::complete::{CoarseLatencies, RunningTotals};
use crate::interval::IntervalCounts;
use crate::line::{IntervalSeries, SeriesUpdates};

pub(crate) struct IntervalCollector {
    full: Receiver<Box<IntervalCounts>>,
    /// Channels that return used intervals to their threads.
    empty: Vec<Sender<Box<IntervalCounts>>>,
    next_empty: usize,
    /// The line of all sessions first, then one for each target if there are several.
    lines: Vec<IntervalSeries>,
    /// The number after the last interval that a session reported, and after the last whose counters were
    /// read.
    reported: u64,
    noted: u64,
    errors: u64,
    interval_s: f64,
}

/// The most points of all lines together, so that many targets cannot make a record arbitrarily large.
const ALL_POINTS_MAX: usize = 4 * dyno_record::OVERVIEW_POINTS_MAX;

/// Intervals that stay open for late reports of sessions in a long operation, before their tallies are
/// returned.
pub(crate) const OPEN_INTERVALS: u64 = 64;

/// A last interval shorter than this share of a full one is added to the point before it, because rates over
/// it are noise.
pub(crate) const SLIVER: f64 = 0.1;

impl IntervalCollector {
    /// For sessions on this many targets; a series has at most `points_max` points.
    pub(crate) fn new(
        targets: usize,
        (interval_s, points_max): (f64, usize),
        full: Receiver<Box<IntervalCounts>>,
        empty: Vec<Sender<Box<IntervalCounts>>>,
    ) -> Self {
        let lines = if targets > 1 { 1 + targets } else { 1 };
        let points_max = points_max.min(ALL_POINTS_MAX / lines);
        let line = |part| IntervalSeries::new(part as u32, interval_s, points_max);
        let lines = (0..lines).map(line).collect();
        Self { full, empty, next_empty: 0, lines, reported: 0, noted: 0, errors: 0, interval_s }
    }

    /// Receives everything that sessions have sent so far.
    pub(crate) fn drain(&mut self) {
        self.drain_unless(&|| false);
    }

    /// Receives what sessions have sent, until `is_time` for something else. Sessions that use all processors
    /// may send faster than this thread receives. The rest waits for the next call.
    pub(crate) fn drain_unless(&mut self, is_time: &dyn Fn() -> bool) {
        while !is_time() {
            let Ok(mut interval) = self.full.try_recv() else { return };
            self.errors += interval.errors;
            self.reported = self.reported.max(interval.index + 1);
            self.lines[0].add(&interval);
            if let Some(own) = self.lines.get_mut(1 + interval.target) {
                own.add(&interval);
            }
            self.close();
            interval.clear();
            if !self.empty.is_empty() {
                self.next_empty = (self.next_empty + 1) % self.empty.len();
                // A session that has ended takes none back.
                let _ = self.empty[self.next_empty].send(interval);
            }
        }
    }

    /// Closes intervals whose counters were read and on which no session reports any more.
    fn close(&mut self) {
        let until = self.reported.saturating_sub(OPEN_INTERVALS).min(self.noted);
        self.lines.iter_mut().for_each(|line| line.close_until(until));
    }

    /// Notes the rates of database and host in interval `index`: of all targets, then of each if there are
    /// several.
    pub(crate) fn note_metrics(&mut self, index: usize, metrics: Vec<BTreeMap<String, f64>>) {
        let index = index as u64;
        for (line, metrics) in self.lines.iter_mut().zip(metrics) {
            line.note(index, metrics);
        }
        self.noted = self.noted.max(index + 1);
        self.close();
    }

    /// The present state of interval `index`: operations, median and 99th percentile in µs.
    pub(crate) fn peek(&mut self, index: usize) -> (u64, Option<f64>, Option<f64>) {
        self.lines[0].peek(index as u64)
    }

    /// The present point of the series for interval `index`, and its response times; `None` if it is closed.
    pub(crate) fn complete(&mut self, index: u64) -> Option<(SeriesPoint, CoarseLatencies)> {
        self.lines[0].complete(index)
    }

    /// Sums of all complete intervals, with the number after the last of them, and operations by class
    /// number.
    pub(crate) fn so_far(&self) -> (RunningTotals, &[u64]) {
        let sum = self.lines[0].sum();
        let until_s = sum.until as f64 * self.interval_s;
        let latency = CoarseLatencies(sum.latency.clone());
        (
            RunningTotals { until_s, ops: sum.ops, errors: sum.errors, classes: Vec::new(), latency },
            &sum.classes,
        )
    }

    /// What has become final since the last call.
    pub(crate) fn take_updates(&mut self) -> SeriesUpdates {
        let mut updates = SeriesUpdates::default();
        self.lines.iter_mut().for_each(|line| line.drain_updates(&mut updates));
        updates
    }

    /// Failed operations since the window began.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Closes every interval: the window ended after `seconds`, and all sessions have ended.
    pub(crate) fn end(&mut self, seconds: f64) {
        self.drain();
        let wanted = (seconds / self.interval_s - SLIVER).ceil().max(1.0) as u64;
        self.lines.iter_mut().for_each(|line| line.end(wanted, seconds));
    }

    /// The series of a finished window: of all targets, then of each if there are several.
    pub(crate) fn into_series(self) -> Vec<Series> {
        self.lines.into_iter().map(IntervalSeries::into_series).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// The series from the reports of two threads, sent through `sent`.
    fn series(sent: impl Fn(Box<IntervalCounts>) -> Box<IntervalCounts>) -> Series {
        let (full, filled) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 100), filled, Vec::new());
        for index in 0..5 {
            full.send(sent(interval(index, &[1_000, 90_000 * (index + 1), 7_000_000]))).unwrap();
            full.send(sent(interval(index, &[2_000]))).unwrap();
        }
        collector.end(5.0);
        collector.into_series().remove(0)
    }

    #[test]
    fn serialized_intervals_give_the_same_series() {
        let by_bytes = |interval: Box<IntervalCounts>| {
            let bytes = serde_json::to_vec(&interval).unwrap();
            assert!(bytes.len() < 200, "{}", String::from_utf8_lossy(&bytes));
            serde_json::from_slice(&bytes).unwrap()
        };
        let direct = series(|interval| interval);
        assert_eq!(direct.points.iter().map(|point| point.ops).sum::<u64>(), 20);
        assert_eq!(series(by_bytes), direct);
        let hostile = r#"{"target":0,"index":0,"ops":1,"errors":0,"latency":[255,255,255,127,1]}"#;
        assert!(serde_json::from_str::<IntervalCounts>(hostile).is_err());
    }

    fn interval(index: u64, latencies_ns: &[u64]) -> Box<IntervalCounts> {
        let mut interval = IntervalCounts::new(0, 1);
        interval.index = index;
        for &latency in latencies_ns {
            interval.ops += 1;
            interval.classes[0] += 1;
            interval.latency.record(latency);
        }
        Box::new(interval)
    }

    fn series_of(mut collector: IntervalCollector, seconds: f64) -> Vec<Series> {
        collector.end(seconds);
        collector.into_series()
    }

    /// A run of this many seconds on two targets, reported as it goes; the second target idles in the first
    /// interval of each hundred.
    fn long(seconds: u64, points_max: usize) -> (Vec<Series>, Vec<Vec<dyno_record::SeriesPoint>>) {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(2, (1.0, points_max), full, Vec::new());
        let mut points_by_part = vec![Vec::new(); 3];
        let mut take = |collector: &mut IntervalCollector| {
            let updates = collector.take_updates();
            assert!(updates.late_chunks.is_empty());
            for chunk in updates.final_chunks {
                let part_points: &mut Vec<dyno_record::SeriesPoint> =
                    &mut points_by_part[chunk.part as usize];
                assert_eq!(chunk.first, part_points.len() as u64, "none is left out, none told twice");
                part_points.extend(chunk.points);
            }
        };
        for index in 0..seconds {
            send.send(interval(index, &[1_000 + index % 50, 9_000])).unwrap();
            if index % 100 != 0 {
                send.send(Box::new(IntervalCounts { target: 1, ..*interval(index, &[3_000 + index]) }))
                    .unwrap();
            }
            collector.drain();
            let rate = |rate: u64| BTreeMap::from([("x_per_s".to_owned(), rate as f64)]);
            collector.note_metrics(index as usize, vec![rate(index), rate(1), rate(2)]);
            take(&mut collector);
            assert!(collector.lines.iter().all(|line| line.in_memory() <= points_max + 80), "at {index}");
        }
        collector.end(seconds as f64);
        take(&mut collector);
        (collector.into_series(), points_by_part)
    }

    #[test]
    fn long_run_keeps_overview_and_reports_every_interval() {
        let (series, told) = long(5_000, 100);
        for (series, told) in series.iter().zip(&told) {
            assert!(series.points.len() <= 100, "{}", series.points.len());
            assert_eq!((series.intervals(), told.len()), (5_000, 5_000));
            let ops = |points: &[dyno_record::SeriesPoint]| points.iter().map(|p| p.ops).sum::<u64>();
            assert_eq!(ops(&series.points), ops(told));
            let most =
                |points: &[dyno_record::SeriesPoint]| points.iter().filter_map(|p| p.max_us).reduce(f64::max);
            assert_eq!(most(&series.points), most(told));
            let rate_total = |points: &[dyno_record::SeriesPoint]| {
                points.iter().map(|p| p.metrics["x_per_s"] * p.seconds).sum::<f64>()
            };
            assert!((rate_total(&series.points) - rate_total(told)).abs() < 1e-3);
        }
        // A point's percentiles are those of all its operations, not derived from its intervals' percentiles.
        assert_eq!(series[0].interval_s, 64.0);
        let p50 = series[1].points[0].p50_us.unwrap();
        assert!((1.0..1.1).contains(&p50), "{p50}");
        assert!((8.9..9.0).contains(&series[1].points[0].p99_us.unwrap()), "{p50}");
        let slowest = series[2].points[1].slowest.unwrap();
        assert_eq!((slowest.at_s, slowest.ops), (100.0, 0));
    }

    #[test]
    fn run_within_interval_bound_records_every_interval() {
        let (series, told) = long(100, 100);
        for (series, told) in series.iter().zip(&told) {
            assert!(series.full.is_none());
            assert!(series.interval_s == 1.0);
            assert_eq!(&series.points, told);
        }
    }

    #[test]
    fn late_session_report_is_published_and_counted() {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 100), full, Vec::new());
        for index in 0..300 {
            send.send(interval(index, &[1_000])).unwrap();
            collector.drain();
            collector.note_metrics(index as usize, vec![BTreeMap::new()]);
        }
        let first = collector.take_updates();
        assert!(first.final_chunks[0].points.len() > 200);
        assert!(first.late_chunks.is_empty());
        send.send(interval(7, &[5_000_000, 5_000_000])).unwrap();
        collector.drain();
        let late = collector.take_updates().late_chunks.remove(0);
        assert_eq!((late.part, late.first, late.points.len(), late.points[0].ops), (0, 7, 1, 2));
        let series = series_of(collector, 300.0).remove(0);
        assert_eq!(series.points.iter().map(|p| p.ops).sum::<u64>(), 302);
        assert!(series.points[1].max_us.unwrap() > 4_900.0, "{:?}", series.points[1]);
    }

    #[test]
    fn memory_of_open_intervals_is_bounded_without_reports() {
        let (_send, full) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 100), full, Vec::new());
        for index in 0..50_000 {
            collector.note_metrics(index, vec![BTreeMap::new()]);
            drop(collector.take_updates());
        }
        assert!(collector.lines[0].in_memory() < 5_000, "{}", collector.lines[0].in_memory());
        assert_eq!(series_of(collector, 50_000.0).remove(0).intervals(), 50_000);
    }

    #[test]
    fn collector_sums_sessions_and_keeps_empty_intervals() {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 7_200), full, Vec::new());
        send.send(interval(0, &[1_000, 2_000])).unwrap();
        send.send(interval(0, &[3_000])).unwrap();
        send.send(interval(3, &[5_000])).unwrap();
        collector.drain();
        let series = series_of(collector, 4.5).remove(0);
        let ops: Vec<_> = series.points.iter().map(|p| p.ops).collect();
        assert_eq!(ops, [3, 0, 0, 1, 0]);
        assert_eq!(series.points[0].p50_us, Some(2.0));
        assert!((series.points[4].seconds - 0.5).abs() < 1e-9);
    }

    #[test]
    fn intervals_not_collected_in_time_are_collected_later() {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 7_200), full, Vec::new());
        for index in 0..200 {
            send.send(interval(index, &[1_000])).unwrap();
        }
        let check_count = std::cell::Cell::new(0);
        collector.drain_unless(&|| check_count.replace(check_count.get() + 1) == 3);
        assert_eq!((collector.peek(2).0, collector.peek(3).0), (1, 0));
        // Counters arrive before the sessions' parts.
        collector.note_metrics(199, vec![BTreeMap::new()]);
        send.send(interval(150, &[3_008])).unwrap();
        let series = series_of(collector, 200.0).remove(0);
        assert_eq!(series.points.iter().map(|p| p.ops).sum::<u64>(), 201);
        assert_eq!((series.points[5].p50_us, series.points[150].max_us), (Some(1.0), Some(3.008)));
    }

    #[test]
    fn operations_after_last_interval_are_kept() {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 7_200), full, Vec::new());
        send.send(interval(0, &[1_000])).unwrap();
        send.send(interval(2, &[2_000, 2_000])).unwrap();
        collector.drain();
        let series = series_of(collector, 2.0).remove(0);
        assert_eq!(series.points.iter().map(|p| p.ops).sum::<u64>(), 3);
        assert_eq!(series.points.len(), 2);
    }

    #[test]
    fn targets_have_separate_series_that_sum_to_the_total() {
        let (send, full) = channel();
        let mut collector = IntervalCollector::new(2, (1.0, 7_200), full, Vec::new());
        for (target, latency_ns) in [(0, 1_000), (1, 3_008), (1, 3_008)] {
            send.send(Box::new(IntervalCounts { target, ..*interval(0, &[latency_ns]) })).unwrap();
        }
        let metric = |key: &str, value: f64| BTreeMap::from([(key.to_owned(), value)]);
        collector.note_metrics(0, vec![metric("x", 3.0), metric("x", 1.0), metric("x", 2.0)]);
        let series = series_of(collector, 1.0);
        let points: Vec<_> = series.iter().map(|series| &series.points[0]).collect();
        assert_eq!(points.iter().map(|point| point.ops).collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!(
            points.iter().map(|point| point.max_us).collect::<Vec<_>>(),
            [Some(3.008), Some(1.0), Some(3.008)]
        );
        assert_eq!(points.iter().map(|point| point.metrics["x"]).collect::<Vec<_>>(), [3.0, 1.0, 2.0]);
    }

    #[test]
    fn used_intervals_are_returned_empty() {
        let (send, full) = channel();
        let (back, empty) = channel();
        let mut collector = IntervalCollector::new(1, (1.0, 7_200), full, vec![back]);
        send.send(interval(0, &[1_000])).unwrap();
        collector.drain();
        let used = empty.try_recv().unwrap();
        assert_eq!((used.ops, used.latency.len()), (0, 0));
    }
}
