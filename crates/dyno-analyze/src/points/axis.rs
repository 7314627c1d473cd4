//! Axes: the settings in which runs differ, and their values.

use std::collections::BTreeSet;

use dyno_plan::keys::Key;
use dyno_plan::{Blocks, Bytes, Rate, Size, Span, keys};
use dyno_record::RunRecord;

use crate::differ::has_effect;

/// The axis of sessions over all schemas: what a ramp goes along.
pub const SESSIONS: &str = "sessions";

/// The axis of the rate of an open loop.
pub const RATE: &str = "workload.rate";

/// The key that [`SESSIONS`] stands for.
const SESSIONS_PER_SCHEMA: &str = "run.sessions_per_schema";

/// A setting in which runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The plan's key (`workload.update_pct`), [`SESSIONS`], a fact of the platform (`target.version`, `variant`), or a
    /// label that came with imported figures (`label.test`).
    pub path: String,
    /// The unit of bare numbers: `%`, `blocks`; empty where there is none.
    pub unit: &'static str,
}

impl Axis {
    /// The name in charts and tables: the last part of the path, `update_pct`.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(&self.path, |(_, name)| name)
    }
}

/// The value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// As a plan has it: `20`, `8K`, `5000/s`, `off`; empty where there is none.
    pub text: String,
    /// The quantity, where it is one: bytes, blocks, seconds, per second, or a bare number.
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

/// The quantity that a plan's text means.
fn number(text: &str) -> Option<f64> {
    // A bare number first: as a size it would be blocks, as bytes it would be bytes, and it is the same number.
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .or_else(|| text.parse::<Rate>().ok().map(|rate| rate.0))
        // `5m` is five minutes and `5M` five megabytes: the reader of bytes ignores case, so spans come first, and
        // only in the small letters in which plans write them.
        .or_else(|| {
            let small = text.bytes().all(|b| !b.is_ascii_uppercase());
            text.parse::<Span>().ok().filter(|_| small).map(|span| span.0.as_secs_f64())
        })
        .or_else(|| match text.parse::<Size>().ok()? {
            Size::Blocks(Blocks(blocks)) => Some(blocks as f64),
            Size::Bytes(Bytes(bytes)) => Some(bytes as f64),
        })
}

/// How to tell a record's value on an axis; `None` where nobody knows.
type Value = Box<dyn Fn(&RunRecord) -> Option<String>>;

/// One possible axis.
pub(crate) struct Candidate {
    pub(crate) axis: Axis,
    value: Value,
}

impl Candidate {
    fn new(path: impl Into<String>, value: impl Fn(&RunRecord) -> Option<String> + 'static) -> Self {
        Self { axis: Axis { path: path.into(), unit: "" }, value: Box::new(value) }
    }

    fn of_key(key: &'static Key) -> Self {
        let value = move |record: &RunRecord| match key.path {
            // The engine's own block size, where the plan leaves it to the engine.
            "data.block_size" => block_size(record),
            _ => record.knows(key.path).then(|| (key.get)(&record.plan).unwrap_or_default()),
        };
        Self { axis: Axis { path: key.path.into(), unit: key.unit }, value: Box::new(value) }
    }

    /// The value of a record; of what nobody knows the text is empty.
    pub(crate) fn of(&self, record: &RunRecord) -> AxisValue {
        AxisValue::new((self.value)(record).unwrap_or_default())
    }

    /// Whether the records that know their value differ in it.
    pub(crate) fn varies(&self, records: &[&RunRecord]) -> bool {
        let mut values = records.iter().filter_map(|record| (self.value)(record));
        values.next().is_some_and(|first| values.any(|value| value != first))
    }
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
    known(&products.join(", "))
}

fn known(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Sessions of a run: the planned ones, which a valid run had; of figures from elsewhere, and of one target's part of a
/// run, those that worked.
pub(crate) fn sessions(record: &RunRecord) -> u32 {
    match record.imported.is_some() || record.one_target_of.is_some() {
        true => record.sessions(),
        false => record.plan.sessions(),
    }
}

/// Labels of imported records that say when, and set no group apart: instances of one cluster share them.
const MOMENTS: [&str; 5] = ["begin_snap", "end_snap", "begin_time", "end_time", "startup_time"];

/// The labels of imported records that put them into groups. One that is different in every record names it, and would
/// make each a curve of its own.
fn labels(records: &[&RunRecord]) -> Vec<Candidate> {
    let imported = || records.iter().filter_map(|record| record.imported.as_ref());
    let names: BTreeSet<&str> =
        imported().flat_map(|source| source.labels.keys().map(String::as_str)).collect();
    names
        .into_iter()
        .filter(|name| !MOMENTS.contains(name))
        .filter(|name| {
            let values: Vec<_> = imported().filter_map(|source| source.labels.get(*name)).collect();
            values.iter().collect::<BTreeSet<_>>().len() < values.len()
        })
        .map(|name| {
            let name = name.to_owned();
            Candidate::new(format!("label.{name}"), move |record| {
                record.imported.as_ref().and_then(|source| source.labels.get(&name)).cloned()
            })
        })
        .collect()
}

/// Every possible axis, [`SESSIONS`] last. What sets platforms apart is among them, so that runs on two of them are
/// never taken for repeats.
pub(crate) fn candidates(records: &[&RunRecord]) -> Vec<Candidate> {
    let mut all = vec![
        Candidate::new("variant", |record| Some(record.variant.clone().unwrap_or_default())),
        Candidate::new("side", |record| {
            let side = record.part_of.as_ref().and_then(|part| part.side.clone());
            Some(side.unwrap_or_default())
        }),
        Candidate::new("source", |record| {
            Some(record.imported.as_ref().map_or_else(String::new, |source| source.format.clone()))
        }),
        Candidate::new("target.version", products),
        Candidate::new("host.name", |record| known(&record.host.name)),
        Candidate::new("host.kernel", |record| known(&record.host.kernel)),
    ];
    all.extend(labels(records));
    let is_axis = |path: &str| has_effect(path) && path != SESSIONS_PER_SCHEMA;
    all.extend(keys::all().filter(|key| is_axis(key.path)).map(Candidate::of_key));
    all.push(Candidate::new(SESSIONS, |record| Some(sessions(record).to_string())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_sessions_stand_for_exists() {
        assert!(keys::find(SESSIONS_PER_SCHEMA).is_some());
    }

    #[test]
    fn texts_of_plans_are_quantities() {
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
    fn values_go_in_order_of_their_quantity() {
        let mut values: Vec<_> = ["16K", "off", "4K", "100/s", "9"].map(AxisValue::new).into();
        values.sort_by(AxisValue::order);
        let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(texts, ["off", "9", "100/s", "4K", "16K"]);
    }
}
