//! The records themselves: one object for one run, an array for several.

use dyno_record::RecordError;

use super::{ExportError, Exporter, Request};
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn export(&self, report: &Report<'_>, _request: &Request) -> Result<Vec<u8>, ExportError> {
        let bytes = match report.records {
            [one] => serde_json::to_vec_pretty(one),
            many => serde_json::to_vec_pretty(many),
        };
        let mut bytes = bytes.map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
