//! One series while it is made: intervals that still change, told once they do not, and an overview of those.

use std::collections::{BTreeMap, VecDeque};

use dyno_record::{Chunk, Merge, Overview, Part, Series, SeriesPoint};

use crate::complete::Latencies;
use crate::interval::Interval;
use crate::packed::Packed;
use crate::tally::Tally;

/// Intervals that may be open at once where nobody reports for a long time: a server that hangs, a machine that slept.
const OPEN_MAX: usize = 4_096;

/// What is told of a series once nothing changes it any more.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Intervals that have become final.
    pub(crate) last: Vec<Chunk>,
    /// What was reported of intervals that were final.
    pub(crate) late: Vec<Chunk>,
}

/// The intervals of one series.
pub(crate) struct Line {
    part: Part,
    interval_s: f64,
    open: VecDeque<Open>,
    /// The number of the first that is open.
    open_from: u64,
    spare: Vec<Tally>,
    closed: Overview<Closed>,
    /// Closed ones that nobody has asked for, and the number of the first.
    untold: Vec<SeriesPoint>,
    untold_from: u64,
    /// What was reported of closed ones.
    late: BTreeMap<u64, SeriesPoint>,
    sum: Sum,
}

/// Sums of intervals.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    /// The number behind the last interval that is in it.
    pub(crate) until: u64,
    pub(crate) ops: u64,
    pub(crate) errors: u64,
    pub(crate) classes: Vec<u64>,
    pub(crate) latency: Packed,
}

impl Sum {
    fn add(&mut self, (ops, errors): (u64, u64), classes: &[u64], latency: &Packed) {
        self.ops += ops;
        self.errors += errors;
        add_classes(&mut self.classes, classes);
        self.latency.add(latency);
    }
}

fn add_classes(own: &mut Vec<u64>, classes: &[u64]) {
    own.resize(own.len().max(classes.len()), 0);
    own.iter_mut().zip(classes).for_each(|(own, ops)| *own += ops);
}

/// One interval of all sessions that may still change.
#[derive(Default)]
struct Open {
    ops: u64,
    errors: u64,
    classes: Vec<u64>,
    latency: Option<Tally>,
    metrics: BTreeMap<String, f64>,
}

/// One or several intervals that are over.
#[derive(Debug, Clone)]
struct Closed {
    /// Its percentiles are those of `latency`.
    point: SeriesPoint,
    latency: Packed,
}

impl Merge for Closed {
    fn merge(&mut self, later: Self) {
        self.point.merge(later.point);
        self.latency.add(&later.latency);
    }
}

impl Line {
    pub(crate) fn new(part: Part, interval_s: f64, points_max: usize) -> Self {
        Self {
            part,
            interval_s,
            open: VecDeque::new(),
            open_from: 0,
            spare: Vec::new(),
            closed: Overview::new(points_max),
            untold: Vec::new(),
            untold_from: 0,
            late: BTreeMap::new(),
            sum: Sum::default(),
        }
    }

    /// Adds what a session did in an interval.
    pub(crate) fn add(&mut self, interval: &Interval) {
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
            let tally = open.latency.get_or_insert_with(|| spare.take().unwrap_or_else(Tally::coarse));
            tally.add(&interval.latency);
        }
        self.spare.extend(spare);
    }

    fn add_late(&mut self, interval: &Interval) {
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

    /// Notes rates of database and host in an interval.
    pub(crate) fn note(&mut self, index: u64, metrics: BTreeMap<String, f64>) {
        if let Some(open) = self.open_at(index) {
            open.metrics = metrics;
        }
    }

    /// The open interval of this number; nothing where it is closed.
    fn open_at(&mut self, index: u64) -> Option<&mut Open> {
        while index >= self.open_from + self.open.len() as u64 {
            if self.open.len() >= OPEN_MAX {
                self.close_first();
            }
            self.open.push_back(Open::default());
        }
        self.open.get_mut(usize::try_from(index.checked_sub(self.open_from)?).ok()?)
    }

    /// What is known so far of an open interval: operations, median and 99th percentile in µs.
    pub(crate) fn peek(&self, index: u64) -> (u64, Option<f64>, Option<f64>) {
        let at = index.checked_sub(self.open_from).and_then(|at| usize::try_from(at).ok());
        let Some(open) = at.and_then(|at| self.open.get(at)) else { return (0, None, None) };
        let us = |quantile| open.latency.as_ref()?.quantile(quantile).map(|ns| ns as f64 / 1_000.0);
        (open.ops, us(0.5), us(0.99))
    }

    /// The point of the open interval of this number as it is known by now, with its response times; it and all before it are in the
    /// sum from now on. Nothing where it is closed.
    pub(crate) fn complete(&mut self, index: u64) -> Option<(SeriesPoint, Latencies)> {
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
        Some((open.point(at_s, self.interval_s, &latency), Latencies(latency)))
    }

    /// Sums of the intervals that are complete.
    pub(crate) fn sum(&self) -> &Sum {
        &self.sum
    }

    /// Closes all intervals before the one of this number.
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

    /// Takes the first open interval, which was so long, out.
    fn close_as(&mut self, seconds: f64) -> Option<Closed> {
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
        self.untold.push(point.clone());
        Some(Closed { point, latency })
    }

    /// Tells what nobody has been told yet.
    pub(crate) fn tell(&mut self, told: &mut Told) {
        if !self.untold.is_empty() {
            let points = std::mem::take(&mut self.untold);
            let first = std::mem::replace(&mut self.untold_from, self.open_from);
            told.last.push(Chunk { part: self.part, first, points });
        }
        let late = std::mem::take(&mut self.late).into_iter();
        told.late.extend(late.map(|(first, point)| Chunk { part: self.part, first, points: vec![point] }));
    }

    /// Closes every interval of a window of `wanted` that was `seconds` long.
    pub(crate) fn end(&mut self, wanted: u64, seconds: f64) {
        self.open_at(wanted.saturating_sub(1));
        // What ended a moment after the last full interval belongs to the last point: sessions cross the edge one by one.
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

    /// The series, every interval of which is closed.
    pub(crate) fn into_series(self) -> Series {
        let (each, intervals) = (self.closed.each(), self.closed.intervals());
        if intervals == 0 {
            return Series::default();
        }
        let point = |closed: Closed| {
            let [p50_us, p99_us, max_us] = closed.latency.quantiles_us([0.5, 0.99, 1.0]);
            SeriesPoint { p50_us, p99_us, max_us, bands: closed.latency.bands(), ..closed.point }
        };
        let points = self.closed.into_points().into_iter().map(point).collect();
        Series::thinned(points, self.interval_s, each, intervals)
    }

    /// Points that it holds, of whatever kind.
    #[cfg(test)]
    pub(crate) fn in_memory(&self) -> usize {
        self.open.len() + self.untold.len() + self.late.len() + self.closed.points().len()
    }
}

impl Open {
    fn packed(&self) -> Packed {
        self.latency.as_ref().map(Packed::of).unwrap_or_default()
    }

    /// Its point of the series, which begins at `at_s`.
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
