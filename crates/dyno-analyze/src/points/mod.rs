//! Points: what runs at the same setting say together.
//!
//! Every curve, fit, comparison and report begins here. [`points()`] groups the runs of a slice by the settings in
//! which they differ (the axes); runs that differ in none are repeats of one point. Only valid runs and imported ones are points: the
//! others are listed with their reason, so that nothing is left out unseen.
//!
//! ```text
//! let points = points(&records);
//! for curve in points.curves(SESSIONS) {
//!     for point in &curve.points {
//!         point.sessions; point.get("ops_per_s"); point.get("service_p99_us");
//!     }
//! }
//! ```

pub(crate) mod axis;
mod curve;
mod estimate;
mod latency;
pub(crate) mod measure;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Histogram, Latency, Metric, RunRecord, Status, Unit};

use axis::Candidate;
pub use axis::{Axis, AxisValue, RATE, SESSIONS};
pub use curve::Curve;
pub use estimate::{Estimate, median};
pub use latency::Timed;
pub use measure::{Better, MEASURES, Measure, phrase};

/// Runs at the same setting: one place on every axis, measured once or more often.
#[derive(Debug, Clone)]
pub struct Point<'r> {
    /// Sessions over all schemas.
    pub sessions: u32,
    /// The value on each axis, in the order of [`Points::axes`].
    pub values: Vec<AxisValue>,
    /// The runs, in the order in which they ran.
    pub runs: Vec<&'r RunRecord>,
    /// What was measured, by name; see [`MEASURES`]. What any of the runs cannot tell is not there.
    pub estimates: BTreeMap<String, Estimate>,
}

impl Point<'_> {
    /// The value of a measure, in its unit.
    pub fn get(&self, measure: &str) -> Option<f64> {
        self.estimates.get(measure).map(|estimate| estimate.value)
    }

    /// The latency of a class of operations (`select`, `all`) over all runs of the point: their histograms added.
    /// The sum itself is [`histogram`](Self::histogram).
    pub fn latency(&self, class: &str, timed: Timed) -> Option<Latency> {
        latency::latency(&self.runs, class, timed)
    }

    /// The histogram of a class of operations (`select`, `all`), all runs of the point added together; `None` unless
    /// every run has one.
    pub fn histogram(&self, class: &str, timed: Timed) -> Option<Histogram> {
        latency::merged(&self.runs, class, timed)
    }

    /// Whether others had part in the measure in any of the runs, or that cannot be excluded.
    pub fn is_marked(&self, measure: &str) -> bool {
        self.runs.iter().any(|record| crate::whose::is_marked(record, measure))
    }

    /// Why a measure is not there, in the words of the first run that cannot tell.
    pub fn absent(&self, measure: &str) -> Option<&str> {
        self.runs.iter().find_map(|record| match record.metrics.get(measure) {
            Some(Metric::Absent { absent }) => Some(absent.as_str()),
            _ => None,
        })
    }
}

/// A run that is no point, and why.
#[derive(Debug, Clone)]
pub struct LeftOut<'r> {
    /// The run.
    pub record: &'r RunRecord,
    /// The value on each axis, in the order of [`Points::axes`].
    pub values: Vec<AxisValue>,
    /// Why it is no point, in a few words.
    pub reason: String,
}

/// What a set of runs says, point by point.
#[derive(Debug, Clone, Default)]
pub struct Points<'r> {
    /// The settings in which the runs differ, [`SESSIONS`] last; valid or not, every run counts here.
    pub axes: Vec<Axis>,
    /// The points, in order of the axes.
    pub points: Vec<Point<'r>>,
    /// Runs that are no points, in the order given.
    pub left_out: Vec<LeftOut<'r>>,
}

/// Groups `records` into points.
pub fn points(records: &[RunRecord]) -> Points<'_> {
    points_of(records.iter())
}

/// [`points()`] of records that do not lie in one slice.
pub fn points_of<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Points<'r> {
    let mut records: Vec<&RunRecord> = records.into_iter().collect();
    records.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.id.cmp(&b.id)));
    let varying = varying(&records);
    let ids: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let mut groups: Vec<(Vec<AxisValue>, Vec<&RunRecord>)> = Vec::new();
    let mut left_out = Vec::new();
    for record in records {
        let values: Vec<_> = varying.iter().map(|axis| axis.of(record)).collect();
        if let Some(reason) = why_no_point(record, &ids) {
            left_out.push(LeftOut { record, values, reason });
            continue;
        }
        match groups.iter_mut().find(|(at, _)| *at == values) {
            Some((_, runs)) => runs.push(record),
            None => groups.push((values, vec![record])),
        }
    }
    let order = |a: &[AxisValue], b: &[AxisValue]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.order(b))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    groups.sort_by(|(a, _), (b, _)| order(a, b));
    Points {
        axes: varying.into_iter().map(|candidate| candidate.axis).collect(),
        points: groups.into_iter().map(|(values, runs)| point(values, runs)).collect(),
        left_out,
    }
}

/// One run's own figure of a measure, with its unit; absent where the run cannot tell.
pub fn figure(record: &RunRecord, measure: &str) -> Option<(f64, Unit)> {
    match record.metrics.get(measure) {
        Some(Metric::Value { value, unit }) => return Some((*value, *unit)),
        Some(Metric::Absent { .. }) => return None,
        None => {}
    }
    match measure {
        "ops_per_s" => record.ops.get(latency::ALL).map(|all| (all.rate_per_s, Unit::PerSecond)),
        _ => latency::figure(record, measure).map(|us| (us, Unit::Microseconds)),
    }
}

/// The axes on which the records do not all have the same value.
fn varying(records: &[&RunRecord]) -> Vec<Candidate> {
    let mut axes = axis::candidates(records);
    axes.retain(|axis| axis.varies(records));
    // Schemas that rise with the sessions are how the sessions came about, not another axis.
    let mut schemas = BTreeMap::new();
    let schemas_follow = records.iter().all(|record| {
        let count = record.plan.data.schemas;
        *schemas.entry(axis::sessions(record)).or_insert(count) == count
    });
    if schemas_follow {
        axes.retain(|candidate| candidate.axis.path != "data.schemas");
    }
    axes
}

/// Why a run is no point; `None` when it is one. `ids` are the names of all runs given.
fn why_no_point(record: &RunRecord, ids: &BTreeSet<&str>) -> Option<String> {
    // One target's part of a run beside the whole run would count the same work twice.
    if let Some(whole) = record.one_target_of.as_ref().filter(|whole| ids.contains(whole.as_str())) {
        return Some(format!("one target's part of {whole}, which is here as a whole"));
    }
    match (record.status, record.reasons.first()) {
        (Status::Valid | Status::Imported, _) => None,
        (status, Some(reason)) => Some(format!("{}: {reason}", status.name())),
        (status, None) => Some(status.name().to_owned()),
    }
}

fn point<'r>(values: Vec<AxisValue>, runs: Vec<&'r RunRecord>) -> Point<'r> {
    let mut estimates = BTreeMap::new();
    let first = runs.first().expect("a group is made with its first run");
    for (name, metric) in &first.metrics {
        let Metric::Value { unit, .. } = metric else { continue };
        let figures = runs.iter().map(|record| record.metrics.get(name).and_then(Metric::value));
        if let Some(figures) = figures.collect::<Option<Vec<f64>>>() {
            estimates.extend(Estimate::of_median(*unit, figures).map(|estimate| (name.clone(), estimate)));
        }
    }
    if !estimates.contains_key("ops_per_s") {
        let rates = runs.iter().map(|record| record.ops.get(latency::ALL).map(|all| all.rate_per_s));
        let estimate = rates.collect::<Option<_>>().and_then(|r| Estimate::of_median(Unit::PerSecond, r));
        estimates.extend(estimate.map(|estimate| ("ops_per_s".to_owned(), estimate)));
    }
    latency::estimate(&runs, &mut estimates);
    Point { sessions: axis::sessions(first), values, runs, estimates }
}
