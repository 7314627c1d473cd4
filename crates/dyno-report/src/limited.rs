//! What limited a run, shown.

use dyno_analyze::limited::limited;
use dyno_record::RunRecord;

use crate::result::has_result;
use crate::style::Style;
use crate::text::{clean, pad, wrap};

/// Lines that the sentence may take.
const LINES_MAX: usize = 6;

/// What limited a run, set in by `indent` columns; empty where it has no result.
pub fn limited_text(record: &RunRecord, indent: usize, style: &Style) -> String {
    if !has_result(record) {
        return String::new();
    }
    let columns = style.columns().saturating_sub(indent);
    let lines = wrap(&clean(&limited(record).full()), columns, LINES_MAX);
    lines.iter().map(|line| format!("{}{line}\n", pad(indent))).collect()
}
