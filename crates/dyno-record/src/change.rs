//! What must stand still between two snapshots: marks that say the same, and counters that do not fall.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of mark a [`Change`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkKind {
    /// A server that was restarted, or statistics that were reset: counters have started anew.
    Epoch,
    /// A setting of the database.
    Setting,
    /// A table, index, trigger or constraint of the test data.
    Shape,
}

/// A mark that changed between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What kind of mark.
    pub kind: MarkKind,
    /// Its name, in the database's words.
    pub name: String,
    /// What it was; absent where there was none before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it became; absent where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// When the change was first seen, in seconds from the begin of the interval; absent where only its ends were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_s: Option<f64>,
}

/// A counter that went backwards between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fall {
    /// The counter: a portable name, or a native one under its own name.
    pub name: String,
    /// What it was.
    pub from: f64,
    /// What it was in the next snapshot.
    pub to: f64,
    /// When that was seen, in seconds from the begin of the interval; absent where only its ends were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_s: Option<f64>,
}

/// Marks of one kind that differ, or that only one side has.
pub(crate) fn changes<'a>(
    kind: MarkKind,
    begin: &'a BTreeMap<String, String>,
    end: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = Change> + 'a {
    let names: BTreeSet<&String> = begin.keys().chain(end.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let (from, to) = (begin.get(name).cloned(), end.get(name).cloned());
        (from != to).then(|| Change { kind, name: name.clone(), from, to, seen_s: None })
    })
}
