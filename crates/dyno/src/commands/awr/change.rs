//! A change from one report to another, as a cell.

use dyno_awr::Reading;
use dyno_awr::diff::Change;
use dyno_report::number::{ABSENT, fixed};
use dyno_report::style::Paint;
use dyno_report::table::Cell;

use super::list::shown;

pub(super) fn side(value: Option<Reading>) -> String {
    value.map_or_else(|| ABSENT.into(), shown)
}

/// The change in percent; a mark where one side is missing.
pub(super) fn change(of: &Change) -> Cell {
    match (of.a, of.b, of.percent()) {
        // That a report does not list something does not tell that it did not happen.
        (None, Some(_), _) => Cell::painted("only in B", Paint::Dim),
        (Some(_), None, _) => Cell::painted("only in A", Paint::Dim),
        (_, _, Some(percent)) => {
            let sign = if percent > 0.0 { "+" } else { "" };
            let text = format!("{sign}{}", fixed(percent, 1));
            if percent.abs() >= CHANGE_SHOWN_PCT { Cell::painted(&text, Paint::Head) } else { text.into() }
        }
        (Some(a), Some(b), None) if of.differs() && a.value == 0.0 && b.value != 0.0 => "from 0".into(),
        _ => "=".into(),
    }
}

/// A change from which on it stands out.
const CHANGE_SHOWN_PCT: f64 = 20.0;
