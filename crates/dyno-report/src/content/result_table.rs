//! Results in a terminal: one row for each run, or one run as a card.

use dyno_analyze::attribution::{MARK, MetricAttributions, legend};
use dyno_record::Status;

use super::result::{
    Block, CARD_LEFT, CARD_RIGHT, CARD_SCANS, CARD_SLEPT, CPU, IO, LOAD, ResultColumn, ResultRow,
    TableTimeUnit, card_columns, count, figure_cell,
};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, indent, pad, width, wrap};

/// Maximum reasons shown below a run.
const REASONS_MAX: usize = 3;

/// Maximum lines of one reason.
const REASON_LINES_MAX: usize = 4;

/// One table of `blocks` side by side, with columns that identify the run before them, and the status after
/// them.
fn table_of(
    rows: &[(Option<usize>, &ResultRow)],
    blocks: &[Block],
    unit: TableTimeUnit,
    with_status: bool,
) -> Grid {
    let shown: Vec<&ResultColumn> = blocks.iter().copied().flatten().collect();
    let numbered = rows.iter().any(|(number, _)| number.is_some());
    let mut heads = if numbered { vec![GridHead::figures("run", "")] } else { Vec::new() };
    heads.extend([GridHead::figures("sessions", ""), GridHead::figures("updates", "%")]);
    heads.extend(
        shown
            .iter()
            .map(|(_, above, head, format)| GridHead::figures(head, format.unit(unit)).grouped_under(above)),
    );
    let filled = heads.len();
    if with_status {
        heads.push(GridHead::text("status"));
    }
    let mut grid = Grid::new(heads);
    for (number, row) in rows {
        let mut cells: Vec<GridCell> = number.iter().map(|number| GridCell::count(*number as u64)).collect();
        cells.extend([count(row.sessions), count(row.update_pct)]);
        if row.figures.is_some() {
            cells.extend(shown.iter().map(|column| figure_cell(row, column, unit)));
        }
        cells.resize(filled, GridCell::default());
        if with_status {
            cells.push(GridCell::from(row.status.name()).toned(crate::model::status::tone(row.status)));
        }
        grid.row(cells);
        if with_status {
            reasons(&row.reasons).iter().for_each(|reason| grid.note(reason, "bad"));
        }
    }
    grid
}

/// The first reasons, and the number of further ones.
fn reasons(all: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = all.iter().take(REASONS_MAX).cloned().collect();
    if all.len() > REASONS_MAX {
        shown.push(format!("… and {} more reasons (dyno show)", all.len() - REASONS_MAX));
    }
    shown
}

/// One row for each run: load, processors and I/O side by side as far as the width allows, the rest in a
/// table below. Several runs are numbered in order: the same load may occur twice.
pub fn result_table(rows: &[ResultRow], style: &Style) -> String {
    let unit = TableTimeUnit::of(rows.iter().filter_map(|row| row.figures.as_ref()));
    let number = |i: usize| (rows.len() > 1).then_some(i + 1);
    let rows: Vec<_> = rows.iter().enumerate().map(|(i, row)| (number(i), row)).collect();
    let with_result: Vec<_> = rows.iter().copied().filter(|(_, row)| row.figures.is_some()).collect();
    let table = |blocks: &[Block], first: bool| {
        let rows = if first { &rows } else { &with_result };
        table_of(rows, blocks, unit, first)
    };
    let mut tables = Vec::new();
    let mut packed: Vec<Block> = Vec::new();
    for block in [LOAD, CPU, IO] {
        packed.push(block);
        if packed.len() > 1 && !table(&packed, tables.is_empty()).fits(style) {
            let last = packed.split_off(packed.len() - 1);
            tables.push(table(&packed, tables.is_empty()).render(style));
            packed = last;
        }
        if with_result.is_empty() {
            break; // Nothing but the status to show.
        }
    }
    tables.push(table(&packed, tables.is_empty()).render(style));
    let mut out = tables.join("\n");
    out.push_str(&legend_lines(with_result.iter().map(|(_, row)| &row.marked), style));
    out
}

/// The legend of the mark as lines; empty if nothing is marked.
fn legend_lines<'m>(marked: impl IntoIterator<Item = &'m MetricAttributions>, style: &Style) -> String {
    let shown = |name: &str| card_columns().any(|&(metric, ..)| metric == name);
    let words = legend(marked, shown).unwrap_or_default();
    let lines = wrap(&words, style.columns(), LEGEND_LINES_MAX);
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Maximum lines of a legend.
pub(crate) const LEGEND_LINES_MAX: usize = 6;

/// One run as a card: its figures in two columns, each with its unit.
pub fn result_card(row: &ResultRow, style: &Style) -> String {
    let mut out = String::new();
    if row.figures.is_none() {
        let text = format!("  {}: this run has no result", row.status.name());
        out.push_str(&style.paint(Paint::Bad, &text));
        out.push('\n');
        for reason in reasons(&row.reasons) {
            let lines = wrap(&clean(&reason), style.columns() - 2, REASON_LINES_MAX);
            out.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
        return out;
    }
    let note = match row.status {
        Status::Valid => None,
        Status::Imported => Some(crate::model::status::IMPORTED.to_owned()),
        status => Some(format!("{}: the figures cover only the measured part", status.name())),
    };
    if let Some(text) = note {
        out.push_str(&format!("  {}\n", style.paint(crate::model::status::paint(row.status), &text)));
    }
    let inner = Style { width: style.columns() - 2, ..*style };
    out.push_str(&indent(&figure_card(row, &inner)));
    out
}

/// One entry of a card: name, value, unit.
type Entry = (&'static str, GridCell, &'static str);

/// Figures of the card, also for `show`, which includes those of invalid runs.
pub(crate) fn figure_card(row: &ResultRow, style: &Style) -> String {
    let unit = TableTimeUnit::of(&row.figures);
    let knows = |metric: &str| row.figures.as_ref().is_some_and(|figures| figures.get(metric).is_some());
    let entry =
        |column: &ResultColumn| -> Entry { (column.2, figure_cell(row, column, unit), column.3.unit(unit)) };
    let mut left: Vec<Entry> =
        vec![("sessions", count(row.sessions), ""), ("updates", count(row.update_pct), "%")];
    left.extend(CARD_LEFT.iter().map(entry));
    let mut right: Vec<Entry> = CARD_RIGHT.iter().map(entry).collect();
    if CARD_SCANS.iter().all(|(metric, ..)| knows(metric)) {
        let [scans, megabytes, blocks] = CARD_SCANS.each_ref().map(entry);
        left.extend([scans, megabytes]);
        right.extend([blocks, Entry::default()]);
    }
    if knows(CARD_SLEPT.0) {
        left.push(entry(&CARD_SLEPT));
        right.push(Entry::default());
    }
    // Columns of a value, and the start of the right side. A truncated unit would change the meaning of its
    // value.
    let (room, right_at): (usize, usize) = if style.columns() >= 84 { (13, 44) } else { (9, 38) };
    let entry = |(what, cell, unit): &Entry| {
        let digits = width(cell.text.trim_end_matches(MARK));
        let space = pad((20usize.saturating_sub(width(what)) + room).saturating_sub(digits).max(1));
        // An unknown value has no unit.
        let unit = if cell.number.is_none() { "" } else { unit };
        format!("{what}{space}{} {unit}", cell.text)
    };
    let mut out = String::new();
    for (l, r) in left.iter().zip(&right) {
        let (l, r) = (entry(l), entry(r));
        let line = format!("{l}{}{r}", pad(right_at.saturating_sub(width(&l)).max(2)));
        if width(line.trim_end()) <= style.columns() {
            out.push_str(&format!("{}\n", line.trim_end()));
        } else {
            out.push_str(&format!("{}\n{}\n", l.trim_end(), r.trim_end()));
        }
    }
    out.push_str(&legend_lines([&row.marked], style));
    out
}
