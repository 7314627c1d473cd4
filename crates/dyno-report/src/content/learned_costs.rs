//! Cost of one transaction of each class, measured in one session alone, next to its cost in the run.

use dyno_record::{Counter, Expected, Learned, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};

pub(crate) const TITLE: &str = "one transaction, measured on a single session";

/// Counters that are shown, with their heads.
const SHOWN: [(Counter, &str); 6] = [
    (Counter::Executions, "statements"),
    (Counter::LogicalReads, "logical reads"),
    (Counter::RowsRead, "rows read"),
    (Counter::RowsWritten, "rows written"),
    (Counter::RedoBytes, "redo"),
    (Counter::Commits, "commits"),
];

/// A row for each class with measured costs; `None` if there is none.
pub(crate) fn learned(record: &RunRecord) -> Option<Grid> {
    let learned_classes: Vec<(&Expected, &Learned)> = record
        .workloads()
        .flat_map(|own| &own.expected)
        .filter_map(|one| Some((one, one.learned.as_ref()?)))
        .collect();
    if learned_classes.is_empty() {
        return None;
    }
    let shown: Vec<_> = SHOWN
        .into_iter()
        .filter(|(counter, _)| {
            learned_classes.iter().any(|(_, learned)| learned.counters.contains_key(counter))
        })
        .collect();
    let mut heads = vec![
        GridHead::text("class"),
        GridHead::figures("alone", "").explained("mean time on a single session, without waits for others"),
        GridHead::figures("in the run", "").explained("mean service time"),
        GridHead::figures("times", "")
            .explained("ratio of the two: what the other sessions cost each transaction"),
    ];
    heads.extend(shown.iter().map(|(_, head)| GridHead::figures(head, "").explained("of one transaction")));
    let mut grid = Grid::new(heads);
    for (expected, learned) in learned_classes {
        let mean_us = record.ops.get(&expected.class).and_then(|ops| ops.service_us.mean);
        let times = mean_us.filter(|_| learned.alone_us > 0.0).map(|mean_us| mean_us / learned.alone_us);
        let mut cells = vec![
            GridCell::text(&expected.class),
            GridCell::time_us(learned.alone_us),
            GridCell::time_us(mean_us),
            GridCell::fixed(times, 1),
        ];
        cells.extend(shown.iter().map(|(counter, _)| {
            let mean = learned.counters.get(counter).map(|mean| mean.mean);
            match counter {
                Counter::RedoBytes => GridCell::bytes(mean),
                _ => GridCell::fixed(mean, 2),
            }
        }));
        grid.row(cells);
    }
    Some(grid)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_analyze::fixture;
    use dyno_record::{Mean, WorkloadFacts};

    use super::*;

    #[test]
    fn learned_cost_is_shown_with_cost_in_the_run() {
        let mut record = fixture::postgres();
        assert!(learned(&record).is_none());
        let class = record.classes[0].name.clone();
        let rows = BTreeMap::from([(Counter::RowsWritten, Mean { mean: 3.0, error: 0.0 })]);
        let cost_profile = Learned { transactions: 10, alone_us: 500.0, rows: None, counters: rows };
        let profiled = Expected { class: class.clone(), learned: Some(cost_profile), ..Expected::default() };
        let unknown = Expected { class: "other".into(), ..Expected::default() };
        let (name, digest) = ("bank".into(), String::new());
        record.workload = Some(WorkloadFacts {
            name,
            digest,
            scale: 1,
            writes: true,
            expected: vec![profiled, unknown],
            ..WorkloadFacts::default()
        });
        record.ops.get_mut(&class).unwrap().service_us.mean = Some(1_250.0);
        let grid = learned(&record).unwrap();
        let texts: Vec<&str> = grid.rows[0].1.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((grid.rows.len(), texts), (1, vec![class.as_str(), "500 µs", "1.25 ms", "2.5", "3.00"]));
    }
}
