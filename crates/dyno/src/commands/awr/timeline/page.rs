//! Lines of time as a page.

use dyno_awr::timeline::{Flag, Timeline};
use dyno_report::grid::{Cell, Grid, Head};
use dyno_report::html::{Section, pages};
use dyno_report::number::{ABSENT, optional};

use super::columns::{ACTIVE, CPU, READ_MS, READS, UNACCOUNTED, WRITES};
use super::{charts, words};

/// Of each kind, what goes closest with DB time.
const CLOSEST: usize = 15;

/// All lines of time.
pub(super) fn page(timelines: &[Timeline], names: bool) -> String {
    let section = |timeline: &Timeline| {
        let grids = [
            ("What stands out", flags(timeline, names)),
            ("Reports", Some(reports(timeline))),
            ("What goes with DB time", correlated(timeline, names)),
        ];
        Section {
            title: words::title(timeline),
            lines: lines(timeline, names),
            charts: charts::charts(timeline),
            plots: Vec::new(),
            grids: grids.into_iter().filter_map(|(title, grid)| Some((title.to_owned(), grid?))).collect(),
        }
    };
    let about = "From AWR and STATSPACK reports; times are those of the database hosts.";
    pages("Reports in the order of time", about, &timelines.iter().map(section).collect::<Vec<_>>())
}

/// What is said before the charts.
fn lines(timeline: &Timeline, names: bool) -> Vec<String> {
    let is_segment = |flag: &Flag| match flag {
        Flag::Anomaly(anomaly) => anomaly.moved.iter().any(|moved| moved.thing.object.is_some()),
        _ => false,
    };
    let unnamed = !names && timeline.points.iter().any(|(_, flags)| flags.iter().any(is_segment));
    let hint =
        unnamed.then(|| "Segments are told without their names; --object-names tells them.".to_owned());
    std::iter::once(format!("{}.", sentence(&words::summary(timeline)))).chain(hint).collect()
}

/// The same with a capital at its begin.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Every flag in full, in the order of time.
fn flags(timeline: &Timeline, names: bool) -> Option<Grid> {
    let mut grid = Grid::new(vec![
        Head::tight("begin"),
        Head::tight("snapshots"),
        Head::tight("what"),
        Head::text("details"),
    ]);
    for (at, (point, flags)) in timeline.points.iter().enumerate() {
        let (begin, snaps) = words::place(point);
        for flag in flags {
            let words = words::words(flag);
            let what = words.split_once(": ").map_or(words.as_str(), |(_, words)| words);
            grid.row(vec![Cell::text(&begin), Cell::text(&snaps), tone(flag), Cell::text(what)]);
            let details = match flag {
                Flag::Anomaly(anomaly) => words::moved(anomaly, point, names),
                Flag::Level(_) => {
                    timeline.causes.get(&at).map_or_else(Vec::new, |of| words::causes(of, names))
                }
                _ => Vec::new(),
            };
            add_details(&mut grid, details);
        }
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// A row for each kind of things that moved.
fn add_details(grid: &mut Grid, details: Vec<(&'static str, String)>) {
    for (what, moved) in details {
        let words = format!("{what}: {moved}");
        grid.row(vec![Cell::text(""), Cell::text(""), Cell::text(""), Cell::text(&words)]);
    }
}

fn tone(flag: &Flag) -> Cell {
    let tone = match flag {
        Flag::Anomaly(_) => "bad",
        Flag::Level(_) => "foreign",
        _ => "warn",
    };
    Cell { tone, ..Cell::text(words::word(flag)) }
}

fn reports(timeline: &Timeline) -> Grid {
    let mut grid = Grid::new(vec![
        Head::tight("begin"),
        Head::tight("snapshots"),
        Head::figures("active sessions", ""),
        Head::figures("CPU", "%"),
        Head::figures("DB time unaccounted", "%").explained(
            "DB time that is neither CPU nor waits; below 0 where waits were counted of calls whose time comes later",
        ),
        Head::figures("read", "/s"),
        Head::figures("write", "/s"),
        Head::figures("read", "ms"),
        Head::text("top event"),
        Head::text("flags"),
    ]);
    for (point, flags) in &timeline.points {
        let value = |measure: usize| Cell::text(&optional(point.value(measure)));
        let (begin, snaps) = words::place(point);
        grid.row(vec![
            Cell::text(&begin),
            Cell::text(&snaps),
            value(ACTIVE),
            value(CPU),
            value(UNACCOUNTED),
            value(READS),
            value(WRITES),
            value(READ_MS),
            Cell::text(point.top_event.as_deref().unwrap_or(ABSENT)),
            Cell {
                tone: "warn",
                ..Cell::text(&flags.iter().map(words::word).collect::<Vec<_>>().join(", "))
            },
        ]);
    }
    grid
}

fn correlated(timeline: &Timeline, names: bool) -> Option<Grid> {
    let mut grid = Grid::new(vec![
        Head::tight("kind"),
        Head::text("name"),
        Head::figures("of its rise", "%")
            .explained("the share of each further second of DB time that is this one's, by least squares over all reports"),
        Head::figures("all reports", "ρ")
            .explained("Spearman's rank correlation with DB time over all reports"),
        Head::figures("within levels", "ρ")
            .explained("the same of what both are above or below the middle of their level"),
        Head::figures("reports", "").explained("reports that list it"),
    ]);
    for of in words::closest(timeline, CLOSEST) {
        let within = of.within.map_or_else(|| ABSENT.to_owned(), |within| words::rho(within.rho));
        grid.row(vec![
            Cell::text(of.thing.what.plural()),
            Cell::text(&words::thing(&of.thing, names)),
            Cell::text(&words::explained(of)),
            Cell::text(&words::rho(of.over_all.rho)),
            Cell::text(&within),
            Cell::text(&of.reports.to_string()),
        ]);
    }
    (!grid.rows.is_empty()).then_some(grid)
}
