//! Tables of concurrent workloads, each with the operations of its own sessions.

use dyno_record::{OpStats, RunRecord, WorkloadFacts};

use crate::content::result::has_result;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;
use crate::text::indent;

pub const TITLE: &str = "concurrent workloads";

/// How to read the table.
pub const EXPLAINED: &str = "Throughput and times of the result are those of the first workload. Charts, \
    latency bands and the counters of database and host include all workloads.";

/// A row for each workload; `None` if there was only one.
pub fn beside(record: &RunRecord) -> Option<Grid> {
    if record.beside.is_empty() {
        return None;
    }
    let mut heads = vec![
        GridHead::text("workload"),
        GridHead::figures("sessions", ""),
        GridHead::figures("asked", "/s").explained("transactions per second of an open loop"),
        GridHead::figures("done", "/s"),
        GridHead::figures("errors", ""),
        GridHead::figures("service", "").explained("mean time of a transaction"),
    ];
    let response = "from the moment the transaction was due; in a closed loop, from its start";
    heads.extend(["p50", "p95", "p99", "max"].map(|name| GridHead::figures(name, "").explained(response)));
    let mut grid = Grid::new(heads);
    record.workloads().for_each(|own| grid.row(row(own)));
    Some(grid)
}

/// The table as text below a result; empty if there was only one workload or no result.
pub fn table(record: &RunRecord, style: &Style) -> String {
    let inner = Style { width: style.columns() - 2, ..*style };
    let grid = beside(record).filter(|_| has_result(record));
    grid.map_or_else(String::new, |grid| indent(&grid.render(&inner)))
}

fn row(workload: &WorkloadFacts) -> Vec<GridCell> {
    let share = workload.share.as_ref();
    let ops: Option<&OpStats> = share.and_then(|share| share.ops.as_deref());
    let mut cells = vec![
        GridCell::text(&workload.name),
        GridCell::count(share.map(|share| u64::from(share.sessions))),
        match share {
            Some(share) if share.rate_per_s.is_none() => "closed loop".into(),
            share => GridCell::figure(share.and_then(|share| share.rate_per_s)),
        },
        GridCell::figure(ops.map(|ops| ops.rate_per_s)),
        GridCell::count(ops.map(|ops| ops.errors)),
        GridCell::time_us(ops.and_then(|ops| ops.service_us.mean)),
    ];
    let response = |of: fn(&OpStats) -> Option<f64>| GridCell::time_us(ops.and_then(of));
    cells.extend([
        response(|ops| ops.response_us.p50),
        response(|ops| ops.response_us.p95),
        response(|ops| ops.response_us.p99),
        response(|ops| ops.response_us.max),
    ]);
    cells
}
