//! Rows of two sides next to each other: A, B, the difference, and whether it is significant.

use dyno_analyze::compare::ComparisonVerdict;
use dyno_analyze::differences::ConfigDifference;
use dyno_analyze::number::{bytes, percent as percent_figure, time_us, within};
use dyno_analyze::side_by_side::{ComparedRow, RowUnit};

use crate::content::compare::{chance, interval, interval_head, percent, verdict};
use crate::model::table::{Grid, GridCell, GridHead};

/// Characters of a figure; a longer one is shown as `1.23G`.
const FIGURE_MAX: usize = 12;

/// Which rows a table shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowFilter {
    /// All rows.
    All,
    /// Rows that differ by more than the margin, %, or that only one side has.
    Differing { margin_pct: f64 },
}

impl RowFilter {
    pub(crate) fn is_all(self) -> bool {
        self == Self::All
    }

    fn shows(self, row: &ComparedRow) -> bool {
        match self {
            Self::All => true,
            Self::Differing { margin_pct } => row.is_significant() || row.is_different(margin_pct),
        }
    }
}

/// The rows that `filter` shows, at most `rows_max` of them (those that differ most); `None` if there are
/// none. The first head is `label`; `over_looks` says what the intervals are.
pub(crate) fn rows_grid(
    label: &str,
    rows: &[ComparedRow],
    filter: RowFilter,
    rows_max: usize,
    over_looks: bool,
) -> Option<Grid> {
    let mut shown: Vec<&ComparedRow> = rows.iter().filter(|row| filter.shows(row)).collect();
    if shown.len() > rows_max && !filter.is_all() {
        let size = |row: &ComparedRow| row.difference_pct.map_or(f64::INFINITY, f64::abs);
        let mut sizes: Vec<f64> = shown.iter().map(|row| size(row)).collect();
        sizes.sort_by(|x, y| y.total_cmp(x));
        let least = sizes[rows_max - 1];
        shown.retain(|row| size(row) >= least);
        shown.truncate(rows_max);
    }
    let has_shares = shown.iter().any(|row| row.share_pct.is_some());
    let mut grid = Grid::new(heads(label, has_shares, over_looks));
    let mut title = "";
    for row in &shown {
        if row.title != title {
            title = &row.title;
            grid.row([GridCell::text(title)]);
        }
        grid.row(cells(row, has_shares));
    }
    (!shown.is_empty()).then_some(grid)
}

/// Number of rows that `filter` does not show.
pub(crate) fn folded(rows: &[ComparedRow], filter: RowFilter) -> usize {
    rows.iter().filter(|row| !filter.shows(row)).count()
}

fn heads(label: &str, has_shares: bool, over_looks: bool) -> Vec<GridHead> {
    let share = |side: &str| {
        GridHead::figures(&format!("{side} share"), "%").explained("of the time of all rows").spare(4)
    };
    let mut heads = vec![GridHead::tight(label), GridHead::figures("A", ""), GridHead::figures("B", "")];
    if has_shares {
        heads.extend([share("A"), share("B")]);
    }
    heads.extend([
        GridHead::figures("difference", "").explained("B − A").spare(1),
        GridHead::figures("change", "%").explained("B − A, as a share of A"),
        interval_head(over_looks).spare(3),
        GridHead::figures("p", "")
            .explained("probability of ranks at least this far apart if both sides were equal")
            .spare(2),
        GridHead::tight("significance"),
    ]);
    heads
}

fn cells(row: &ComparedRow, has_shares: bool) -> Vec<GridCell> {
    let (in_a, in_b) = row.marked;
    let mut cells = vec![
        GridCell::text(&row.name),
        value(row.a, row.unit).marked(in_a),
        value(row.b, row.unit).marked(in_b),
    ];
    if has_shares {
        let (a, b) = row.share_pct.unwrap_or_default();
        cells.extend([GridCell::percent(a), GridCell::percent(b)]);
    }
    cells.extend([
        difference(row.difference, row.unit),
        percent(row.difference_pct),
        interval(row.interval_pct).into(),
        chance(row.p.or(row.p_windows)),
        significance(row),
    ]);
    cells
}

/// A figure in its unit.
pub(crate) fn value(value: Option<f64>, unit: RowUnit) -> GridCell {
    match unit {
        RowUnit::Number => GridCell::within(value, FIGURE_MAX),
        RowUnit::Bytes => GridCell::bytes(value),
        RowUnit::Microseconds => GridCell::time_us(value),
        RowUnit::Percent => GridCell::percent(value).in_unit("%"),
    }
}

/// A difference with its sign, in the unit. That of two percentages is in percentage points.
fn difference(difference: Option<f64>, unit: RowUnit) -> GridCell {
    let shown = |difference: f64| {
        let size = difference.abs();
        let text = match unit {
            RowUnit::Number => within(size, FIGURE_MAX),
            RowUnit::Bytes => bytes(size.round() as u64),
            RowUnit::Microseconds => time_us(size),
            RowUnit::Percent => percent_figure(size),
        };
        let is_zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
        let sign = match (is_zero, difference > 0.0) {
            (true, _) => "",
            (false, true) => "+",
            (false, false) => "-",
        };
        format!("{sign}{text}")
    };
    let cell = GridCell::shown(difference, shown);
    match unit {
        RowUnit::Number => cell,
        RowUnit::Bytes => cell.with_own_unit("B"),
        RowUnit::Microseconds => cell.with_own_unit("µs"),
        RowUnit::Percent => cell.in_unit("points"),
    }
}

/// The verdict; with one run each, whether the intervals inside the two runs differ.
fn significance(row: &ComparedRow) -> GridCell {
    match (row.a, row.b) {
        (Some(_), None) => return GridCell::text("not in B"),
        (None, Some(_)) => return GridCell::text("not in A"),
        _ => {}
    }
    match (row.verdict, row.windows_differ()) {
        (ComparisonVerdict::OneRunEach, Some(true)) => GridCell::text("windows differ"),
        (ComparisonVerdict::OneRunEach, Some(false)) => GridCell::text("windows alike").toned("dim"),
        (ComparisonVerdict::OneRunEach, None) => GridCell::text("not tested").toned("dim"),
        (told, _) => verdict(told),
    }
}

/// Settings or facts with their values on both sides, without a column for their area.
pub(crate) fn settings_grid(label: &str, settings: &[&ConfigDifference]) -> Grid {
    let mut grid = Grid::new(vec![GridHead::tight(label), GridHead::text("A"), GridHead::text("B")]);
    for setting in settings {
        grid.row([(&setting.name).into(), GridCell::list(&setting.a), GridCell::list(&setting.b)]);
    }
    grid
}
