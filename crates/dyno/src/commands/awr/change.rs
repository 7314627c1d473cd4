//! A change between two reports, in a table and as JSON.

use dyno_awr::PrintedNumber;
use dyno_awr::diff::ReadingChange;
use dyno_report::model::GridHead;
use dyno_report::{Differences, change_heads};
use serde_json::{Value, json};

/// Columns of a change under a shared head; a narrow terminal drops the difference in units, by `rank`.
pub(super) fn heads(shared: &str, unit: &str, rank: u8) -> [GridHead; 4] {
    let mut heads = change_heads(unit);
    heads[2].spare = rank;
    heads.map(|head| if shared.is_empty() { head } else { head.grouped_under(shared) })
}

/// Marks for lines missing on one side: a report may omit something that did happen.
pub(super) const LISTED: [&str; 2] = ["only in A", "only in B"];

/// Both sides, with the difference if it is a change of one database.
pub(super) fn change_json(change: &ReadingChange, differences: Differences) -> Value {
    let value = |side: Option<PrintedNumber>| side.map(|reading| reading.value);
    let shown = differences.are_shown();
    json!({
        "a": value(change.a),
        "b": value(change.b),
        "difference": value(change.difference()).filter(|_| shown),
        "change_pct": change.percent().filter(|_| shown),
    })
}
