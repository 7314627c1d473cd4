//! Detects what must not change between two snapshots: marks, and counters that may only rise.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of mark in a [`MarkChange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkKind {
    /// A restart of the server or a reset of statistics, after which counters start from zero.
    Epoch,
    /// A setting of the database that affects measurements.
    Setting,
    /// A table, index, trigger or constraint of the test data.
    Shape,
}

/// A mark with different values in two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MarkChange {
    /// The kind of the mark.
    pub kind: MarkKind,
    /// Its name, as the database spells it.
    pub name: String,
    /// Its earlier value; absent if the mark is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its later value; absent if the mark is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// When Dyno first saw the change, in seconds after the start of the interval; absent if it compared only both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_s: Option<f64>,
}

/// A counter that fell between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterReset {
    /// The counter: a portable name, or the name of a native counter.
    pub name: String,
    /// Its earlier value, in the counter's unit.
    pub from: f64,
    /// Its value in the next snapshot.
    pub to: f64,
    /// When Dyno saw the fall, in seconds after the start of the interval; absent if it compared only both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_s: Option<f64>,
}

/// Marks of one kind that differ, or that only one snapshot has.
pub(crate) fn changes<'a>(
    kind: MarkKind,
    begin: &'a BTreeMap<String, String>,
    end: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = MarkChange> + 'a {
    let names: BTreeSet<&String> = begin.keys().chain(end.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let (from, to) = (begin.get(name).cloned(), end.get(name).cloned());
        (from != to).then(|| MarkChange { kind, name: name.clone(), from, to, seen_s: None })
    })
}
