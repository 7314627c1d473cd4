//! Two intervals of databases' own reports, as tables: each line with both sides and what lies between.

use dyno_analyze::intervals::{Between, EventLine, LoadLine, SectionLine};
use dyno_analyze::number::{ABSENT, fixed};
use dyno_analyze::reading::{Change, Reading};

use crate::grid::{Cell, Grid, Head};
use crate::html::Section;
use crate::reported::class_and_tone;

/// A change from which on it stands out, %.
const STANDS_OUT_PCT: f64 = 20.0;

/// What a load profile is told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// A second.
    Second,
    /// A transaction.
    Transaction,
}

/// How a difference is shown, and whether it is at all.
#[derive(Debug, Clone, Copy)]
pub struct Differences {
    shown: bool,
}

impl Differences {
    /// Those of `between`, where they are a change of one database, or somebody asks for them all the same.
    pub fn of(between: &Between, anyway: bool) -> Self {
        Self { shown: anyway || between.is_comparable() }
    }

    /// Whether they are shown.
    pub fn are_shown(self) -> bool {
        self.shown
    }

    /// What lies between, in the unit of both, and in percent of the first. A mark where one side is missing.
    pub fn cells(self, of: &Change, only: [&str; 2]) -> [Cell; 2] {
        let alone = |word: &str| [Cell::text(ABSENT), Cell { tone: "alone", ..Cell::text(word) }];
        match (of.a, of.b) {
            (None, None) => [ABSENT, ABSENT].map(Cell::text),
            (Some(_), None) => alone(only[0]),
            (None, Some(_)) => alone(only[1]),
            _ if !self.shown => [ABSENT, ABSENT].map(Cell::text),
            (Some(a), Some(_)) => match of.difference() {
                None => ["=", "="].map(Cell::text),
                Some(by) => {
                    let by = Cell::text(&signed(by.value, &by.shown()));
                    [by, of.percent().map_or_else(|| no_share(a), percent)]
                }
            },
        }
    }
}

/// There is no share of nothing.
fn no_share(a: Reading) -> Cell {
    Cell::text(if a.value == 0.0 { "from 0" } else { ABSENT })
}

fn percent(percent: f64) -> Cell {
    let tone = if percent.abs() >= STANDS_OUT_PCT { "stands" } else { "" };
    Cell { tone, ..Cell::text(&signed(percent, &fixed(percent, 1))) }
}

fn signed(value: f64, text: &str) -> String {
    if value > 0.0 { format!("+{text}") } else { text.to_owned() }
}

/// What is not listed on one side only because lists are cut or hold no zeros.
const LISTED: [&str; 2] = ["only in A", "only in B"];
/// What is certainly not there on the other side.
const CERTAIN: [&str; 2] = ["gone", "new"];

fn side(of: Option<Reading>) -> Cell {
    Cell::text(&of.map_or_else(|| ABSENT.to_owned(), |reading| reading.shown()))
}

fn four(of: &Change, differences: Differences, only: [&str; 2]) -> [Cell; 4] {
    let [by, percent] = differences.cells(of, only);
    [side(of.a), side(of.b), by, percent]
}

fn heads(unit: &str) -> [Head; 4] {
    [
        Head::figures("A", unit),
        Head::figures("B", unit),
        Head::figures("B − A", unit),
        Head::figures("B against A", "%"),
    ]
}

/// The load profile by each of `pers`.
pub fn load_grid(lines: &[LoadLine], differences: Differences, pers: &[Per]) -> Grid {
    let unit = |per: &Per| if *per == Per::Second { "/s" } else { "/txn" };
    let mut columns = vec![Head::text("load profile")];
    columns.extend(pers.iter().flat_map(|per| heads(unit(per))));
    let mut grid = Grid::new(columns);
    for line in lines {
        let mut cells = vec![Cell::text(&line.name)];
        for per in pers {
            let change = if *per == Per::Second { &line.per_s } else { &line.per_txn };
            cells.extend(four(change, differences, LISTED));
        }
        grid.row(cells);
    }
    grid
}

fn events_grid(lines: &[EventLine], differences: Differences) -> Grid {
    let mut columns = vec![Head::text("top timed event"), Head::text("class")];
    columns.extend(["s waited per s", "waits/s", "mean wait, ms"].iter().flat_map(|unit| heads(unit)));
    let mut grid = Grid::new(columns);
    for line in lines {
        let (class, tone) = class_and_tone(&line.name, &line.class);
        let only = if line.is_certain { CERTAIN } else { LISTED };
        let mut cells = vec![Cell::text(&line.name), Cell { tone, ..Cell::text(class) }];
        let in_ms = |us: Option<Reading>| us.map(|us| us.times(1e-3));
        let mean_ms = Change { a: in_ms(line.mean_us.a), b: in_ms(line.mean_us.b), ..line.mean_us.clone() };
        for change in [&line.waited, &line.waits, &mean_ms] {
            cells.extend(four(change, differences, only));
        }
        grid.row(cells);
    }
    grid
}

/// Rows of sections that changed.
pub fn sections_grid(lines: &[SectionLine], differences: Differences) -> Grid {
    let mut columns = vec![Head::text("section"), Head::text("row"), Head::text("figure")];
    columns.extend(heads(""));
    let mut grid = Grid::new(columns);
    for line in lines {
        let per = if line.per_s { "/s" } else { "" };
        let mut cells = vec![
            Cell::text(&line.section.replace('_', " ")),
            Cell::text(&line.row),
            Cell::text(&format!("{}{per}", line.figure)),
        ];
        cells.extend(four(&line.change, differences, LISTED));
        grid.row(cells);
    }
    grid
}

/// The two as parts of a page.
pub fn interval_sections(between: &Between, differences: Differences) -> Vec<Section> {
    let section = |title: &str, line: &str, grid: Grid| Section {
        title: title.to_owned(),
        lines: if line.is_empty() { Vec::new() } else { vec![line.to_owned()] },
        grids: vec![(String::new(), grid)],
        ..Section::default()
    };
    let mut sections = vec![
        section("Load profile", "", load_grid(&between.load, differences, &[Per::Second, Per::Transaction])),
        section(
            "Top timed events",
            "Of the events among the top ones of either report. New and gone are those of which the other report's complete list has none; \
             only in A and only in B may be below the end of the other one's list.",
            events_grid(&between.events, differences),
        ),
    ];
    if !between.sections.is_empty() {
        let about = "The rows of each section that changed by 20 % or more, at most three of each figure. Totals are per second.";
        sections.push(section("Sections", about, sections_grid(&between.sections, differences)));
    }
    if !between.parameters.is_empty() {
        let mut grid = Grid::new(["parameter", "A", "B"].map(Head::text).to_vec());
        for line in &between.parameters {
            let value = |side: &Option<String>| Cell::text(side.as_deref().unwrap_or(ABSENT));
            grid.row(vec![Cell::text(&line.name), value(&line.a), value(&line.b)]);
        }
        sections.push(section("Parameters that differ", "", grid));
    }
    if !between.statistics.is_empty() {
        let mut columns = vec![Head::text("statistic")];
        columns.extend(heads("/s"));
        let mut grid = Grid::new(columns);
        for line in &between.statistics {
            let mut cells = vec![Cell::text(&line.name)];
            cells.extend(four(line, differences, LISTED));
            grid.row(cells);
        }
        let about = "Totals of each interval by its length. A statistic that is in one of them only was 0 in the other, or is not listed there.";
        sections.push(section("Statistics", about, grid));
    }
    sections
}

#[cfg(test)]
mod tests {
    use dyno_analyze::intervals::Apart;

    use super::*;

    fn change(a: Option<f64>, b: Option<f64>) -> Change {
        let reading = |value| Reading { value, step: 0.1 };
        Change { name: "x".into(), a: a.map(reading), b: b.map(reading) }
    }

    fn texts(of: &Change, between: &Between, anyway: bool) -> [String; 2] {
        Differences::of(between, anyway).cells(of, LISTED).map(|cell| cell.text)
    }

    #[test]
    fn a_difference_is_told_in_its_unit_and_in_percent() {
        let alike = Between::default();
        assert_eq!(texts(&change(Some(100.0), Some(150.5)), &alike, false), ["+50.5", "+50.5"]);
        assert_eq!(texts(&change(Some(100.0), Some(75.0)), &alike, false), ["-25.0", "-25.0"]);
        assert_eq!(texts(&change(Some(0.0), Some(3.0)), &alike, false), ["+3.0", "from 0"]);
        assert_eq!(texts(&change(Some(1.0), Some(1.0)), &alike, false), ["=", "="]);
        assert_eq!(texts(&change(None, Some(1.0)), &alike, false), [ABSENT, "only in B"]);
    }

    #[test]
    fn what_is_no_change_of_one_database_has_no_difference_but_for_who_asks() {
        let apart = Between { apart: vec![Apart::Database("A".into(), "B".into())], ..Between::default() };
        let of = change(Some(100.0), Some(150.0));
        assert_eq!(texts(&of, &apart, false), [ABSENT, ABSENT]);
        assert_eq!(texts(&of, &apart, true), ["+50.0", "+50.0"]);
        assert_eq!(texts(&change(Some(1.0), None), &apart, false), [ABSENT, "only in A"]);
    }
}
