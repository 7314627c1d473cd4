//! The source of a record that Dyno did not measure itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reported::Reported;

/// The source of an imported record.
///
/// Every record has all keys of a plan. In an imported record only the keys in [`known`](Self::known) are facts. All others
/// are defaults that fill the fields, and must not be shown or compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSource {
    /// The format of the source: `csv`, `awr`.
    pub format: String,
    /// The file's name, without its folders.
    pub file: String,
    /// The line of the file, from 1, if each line is one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Time of the import, RFC 3339 in UTC; empty in records that do not have it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub imported_at: String,
    /// Whether the source has no time of measurement; the record's times are then those of the import.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// Full names of the plan keys that the source contains: `workload.work_unit`.
    pub known: Vec<String>,
    /// Other text of the source about this record, unchanged: column → text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The first sections of a database's own report, if the record was made from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
}

impl ImportSource {
    /// Whether the source contains the plan's key `path`.
    pub fn knows(&self, path: &str) -> bool {
        self.known.iter().any(|known| known == path)
    }
}
