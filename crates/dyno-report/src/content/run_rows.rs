//! Table rows of all runs in order: status, and the reason if there is no result. Each row is built only when
//! it is written.

use dyno_analyze::attribution::is_marked;
use dyno_analyze::number::ABSENT;
use dyno_record::RunRecord;

use crate::content::result::{RunFigures, has_result};
use crate::figures::{OPS, anchor};
use crate::model::table::{GridCell, GridHead};

/// The heads of the table.
pub(crate) fn heads() -> Vec<GridHead> {
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
pub(crate) fn row(record: &RunRecord) -> (String, Vec<GridCell>) {
    let figures = if has_result(record) { RunFigures::of(record) } else { RunFigures::default() };
    let cells = vec![
        GridCell::text(&record.id),
        GridCell::text(&started(record)),
        GridCell::count(Some(u64::from(record.sessions())).filter(|sessions| *sessions > 0)),
        GridCell::count(record.knows("workload.update_pct").then(|| record.plan.workload.update_pct.into())),
        GridCell::figure(figures.get(OPS)).marked(is_marked(record, OPS)),
        GridCell::time_us(figures.get("service_p99_us")),
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
