//! Computes the time that a counter's delta covers, where sessions publish their work at the window
//! boundaries.
//!
//! The begin snapshot includes the operation in progress at the window's begin, which the window counts too.
//! So the database's counters moved by slightly less than the window's work: by one operation of each
//! session, however long it took. The client knows exactly what it did between the snapshots and in the
//! window. Each counter is therefore compared with the work that moves it: its rate is its delta per unit of
//! that work, times the window's rate of that work.

use std::collections::BTreeMap;

use dyno_record::{Class, OpStats, RowEffect, Window};

use dyno_observe::CoveredSeconds;

/// The seconds for counters that include what `window` says they include, where its operations are `ops`.
pub(super) fn covered_seconds(
    window: &Window,
    ops: &BTreeMap<String, OpStats>,
    classes: &[Class],
) -> CoveredSeconds {
    let work_s = window.work_seconds();
    let Some(counted) = &window.counted else { return CoveredSeconds::all(work_s) };
    let covered = |counted: u64, in_window: f64| match counted > 0 && in_window > 0.0 {
        true => work_s * counted as f64 / in_window,
        false => work_s,
    };
    let sum = |of: fn(&OpStats) -> f64, is_one: fn(&Class) -> bool| {
        let classes = classes.iter().filter(|class| is_one(class));
        classes.filter_map(|class| ops.get(&class.name)).map(of).sum::<f64>()
    };
    let is_op = |_: &Class| true;
    let is_write = |class: &Class| class.rows != RowEffect::Read;
    let counts = |stats: &OpStats| stats.count as f64 - stats.before;
    let rows = |stats: &OpStats| stats.rows as f64 - stats.rows_before;
    let ops_s = covered(counted.operations(), sum(counts, is_op));
    // With mixed operations, it is unknown how many of a class's rows in the window were written.
    let (written, written_in_window) = match classes.iter().any(|class| class.mixed) {
        true => {
            let writing = classes.iter().filter(|class| is_write(class));
            (writing.map(|class| counted.of(&class.name)).sum(), sum(counts, is_write))
        }
        false => (counted.rows_updated + counted.rows_inserted + counted.rows_deleted, sum(rows, is_write)),
    };
    CoveredSeconds {
        ops_s,
        rows_s: covered(counted.rows(), sum(rows, is_op)),
        writes_s: if written > 0 { covered(written, written_in_window) } else { ops_s },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use dyno_plan::WorkloadSettings;
    use dyno_record::Counter;
    use dyno_record::window::WorkCounts;
    use dyno_workload::blocks;

    fn select(count: u64, before: f64) -> BTreeMap<String, OpStats> {
        let stats =
            OpStats { count, before, rows: count * 10, rows_before: before * 10.0, ..OpStats::default() };
        BTreeMap::from([("select".to_owned(), stats)])
    }

    fn of(window: &Window, ops: &BTreeMap<String, OpStats>) -> CoveredSeconds {
        let classes = blocks::classes(&WorkloadSettings::default(), &testing::spec(1_000));
        covered_seconds(window, ops, classes.of_operations())
    }

    fn window(ops: u64) -> Window {
        let counted = WorkCounts {
            ops: BTreeMap::from([("select".to_owned(), ops)]),
            rows_read: ops * 10,
            ..WorkCounts::default()
        };
        Window { seconds: 4.0, work_s: Some(4.0), counted: Some(counted), ..Window::default() }
    }

    #[test]
    fn counter_rate_covers_whole_window_after_initial_stall() {
        // Two sessions were blocked for 1.3 s of 4 s: the snapshot could only be read when they continued.
        let cover = of(&window(2_518), &select(2_520, 0.7));
        let per_s = 2_518.0 / cover.seconds(Counter::Commits);
        assert!((per_s - 2_519.3 / 4.0).abs() < 1e-9, "{per_s}");
    }

    #[test]
    fn long_operations_do_not_distort_counter_rates() {
        // Each operation takes a second; the window begins in the middle of one, and its end waits for
        // another.
        let window = Window { work_s: Some(4.5), ..window(4) };
        let cover = of(&window, &select(5, 0.5));
        assert!((40.0 / cover.seconds(Counter::LogicalReads) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn seconds_equal_window_length_without_such_operations() {
        assert_eq!(of(&window(0), &select(1, 0.0)).seconds(Counter::Commits), 4.0);
    }
}
