//! Axes: the settings in which runs differ, and their values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dyno_plan::keys::PlanKey;
use dyno_plan::{BlockCount, BlocksOrBytes, Bytes, Rate, TimeSpan, keys};
use dyno_record::{RecordKind, RunRecord};

use crate::differences::has_effect;

/// The axis of sessions over all schemas, along which a ramp goes.
pub const SESSIONS: &str = "sessions";

/// The axis of the rate of an open loop.
pub const RATE: &str = "workload.rate";

/// The plan key behind [`SESSIONS`].
const SESSIONS_PER_SCHEMA: &str = "run.sessions_per_schema";

/// A setting in which runs differ.
#[derive(Clone)]
pub struct SettingAxis {
    /// The plan's key (`workload.update_pct`), [`SESSIONS`], a fact of the platform
    /// (`target.version`, `variant`), or a label of imported figures (`label.test`).
    pub path: String,
    /// The unit of bare numbers: `%`, `blocks`; empty where there is none.
    pub unit: &'static str,
    value: AxisSource,
}

/// How to determine a record's value on an axis.
#[derive(Clone, Copy)]
enum AxisSource {
    Fact(Fact),
    Label,
    Key(&'static PlanKey),
}

impl fmt::Debug for SettingAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl PartialEq for SettingAxis {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

/// The labels of imported records, in the paths of their axes.
const LABEL: &str = "label.";

impl SettingAxis {
    /// The value of a record; the text is empty where it is unknown.
    pub fn of(&self, record: &RunRecord) -> AxisValue {
        AxisValue::new(self.known_value(record).unwrap_or_default())
    }

    /// The value of a record; `None` where it is unknown.
    fn known_value(&self, record: &RunRecord) -> Option<String> {
        match self.value {
            AxisSource::Fact(fact) => fact(record),
            AxisSource::Label => {
                record.imported.as_ref()?.labels.get(self.path.strip_prefix(LABEL)?).cloned()
            }
            // The engine's own block size, where the plan leaves it to the engine.
            AxisSource::Key(key) if key.path == "data.block_size" => block_size(record),
            AxisSource::Key(key) => record.knows(key.path).then(|| key.get(&record.plan).unwrap_or_default()),
        }
    }

    /// The name in charts and tables: the last part of the path, `update_pct`.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(&self.path, |(_, name)| name)
    }
}

/// The value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// In the form of a plan: `20`, `8K`, `5000/s`, `off`; empty where there is none.
    pub text: String,
    /// The number, where the value is a quantity: bytes, blocks, seconds, per second, or a bare
    /// number.
    pub number: Option<f64>,
}

impl AxisValue {
    /// Reads a value from the text of a plan.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { number: number(&text), text }
    }

    /// The order on an axis: words first, then quantities by size.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self.number, other.number) {
            (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| self.text.cmp(&other.text)),
            (a, b) => a.is_some().cmp(&b.is_some()).then_with(|| self.text.cmp(&other.text)),
        }
    }
}

/// The quantity that a plan's text denotes.
fn number(text: &str) -> Option<f64> {
    // A bare number first: as a size it would be blocks, as bytes it would be bytes, with the same
    // number.
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .or_else(|| text.parse::<Rate>().ok().map(|rate| rate.0))
        // `5m` is five minutes and `5M` five megabytes. The parser of bytes ignores case, so
        // durations come first, and only in the lower-case form that plans use.
        .or_else(|| {
            let small = text.bytes().all(|b| !b.is_ascii_uppercase());
            text.parse::<TimeSpan>().ok().filter(|_| small).map(|span| span.0.as_secs_f64())
        })
        .or_else(|| match text.parse::<BlocksOrBytes>().ok()? {
            BlocksOrBytes::Blocks(BlockCount(blocks)) => Some(blocks as f64),
            BlocksOrBytes::Bytes(Bytes(bytes)) => Some(bytes as f64),
        })
}

fn block_size(record: &RunRecord) -> Option<String> {
    let planned =
        record.plan.data.block_size.filter(|_| record.knows("data.block_size")).map(|bytes| bytes.0);
    let loaded = || record.targets.first()?.data.as_ref().map(|data| data.block_size);
    planned.or_else(loaded).map(|bytes| Bytes(bytes).to_string())
}

fn products(record: &RunRecord) -> Option<String> {
    let products: Vec<_> = record
        .targets
        .iter()
        .map(|target| format!("{} {}", target.identity.product, target.identity.version))
        .collect();
    non_empty(&products.join(", "))
}

fn non_empty(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Sessions of a run: the planned ones of its main workload. For imported figures, and for one
/// target's part of a run, the sessions that worked.
pub(crate) fn sessions(record: &RunRecord) -> u32 {
    match record.kind == RecordKind::Import || record.one_target_of.is_some() {
        true => record.sessions(),
        false => record.plan.leading_sessions(),
    }
}

/// Labels of imported records that are times or snapshots and do not define a group: instances of
/// one cluster share them.
const MOMENTS: [&str; 5] = ["begin_snap", "end_snap", "begin_time", "end_time", "startup_time"];

/// A fact that a record states.
type Fact = fn(&RunRecord) -> Option<String>;

/// Facts that distinguish platforms are axes, so runs on two of them never count as repeats.
const FACTS: [(&str, Fact); 7] = [
    ("variant", |record| Some(record.variant.clone().unwrap_or_default())),
    ("side", |record| {
        let side = record.part_of.as_ref().and_then(|part| part.side.clone());
        Some(side.unwrap_or_default())
    }),
    ("source", |record| {
        Some(record.imported.as_ref().map_or_else(String::new, |source| source.format.clone()))
    }),
    // The same folder with changed texts is another workload.
    ("workload.version", RunRecord::workload_version),
    ("target.version", products),
    ("host.name", |record| non_empty(&record.host().name)),
    ("host.kernel", |record| non_empty(&record.host().kernel)),
];

/// Values of one possible axis in the runs so far, where known.
#[derive(Debug, Clone)]
enum ObservedValues {
    Nothing,
    One(String),
    Several,
}

/// Finds the settings in which runs differ, one run after the other.
pub(crate) struct VaryingSettings {
    /// Every possible axis except labels: facts first, [`SESSIONS`] last.
    all: Vec<(SettingAxis, ObservedValues)>,
    /// Values of each label, and whether one occurred twice.
    labels: BTreeMap<String, (BTreeSet<String>, bool)>,
    /// Schemas by sessions, and whether each number of sessions always has the same schemas.
    schemas: BTreeMap<u32, u32>,
    schemas_follow: bool,
}

impl Default for VaryingSettings {
    fn default() -> Self {
        let axis = |(path, unit, value): (&str, _, _)| {
            (SettingAxis { path: path.into(), unit, value }, ObservedValues::Nothing)
        };
        let facts = FACTS.into_iter().map(|(path, fact)| (path, "", AxisSource::Fact(fact)));
        let keys = keys::all().filter(|key| has_effect(key.path));
        let keys = keys.filter(|key| key.path != SESSIONS && key.path != SESSIONS_PER_SCHEMA);
        let keys = keys.map(|key| (key.path, key.unit, AxisSource::Key(key)));
        let last = (SESSIONS, "", AxisSource::Fact(|record| Some(sessions(record).to_string())));
        let all = facts.chain(keys).chain([last]).map(axis).collect();
        Self { all, labels: BTreeMap::new(), schemas: BTreeMap::new(), schemas_follow: true }
    }
}

impl VaryingSettings {
    /// The settings in which all of `records` differ.
    pub(crate) fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Self {
        let mut settings = Self::default();
        records.into_iter().for_each(|record| settings.observe(record));
        settings
    }

    /// Adds the settings of the next run.
    pub(crate) fn observe(&mut self, record: &RunRecord) {
        for (axis, seen) in &mut self.all {
            let value = match seen {
                ObservedValues::Several => continue,
                _ => axis.known_value(record),
            };
            match (&seen, value) {
                (ObservedValues::Nothing, Some(value)) => *seen = ObservedValues::One(value),
                (ObservedValues::One(first), Some(value)) if *first != value => {
                    *seen = ObservedValues::Several;
                }
                _ => {}
            }
        }
        for (name, value) in record.imported.iter().flat_map(|source| &source.labels) {
            if MOMENTS.contains(&name.as_str()) {
                continue;
            }
            let (values, again) = match self.labels.get_mut(name) {
                Some(seen) => seen,
                None => self.labels.entry(name.clone()).or_default(),
            };
            *again |= values.contains(value) || !values.insert(value.clone());
        }
        let schemas = record.plan.data.schemas;
        self.schemas_follow &= *self.schemas.entry(sessions(record)).or_insert(schemas) == schemas;
    }

    /// Whether the runs that know their value on an axis differ in it.
    pub(crate) fn differ_in(&self, axis: &SettingAxis) -> bool {
        if let Some(label) = axis.path.strip_prefix(LABEL) {
            return self.labels.get(label).is_some_and(|(values, _)| values.len() > 1);
        }
        self.all.iter().any(|(other, seen)| other == axis && matches!(seen, ObservedValues::Several))
    }

    /// Whether schemas rise with the sessions: then they cause the sessions, and are no axis of
    /// their own.
    pub(crate) fn schemas_follow(&self) -> bool {
        self.schemas_follow
    }

    /// Every possible axis, [`SESSIONS`] last. A label that differs in every run is its name. It
    /// would make each run a curve of its own, so it is no axis.
    pub(crate) fn candidates(&self) -> Vec<SettingAxis> {
        let mut axes: Vec<SettingAxis> = self.all.iter().map(|(axis, _)| axis.clone()).collect();
        let groups = self.labels.iter().filter(|(_, (_, again))| *again);
        let label = |name: &String| SettingAxis {
            path: format!("{LABEL}{name}"),
            unit: "",
            value: AxisSource::Label,
        };
        axes.splice(FACTS.len()..FACTS.len(), groups.map(|(name, _)| label(name)));
        axes
    }

    /// The axes in which the runs differ.
    pub(crate) fn axes(&self) -> Vec<SettingAxis> {
        let mut axes = self.candidates();
        axes.retain(|axis| self.differ_in(axis) && !(self.schemas_follow && axis.path == SCHEMAS));
        axes
    }
}

/// The plan key of the axis of schemas.
pub(crate) const SCHEMAS: &str = "data.schemas";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_axis_key_exists() {
        assert!(keys::find(SESSIONS_PER_SCHEMA).is_some());
    }

    #[test]
    fn axis_values_in_plan_notation_become_numbers() {
        let cases = [
            ("20", Some(20.0)),
            ("8K", Some(8_192.0)),
            ("80M", Some(83_886_080.0)),
            ("5000/s", Some(5_000.0)),
            ("5m", Some(300.0)),
            ("500ms", Some(0.5)),
            ("10000 blocks", Some(10_000.0)),
            ("off", None),
            ("heavy", None),
            ("", None),
            ("nan", None),
        ];
        for (text, expected) in cases {
            assert_eq!(AxisValue::new(text).number, expected, "{text}");
        }
    }

    #[test]
    fn axis_values_are_sorted_by_quantity() {
        let mut values: Vec<_> = ["16K", "off", "4K", "100/s", "9"].map(AxisValue::new).into();
        values.sort_by(AxisValue::order);
        let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(texts, ["off", "9", "100/s", "4K", "16K"]);
    }
}
