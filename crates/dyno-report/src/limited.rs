//! What limited a run, shown.

use dyno_analyze::limited::{Component, limited};
use dyno_record::{RunRecord, Status};

use crate::result::has_result;
use crate::style::Style;
use crate::text::{clean, pad, wrap};

/// Lines that the sentence may take.
const LINES_MAX: usize = 6;

/// What limited a run, set in by `indent` columns; empty where it has no result, and of imported
/// figures that do not tell.
pub fn limited_text(record: &RunRecord, indent: usize, style: &Style) -> String {
    if !has_result(record) {
        return String::new();
    }
    let limited = limited(record);
    if limited.by == Component::Unknown && record.status == Status::Imported {
        return String::new();
    }
    let columns = style.columns().saturating_sub(indent);
    let lines = wrap(&clean(&limited.full()), columns, LINES_MAX);
    lines.iter().map(|line| format!("{}{line}\n", pad(indent))).collect()
}
