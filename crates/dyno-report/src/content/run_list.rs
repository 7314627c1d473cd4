//! Table of the repository's runs, one line each.

use dyno_analyze::number::ABSENT;
use dyno_record::RunSummary;

use crate::model::status::tone;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;
use crate::text::{clean, truncate, wrap};

/// `2026-03-21T14:25:01.123Z` as `2026-03-21 14:25:01`; anything else unchanged.
pub(crate) fn moment(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..19)) {
        (Some(date), Some("T"), Some(time)) => format!("{date} {time}"),
        _ => rfc3339.to_owned(),
    }
}

/// The version in few characters where space is short: `16.4` of `PostgreSQL 16.4 (Debian 16.4-1)`, and
/// `10.11.6-MariaDB`, which keeps the word that distinguishes the product.
fn version(database: &str) -> String {
    let of_one = |one: &str| {
        let token = one.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let mut parts = token.unwrap_or(ABSENT).split('-');
        let number = parts.next().unwrap_or_default().to_owned();
        match parts.next().filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
            Some(word) => format!("{number}-{word}"),
            None => number,
        }
    };
    let mut versions: Vec<String> = database.split(", ").map(of_one).collect();
    versions.dedup();
    truncate(&versions.join(", "), VERSION_MAX)
}

/// Maximum columns of a version.
const VERSION_MAX: usize = 16;

/// Maximum lines of one note.
const NOTE_LINES_MAX: usize = 3;

/// The list; a run that is not valid has its reason below. If not all columns fit, the description of a run
/// is below its figures, so that nothing is left out.
pub fn list_table(rows: &[RunSummary], style: &Style) -> String {
    if rows.is_empty() {
        return "no runs yet: `dyno run` makes one\n".into();
    }
    let all = list_grid(rows, true);
    let mut out = if all.fits(style) { all } else { list_grid(rows, false) }.render(style);
    out.push_str(&notes_text(rows, style));
    out
}

/// Notes of these runs' workloads, each once.
pub fn notes_text(rows: &[RunSummary], style: &Style) -> String {
    let notes: std::collections::BTreeSet<&str> =
        rows.iter().flat_map(|row| &row.notes).map(String::as_str).collect();
    let lines = notes.into_iter().flat_map(|note| wrap(&clean(note), style.columns(), NOTE_LINES_MAX));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The table with all columns, or with figures and the description below them.
fn list_grid(rows: &[RunSummary], is_wide: bool) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("run"),
        GridHead::text("started (UTC)"),
        GridHead::text("status"),
        GridHead::text("target"),
        GridHead::figures("version", ""),
        GridHead::text("variant"),
        GridHead::text("tags"),
        GridHead::figures("sessions", ""),
        GridHead::figures("updates", "%"),
        GridHead::figures("ops", "/s"),
        GridHead::figures("p99", ""),
        GridHead::figures("elapsed", "s"),
    ]);
    for row in rows {
        let is_marked = row.marked.iter().any(|name| name == "ops_per_s");
        grid.row([
            (&row.id).into(),
            started(row).map_or_else(GridCell::absent, GridCell::from),
            GridCell::from(row.status.name()).toned(tone(row.status)),
            (&row.target).into(),
            row.database.as_deref().map_or_else(GridCell::absent, |database| version(database).into()),
            row.variant.as_deref().unwrap_or_default().into(),
            row.tags.join(", ").into(),
            GridCell::count(Some(u64::from(row.sessions)).filter(|sessions| *sessions > 0)),
            // The summary of imported figures does not know what their source stated.
            GridCell::count(row.update_pct.map(u64::from)),
            GridCell::compact(row.ops_per_s).marked(is_marked),
            GridCell::time_us(row.p99_us),
            GridCell::fixed(row.seconds, 1),
        ]);
        if !is_wide {
            grid.note(&extra_facts(row), "dim");
        }
        if let Some(reason) = &row.reason {
            grid.note(reason, "dim");
        }
    }
    grid.columns(|head| match head.label.as_str() {
        "started (UTC)" | "target" | "version" => is_wide,
        "variant" => is_wide && rows.iter().any(|row| row.variant.is_some()),
        "tags" => is_wide && rows.iter().any(|row| !row.tags.is_empty()),
        _ => true,
    })
}

fn started(row: &RunSummary) -> Option<String> {
    (!row.undated).then(|| moment(&row.started_at))
}

/// Details without a column: start, variant, tags, version and target.
fn extra_facts(row: &RunSummary) -> String {
    let parts = [
        started(row),
        row.variant.as_ref().map(|variant| format!("variant {variant}")),
        (!row.tags.is_empty()).then(|| format!("tags {}", row.tags.join(", "))),
        row.database.as_deref().map(|database| format!("version {}", version(database))),
        Some(row.target.clone()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
