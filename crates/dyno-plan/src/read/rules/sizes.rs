//! Rules about the sizes of data, sessions and intervals.

use super::{INTERVALS_MAX, SESSIONS_MAX};
use crate::data::TOTAL_ROWS_MAX;
use crate::keys::{BLOCK_SIZE, thousands};
use crate::plan::Plan;
use crate::units::Bytes;

/// The block size if it is known; otherwise `unknown`, chosen so that no valid plan is refused.
fn block_size(plan: &Plan, unknown: u64) -> Bytes {
    plan.data.block_size.unwrap_or(Bytes(unknown))
}

pub(super) fn hot_spot(plan: &Plan) -> Option<(String, &'static str)> {
    let (before, size) = plan.workload.hot_spot(block_size(plan, BLOCK_SIZE.1))?;
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (before.saturating_add(size) > rows && rows > 0).then(|| {
        let (end, rows) = (thousands(before.saturating_add(size)), thousands(rows));
        let problem = format!("the hot spot ends at key {end}, but a schema has at most {rows}");
        (problem, "lower workload.hot_spot_offset or hot_spot_size, or raise data.scale")
    })
}

pub(super) fn nothing_to_scan(plan: &Plan) -> Option<(String, &'static str)> {
    let scan_blocks = plan.data.scan_scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (plan.workload.scan_pct > 0 && scan_blocks == 0)
        .then(|| ("there is no table to scan".into(), "raise data.scan_scale, or set workload.scan_pct to 0"))
}

pub(super) fn no_row(plan: &Plan) -> Option<(String, &'static str)> {
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    (rows == 0).then(|| ("less than one block".into(), "write more, or a number of blocks"))
}

pub(super) fn work_unit(plan: &Plan) -> Option<(String, &'static str)> {
    let rows = plan.data.scale.blocks(block_size(plan, BLOCK_SIZE.0)).0;
    let work_unit = plan.workload.work_unit;
    (0 < rows && rows < u64::from(work_unit)).then(|| {
        let rows = thousands(rows);
        let problem = format!("one operation touches {work_unit} rows, but a schema has at most {rows}");
        (problem, "lower workload.work_unit, or raise data.scale")
    })
}

pub(super) fn total_rows(plan: &Plan) -> Option<(String, &'static str)> {
    let block_size = block_size(plan, BLOCK_SIZE.1);
    let per_schema = plan.data.scale.blocks(block_size).0 + plan.data.scan_scale.blocks(block_size).0;
    let total = u64::from(plan.data.schemas).saturating_mul(per_schema);
    let problem = || {
        let (total, most) = (thousands(total), thousands(TOTAL_ROWS_MAX));
        format!("the tables of all schemas have {total} rows, more than {most}")
    };
    (total > TOTAL_ROWS_MAX).then(|| (problem(), "lower data.schemas, data.scale or data.scan_scale"))
}

pub(super) fn sessions(plan: &Plan) -> Option<(String, &'static str)> {
    let first = u64::from(plan.data.schemas) * u64::from(plan.run.sessions_per_schema);
    let sessions = plan.workload.beside_sessions.iter().fold(first, |sum, &more| sum + u64::from(more));
    let problem = || {
        let (sessions, most) = (thousands(sessions), thousands(SESSIONS_MAX.into()));
        format!("all schemas together have {sessions} sessions, more than {most}")
    };
    (sessions > u64::from(SESSIONS_MAX)).then(|| (problem(), "lower run.sessions_per_schema or data.schemas"))
}

pub(super) fn interval_too_long(plan: &Plan) -> Option<(String, &'static str)> {
    let time = plan.run.time.filter(|time| plan.observe.interval > *time)?;
    Some((
        format!("the interval is longer than run.time, {time}"),
        "lower observe.interval, or raise run.time",
    ))
}

pub(super) fn interval_too_short(plan: &Plan) -> Option<(String, &'static str)> {
    let intervals = plan.run.time?.0.as_nanos() / plan.observe.interval.0.as_nanos();
    (intervals > INTERVALS_MAX).then(|| {
        let (intervals, most) = (thousands(intervals as u64), thousands(INTERVALS_MAX as u64));
        (format!("run.time has {intervals} intervals, more than {most}"), "raise observe.interval")
    })
}
