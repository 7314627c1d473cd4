//! Operations by class with their percentiles.

use dyno_analyze::number::count;
use dyno_record::{Latency, OpStats, RunRecord};

use crate::content::extra_counts::{ExtraCount, extra_counts};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;

/// Characters of a count or rate before it is abbreviated.
const FIGURE_MAX: usize = 11;

fn heads(extra: &[ExtraCount]) -> Vec<GridHead> {
    let mut heads = vec![
        GridHead::text("class"),
        GridHead::figures("count", ""),
        GridHead::figures("errors", ""),
        GridHead::figures("rate", "/s"),
    ];
    heads.extend(extra.iter().map(|(head, _)| GridHead::figures(head, "").explained("in the window")));
    let time = |(name, spare)| GridHead::figures(name, "").explained("of service time").spare(spare);
    let times = [("mean", 0), ("p50", 0), ("p90", 1), ("p95", 1), ("p99", 0), ("p99.9", 0), ("max", 0)];
    heads.extend(times.map(time));
    heads
}

/// The row of a class, and one with its response times if they differ from service times.
fn rows(name: &str, ops: &OpStats, extra: &[ExtraCount]) -> Vec<Vec<GridCell>> {
    let times = |l: &Latency| [l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max].map(GridCell::time_us);
    let counts = [ops.count as f64, ops.errors as f64, ops.rate_per_s].into_iter();
    let counts = counts.chain(extra.iter().map(|(_, of)| of(ops) as f64));
    let counts = counts.map(|value| GridCell::within(value, FIGURE_MAX));
    let mut rows = vec![[name.into()].into_iter().chain(counts).chain(times(&ops.service_us)).collect()];
    if ops.response_us != ops.service_us {
        let head = ["  response".into()].into_iter().chain((0..3 + extra.len()).map(|_| GridCell::default()));
        rows.push(head.chain(times(&ops.response_us)).collect());
    }
    rows
}

/// The table of all classes, with notes on classes whose operations have no times of their own.
pub(crate) fn classes_grid(record: &RunRecord) -> Grid {
    let extra = extra_counts(record);
    let mut grid = Grid::new(heads(&extra));
    for (name, ops) in record.by_class() {
        rows(name, ops, &extra).into_iter().for_each(|cells| grid.row(cells));
        if let Some(untimed) = &ops.untimed {
            let missing = ops.count.saturating_sub(ops.service_us.count);
            let number = match missing {
                all if all == ops.count => "none".to_owned(),
                missing => format!("{} of {} not", count(missing), count(ops.count)),
            };
            grid.note(&format!("{name}: {number} timed separately: {untimed}"), "dim");
        }
    }
    grid
}

/// The table for a terminal; empty without operations.
pub(crate) fn classes_text(record: &RunRecord, style: &Style) -> String {
    if record.ops.is_empty() { String::new() } else { classes_grid(record).render(style) }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    #[test]
    fn untimed_operations_are_counted_in_their_note() {
        let mut record = fixture::postgres();
        let mut note = |timed: u64| {
            let ops = record.ops.get_mut("select").unwrap();
            (ops.count, ops.service_us.count, ops.untimed) = (6_941, timed, Some("why".into()));
            classes_text(&record, &Style::default())
        };
        assert!(note(6_900).contains("select: 41 of 6,941 not timed separately: why"));
        assert!(note(0).contains("select: none timed separately: why"));
    }
}
