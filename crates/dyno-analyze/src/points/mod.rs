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

use std::collections::{BTreeMap, HashMap, HashSet};

use dyno_record::{Kind, Metric, RunId, RunRecord, Status, Unit, WaitTime, Waits};

use crate::audit::{page_cache_pct, unverified_reads};
use crate::doubts::Doubts;
use crate::limited::{Limited, Limits, limited};
use crate::whose::{Marked, marked};
use axis::Settings;
pub use axis::{Axis, AxisValue, RATE, SESSIONS};
pub use curve::Curve;
pub use estimate::{Estimate, median};
use latency::Latencies;
pub use measure::{Better, MEASURES, Measure, apart, phrase};

/// Runs at the same setting: one place on every axis, measured once or more often.
#[derive(Debug, Clone)]
pub struct Point {
    /// Sessions over all schemas.
    pub sessions: u32,
    /// The value on each axis, in the order of [`Points::axes`].
    pub values: Vec<AxisValue>,
    /// The runs, in the order in which they ran.
    pub runs: Vec<Repeat>,
    /// What was measured, by name; see [`MEASURES`]. What any of the runs cannot tell is not there.
    pub estimates: BTreeMap<String, Estimate>,
    /// Audit warnings of its runs.
    pub doubts: Doubts,
    limits: Limits,
}

/// What a point keeps of one of its runs, beside the figures.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// Its name.
    pub id: RunId,
    /// Operations per second, by its own count; 0 where nobody counted.
    pub rate_per_s: f64,
    /// The figures in which others had part.
    pub marked: Marked,
    /// What its sessions waited for.
    pub waits: Vec<WaitTime>,
    pub(crate) page_cache_pct: Option<f64>,
    /// Why nobody can tell whether the page cache answered its reads; absent where that is known.
    pub(crate) unverified_reads: Option<String>,
}

impl Repeat {
    fn of(record: &RunRecord) -> Self {
        Self {
            id: record.id.clone(),
            rate_per_s: record.leading_ops().map_or(0.0, |all| all.rate_per_s),
            marked: marked(record),
            waits: match &record.waits {
                Waits::Sampled { events, .. } => events.clone(),
                Waits::Absent { .. } => Vec::new(),
            },
            page_cache_pct: page_cache_pct(record),
            unverified_reads: unverified_reads(record),
        }
    }
}

impl Point {
    /// The value of a measure, in its unit.
    pub fn get(&self, measure: &str) -> Option<f64> {
        self.estimates.get(measure).map(|estimate| estimate.value)
    }

    /// What limited its runs.
    pub fn limited(&self) -> Option<Limited> {
        self.limits.together()
    }

    /// Whether others had part in the measure in any of the runs, or that cannot be excluded.
    pub fn is_marked(&self, measure: &str) -> bool {
        self.runs.iter().any(|run| run.marked.contains_key(measure))
    }
}

/// A run that is no point, and why.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The run.
    pub id: RunId,
    /// Why it is no point, in a few words.
    pub reason: String,
}

/// What a set of runs says, point by point.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// The settings in which the runs differ, [`SESSIONS`] last; valid or not, every run counts here.
    pub axes: Vec<Axis>,
    /// The points, in order of the axes.
    pub points: Vec<Point>,
    /// Runs that are no points, in the order in which they ran.
    pub left_out: Vec<LeftOut>,
    /// What workloads want to have said wherever a result of theirs is shown, each once.
    pub notes: Vec<String>,
}

/// Groups `records` into points.
pub fn points(records: &[RunRecord]) -> Points {
    let mut records: Vec<&RunRecord> = records.iter().collect();
    records.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.id.cmp(&b.id)));
    let mut survey = Survey::default();
    records.iter().for_each(|record| survey.see(record));
    let mut grouping = survey.grouping();
    records.iter().for_each(|record| grouping.add(record));
    grouping.points()
}

/// A first look at all runs, one after the other: in which settings they differ. With [`Grouping`] it makes points of more
/// runs than fit into memory together.
#[derive(Default)]
pub struct Survey {
    settings: Settings,
    ids: HashSet<RunId>,
}

impl Survey {
    /// The next run.
    pub fn see(&mut self, record: &RunRecord) {
        self.settings.see(record);
        self.ids.insert(record.id.clone());
    }

    /// The names of the runs.
    pub fn ids(&self) -> &HashSet<RunId> {
        &self.ids
    }

    /// Groups of runs that differ in nothing; still without any.
    pub fn grouping(self) -> Grouping {
        let Self { settings, ids } = self;
        Grouping { axes: settings.axes(), ids, ..Grouping::default() }
    }
}

/// The second look: each run joins its point.
#[derive(Default)]
pub struct Grouping {
    axes: Vec<Axis>,
    ids: HashSet<RunId>,
    groups: Vec<Group>,
    /// Where the group of these values is.
    places: HashMap<Vec<String>, usize>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
}

impl Grouping {
    /// The next run; they come in the order in which they ran.
    pub fn add(&mut self, record: &RunRecord) {
        self.notes.extend(
            record
                .notes()
                .chain(record.durability_caveats())
                .filter(|note| !self.notes.contains(note))
                .collect::<Vec<_>>(),
        );
        if let Some(reason) = why_no_point(record, &self.ids) {
            self.left_out.push(LeftOut { id: record.id.clone(), reason });
            return;
        }
        let values: Vec<AxisValue> = self.axes.iter().map(|axis| axis.of(record)).collect();
        let place = values.iter().map(|value| value.text.clone()).collect();
        let at = *self.places.entry(place).or_insert_with(|| {
            self.groups.push(Group::of(record, values));
            self.groups.len() - 1
        });
        self.groups[at].add(record);
    }

    /// The points.
    pub fn points(self) -> Points {
        let order = |a: &Point, b: &Point| {
            let orders = a.values.iter().zip(&b.values).map(|(a, b)| a.order(b));
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        let mut points: Vec<Point> = self.groups.into_iter().map(Group::point).collect();
        points.sort_by(order);
        Points { axes: self.axes, points, left_out: self.left_out, notes: self.notes }
    }
}

/// What the workloads of these runs want to have said of them, each once.
pub fn notes_of<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Vec<String> {
    let mut all = Vec::new();
    let notes = |record: &'r RunRecord| record.notes().chain(record.durability_caveats());
    for note in records.into_iter().flat_map(notes) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

/// The runs of one point, as far as they have come.
struct Group {
    sessions: u32,
    values: Vec<AxisValue>,
    runs: Vec<Repeat>,
    /// Figures that every run has so far.
    figures: BTreeMap<String, (Unit, Vec<f64>)>,
    latencies: Latencies,
    doubts: Doubts,
    limits: Limits,
}

impl Group {
    /// Without any run; `first` will be the first.
    fn of(first: &RunRecord, values: Vec<AxisValue>) -> Self {
        let figure = |(name, metric): (&String, &Metric)| match metric {
            Metric::Value { unit, .. } => Some((name.clone(), (*unit, Vec::new()))),
            Metric::Absent { .. } => None,
        };
        let figures = first.metrics.iter().filter_map(figure).collect();
        let sessions = axis::sessions(first);
        Self {
            sessions,
            values,
            runs: Vec::new(),
            figures,
            latencies: Latencies::default(),
            doubts: Doubts::default(),
            limits: Limits::default(),
        }
    }

    fn add(&mut self, record: &RunRecord) {
        self.figures.retain(|name, (_, own)| {
            let value = record.metrics.get(name).and_then(Metric::value);
            own.extend(value);
            value.is_some()
        });
        self.latencies.add(record);
        self.doubts.add(record);
        self.runs.push(Repeat::of(record));
        self.limits.add(limited(record));
    }

    fn point(self) -> Point {
        let estimate =
            |(name, (unit, own)): (String, (Unit, Vec<f64>))| Some((name, Estimate::of_median(unit, own)?));
        let mut estimates: BTreeMap<String, Estimate> =
            self.figures.into_iter().filter_map(estimate).collect();
        if !estimates.contains_key(OPS) && self.latencies.runs() == self.runs.len() {
            let rates = self.runs.iter().map(|run| run.rate_per_s).collect();
            let estimate = Estimate::of_median(Unit::PerSecond, rates);
            estimates.extend(estimate.map(|estimate| (OPS.to_owned(), estimate)));
        }
        self.latencies.estimate(self.runs.len(), &mut estimates);
        Point {
            sessions: self.sessions,
            values: self.values,
            runs: self.runs,
            estimates,
            doubts: self.doubts,
            limits: self.limits,
        }
    }
}

/// Operations per second.
pub(crate) const OPS: &str = "ops_per_s";

/// Why a run is no point; `None` when it is one. `ids` are the names of all runs given.
fn why_no_point(record: &RunRecord, ids: &HashSet<RunId>) -> Option<String> {
    // One target's part of a run beside the whole run would count the same work twice.
    if let Some(whole) = record.one_target_of.as_ref().filter(|whole| ids.contains(whole.as_str())) {
        return Some(format!("one target's part of {whole}, which is here as a whole"));
    }
    if record.kind == Kind::Component {
        return Some("raw limits of a machine, and no run".to_owned());
    }
    match (record.status, record.reasons.first()) {
        (Status::Valid | Status::Imported, _) => None,
        (status, Some(reason)) => Some(format!("{}: {reason}", status.name())),
        (status, None) => Some(status.name().to_owned()),
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
        OPS => record.leading_ops().map(|all| (all.rate_per_s, Unit::PerSecond)),
        _ => latency::figure(record, measure).map(|us| (us, Unit::Microseconds)),
    }
}
