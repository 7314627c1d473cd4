//! Writes all terminal tables.
//!
//! Figures are right-aligned under a head of up to three lines (shared head, name, unit). The mark for
//! activity of others hangs to the right of figures, so that digits stay aligned. A table that is too wide
//! first drops its droppable columns, then shortens text. Figures and the names of runs are never shortened,
//! because a figure without some digits is a different figure.

use std::ops::Range;

use dyno_analyze::attribution::MARK;

use crate::grid::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, truncate, width};

const GAP: usize = 2;

/// Minimum width to which a text column is squeezed.
const TEXT_MIN: usize = 8;

/// Columns of a name given by Dyno, `search-20260321-142501-7f3a`; only foreign names are longer.
const NAME_MIN: usize = 28;

#[derive(Debug, Clone)]
pub struct TextColumn {
    head: String,
    unit: String,
    group: String,
    left: bool,
    /// Rank at which it is dropped: highest first, 0 never.
    spare: u8,
    least: usize,
    /// Minimum width to which it is squeezed; figures never are.
    squeezed_to: usize,
}

impl TextColumn {
    /// A column of figures, right-aligned, with `unit` below the head.
    pub fn figures(head: &str, unit: &str) -> Self {
        let (head, unit) = (head.into(), unit.into());
        Self { head, unit, group: String::new(), left: false, spare: 0, least: 0, squeezed_to: TEXT_MIN }
    }

    /// A column of run or sweep names, left-aligned and never shortened: the next command needs the full
    /// name.
    pub fn name(head: &str) -> Self {
        Self { squeezed_to: NAME_MIN, ..Self::text(head) }
    }

    /// A column of text, left-aligned, shortened if there is no room.
    pub fn text(head: &str) -> Self {
        Self { left: true, ..Self::figures(head, "") }
    }

    /// Puts the column under a head that it shares with its neighbors.
    #[must_use]
    pub fn grouped_under(mut self, group: &str) -> Self {
        self.group = group.into();
        self
    }

    /// Sets a minimum width: a table that grows line by line cannot know its widest cell.
    #[must_use]
    pub fn at_least(mut self, columns: usize) -> Self {
        self.least = columns;
        self
    }

    /// Lets the column be dropped if there is no room.
    #[must_use]
    pub fn droppable(self) -> Self {
        self.spare(1)
    }

    /// Lets the column be dropped if there is no room: the highest `rank` first, the last of equals.
    #[must_use]
    pub fn spare(mut self, rank: u8) -> Self {
        self.spare = rank;
        self
    }
}

#[derive(Debug, Clone, Default)]
pub struct TextCell {
    text: String,
    paint: Option<Paint>,
}

impl TextCell {
    /// A cell with text in a color.
    pub fn painted(text: &str, paint: Paint) -> Self {
        Self { text: clean(text), paint: Some(paint) }
    }

    /// Sets the color of the cell.
    #[must_use]
    pub fn in_paint(self, paint: Paint) -> Self {
        Self { paint: Some(paint), ..self }
    }
}

impl From<String> for TextCell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&GridCell> for TextCell {
    fn from(cell: &GridCell) -> Self {
        Self { text: clean(&cell.text), paint: tone_paint(cell.tone) }
    }
}

impl From<&str> for TextCell {
    fn from(text: &str) -> Self {
        Self { text: clean(text), paint: None }
    }
}

/// Color of a tone that a page shows as a color, too.
fn tone_paint(tone: &str) -> Option<Paint> {
    match tone {
        "good" => Some(Paint::Good),
        "warn" => Some(Paint::Warn),
        "bad" => Some(Paint::Bad),
        "foreign" => Some(Paint::Foreign),
        "total" => Some(Paint::Head),
        _ => None,
    }
}

#[derive(Debug, Clone)]
enum Line {
    Cells(Vec<TextCell>),
    Note(String, Paint),
}

#[derive(Debug, Clone)]
pub struct TextTable {
    columns: Vec<TextColumn>,
    lines: Vec<Line>,
}

impl From<&GridHead> for TextColumn {
    fn from(head: &GridHead) -> Self {
        let (shared, own) = head.short.as_ref().map_or(("", &head.label), |(shared, own)| (shared, own));
        let column = match (head.figures, head.tight) {
            (true, _) => Self::figures(own, &head.unit),
            (false, true) => Self::name(own),
            (false, false) => Self::text(own),
        };
        column.grouped_under(shared).spare(head.spare)
    }
}

impl From<&Grid> for TextTable {
    /// Converts a grid without links and explanations; a row with a single cell is a title for those below
    /// it.
    fn from(grid: &Grid) -> Self {
        let mut table = Self::of_heads(&grid.heads);
        grid.rows.iter().for_each(|(_, cells)| table.grid_row(&grid.heads, cells));
        table
    }
}

impl TextTable {
    pub fn new(columns: Vec<TextColumn>) -> Self {
        Self { columns, lines: Vec::new() }
    }

    /// A table with the columns of a grid that a terminal shows.
    pub fn of_heads(heads: &[GridHead]) -> Self {
        Self::new(heads.iter().filter(|head| !head.only_on_pages).map(TextColumn::from).collect())
    }

    /// Adds a row of a grid with these heads; for a grid with notes between its rows.
    pub fn grid_row(&mut self, heads: &[GridHead], cells: &[GridCell]) {
        match cells {
            [title] if heads.len() > 1 => self.note(&title.text, Paint::Head),
            cells => {
                let shown = cells.iter().zip(heads).filter(|(_, head)| !head.only_on_pages);
                self.row(shown.map(|(cell, _)| TextCell::from(cell)));
            }
        }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TextCell>) {
        let mut cells: Vec<TextCell> = cells.into_iter().collect();
        cells.resize(self.columns.len(), TextCell::default());
        self.lines.push(Line::Cells(cells));
    }

    /// Adds a line of text below the last row.
    pub fn note(&mut self, text: &str, paint: Paint) {
        self.lines.push(Line::Note(clean(text), paint));
    }

    /// Whether all columns fit without being dropped or shortened.
    pub fn fits(&self, style: &Style) -> bool {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        total(&self.widths(&all)) <= style.columns()
    }

    /// The table as text; every line ends with a newline.
    pub fn render(&self, style: &Style) -> String {
        self.render_with(true, style)
    }

    /// The lines without heads, to be placed below those of a table with the same columns.
    pub fn render_lines(&self, style: &Style) -> String {
        self.render_with(false, style)
    }

    fn render_with(&self, heads: bool, style: &Style) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let mut widths = self.widths(&shown);
        while total(&widths) > style.columns() {
            let Some(most) = (0..shown.len()).max_by_key(|&i| self.columns[shown[i]].spare) else { break };
            if self.columns[shown[most]].spare == 0 {
                break;
            }
            shown.remove(most);
            widths = self.widths(&shown);
        }
        self.shorten_columns(&shown, &mut widths, style.columns());
        let mut out = if heads { self.heads(&shown, &widths, style) } else { String::new() };
        // Computed once per column: a scan of all lines for each line would be quadratic.
        let settings: Vec<Setting> = shown
            .iter()
            .zip(&widths)
            .map(|(&i, &width)| Setting { left: self.columns[i].left, width, hang: self.mark_room(i) })
            .collect();
        for line in &self.lines {
            match line {
                Line::Cells(cells) => {
                    let cells: Vec<&TextCell> = shown.iter().map(|&i| &cells[i]).collect();
                    push_line(&mut out, &settings, &cells, style);
                }
                Line::Note(text, paint) => {
                    out.push_str(&style.paint(*paint, &truncate(&format!("  {text}"), style.columns())));
                    out.push('\n');
                }
            }
        }
        out
    }

    /// Width of each shown column: the widest of head, unit and cells.
    fn widths(&self, shown: &[usize]) -> Vec<usize> {
        let cell_width = |i: usize| {
            let hang = self.mark_room(i);
            self.lines.iter().filter_map(move |line| match line {
                Line::Cells(cells) => Some(width(&cells[i].text) + hang.saturating_sub(own_hang(&cells[i]))),
                Line::Note(..) => None,
            })
        };
        let widest = |&i: &usize| {
            let column = &self.columns[i];
            let heads = [width(&column.head), width(&column.unit), column.least];
            heads.into_iter().chain(cell_width(i)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = shown.iter().map(widest).collect();
        // If only one column of a shared head is left, the head stands over it alone.
        for at in self.groups(shown).into_iter().filter(|group| group.len() == 1) {
            widths[at.start] = widths[at.start].max(width(&self.columns[shown[at.start]].group));
        }
        widths
    }

    /// Columns for marks to the right of the figures in column `i`.
    fn mark_room(&self, i: usize) -> usize {
        let marked = |line: &Line| matches!(line, Line::Cells(cells) if own_hang(&cells[i]) > 0);
        if !self.columns[i].left && self.lines.iter().any(marked) { width(MARK) } else { 0 }
    }

    /// Neighbors under one head, as positions in `shown`; a column without a shared head is its own group.
    fn groups(&self, shown: &[usize]) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (at, &i) in shown.iter().enumerate() {
            let group = &self.columns[i].group;
            match groups.last_mut() {
                Some(last) if !group.is_empty() && self.columns[shown[last.start]].group == *group => {
                    last.end = at + 1;
                }
                _ => groups.push(at..at + 1),
            }
        }
        groups
    }

    /// Shortens text columns, widest first, until the table fits.
    fn shorten_columns(&self, shown: &[usize], widths: &mut [usize], columns: usize) {
        while total(widths) > columns {
            let gives = |&i: &usize| {
                let column = &self.columns[shown[i]];
                column.left && widths[i] > column.squeezed_to
            };
            let texts = (0..shown.len()).filter(gives);
            let Some(widest) = texts.max_by_key(|&i| widths[i]) else { break };
            let excess = total(widths) - columns;
            let least = self.columns[shown[widest]].squeezed_to;
            widths[widest] = widths[widest].saturating_sub(excess).max(least);
        }
    }

    fn heads(&self, shown: &[usize], widths: &[usize], style: &Style) -> String {
        let mut out = String::new();
        if shown.iter().any(|&i| !self.columns[i].group.is_empty()) {
            out.push_str(&style.paint(Paint::Head, self.group_line(shown, widths).trim_end()));
            out.push('\n');
        }
        let mut line = |part: fn(&TextColumn) -> &str, paint: Paint| {
            if shown.iter().all(|&i| part(&self.columns[i]).is_empty()) {
                return;
            }
            let cells: Vec<TextCell> =
                shown.iter().map(|&i| TextCell::from(part(&self.columns[i]))).collect();
            let mut text = String::new();
            let plain = Style { color: false, ..*style };
            let setting = |(&i, &width): (&usize, &usize)| Setting {
                left: self.columns[i].left,
                width,
                hang: self.mark_room(i),
            };
            let settings: Vec<Setting> = shown.iter().zip(widths).map(setting).collect();
            push_line(&mut text, &settings, &cells.iter().collect::<Vec<_>>(), &plain);
            out.push_str(&style.paint(paint, text.trim_end()));
            out.push('\n');
        };
        line(|column| &column.head, Paint::Head);
        line(|column| &column.unit, Paint::Dim);
        let rule = "─".repeat(total(widths).min(style.columns()));
        out.push_str(&style.paint(Paint::Dim, &rule));
        out.push('\n');
        out
    }

    /// The line of shared heads, each between dashes over its columns: `── CPU ──`.
    fn group_line(&self, shown: &[usize], widths: &[usize]) -> String {
        let mut out = String::new();
        for at in self.groups(shown) {
            let column = &self.columns[shown[at.start]];
            let (group, alone) = (&column.group, at.len() == 1);
            let room = total(&widths[at]);
            if group.is_empty() {
                out.push_str(&pad(room));
            } else if alone {
                let (name, space) = (truncate(group, room), pad(room.saturating_sub(width(group))));
                out.push_str(&if column.left { name + &space } else { space + &name });
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
}

struct Setting {
    left: bool,
    width: usize,
    /// Columns for marks to the right of figures.
    hang: usize,
}

fn push_line(out: &mut String, settings: &[Setting], cells: &[&TextCell], style: &Style) {
    let mut line = String::new();
    for (position, (setting, cell)) in settings.iter().zip(cells).enumerate() {
        if position > 0 {
            line.push_str(&pad(GAP));
        }
        let text = if setting.left { truncate(&cell.text, setting.width) } else { cell.text.clone() };
        let room = setting.width - width(&text).min(setting.width);
        let text = text + &pad(setting.hang.saturating_sub(own_hang(cell)).min(room));
        let space = pad(setting.width.saturating_sub(width(&text)));
        let text = cell.paint.map_or(text.clone(), |paint| style.paint(paint, &text));
        if setting.left {
            line.push_str(&text);
            line.push_str(&space);
        } else {
            line.push_str(&space);
            line.push_str(&text);
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Columns of the cell's own mark.
fn own_hang(cell: &TextCell) -> usize {
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
        let mut table = TextTable::new(vec![TextColumn::text("name"), TextColumn::figures("busy", "%")]);
        (0..rows).for_each(|i| table.row([TextCell::from(i.to_string()), TextCell::from(format!("{i}.5"))]));
        LOOKS.with(|looks| looks.set(0));
        assert_eq!(table.render(&Style::default()).lines().count(), rows + 3);
        LOOKS.with(std::cell::Cell::get)
    }

    #[test]
    fn table_rendering_cost_is_linear_in_rows() {
        let (some, twice) = (looks(500), looks(1_000));
        assert!(twice <= 2 * some + 100, "{some} looks at 500 lines, {twice} at 1,000");
    }

    fn table() -> TextTable {
        let mut table = TextTable::new(vec![
            TextColumn::text("name"),
            TextColumn::figures("busy", "%").grouped_under("CPU"),
            TextColumn::figures("user", "%").grouped_under("CPU"),
            TextColumn::text("when").droppable(),
        ]);
        table.row(["one".into(), "7.5".into(), "100".into(), "today".into()]);
        table.row([TextCell::painted("a\nb", Paint::Bad), "12.0".into()]);
        table.note("because", Paint::Dim);
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
        table.row([TextCell::from("x".repeat(90)), "1".into(), "2".into(), "now".into()]);
        let text = table.render(&style);
        assert!(text.lines().all(|line| width(line) <= 60), "{text}");
        assert!(!text.contains("when") && text.contains('…'), "{text}");
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
