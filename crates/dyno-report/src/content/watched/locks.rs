//! Sessions that blocked others during a watch, and its longest transactions.

use dyno_analyze::number::span_s;
use dyno_record::{LockBlocker, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};

/// Titles of the two tables.
pub(crate) const BLOCKERS: &str = "Sessions that blocked others";
pub(crate) const TRANSACTIONS: &str = "Longest transactions";

/// Both tables with their titles; a table without rows is left out.
pub(crate) fn tables(record: &RunRecord) -> Vec<(&'static str, Grid)> {
    let all = [(BLOCKERS, blockers(record)), (TRANSACTIONS, transactions(record))];
    all.into_iter().filter(|(_, grid)| !grid.rows.is_empty()).collect()
}

/// One sentence about the session that blocked longest; absent if none did.
pub(crate) fn sentence(record: &RunRecord) -> Option<String> {
    let worst = record.watched.as_ref()?.blockers.first()?;
    let LockBlocker { session, name, readings, waiting_max, .. } = worst;
    let sessions = dyno_analyze::number::sessions(*waiting_max as f64);
    let times = if *readings == 1 { "once".to_owned() } else { format!("at {readings} readings") };
    Some(format!("Session {session} ({name}) blocked up to {sessions}, {times}."))
}

fn time(at_s: f64) -> GridCell {
    GridCell::shown(at_s, span_s).with_own_unit("s")
}

fn blockers(record: &RunRecord) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("session"),
        GridHead::text("program and user"),
        GridHead::text("state").spare(2).explained("what the session did when it blocked most"),
        GridHead::text("locked object").spare(3),
        GridHead::figures("waiting", "sessions").explained("most sessions behind it at one reading"),
        GridHead::figures("chain", "sessions").spare(4).explained("longest chain of sessions behind it"),
        GridHead::figures("readings", "").spare(1).explained("readings at which it blocked"),
        GridHead::figures("from", "").explained("after the watch began"),
        GridHead::figures("until", "").explained("after the watch began"),
    ]);
    for blocker in record.watched.iter().flat_map(|watched| &watched.blockers) {
        grid.row(vec![
            (&blocker.session).into(),
            (&blocker.name).into(),
            (&blocker.state).into(),
            (&blocker.object).into(),
            GridCell::count(blocker.waiting_max),
            GridCell::count(blocker.chain_max),
            GridCell::count(blocker.readings),
            time(blocker.from_s),
            time(blocker.until_s),
        ]);
    }
    grid
}

fn transactions(record: &RunRecord) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("session"),
        GridHead::text("program and user"),
        GridHead::text("state").explained("what the session did when it was last seen"),
        GridHead::figures("age", "").explained("since the transaction began, when it was last seen"),
        GridHead::figures("seen at", "").explained("after the watch began"),
    ]);
    for open in record.watched.iter().flat_map(|watched| &watched.transactions) {
        grid.row(vec![
            (&open.session).into(),
            (&open.name).into(),
            (&open.state).into(),
            time(open.age_s),
            time(open.at_s),
        ]);
    }
    grid
}

/// Both tables for a terminal.
pub(crate) fn text(record: &RunRecord, style: &Style) -> String {
    let table = |(title, grid): (&str, Grid)| {
        format!("\n{}\n{}", style.paint(Paint::Head, &title.to_lowercase()), grid.render(style))
    };
    tables(record).into_iter().map(table).collect()
}
