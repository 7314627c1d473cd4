//! Renders all tables for a terminal.
//!
//! Figures are right-aligned under a head of up to three lines (shared head, name, unit). The mark for
//! activity of others hangs to the right of figures, so that digits stay aligned. A table that is too wide
//! first drops its droppable columns, then shortens text. Figures and the names of runs are never shortened,
//! because a figure without some digits is a different figure.

use std::ops::Range;

use dyno_analyze::attribution::MARK;

use crate::model::table::{ColumnPlace, Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, truncate, width, wrap};

const GAP: usize = 2;

/// Minimum width to which a text column is squeezed.
const TEXT_MIN: usize = 8;

/// Columns of a name given by Dyno, `search-20260321-142501-7f3a`; only foreign names are longer.
const NAME_MIN: usize = 28;

/// Maximum lines of a note.
const NOTE_LINES_MAX: usize = 5;

impl Grid {
    /// Whether all columns fit without being dropped or shortened.
    pub fn fits(&self, style: &Style) -> bool {
        let grid = self.in_terminal();
        let all: Vec<usize> = (0..grid.heads.len()).collect();
        total(&widths(&grid, &all)) <= style.columns()
    }

    /// The table as text; every line ends with a newline.
    pub fn render(&self, style: &Style) -> String {
        render(&self.in_terminal(), true, style)
    }

    /// The lines without heads, to be placed below those of a table with the same columns.
    pub fn render_lines(&self, style: &Style) -> String {
        render(&self.in_terminal(), false, style)
    }

    /// The columns of a terminal, with safe text and a cell in each column of each row.
    fn in_terminal(&self) -> Self {
        let mut grid =
            self.columns(|head| matches!(head.place, ColumnPlace::Everywhere | ColumnPlace::InTerminal));
        for head in &mut grid.heads {
            let (shared, own) = head.short.clone().unwrap_or_else(|| (String::new(), head.label.clone()));
            head.short = Some((clean(&shared), clean(&own)));
            head.unit = clean(&head.unit);
        }
        let columns = grid.heads.len();
        for (_, cells) in &mut grid.rows {
            cells.iter_mut().for_each(|cell| cell.text = clean(&cell.text));
            if cells.len() != 1 {
                cells.resize(columns, GridCell::default());
            }
        }
        grid
    }
}

/// Renders a table of [`Grid::in_terminal`].
fn render(grid: &Grid, heads: bool, style: &Style) -> String {
    let mut shown: Vec<usize> = (0..grid.heads.len()).collect();
    let mut widths = widths(grid, &shown);
    while total(&widths) > style.columns() {
        let Some(most) = (0..shown.len()).max_by_key(|&i| grid.heads[shown[i]].spare) else { break };
        if grid.heads[shown[most]].spare == 0 {
            break;
        }
        shown.remove(most);
        widths = self::widths(grid, &shown);
    }
    shorten_columns(grid, &shown, &mut widths, style.columns());
    // Computed once per column: a scan of all rows for each row would be quadratic.
    let columns: Vec<Setting> = shown
        .iter()
        .zip(&widths)
        .map(|(&i, &width)| Setting { figures: grid.heads[i].figures, width, hang: mark_room(grid, i) })
        .collect();
    let mut out = if heads { head_lines(grid, &shown, &columns, style) } else { String::new() };
    for (_, cells) in &grid.rows {
        match &cells[..] {
            [title] if grid.is_title(cells) => push_title(&mut out, title, style),
            cells => push_line(&mut out, &columns, shown.iter().map(|&i| &cells[i]), style),
        }
    }
    out
}

/// A title on one line, or a note on as many lines as it needs, indented by two columns.
fn push_title(out: &mut String, cell: &GridCell, style: &Style) {
    let room = style.columns() - 2;
    let lines = match cell.tone {
        "" => vec![truncate(&cell.text, room)],
        _ if width(&cell.text) <= room => vec![cell.text.clone()],
        _ => wrap(&cell.text, room, NOTE_LINES_MAX),
    };
    let paint = Paint::of_tone(cell.tone).unwrap_or(Paint::Head);
    lines.iter().for_each(|line| out.push_str(&format!("{}\n", style.paint(paint, &format!("  {line}")))));
}

/// Width of each shown column: the widest of head, unit and cells.
fn widths(grid: &Grid, shown: &[usize]) -> Vec<usize> {
    let cell_width = |i: usize| {
        let hang = mark_room(grid, i);
        cells(grid, i).map(move |cell| width(&cell.text) + hang.saturating_sub(own_hang(cell)))
    };
    let widest = |&i: &usize| {
        let head = &grid.heads[i];
        let heads = [width(own(head)), width(&head.unit), head.least];
        heads.into_iter().chain(cell_width(i)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = shown.iter().map(widest).collect();
    // If only one column of a shared head is left, the head stands over it alone.
    for at in groups(grid, shown).into_iter().filter(|group| group.len() == 1) {
        widths[at.start] = widths[at.start].max(width(shared(&grid.heads[shown[at.start]])));
    }
    widths
}

/// The head that a column shares with its neighbors; may be empty.
fn shared(head: &GridHead) -> &str {
    head.short.as_ref().map_or("", |(shared, _)| shared)
}

/// The head of a column alone.
fn own(head: &GridHead) -> &str {
    head.short.as_ref().map_or(&head.label, |(_, own)| own)
}

/// The cells of column `i`.
fn cells(grid: &Grid, i: usize) -> impl Iterator<Item = &GridCell> {
    grid.rows.iter().filter(|(_, cells)| !grid.is_title(cells)).map(move |(_, cells)| &cells[i])
}

/// Columns for marks to the right of the figures in column `i`.
fn mark_room(grid: &Grid, i: usize) -> usize {
    if grid.heads[i].figures && cells(grid, i).any(|cell| own_hang(cell) > 0) { width(MARK) } else { 0 }
}

/// Neighbors under one head, as positions in `shown`; a column without a shared head is its own group.
fn groups(grid: &Grid, shown: &[usize]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, &i) in shown.iter().enumerate() {
        let group = shared(&grid.heads[i]);
        match groups.last_mut() {
            Some(last) if !group.is_empty() && shared(&grid.heads[shown[last.start]]) == group => {
                last.end = at + 1;
            }
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// Minimum width to which a column is squeezed; figures never are.
fn squeezed_to(head: &GridHead) -> usize {
    if head.tight { NAME_MIN } else { TEXT_MIN }
}

/// Shortens text columns, widest first, until the table fits.
fn shorten_columns(grid: &Grid, shown: &[usize], widths: &mut [usize], columns: usize) {
    let head = |i: usize| &grid.heads[shown[i]];
    while total(widths) > columns {
        let texts = (0..shown.len()).filter(|&i| !head(i).figures && widths[i] > squeezed_to(head(i)));
        let Some(widest) = texts.max_by_key(|&i| widths[i]) else { break };
        let excess = total(widths) - columns;
        widths[widest] = widths[widest].saturating_sub(excess).max(squeezed_to(head(widest)));
    }
}

fn head_lines(grid: &Grid, shown: &[usize], columns: &[Setting], style: &Style) -> String {
    let widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let mut out = String::new();
    if shown.iter().any(|&i| !shared(&grid.heads[i]).is_empty()) {
        out.push_str(&style.paint(Paint::Head, group_line(grid, shown, &widths).trim_end()));
        out.push('\n');
    }
    let mut line = |part: fn(&GridHead) -> &str, paint: Paint| {
        let cells: Vec<GridCell> = shown.iter().map(|&i| part(&grid.heads[i]).into()).collect();
        if cells.iter().any(|cell| !cell.text.is_empty()) {
            let mut text = String::new();
            push_line(&mut text, columns, cells.iter(), &Style { color: false, ..*style });
            out.push_str(&style.paint(paint, text.trim_end()));
            out.push('\n');
        }
    };
    line(own, Paint::Head);
    line(|head| &head.unit, Paint::Dim);
    let rule = "─".repeat(total(&widths).min(style.columns()));
    out.push_str(&style.paint(Paint::Dim, &rule));
    out.push('\n');
    out
}

/// The line of shared heads, each between dashes over its columns: `── CPU ──`.
fn group_line(grid: &Grid, shown: &[usize], widths: &[usize]) -> String {
    let mut out = String::new();
    for at in groups(grid, shown) {
        let head = &grid.heads[shown[at.start]];
        let (group, alone) = (shared(head), at.len() == 1);
        let room = total(&widths[at]);
        if group.is_empty() {
            out.push_str(&pad(room));
        } else if alone {
            let (name, space) = (truncate(group, room), pad(room.saturating_sub(width(group))));
            out.push_str(&if head.figures { space + &name } else { name + &space });
        } else {
            let name = truncate(group, room.saturating_sub(2));
            let dashes = room.saturating_sub(width(&name) + 2);
            let (left, right) = (dashes / 2, dashes - dashes / 2);
            out.push_str(&format!("{} {name} {}", "─".repeat(left), "─".repeat(right)));
        }
        out.push_str(&pad(GAP));
    }
    out
}

/// How a column is laid out.
struct Setting {
    /// Figures are right-aligned, and never shortened.
    figures: bool,
    width: usize,
    /// Columns for marks to the right of figures.
    hang: usize,
}

fn push_line<'c>(
    out: &mut String,
    columns: &[Setting],
    cells: impl Iterator<Item = &'c GridCell>,
    style: &Style,
) {
    let mut line = String::new();
    for (position, (column, cell)) in columns.iter().zip(cells).enumerate() {
        if position > 0 {
            line.push_str(&pad(GAP));
        }
        let text = if column.figures { cell.text.clone() } else { truncate(&cell.text, column.width) };
        let room = column.width - width(&text).min(column.width);
        let text = text + &pad(column.hang.saturating_sub(own_hang(cell)).min(room));
        let space = pad(column.width.saturating_sub(width(&text)));
        let text = Paint::of_tone(cell.tone).map_or(text.clone(), |paint| style.paint(paint, &text));
        line.push_str(&if column.figures { space + &text } else { text + &space });
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Columns of the cell's own mark.
fn own_hang(cell: &GridCell) -> usize {
    #[cfg(test)]
    LOOKS.with(|looks| looks.set(looks.get() + 1));
    if cell.text.ends_with(MARK) { width(MARK) } else { 0 }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

#[cfg(test)]
thread_local! {
    /// Number of times a cell was checked for a mark, so that a test can relate the work to the size of a
    /// table.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of checks for a table of `rows` lines.
    fn looks(rows: usize) -> usize {
        let mut table = Grid::new(vec![GridHead::text("name"), GridHead::figures("busy", "%")]);
        (0..rows).for_each(|i| table.row([i.to_string().into(), format!("{i}.5").into()]));
        LOOKS.with(|looks| looks.set(0));
        assert_eq!(table.render(&Style::default()).lines().count(), rows + 3);
        LOOKS.with(std::cell::Cell::get)
    }

    #[test]
    fn table_rendering_cost_is_linear_in_rows() {
        let (some, twice) = (looks(500), looks(1_000));
        assert!(twice <= 2 * some + 100, "{some} looks at 500 lines, {twice} at 1,000");
    }

    fn table() -> Grid {
        let mut table = Grid::new(vec![
            GridHead::text("name"),
            GridHead::figures("busy", "%").grouped_under("CPU"),
            GridHead::figures("user", "%").grouped_under("CPU"),
            GridHead::text("when").spare(1),
        ]);
        table.row(["one".into(), "7.5".into(), "100".into(), "today".into()]);
        table.row([GridCell::from("a\nb").toned("bad"), "12.0".into()]);
        table.note("because", "dim");
        table
    }

    #[test]
    fn table_values_are_right_aligned_under_headers() {
        let text = "      ── CPU ───
name  busy  user  when
         %     %
───────────────────────
one    7.5   100  today
a\\nb  12.0
  because
";
        assert_eq!(table().render(&Style::default()), text);
    }

    #[test]
    fn columns_that_are_too_wide_are_dropped_then_shortened() {
        let style = Style { color: false, width: 60 };
        let mut table = table();
        table.row([GridCell::from("x".repeat(90)), "1".into(), "2".into(), "now".into()]);
        let text = table.render(&style);
        assert!(text.lines().all(|line| width(line) <= 60), "{text}");
        assert!(!text.contains("when"), "{text}");
        assert!(text.contains('…'), "{text}");
    }

    #[test]
    fn colors_do_not_shift_table_columns() {
        let plain = table().render(&Style::default());
        let coloured = table().render(&Style { color: true, width: 100 });
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain);
    }
}
