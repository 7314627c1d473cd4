//! The tables of a timeline, for terminal and page.

use dyno_awr::timeline::Timeline;
use dyno_report::chart::bars::bar;
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number::ABSENT;

use super::measures::{ACTIVE, CPU, READ_MS, READS, UNACCOUNTED, WRITES};
use super::words;

/// What the share of unaccounted DB time means.
pub(super) const UNACCOUNTED_MEANS: &str = "DB time that is neither CPU nor waits; below 0 if waits belong to \
    calls whose time is counted later";

/// Width of the bar of active sessions.
const BAR: usize = 12;

/// A row for each report, with its flags.
pub(super) fn reports(timeline: &Timeline) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("begin"),
        GridHead::tight("snapshots").spare(3),
        GridHead::figures("active sessions", "").short("", "active"),
        GridHead::text("sessions").only_in_terminal().spare(2),
        GridHead::figures("CPU", "%"),
        GridHead::figures("DB time unaccounted", "%").explained(UNACCOUNTED_MEANS).short("", "unacc."),
        GridHead::figures("read", "/s"),
        GridHead::figures("write", "/s").spare(1),
        GridHead::figures("read", "ms"),
        GridHead::text("top event"),
        GridHead::text("flags").only_on_pages(),
    ]);
    let largest = timeline.points.iter().filter_map(|(point, _)| point.value(ACTIVE)).fold(0.0, f64::max);
    for (point, flags) in &timeline.points {
        let (begin, snaps) = words::place(point);
        let share = point.value(ACTIVE).filter(|_| largest > 0.0).map_or(0.0, |active| active / largest);
        let figures = [CPU, UNACCOUNTED, READS, WRITES, READ_MS];
        let active = GridCell::figure(point.value(ACTIVE));
        let mut cells = vec![begin.into(), snaps.into(), active, bar(share, BAR).into()];
        cells.extend(figures.map(|measure| GridCell::figure(point.value(measure))));
        cells.push(point.top_event.as_deref().unwrap_or(ABSENT).into());
        let flags: Vec<&str> = flags.iter().map(words::word).collect();
        cells.push(GridCell::from(flags.join(", ")).toned("warn"));
        grid.row(cells);
    }
    grid
}

/// What correlates with DB time: at most `most` items of each kind, with the names of objects if `names`.
pub(super) fn correlated(timeline: &Timeline, most: usize, names: bool) -> Option<Grid> {
    let mut grid = Grid::new(vec![
        GridHead::tight("kind").short("", "correlates with DB time"),
        GridHead::text("name"),
        GridHead::figures("of its rise", "%")
            .explained("the share of each additional second of DB time, by least squares over all reports"),
        GridHead::figures("all reports", "ρ")
            .explained("Spearman's rank correlation with DB time over all reports"),
        GridHead::figures("within levels", "ρ")
            .explained("the same for the deviations of both from the middle of their level"),
        GridHead::figures("reports", "").explained("reports that list it").only_on_pages(),
    ]);
    for of in words::closest(timeline, most) {
        let coefficient = |rho: Option<f64>| GridCell::number(rho, 2, words::signed_coefficient);
        grid.row(vec![
            of.thing.kind.plural().into(),
            words::thing_name(&of.thing, names).into(),
            GridCell::fixed(of.thing.kind.is_time().then_some(100.0 * of.slope), 0),
            coefficient(Some(of.over_all.rho)),
            coefficient(of.within.map(|within| within.rho)),
            GridCell::count(of.reports as u64),
        ]);
    }
    (!grid.rows.is_empty()).then_some(grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_awr::timeline::MEASURES;

    #[test]
    fn timeline_columns_match_their_headings() {
        let columns = [ACTIVE, CPU, UNACCOUNTED, READS, WRITES, READ_MS].map(|at| MEASURES[at].column);
        assert_eq!(columns, ["aas", "cpu_busy_pct", "unaccounted_pct", "read_iops", "write_iops", "read_ms"]);
    }
}
