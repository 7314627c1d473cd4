//! Table of the repository's runs, one line each.

use dyno_analyze::attribution::mark;
use dyno_analyze::number::{ABSENT, compact, fixed, time_us};
use dyno_record::RunSummary;

use crate::style::{Paint, Style};
use crate::table::{TextCell, TextColumn, TextTable};
use crate::text::{clean, truncate, wrap};

/// `2026-03-21T14:25:01.123Z` as `2026-03-21 14:25:01`; anything else unchanged.
fn moment(rfc3339: &str) -> String {
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

/// Maximum lines of the details below a run.
const BENEATH_LINES_MAX: usize = 3;

/// Maximum lines of one note.
const NOTE_LINES_MAX: usize = 3;

/// The list; a run that is not valid has its reason below. If not all columns fit, the description of a run
/// is below its figures, so that nothing is left out.
pub fn list_table(rows: &[RunSummary], style: &Style) -> String {
    if rows.is_empty() {
        return "no runs yet: `dyno run` makes one\n".into();
    }
    let table = filled(rows, true, style);
    let mut out =
        if table.fits(style) { table.render(style) } else { filled(rows, false, style).render(style) };
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

/// The table with all columns, or with figures only.
fn filled(rows: &[RunSummary], is_wide: bool, style: &Style) -> TextTable {
    let has_variants = is_wide && rows.iter().any(|row| row.variant.is_some());
    let has_tags = is_wide && rows.iter().any(|row| !row.tags.is_empty());
    let mut columns = vec![TextColumn::name("run")];
    if is_wide {
        columns.push(TextColumn::text("started (UTC)"));
    }
    columns.push(TextColumn::text("status"));
    if is_wide {
        columns.extend([TextColumn::text("target"), TextColumn::figures("version", "")]);
    }
    columns.extend(has_variants.then(|| TextColumn::text("variant")));
    columns.extend(has_tags.then(|| TextColumn::text("tags")));
    columns.extend([
        TextColumn::figures("sessions", ""),
        TextColumn::figures("updates", "%"),
        TextColumn::figures("ops", "/s"),
        TextColumn::figures("p99", ""),
        TextColumn::figures("elapsed", "s"),
    ]);
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = vec![TextCell::from(row.id.as_str())];
        if is_wide {
            cells.push(started(row).unwrap_or_else(absent).into());
        }
        cells.push(TextCell::painted(row.status.name(), crate::status::paint(row.status)));
        if is_wide {
            cells.push(row.target.as_str().into());
            cells.push(row.database.as_deref().map_or_else(absent, version).into());
        }
        cells.extend(has_variants.then(|| row.variant.as_deref().unwrap_or_default().into()));
        cells.extend(has_tags.then(|| row.tags.join(", ").into()));
        cells.extend(figures(row));
        table.row(cells);
        if !is_wide {
            for line in wrap(&clean(&extra_facts(row)), style.columns() - 2, BENEATH_LINES_MAX) {
                table.note(&line, Paint::Dim);
            }
        }
        if let Some(reason) = &row.reason {
            table.note(reason, Paint::Dim);
        }
    }
    table
}

fn absent() -> String {
    ABSENT.to_owned()
}

fn started(row: &RunSummary) -> Option<String> {
    (!row.undated).then(|| moment(&row.started_at))
}

fn figures(row: &RunSummary) -> [TextCell; 5] {
    let is_marked = row.marked.iter().any(|name| name == "ops_per_s");
    [
        if row.sessions > 0 { row.sessions.to_string() } else { absent() }.into(),
        // The summary of imported figures does not know what their source stated.
        row.update_pct.map_or_else(absent, |pct| pct.to_string()).into(),
        mark(row.ops_per_s.map_or_else(absent, compact), is_marked).into(),
        row.p99_us.map_or_else(absent, time_us).into(),
        row.seconds.map_or_else(absent, |seconds| fixed(seconds, 1)).into(),
    ]
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
