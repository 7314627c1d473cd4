//! Where the figures of a record come from when no run of this program measured them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reported::Reported;

/// The source of an imported record.
///
/// A record has every key of a plan, whoever made it; for an imported one only the keys in [`known`](Self::known) are
/// facts, all others are the defaults that had to stand somewhere, and must not be shown or compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The form that the figures were in: `csv`, `awr`.
    pub format: String,
    /// The file's name, without its folders.
    pub file: String,
    /// The line of the file, counted from 1, where one line is one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When it was imported, RFC 3339 in UTC; empty in records that do not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub imported_at: String,
    /// Whether the source does not tell when it was measured; then the record's moments are those of the import.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// Full names of the plan's keys that the source tells: `workload.work_unit`.
    pub known: Vec<String>,
    /// What else the source says of this record, in its own words: column → text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What a database's own report begins with, where the record is made of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
}

impl Imported {
    /// Whether the source tells the plan's key `path`.
    pub fn knows(&self, path: &str) -> bool {
        self.known.iter().any(|known| known == path)
    }
}
