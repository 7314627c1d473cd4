//! A change between two reports, as cells of a terminal table and as JSON.

use dyno_awr::PrintedNumber;
use dyno_awr::diff::ReadingChange;
use dyno_report::Differences;
use dyno_report::number::ABSENT;
use dyno_report::style::Paint;
use dyno_report::table::TextCell;
use serde_json::{Value, json};

pub(super) fn reading_text(value: Option<PrintedNumber>) -> String {
    value.map_or_else(|| ABSENT.into(), |reading| reading.shown())
}

/// The difference, also in percent; a mark if one side is missing.
pub(super) fn change_cells(
    reading_change: &ReadingChange,
    differences: Differences,
    only: [&str; 2],
) -> [TextCell; 2] {
    differences.cells(reading_change, only).map(|cell| match cell.tone {
        "stands" => TextCell::painted(&cell.text, Paint::Head),
        "alone" => TextCell::painted(&cell.text, Paint::Dim),
        _ => cell.text.into(),
    })
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
