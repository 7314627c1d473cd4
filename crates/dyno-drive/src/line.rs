//! Builds one series: intervals that still change, updates about final ones, and an overview of those.

use std::collections::{BTreeMap, VecDeque};

use dyno_record::{Merge, Series, SeriesChunk, SeriesOverview, SeriesPart, SeriesPoint};

use crate::complete::CoarseLatencies;
use crate::interval::IntervalCounts;
use crate::packed::Packed;
use crate::tally::LatencyTally;

/// The most open intervals, where sessions do not report for a long time: a hanging server, a suspended
/// machine.
const OPEN_MAX: usize = 4_096;

/// The final parts of a series that have not been reported yet.
#[derive(Debug, Default)]
pub(crate) struct SeriesUpdates {
    /// Intervals that have become final.
    pub(crate) final_chunks: Vec<SeriesChunk>,
    /// Late reports on intervals that were already final.
    pub(crate) late_chunks: Vec<SeriesChunk>,
}

/// The intervals of one series.
pub(crate) struct IntervalSeries {
    part: SeriesPart,
    interval_s: f64,
    open: VecDeque<OpenInterval>,
    /// The number of the first open interval.
    open_from: u64,
    spare: Vec<LatencyTally>,
    closed: SeriesOverview<ClosedInterval>,
    /// Closed intervals that are not reported yet, and the number of the first.
    unreported: Vec<SeriesPoint>,
    unreported_from: u64,
    /// Late reports on closed intervals.
    late: BTreeMap<u64, SeriesPoint>,
    sum: IntervalTotals,
}

#[derive(Debug, Default)]
pub(crate) struct IntervalTotals {
    /// The number after the last interval that is included.
    pub(crate) until: u64,
    pub(crate) ops: u64,
    pub(crate) errors: u64,
    pub(crate) classes: Vec<u64>,
    pub(crate) latency: Packed,
}

impl IntervalTotals {
    fn add(&mut self, (ops, errors): (u64, u64), classes: &[u64], latency: &Packed) {
        self.ops += ops;
        self.errors += errors;
        add_classes(&mut self.classes, classes);
        self.latency.add(latency);
    }
}

fn add_classes(totals: &mut Vec<u64>, classes: &[u64]) {
    totals.resize(totals.len().max(classes.len()), 0);
    totals.iter_mut().zip(classes).for_each(|(total, ops)| *total += ops);
}

/// One interval of all sessions that may still change.
#[derive(Default)]
struct OpenInterval {
    ops: u64,
    errors: u64,
    classes: Vec<u64>,
    latency: Option<LatencyTally>,
    metrics: BTreeMap<String, f64>,
}

/// One or several closed intervals.
#[derive(Debug, Clone)]
struct ClosedInterval {
    /// Its percentiles are in `latency`.
    point: SeriesPoint,
    latency: Packed,
}

impl Merge for ClosedInterval {
    fn merge(&mut self, later: Self) {
        self.point.merge(later.point);
        self.latency.add(&later.latency);
    }
}

impl IntervalSeries {
    pub(crate) fn new(part: SeriesPart, interval_s: f64, points_max: usize) -> Self {
        Self {
            part,
            interval_s,
            open: VecDeque::new(),
            open_from: 0,
            spare: Vec::new(),
            closed: SeriesOverview::new(points_max),
            unreported: Vec::new(),
            unreported_from: 0,
            late: BTreeMap::new(),
            sum: IntervalTotals::default(),
        }
    }

    /// Adds what a session did in an interval.
    pub(crate) fn add(&mut self, interval: &IntervalCounts) {
        if interval.index < self.sum.until {
            let latency = Packed::of(&interval.latency);
            self.sum.add((interval.ops, interval.errors), &interval.classes, &latency);
        }
        let spare = self.spare.pop();
        let Some(open) = self.open_at(interval.index) else {
            self.spare.extend(spare);
            return self.add_late(interval);
        };
        open.ops += interval.ops;
        open.errors += interval.errors;
        add_classes(&mut open.classes, &interval.classes);
        let mut spare = spare;
        if interval.latency.len() > 0 {
            let tally = open.latency.get_or_insert_with(|| spare.take().unwrap_or_else(LatencyTally::coarse));
            tally.add(&interval.latency);
        }
        self.spare.extend(spare);
    }

    fn add_late(&mut self, interval: &IntervalCounts) {
        let latency = Packed::of(&interval.latency);
        let [max_us] = latency.quantiles_us([1.0]);
        let (ops, errors) = (interval.ops, interval.errors);
        let late = SeriesPoint { ops, errors, max_us, ..SeriesPoint::default() };
        if let Some(closed) = self.closed.of_interval(interval.index) {
            closed.point.add_late(&late);
            closed.latency.add(&latency);
        }
        self.late.entry(interval.index).or_default().add_late(&late);
    }

    /// Notes the rates of database and host in an interval.
    pub(crate) fn note(&mut self, index: u64, metrics: BTreeMap<String, f64>) {
        if let Some(open) = self.open_at(index) {
            open.metrics = metrics;
        }
    }

    /// The open interval with this number; `None` if it is closed.
    fn open_at(&mut self, index: u64) -> Option<&mut OpenInterval> {
        while index >= self.open_from + self.open.len() as u64 {
            if self.open.len() >= OPEN_MAX {
                self.close_first();
            }
            self.open.push_back(OpenInterval::default());
        }
        self.open.get_mut(usize::try_from(index.checked_sub(self.open_from)?).ok()?)
    }

    /// The present state of an open interval: operations, median and 99th percentile in µs.
    pub(crate) fn peek(&self, index: u64) -> (u64, Option<f64>, Option<f64>) {
        let at = index.checked_sub(self.open_from).and_then(|at| usize::try_from(at).ok());
        let Some(open) = at.and_then(|at| self.open.get(at)) else { return (0, None, None) };
        let us = |quantile| open.latency.as_ref()?.quantile(quantile).map(|ns| ns as f64 / 1_000.0);
        (open.ops, us(0.5), us(0.99))
    }

    /// The present point of the open interval with this number, with its response times. It and all earlier
    /// ones are included in the sum from now on. `None` if it is closed.
    pub(crate) fn complete(&mut self, index: u64) -> Option<(SeriesPoint, CoarseLatencies)> {
        while self.sum.until <= index {
            let until = self.sum.until;
            if let Some(at) = until.checked_sub(self.open_from)
                && let Some(open) = usize::try_from(at).ok().and_then(|at| self.open.get(at))
            {
                self.sum.add((open.ops, open.errors), &open.classes, &open.packed());
            }
            self.sum.until += 1;
        }
        let at_s = index as f64 * self.interval_s;
        let open = self.open.get(usize::try_from(index.checked_sub(self.open_from)?).ok()?)?;
        let latency = open.packed();
        Some((open.point(at_s, self.interval_s, &latency), CoarseLatencies(latency)))
    }

    /// Sums of the complete intervals.
    pub(crate) fn sum(&self) -> &IntervalTotals {
        &self.sum
    }

    /// Closes all intervals before the one with this number.
    pub(crate) fn close_until(&mut self, until: u64) {
        while self.open_from < until && !self.open.is_empty() {
            self.close_first();
        }
    }

    fn close_first(&mut self) {
        let length_s = self.interval_s;
        let Some(closed) = self.close_as(length_s) else { return };
        self.closed.push(closed);
    }

    /// Removes the first open interval, which lasted this many seconds.
    fn close_as(&mut self, seconds: f64) -> Option<ClosedInterval> {
        let open = self.open.pop_front()?;
        let latency = open.packed();
        if self.open_from >= self.sum.until {
            self.sum.add((open.ops, open.errors), &open.classes, &latency);
            self.sum.until = self.open_from + 1;
        }
        let point = open.point(self.open_from as f64 * self.interval_s, seconds, &latency);
        if let Some(mut tally) = open.latency {
            tally.clear();
            self.spare.push(tally);
        }
        self.open_from += 1;
        self.unreported.push(point.clone());
        Some(ClosedInterval { point, latency })
    }

    /// Moves everything that is not reported yet to `updates`.
    pub(crate) fn drain_updates(&mut self, updates: &mut SeriesUpdates) {
        if !self.unreported.is_empty() {
            let points = std::mem::take(&mut self.unreported);
            let first = std::mem::replace(&mut self.unreported_from, self.open_from);
            updates.final_chunks.push(SeriesChunk { part: self.part, first, points });
        }
        let late = std::mem::take(&mut self.late).into_iter();
        updates.late_chunks.extend(late.map(|(first, point)| SeriesChunk {
            part: self.part,
            first,
            points: vec![point],
        }));
    }

    /// Closes every interval of a window of `wanted` intervals that was `seconds` long.
    pub(crate) fn end(&mut self, wanted: u64, seconds: f64) {
        self.open_at(wanted.saturating_sub(1));
        // Work that ended just after the last full interval belongs to the last point: sessions cross the
        // boundary one by one.
        while self.open_from + self.open.len() as u64 > wanted && self.open.len() > 1 {
            let Some(extra) = self.open.pop_back() else { break };
            if let Some(last) = self.open.back_mut() {
                last.absorb(extra);
            }
        }
        while self.open.len() > 1 {
            self.close_first();
        }
        let length_s = seconds - self.open_from as f64 * self.interval_s;
        if let Some(last) = self.close_as(length_s) {
            self.closed.push(last);
        }
    }

    /// The series; all its intervals must be closed.
    pub(crate) fn into_series(self) -> Series {
        let (each, intervals) = (self.closed.each(), self.closed.intervals());
        if intervals == 0 {
            return Series::default();
        }
        let point = |closed: ClosedInterval| {
            let [p50_us, p99_us, max_us] = closed.latency.quantiles_us([0.5, 0.99, 1.0]);
            SeriesPoint { p50_us, p99_us, max_us, bands: closed.latency.bands(), ..closed.point }
        };
        let points = self.closed.into_points().into_iter().map(point).collect();
        Series::thinned(points, self.interval_s, each, intervals)
    }

    /// Number of points that it holds, of any kind.
    #[cfg(test)]
    pub(crate) fn in_memory(&self) -> usize {
        self.open.len() + self.unreported.len() + self.late.len() + self.closed.points().len()
    }
}

impl OpenInterval {
    fn packed(&self) -> Packed {
        self.latency.as_ref().map(Packed::of).unwrap_or_default()
    }

    /// The interval's point of the series, which begins at `at_s`.
    fn point(&self, at_s: f64, seconds: f64, latency: &Packed) -> SeriesPoint {
        let [p50_us, p99_us, max_us] = latency.quantiles_us([0.5, 0.99, 1.0]);
        let (ops, errors, metrics) = (self.ops, self.errors, self.metrics.clone());
        let bands = latency.bands();
        SeriesPoint { at_s, seconds, ops, errors, p50_us, p99_us, max_us, metrics, bands, slowest: None }
    }

    fn absorb(&mut self, other: Self) {
        self.ops += other.ops;
        self.errors += other.errors;
        add_classes(&mut self.classes, &other.classes);
        match (&mut self.latency, other.latency) {
            (Some(own), Some(tally)) => own.add(&tally),
            (own @ None, Some(tally)) => *own = Some(tally),
            _ => {}
        }
    }
}
