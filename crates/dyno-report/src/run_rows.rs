//! Every run in order, with what it came to and why it has no result if it has none: one row for each, made when it is its turn.

use dyno_analyze::number::{ABSENT, count, optional};
use dyno_analyze::whose::{is_marked, mark};
use dyno_record::RunRecord;

use crate::figures::{OPS, anchor};
use crate::grid::{Cell, Head};
use crate::report::shown;
use crate::result::{Figures, has_result};

/// The heads of the table.
pub fn heads() -> Vec<Head> {
    vec![
        Head::text("run"),
        Head::text("started"),
        Head::figures("sessions", ""),
        Head::figures("updates", "%"),
        Head::figures("operations", "/s"),
        Head::figures("p99", ""),
        Head::text("status"),
        Head::text("reason"),
    ]
}

/// The row of a run, with its name in links.
pub fn row(record: &RunRecord) -> (String, Vec<Cell>) {
    let figures = if has_result(record) { Figures::of(record) } else { Figures::default() };
    let cells = vec![
        Cell::text(&record.id),
        Cell::text(&started(record)),
        Cell::text(&sessions(record)),
        Cell::text(&if record.knows("workload.update_pct") {
            record.plan.workload.update_pct.to_string()
        } else {
            ABSENT.into()
        }),
        Cell::text(&mark(optional(figures.get(OPS)), is_marked(record, OPS))),
        Cell::text(&shown(figures.get("service_p99_us"), "")),
        Cell::status(record.status),
        Cell::text(&record.reasons.join("; ")),
    ];
    (anchor(&record.id), cells)
}

/// When a run started; absent where the source of imported figures does not tell.
fn started(record: &RunRecord) -> String {
    match record.is_dated() {
        true => record.started_at.get(..19).unwrap_or(&record.started_at).to_owned(),
        false => ABSENT.into(),
    }
}

/// Sessions of a run; absent where the source of imported figures does not tell.
fn sessions(record: &RunRecord) -> String {
    match record.sessions() {
        0 => ABSENT.into(),
        sessions => count(sessions.into()),
    }
}
