//! A change from one report to another, as cells of a terminal's table and as JSON.

use dyno_awr::Reading;
use dyno_awr::diff::Change;
use dyno_report::Differences;
use dyno_report::number::ABSENT;
use dyno_report::style::Paint;
use dyno_report::table::Cell;
use serde_json::{Value, json};

pub(super) fn side(value: Option<Reading>) -> String {
    value.map_or_else(|| ABSENT.into(), |reading| reading.shown())
}

/// What lies between, and the same in percent; a mark where one side is missing.
pub(super) fn change(of: &Change, differences: Differences, only: [&str; 2]) -> [Cell; 2] {
    differences.cells(of, only).map(|cell| match cell.tone {
        "stands" => Cell::painted(&cell.text, Paint::Head),
        "alone" => Cell::painted(&cell.text, Paint::Dim),
        _ => cell.text.into(),
    })
}

/// That a report does not list something does not tell that it did not happen.
pub(super) const LISTED: [&str; 2] = ["only in A", "only in B"];

/// Both sides, and what lies between where that is a change.
pub(super) fn spelled(of: &Change, differences: Differences) -> Value {
    let value = |side: Option<Reading>| side.map(|reading| reading.value);
    let shown = differences.are_shown();
    json!({
        "a": value(of.a),
        "b": value(of.b),
        "difference": value(of.difference()).filter(|_| shown),
        "change_pct": of.percent().filter(|_| shown),
    })
}
