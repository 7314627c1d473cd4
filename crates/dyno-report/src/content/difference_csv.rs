//! All rows of comparisons as one table, for CSV: a row for each figure, setting and fact.

use dyno_analyze::compare::MeasureComparison;
use dyno_analyze::differences::ConfigDifference;
use dyno_analyze::side_by_side::{ComparedRow, RowUnit, TableGroup};

use crate::content::difference_report::DifferenceReport;
use crate::model::table::{Grid, GridCell, GridHead};

/// The table: section, name and point, both sides with all digits, difference, interval, p and verdict.
pub fn differences_csv_grid(reports: &[DifferenceReport<'_>]) -> Grid {
    let text = ["a_side", "b_side", "section", "title", "name", "point", "unit"].map(GridHead::text);
    let figures = ["a", "b", "difference", "difference_pct", "low_pct", "high_pct", "p", "p_windows"];
    let figures = figures.map(|name| GridHead::figures(name, ""));
    let last = ["verdict", "marked"].map(GridHead::text);
    let mut grid = Grid::new(text.into_iter().chain(figures).chain(last).collect());
    for report in reports {
        let sides = [&report.comparison.a, &report.comparison.b].map(GridCell::from);
        let mut row = |cells: Vec<GridCell>| grid.row(sides.iter().cloned().chain(cells));
        for point in &report.comparison.points {
            let at = point.at.join(" ");
            point.measures.iter().for_each(|compared| row(of_measure(compared, &at)));
        }
        for table in &report.beside.tables {
            table.rows.iter().for_each(|compared| row(of_row(table.group, compared)));
        }
        for (section, all) in [("differs", &report.comparison.differed), ("equal", &report.beside.equal)] {
            all.iter().for_each(|setting| row(of_setting(section, setting)));
        }
    }
    grid
}

fn of_measure(compared: &MeasureComparison, at: &str) -> Vec<GridCell> {
    let texts = ["point", "", compared.measure.as_str(), at, compared.unit.name()].map(GridCell::text);
    let (low, high) = compared.interval_pct.unzip();
    let figures = [
        compared.a,
        compared.b,
        compared.difference,
        compared.difference_pct,
        low,
        high,
        compared.p_adjusted,
        None,
    ];
    let last = [GridCell::text(compared.verdict.words()), mark(compared.marked)];
    texts.into_iter().chain(figures.map(GridCell::full)).chain(last).collect()
}

fn of_row(group: TableGroup, row: &ComparedRow) -> Vec<GridCell> {
    let section = match group {
        TableGroup::Measures => "measures",
        TableGroup::LoadPerSecond => "load per second",
        TableGroup::LoadPerWork => "load per operation",
        TableGroup::TimeByClass => "time by class",
        TableGroup::TimeByEvent => "time by event",
        TableGroup::Classes => "classes",
        TableGroup::Statements => "statements",
        TableGroup::Relations => "tables and indexes",
        TableGroup::Counters => "counters",
    };
    let unit = match row.unit {
        RowUnit::Number => "",
        RowUnit::Bytes => "bytes",
        RowUnit::Microseconds => "us",
        RowUnit::Percent => "%",
    };
    let texts = [section, &row.title, &row.name, "", unit].map(GridCell::text);
    let (low, high) = row.interval_pct.unzip();
    let figures = [row.a, row.b, row.difference, row.difference_pct, low, high, row.p, row.p_windows];
    let last = [GridCell::text(row.verdict.words()), mark(row.marked)];
    texts.into_iter().chain(figures.map(GridCell::full)).chain(last).collect()
}

fn of_setting(section: &str, setting: &ConfigDifference) -> Vec<GridCell> {
    let texts = [section, setting.area.words(), &setting.name, "", ""].map(GridCell::text);
    let values = [&setting.a, &setting.b].map(|values| GridCell::from(values.join(", ")));
    let empty = std::iter::repeat_n(GridCell::default(), 8);
    texts.into_iter().chain(values).chain(empty).collect()
}

/// Which sides include background activity.
fn mark((in_a, in_b): (bool, bool)) -> GridCell {
    GridCell::text(match (in_a, in_b) {
        (false, false) => "",
        (true, false) => "A",
        (false, true) => "B",
        (true, true) => "A and B",
    })
}
