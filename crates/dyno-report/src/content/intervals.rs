//! Tables of two intervals from database reports: each line with both sides and their difference.

use dyno_analyze::intervals::{EventLine, IntervalComparison, LoadLine, SectionLine};
use dyno_analyze::number::{ABSENT, fixed};
use dyno_analyze::reading::{PrintedNumber, ReadingChange};

use crate::content::reported::class_and_tone;
use crate::model::document::PageSection;
use crate::model::table::{Grid, GridCell, GridHead};

/// Change from which a line is highlighted, %.
const STANDS_OUT_PCT: f64 = 20.0;

/// The base of a load profile's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadProfilePer {
    /// Per second of elapsed time.
    Second,
    /// Per transaction of the database.
    Transaction,
}

/// Whether differences are shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct Differences {
    shown: bool,
}

impl Differences {
    /// Shows differences if both intervals are of one database, or if the user requests them anyway.
    pub fn of(between: &IntervalComparison, anyway: bool) -> Self {
        Self { shown: anyway || between.is_comparable() }
    }

    pub fn are_shown(self) -> bool {
        self.shown
    }

    /// Both sides with their difference; marks as for [`Differences::cells`].
    pub fn row(self, change: &ReadingChange, only: [&str; 2]) -> [GridCell; 4] {
        let [by, percent] = self.cells(change, only);
        [reading_cell(change.a), reading_cell(change.b), by, percent]
    }

    /// The difference in the common unit, and in percent of the first. A mark if one side is missing.
    pub fn cells(self, change: &ReadingChange, only: [&str; 2]) -> [GridCell; 2] {
        let alone = |word: &str| [GridCell::absent(), GridCell::text(word).toned("alone")];
        match (change.a, change.b) {
            (None, None) => [ABSENT, ABSENT].map(GridCell::text),
            (Some(_), None) => alone(only[0]),
            (None, Some(_)) => alone(only[1]),
            _ if !self.shown => [ABSENT, ABSENT].map(GridCell::text),
            (Some(a), Some(_)) => match change.difference() {
                None => ["=", "="].map(GridCell::text),
                Some(by) => {
                    let difference_cell = GridCell::shown(by.value, |value| signed(value, &by.shown()));
                    [difference_cell, change.percent().map_or_else(|| no_share(a), percent)]
                }
            },
        }
    }
}

/// A percentage of zero is undefined.
fn no_share(a: PrintedNumber) -> GridCell {
    GridCell::text(if a.value == 0.0 { "from 0" } else { ABSENT })
}

fn percent(percent: f64) -> GridCell {
    let tone = if percent.abs() >= STANDS_OUT_PCT { "stands" } else { "" };
    GridCell::number(percent, 1, |percent| signed(percent, &fixed(percent, 1))).toned(tone)
}

fn signed(value: f64, text: &str) -> String {
    if value > 0.0 { format!("+{text}") } else { text.to_owned() }
}

/// Marks for lines missing on one side because lists are truncated or omit zeros.
const LISTED: [&str; 2] = ["only in A", "only in B"];
/// Marks for lines that certainly do not exist on the other side.
const CERTAIN: [&str; 2] = ["gone", "new"];

/// A figure with the digits of its report.
pub fn reading_cell(side_reading: Option<PrintedNumber>) -> GridCell {
    side_reading.map_or_else(GridCell::absent, |reading| GridCell::shown(reading.value, |_| reading.shown()))
}

/// Columns of both sides and their difference.
pub fn change_heads(unit: &str) -> [GridHead; 4] {
    [
        GridHead::figures("A", unit),
        GridHead::figures("B", unit),
        GridHead::figures("B − A", unit),
        GridHead::figures("B against A", "%"),
    ]
}

/// The load profile by each base in `pers`.
pub fn load_grid(lines: &[LoadLine], differences: Differences, pers: &[LoadProfilePer]) -> Grid {
    let unit = |per: &LoadProfilePer| if *per == LoadProfilePer::Second { "/s" } else { "/txn" };
    let mut columns = vec![GridHead::text("load profile")];
    columns.extend(pers.iter().flat_map(|per| change_heads(unit(per))));
    let mut grid = Grid::new(columns);
    for line in lines {
        let mut cells = vec![GridCell::text(&line.name)];
        for per in pers {
            let change = if *per == LoadProfilePer::Second { &line.per_s } else { &line.per_txn };
            cells.extend(differences.row(change, LISTED));
        }
        grid.row(cells);
    }
    grid
}

fn events_grid(lines: &[EventLine], differences: Differences) -> Grid {
    let mut columns = vec![GridHead::text("top timed event"), GridHead::text("class")];
    columns.extend(["s waited per s", "waits/s", "mean wait, ms"].iter().flat_map(|unit| change_heads(unit)));
    let mut grid = Grid::new(columns);
    for line in lines {
        let (class, tone) = class_and_tone(&line.name, &line.class);
        let only = if line.is_certain { CERTAIN } else { LISTED };
        let mut cells = vec![GridCell::text(&line.name), GridCell::text(class).toned(tone)];
        let in_ms = |us: Option<PrintedNumber>| us.map(|us| us.times(1e-3));
        let mean_ms =
            ReadingChange { a: in_ms(line.mean_us.a), b: in_ms(line.mean_us.b), ..line.mean_us.clone() };
        for change in [&line.waited, &line.waits, &mean_ms] {
            cells.extend(differences.row(change, only));
        }
        grid.row(cells);
    }
    grid
}

/// Rows of sections that changed between the intervals.
pub fn sections_grid(lines: &[SectionLine], differences: Differences) -> Grid {
    let mut columns = vec![GridHead::text("section"), GridHead::text("row"), GridHead::text("figure")];
    columns.extend(change_heads(""));
    let mut grid = Grid::new(columns);
    for line in lines {
        let per = if line.per_s { "/s" } else { "" };
        let mut cells = vec![
            GridCell::text(&line.section.replace('_', " ")),
            GridCell::text(&line.row),
            GridCell::text(&format!("{}{per}", line.figure)),
        ];
        cells.extend(differences.row(&line.change, LISTED));
        grid.row(cells);
    }
    grid
}

/// Both intervals as sections of a page.
pub fn interval_sections(between: &IntervalComparison, differences: Differences) -> Vec<PageSection> {
    let section = |title: &str, line: &str, grid: Grid| PageSection {
        title: title.to_owned(),
        lines: if line.is_empty() { Vec::new() } else { vec![line.to_owned()] },
        grids: vec![(String::new(), grid)],
        ..PageSection::default()
    };
    let mut sections = vec![
        section(
            "Load profile",
            "",
            load_grid(&between.load, differences, &[LoadProfilePer::Second, LoadProfilePer::Transaction]),
        ),
        section(
            "Top timed events",
            "Top events of either report. New and gone: the other report's complete list does not contain \
             the event. Only in A and only in B: the event may be below the end of the other report's list.",
            events_grid(&between.events, differences),
        ),
    ];
    if !between.sections.is_empty() {
        let about = "The rows of each section that changed by 20 % or more, at most three of each figure. Totals are per second.";
        sections.push(section("Sections", about, sections_grid(&between.sections, differences)));
    }
    if !between.parameters.is_empty() {
        let mut grid = Grid::new(["parameter", "A", "B"].map(GridHead::text).to_vec());
        for line in &between.parameters {
            let value = |side: &Option<String>| GridCell::text(side.as_deref().unwrap_or(ABSENT));
            grid.row(vec![GridCell::text(&line.name), value(&line.a), value(&line.b)]);
        }
        sections.push(section("Parameters that differ", "", grid));
    }
    if !between.statistics.is_empty() {
        let mut columns = vec![GridHead::text("statistic")];
        columns.extend(change_heads("/s"));
        let mut grid = Grid::new(columns);
        for line in &between.statistics {
            let mut cells = vec![GridCell::text(&line.name)];
            cells.extend(differences.row(line, LISTED));
            grid.row(cells);
        }
        let about = "Totals of each interval divided by its length. A statistic that only one of them has was 0 in the other, or is not listed there.";
        sections.push(section("Statistics", about, grid));
    }
    sections
}

#[cfg(test)]
mod tests {
    use dyno_analyze::intervals::IntervalMismatch;

    use super::*;

    fn change(a: Option<f64>, b: Option<f64>) -> ReadingChange {
        let reading = |value| PrintedNumber { value, step: 0.1 };
        ReadingChange { name: "x".into(), a: a.map(reading), b: b.map(reading) }
    }

    fn texts(change: &ReadingChange, between: &IntervalComparison, anyway: bool) -> [String; 2] {
        Differences::of(between, anyway).cells(change, LISTED).map(|cell| cell.text)
    }

    #[test]
    fn difference_is_shown_in_unit_and_percent() {
        let alike = IntervalComparison::default();
        assert_eq!(texts(&change(Some(100.0), Some(150.5)), &alike, false), ["+50.5", "+50.5"]);
        assert_eq!(texts(&change(Some(100.0), Some(75.0)), &alike, false), ["-25.0", "-25.0"]);
        assert_eq!(texts(&change(Some(0.0), Some(3.0)), &alike, false), ["+3.0", "from 0"]);
        assert_eq!(texts(&change(Some(1.0), Some(1.0)), &alike, false), ["=", "="]);
        assert_eq!(texts(&change(None, Some(1.0)), &alike, false), [ABSENT, "only in B"]);
    }

    #[test]
    fn difference_between_two_databases_is_shown_only_on_request() {
        let apart = IntervalComparison {
            mismatches: vec![IntervalMismatch::Database("A".into(), "B".into())],
            ..IntervalComparison::default()
        };
        let increase = change(Some(100.0), Some(150.0));
        assert_eq!(texts(&increase, &apart, false), [ABSENT, ABSENT]);
        assert_eq!(texts(&increase, &apart, true), ["+50.0", "+50.0"]);
        assert_eq!(texts(&change(Some(1.0), None), &apart, false), [ABSENT, "only in A"]);
    }
}
