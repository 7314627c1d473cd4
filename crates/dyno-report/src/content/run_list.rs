//! Table of the repository's runs, one line each.

use dyno_analyze::number::ABSENT;
use dyno_record::{RecordKind, RunSummary};

use crate::model::status::tone;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
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

/// Columns that are left out if not all fit, the first one first.
const SPARE: [&str; 4] = ["elapsed", "version", "started (UTC)", "updates"];

/// How many of [`SPARE`] are left out, and the most columns of a text, from a wide terminal to a narrow one.
const LAYOUTS: [(usize, usize); 8] =
    [(0, usize::MAX), (1, usize::MAX), (1, 32), (2, 32), (2, 20), (3, 20), (3, 12), (4, 10)];

/// The list, one line for each run; a run that is not valid has its reason below. What all runs have in common
/// is above the table. If not all columns fit, texts are shortened, and the last line names what was left out.
pub fn list_table(rows: &[RunSummary], style: &Style) -> String {
    let Some(first) = rows.first() else { return "no runs yet: `dyno run` makes one\n".into() };
    let mut out = String::new();
    let common: Vec<String> = FACTS
        .iter()
        .filter(|(_, value)| rows.iter().all(|row| value(row) == value(first)))
        .filter_map(|(name, value)| Some(format!("{name} {}", value(first)?)))
        .collect();
    if !common.is_empty() {
        for line in wrap(&clean(&common.join("; ")), style.columns(), COMMON_LINES_MAX) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    let grids = LAYOUTS.map(|(left_out, text_max)| list_grid(rows, left_out, text_max));
    let [whole, .., narrow] = &grids;
    let grid = grids.iter().find(|grid| grid.fits(style)).unwrap_or(narrow);
    out.push_str(&grid.render(style));
    let is_shown = |label: &str| grid.heads.iter().any(|head| head.label == label);
    let labels = whole.heads.iter().map(|head| head.label.as_str());
    let missing: Vec<&str> = labels.filter(|label| !is_shown(label)).collect();
    if !missing.is_empty() {
        let line =
            format!("left out at {} columns: {}; --json shows all", style.columns(), missing.join(", "));
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
    }
    out.push_str(&notes_text(rows, style));
    out
}

/// A text about a run; absent where the run has none.
type RunFact = fn(&RunSummary) -> Option<String>;

/// Facts that often are the same for all runs: they have a column only where they differ.
const FACTS: [(&str, RunFact); 4] = [
    ("target", |row| Some(row.target.clone())),
    ("version", |row| row.database.as_deref().map(version)),
    ("variant", |row| row.variant.clone()),
    ("tags", |row| (!row.tags.is_empty()).then(|| row.tags.join(", "))),
];

/// Maximum lines of the common facts.
const COMMON_LINES_MAX: usize = 3;

/// Notes of these runs' workloads, each once.
pub fn notes_text(rows: &[RunSummary], style: &Style) -> String {
    let notes: std::collections::BTreeSet<&str> =
        rows.iter().flat_map(|row| &row.notes).map(String::as_str).collect();
    let lines = notes.into_iter().flat_map(|note| wrap(&clean(note), style.columns(), NOTE_LINES_MAX));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The table without the first `left_out` columns of [`SPARE`], with texts of at most `text_max` columns.
fn list_grid(rows: &[RunSummary], left_out: usize, text_max: usize) -> Grid {
    let mut heads = vec![GridHead::tight("run"), GridHead::text("started (UTC)"), GridHead::text("status")];
    heads.push(GridHead::text("kind"));
    heads.extend(FACTS.map(|(name, _)| GridHead::text(name)));
    heads.extend([
        GridHead::figures("sessions", ""),
        GridHead::figures("updates", "%"),
        GridHead::figures("ops", "/s"),
        GridHead::figures("p99", ""),
        GridHead::figures("elapsed", "s"),
    ]);
    let mut grid = Grid::new(heads);
    let text = |text: Option<String>| -> GridCell { truncate(&text.unwrap_or_default(), text_max).into() };
    for row in rows {
        let is_marked = row.marked.iter().any(|name| name == "ops_per_s");
        let mut cells: Vec<GridCell> = vec![
            (&row.id).into(),
            started(row).map_or_else(GridCell::absent, GridCell::from),
            GridCell::from(row.status.name()).toned(tone(row.status)),
            text(Some(kind(row))),
        ];
        cells.extend(FACTS.map(|(_, value)| text(value(row))));
        cells.extend([
            GridCell::count(Some(u64::from(row.sessions)).filter(|sessions| *sessions > 0)),
            // The summary of imported figures does not know what their source stated.
            GridCell::count(row.update_pct.map(u64::from)),
            GridCell::compact(row.ops_per_s).marked(is_marked),
            GridCell::time_us(row.p99_us),
            GridCell::fixed(row.seconds, 1),
        ]);
        grid.row(cells);
        if let Some(reason) = &row.reason {
            grid.note(reason, "dim");
        }
    }
    let first = &rows[0];
    grid.columns(|head| {
        let label = head.label.as_str();
        let has = |value: RunFact| rows.iter().any(|row| value(row) != value(first));
        match FACTS.iter().find(|(name, _)| *name == label) {
            _ if SPARE[..left_out].contains(&label) => false,
            Some((_, value)) => has(*value),
            None if label == "kind" => {
                rows.iter().any(|row| row.part_of.is_some() || row.kind != RecordKind::Run)
            }
            // The id of a run is the time at which it started, except for imported figures.
            None if label == "started (UTC)" => !rows.iter().all(has_time_in_id),
            None => true,
        }
    })
}

/// The kind of campaign to which a run belongs, with what distinguishes the run in it besides the figures that
/// have columns. Without a campaign: the kind of the record, or that the run is single.
fn kind(row: &RunSummary) -> String {
    let Some(part) = &row.part_of else {
        return if row.kind == RecordKind::Run { "single" } else { row.kind.name() }.to_owned();
    };
    let settings = part.settings.iter().filter(|setting| !IN_COLUMNS.contains(&setting.key.as_str()));
    let settings = settings.map(|setting| {
        let own = setting.key.rsplit_once('.').map_or(setting.key.as_str(), |(_, own)| own);
        format!("{own}={}", setting.value)
    });
    let kind = std::iter::once(part.kind.name().to_owned());
    kind.chain(part.side.clone()).chain(settings).collect::<Vec<_>>().join(" ")
}

/// Settings that have a column.
const IN_COLUMNS: [&str; 2] = ["sessions", "workload.update_pct"];

/// Whether the id of a run begins with the time of its start.
fn has_time_in_id(row: &RunSummary) -> bool {
    let digits: String = row.started_at.chars().take(19).filter(char::is_ascii_digit).collect();
    row.undated || row.id.replace('-', "").starts_with(&digits)
}

fn started(row: &RunSummary) -> Option<String> {
    (!row.undated).then(|| moment(&row.started_at))
}
