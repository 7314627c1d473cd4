//! Points: groups runs at the same setting and combines their figures.
//!
//! Every curve, fit, comparison and report starts here. [`points()`] groups the runs of a slice by
//! the settings in which they differ (the axes). Runs that differ in none are repeats of one point.
//! Only valid and imported runs become points. The others are listed with the reason.
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

use dyno_record::{Metric, RecordKind, RunId, RunRecord, Status, Unit, WaitTime, Waits};

use crate::attribution::{MetricAttributions, marked_metrics};
use crate::audit::{page_cache_pct, unverified_reads};
use crate::audit_warnings::AuditWarnings;
use crate::limited::{Bottleneck, BottleneckTally, limited};
use crate::next::RunSteps;
use axis::VaryingSettings;
pub use axis::{AxisValue, RATE, SESSIONS, SettingAxis};
pub use curve::MeasuredCurve;
pub use estimate::{Estimate, median};
use latency::PointLatencies;
pub use measure::{Better, MEASURES, Measure, apart, phrase};

/// Runs at the same setting: one value on every axis, measured once or several times.
#[derive(Debug, Clone)]
pub struct MeasuredPoint {
    /// Total sessions over all schemas.
    pub sessions: u32,
    /// The value on each axis, in the order of [`Points::axes`].
    pub values: Vec<AxisValue>,
    /// The runs in chronological order.
    pub runs: Vec<Repeat>,
    /// The measures by name; see [`MEASURES`]. A measure is absent unless every run has it.
    pub estimates: BTreeMap<String, Estimate>,
    /// Audit warnings of its runs.
    pub doubts: AuditWarnings,
    limits: BottleneckTally,
    /// The steps after its first run.
    pub(crate) next: RunSteps,
}

/// The facts about one of its runs that a point keeps beside the figures.
#[derive(Debug, Clone)]
pub struct Repeat {
    pub id: RunId,
    /// When it started, as in the record.
    pub started_at: String,
    /// Operations per second by the run's own count; 0 where operations were not counted.
    pub rate_per_s: f64,
    /// The figures that include background activity.
    pub marked: MetricAttributions,
    /// The length of its window, s; absent where the source does not say.
    pub window_s: Option<f64>,
    /// The wait events of its sessions.
    pub waits: Vec<WaitTime>,
    pub(crate) page_cache_pct: Option<f64>,
    /// Why it is unknown whether the page cache answered its reads; absent where that is known.
    pub(crate) unverified_reads: Option<String>,
}

impl Repeat {
    fn of(record: &RunRecord) -> Self {
        Self {
            id: record.id.clone(),
            started_at: record.started_at.clone(),
            rate_per_s: record.leading_ops().map_or(0.0, |all| all.rate_per_s),
            marked: marked_metrics(record),
            window_s: record.window.as_ref().map(|window| window.seconds),
            waits: match &record.waits {
                Waits::Sampled { events, .. } => events.clone(),
                Waits::Absent { .. } => Vec::new(),
            },
            page_cache_pct: page_cache_pct(record),
            unverified_reads: unverified_reads(record),
        }
    }
}

impl MeasuredPoint {
    /// The value of a measure, in its unit.
    pub fn get(&self, measure: &str) -> Option<f64> {
        self.estimates.get(measure).map(|estimate| estimate.value)
    }

    /// The value of a measure as capacity. Operations above the requested rate come from a backlog or
    /// from chance: they are not capacity.
    pub fn capacity(&self, measure: &str) -> Option<f64> {
        let value = self.get(measure)?;
        match self.limited().and_then(|limit| limit.asked_per_s) {
            Some(asked_per_s) if measure == OPS => Some(value.min(asked_per_s)),
            _ => Some(value),
        }
    }

    /// The median length of its windows, s; absent unless every run has one.
    pub fn window_s(&self) -> Option<f64> {
        median(&self.runs.iter().map(|run| run.window_s).collect::<Option<Vec<f64>>>()?)
    }

    /// The limit of its runs; `None` where no run has one.
    pub fn limited(&self) -> Option<Bottleneck> {
        self.limits.combine()
    }

    /// Whether the measure includes background activity in any of the runs, or that cannot be
    /// excluded.
    pub fn is_marked(&self, measure: &str) -> bool {
        self.runs.iter().any(|run| run.marked.contains_key(measure))
    }
}

/// A run that is no point, and why.
#[derive(Debug, Clone)]
pub struct LeftOut {
    pub id: RunId,
    /// The reason in a few words.
    pub reason: String,
}

/// A set of runs grouped into points.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// The settings in which the runs differ, [`SESSIONS`] last. Invalid runs are considered too.
    pub axes: Vec<SettingAxis>,
    /// The points, sorted by the axes.
    pub points: Vec<MeasuredPoint>,
    /// Runs that are no points, in chronological order.
    pub left_out: Vec<LeftOut>,
    /// Notes that workloads require wherever their results are shown, each once.
    pub notes: Vec<String>,
    /// Why a measure is absent, by its name: the reason in the first run that lacks it.
    pub absent: BTreeMap<String, String>,
}

/// Groups `records` into points, by the settings in which they differ.
pub fn points(records: &[RunRecord]) -> Points {
    let mut records: Vec<&RunRecord> = records.iter().collect();
    records.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.id.cmp(&b.id)));
    let mut survey = Survey::default();
    records.iter().for_each(|record| survey.observe(record));
    let mut grouping = survey.grouping();
    records.iter().for_each(|record| grouping.add(record));
    grouping.points()
}

/// A first pass over all runs that finds the settings in which they differ. With [`Grouping`] it
/// makes points of more runs than fit into memory together.
#[derive(Default)]
pub struct Survey {
    settings: VaryingSettings,
    ids: HashSet<RunId>,
}

impl Survey {
    /// Adds the settings of the next run.
    pub fn observe(&mut self, record: &RunRecord) {
        self.settings.observe(record);
        self.ids.insert(record.id.clone());
    }

    /// The ids of the runs.
    pub fn ids(&self) -> &HashSet<RunId> {
        &self.ids
    }

    /// Starts the second pass with no group filled yet.
    pub fn grouping(self) -> Grouping {
        let Self { settings, ids } = self;
        Grouping { axes: settings.axes(), ids, ..Grouping::default() }
    }
}

/// The second pass: each run joins its point.
#[derive(Default)]
pub struct Grouping {
    axes: Vec<SettingAxis>,
    ids: HashSet<RunId>,
    groups: Vec<Group>,
    /// The index of the group with these values.
    places: HashMap<Vec<String>, usize>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    absent: BTreeMap<String, String>,
}

impl Grouping {
    /// Adds the next run; runs must come in chronological order.
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
        for (name, metric) in &record.metrics {
            if let Metric::Absent { absent } = metric
                && !self.absent.contains_key(name)
            {
                self.absent.insert(name.clone(), absent.clone());
            }
        }
        let values: Vec<AxisValue> = self.axes.iter().map(|axis| axis.of(record)).collect();
        let place = values.iter().map(|value| value.text.clone()).collect();
        let at = *self.places.entry(place).or_insert_with(|| {
            self.groups.push(Group::of(record, values));
            self.groups.len() - 1
        });
        self.groups[at].add(record);
    }

    /// The points of all runs that were added.
    pub fn points(self) -> Points {
        let order = |a: &MeasuredPoint, b: &MeasuredPoint| {
            let orders = a.values.iter().zip(&b.values).map(|(a, b)| a.order(b));
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        let mut points: Vec<MeasuredPoint> = self.groups.into_iter().map(Group::point).collect();
        points.sort_by(order);
        let Self { axes, left_out, notes, absent, .. } = self;
        Points { axes, points, left_out, notes, absent }
    }
}

/// The notes that the workloads of these runs require, each once.
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

/// The runs of one point that were added so far.
struct Group {
    sessions: u32,
    values: Vec<AxisValue>,
    runs: Vec<Repeat>,
    /// Figures that every run so far has.
    figures: BTreeMap<String, (Unit, Vec<f64>)>,
    latencies: PointLatencies,
    doubts: AuditWarnings,
    limits: BottleneckTally,
    next: Option<RunSteps>,
}

impl Group {
    /// A group without runs; `first` will be its first one.
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
            latencies: PointLatencies::default(),
            doubts: AuditWarnings::default(),
            limits: BottleneckTally::default(),
            next: None,
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
        let limit = limited(record);
        self.next.get_or_insert_with(|| RunSteps::of(record, &limit));
        self.limits.add(limit);
    }

    fn point(self) -> MeasuredPoint {
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
        MeasuredPoint {
            sessions: self.sessions,
            values: self.values,
            runs: self.runs,
            estimates,
            doubts: self.doubts,
            limits: self.limits,
            next: self.next.unwrap_or_default(),
        }
    }
}

/// The measure of operations per second.
pub(crate) const OPS: &str = "ops_per_s";

/// Why a run is no point; `None` if it is one. `ids` are the ids of all runs.
fn why_no_point(record: &RunRecord, ids: &HashSet<RunId>) -> Option<String> {
    // A run's total together with one target's part would count the same work twice.
    if let Some(whole) = record.one_target_of.as_ref().filter(|whole| ids.contains(whole.as_str())) {
        return Some(format!("one target's part of {whole}, which is included as a whole"));
    }
    if record.kind == RecordKind::Component {
        return Some("raw limits of a machine, and no run".to_owned());
    }
    match (record.status, record.reasons.first()) {
        (Status::Valid | Status::Imported, _) => None,
        (status, Some(reason)) => Some(format!("{}: {reason}", status.name())),
        (status, None) => Some(status.name().to_owned()),
    }
}

/// One run's own figure of a measure, with its unit; absent where the run lacks it.
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
