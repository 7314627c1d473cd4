//! Table rows of all runs in order: status, and the reason if there is no result. Each row is built only when
//! it is written.

use dyno_analyze::attribution::{is_marked, mark};
use dyno_analyze::number::{ABSENT, count, optional};
use dyno_record::RunRecord;

use crate::figures::{OPS, anchor};
use crate::grid::{GridCell, GridHead};
use crate::report::shown;
use crate::result::{RunFigures, has_result};

/// The heads of the table.
pub fn heads() -> Vec<GridHead> {
    vec![
        GridHead::text("run"),
        GridHead::text("started"),
        GridHead::figures("sessions", ""),
        GridHead::figures("updates", "%"),
        GridHead::figures("operations", "/s"),
        GridHead::figures("p99", ""),
        GridHead::text("status"),
        GridHead::text("reason"),
    ]
}

/// The row of a run, with its anchor.
pub fn row(record: &RunRecord) -> (String, Vec<GridCell>) {
    let figures = if has_result(record) { RunFigures::of(record) } else { RunFigures::default() };
    let cells = vec![
        GridCell::text(&record.id),
        GridCell::text(&started(record)),
        GridCell::text(&sessions(record)),
        GridCell::text(&if record.knows("workload.update_pct") {
            record.plan.workload.update_pct.to_string()
        } else {
            ABSENT.into()
        }),
        GridCell::text(&mark(optional(figures.get(OPS)), is_marked(record, OPS))),
        GridCell::text(&shown(figures.get("service_p99_us"), "")),
        GridCell::status(record.status),
        GridCell::text(&record.reasons.join("; ")),
    ];
    (anchor(&record.id), cells)
}

/// Start time of a run; absent if the source of imported figures does not state it.
fn started(record: &RunRecord) -> String {
    match record.is_dated() {
        true => record.started_at.get(..19).unwrap_or(&record.started_at).to_owned(),
        false => ABSENT.into(),
    }
}

/// Sessions of a run; absent if the source of imported figures does not state them.
fn sessions(record: &RunRecord) -> String {
    match record.sessions() {
        0 => ABSENT.into(),
        sessions => count(sessions.into()),
    }
}
