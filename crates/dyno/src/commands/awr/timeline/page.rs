//! Writes timelines as a page.

use dyno_awr::timeline::{Flag, Timeline};
use dyno_report::html::pages;
use dyno_report::model::PageSection;
use dyno_report::model::{Grid, GridCell, GridHead};

use super::{charts, columns, words};

/// Maximum items of each kind that correlate with DB time.
const CLOSEST: usize = 15;

pub(super) fn page(timelines: &[Timeline], names: bool) -> String {
    let section = |timeline: &Timeline| {
        let grids = [
            ("What stands out", flags(timeline, names)),
            ("Reports", Some(columns::reports(timeline))),
            ("What correlates with DB time", columns::correlated(timeline, CLOSEST, names)),
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
            grid.row(vec![(&begin).into(), (&snaps).into(), tone(flag), description.into()]);
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
        grid.row(vec!["".into(), "".into(), "".into(), format!("{what}: {moved}").into()]);
    }
}

fn tone(flag: &Flag) -> GridCell {
    let tone = match flag {
        Flag::Anomaly(_) => "bad",
        Flag::Level(_) => "foreign",
        _ => "warn",
    };
    GridCell::text(words::word(flag)).toned(tone)
}
