//! The records themselves: one object for one run, an array for several; with what commands concluded from them, an object
//! of both.

use dyno_analyze::Conclusion;
use dyno_record::{RecordError, RunRecord};
use serde::Serialize;

use super::{ExportError, Exporter, Request};
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Json;

/// Runs, and what commands concluded from them.
#[derive(Serialize)]
struct Both<'r> {
    conclusions: &'r [Conclusion],
    runs: &'r [RunRecord],
}

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn export(&self, report: &Report<'_>, _request: &Request) -> Result<Vec<u8>, ExportError> {
        let bytes = match (report.conclusions.as_slice(), report.records) {
            ([], [one]) => serde_json::to_vec_pretty(one),
            ([], many) => serde_json::to_vec_pretty(many),
            (conclusions, runs) => serde_json::to_vec_pretty(&Both { conclusions, runs }),
        };
        let mut bytes = bytes.map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
