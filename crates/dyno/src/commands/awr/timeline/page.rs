//! Writes timelines as a page.

use dyno_awr::timeline::{Flag, Timeline};
use dyno_report::grid::{Grid, GridCell, GridHead};
use dyno_report::html::{PageSection, pages};
use dyno_report::number::{ABSENT, optional};

use super::columns::{ACTIVE, CPU, READ_MS, READS, UNACCOUNTED, WRITES};
use super::{charts, words};

/// Maximum items of each kind that correlate with DB time.
const CLOSEST: usize = 15;

pub(super) fn page(timelines: &[Timeline], names: bool) -> String {
    let section = |timeline: &Timeline| {
        let grids = [
            ("What stands out", flags(timeline, names)),
            ("Reports", Some(reports(timeline))),
            ("What correlates with DB time", correlated(timeline, names)),
        ];
        PageSection {
            title: words::title(timeline),
            lines: lines(timeline, names),
            charts: charts::charts(timeline),
            plots: Vec::new(),
            grids: grids.into_iter().filter_map(|(title, grid)| Some((title.to_owned(), grid?))).collect(),
        }
    };
    let about = "From AWR and STATSPACK reports; times are those of the database hosts.";
    pages("Reports in time order", about, &timelines.iter().map(section).collect::<Vec<_>>())
}

fn lines(timeline: &Timeline, names: bool) -> Vec<String> {
    let is_segment = |flag: &Flag| match flag {
        Flag::Anomaly(anomaly) => anomaly.moved.iter().any(|moved| moved.subject.object.is_some()),
        _ => false,
    };
    let unnamed = !names && timeline.points.iter().any(|(_, flags)| flags.iter().any(is_segment));
    let hint = unnamed.then(|| "Segment names are hidden; --object-names shows them.".to_owned());
    std::iter::once(format!("{}.", sentence(&words::summary(timeline)))).chain(hint).collect()
}

/// The sentence with a capital first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// All flags in full, in time order.
fn flags(timeline: &Timeline, names: bool) -> Option<Grid> {
    let mut grid = Grid::new(vec![
        GridHead::tight("begin"),
        GridHead::tight("snapshots"),
        GridHead::tight("what"),
        GridHead::text("details"),
    ]);
    for (at, (point, flags)) in timeline.points.iter().enumerate() {
        let (begin, snaps) = words::place(point);
        for flag in flags {
            let words = words::words(flag);
            let description = words.split_once(": ").map_or(words.as_str(), |(_, words)| words);
            grid.row(vec![
                GridCell::text(&begin),
                GridCell::text(&snaps),
                tone(flag),
                GridCell::text(description),
            ]);
            let details = match flag {
                Flag::Anomaly(anomaly) => words::describe_moved(anomaly, point, names),
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

/// Adds a row for each kind of item that changed.
fn add_details(grid: &mut Grid, details: Vec<(&'static str, String)>) {
    for (what, moved) in details {
        let words = format!("{what}: {moved}");
        grid.row(vec![GridCell::text(""), GridCell::text(""), GridCell::text(""), GridCell::text(&words)]);
    }
}

fn tone(flag: &Flag) -> GridCell {
    let tone = match flag {
        Flag::Anomaly(_) => "bad",
        Flag::Level(_) => "foreign",
        _ => "warn",
    };
    GridCell { tone, ..GridCell::text(words::word(flag)) }
}

fn reports(timeline: &Timeline) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("begin"),
        GridHead::tight("snapshots"),
        GridHead::figures("active sessions", ""),
        GridHead::figures("CPU", "%"),
        GridHead::figures("DB time unaccounted", "%").explained(
            "DB time that is neither CPU nor waits; below 0 if waits belong to calls whose time is counted \
                later",
        ),
        GridHead::figures("read", "/s"),
        GridHead::figures("write", "/s"),
        GridHead::figures("read", "ms"),
        GridHead::text("top event"),
        GridHead::text("flags"),
    ]);
    for (point, flags) in &timeline.points {
        let value = |measure: usize| GridCell::text(&optional(point.value(measure)));
        let (begin, snaps) = words::place(point);
        grid.row(vec![
            GridCell::text(&begin),
            GridCell::text(&snaps),
            value(ACTIVE),
            value(CPU),
            value(UNACCOUNTED),
            value(READS),
            value(WRITES),
            value(READ_MS),
            GridCell::text(point.top_event.as_deref().unwrap_or(ABSENT)),
            GridCell {
                tone: "warn",
                ..GridCell::text(&flags.iter().map(words::word).collect::<Vec<_>>().join(", "))
            },
        ]);
    }
    grid
}

fn correlated(timeline: &Timeline, names: bool) -> Option<Grid> {
    let mut grid = Grid::new(vec![
        GridHead::tight("kind"),
        GridHead::text("name"),
        GridHead::figures("of its rise", "%")
            .explained("the share of each additional second of DB time, by least squares over all reports"),
        GridHead::figures("all reports", "ρ")
            .explained("Spearman's rank correlation with DB time over all reports"),
        GridHead::figures("within levels", "ρ")
            .explained("the same for the deviations of both from the middle of their level"),
        GridHead::figures("reports", "").explained("reports that list it"),
    ]);
    for of in words::closest(timeline, CLOSEST) {
        let within =
            of.within.map_or_else(|| ABSENT.to_owned(), |within| words::signed_coefficient(within.rho));
        grid.row(vec![
            GridCell::text(of.thing.kind.plural()),
            GridCell::text(&words::thing_name(&of.thing, names)),
            GridCell::text(&words::explained_pct(of)),
            GridCell::text(&words::signed_coefficient(of.over_all.rho)),
            GridCell::text(&within),
            GridCell::text(&of.reports.to_string()),
        ]);
    }
    (!grid.rows.is_empty()).then_some(grid)
}
