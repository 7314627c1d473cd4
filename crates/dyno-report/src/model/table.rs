//! A table as a document holds it: heads, and rows of typed cells. Terminal, HTML, Markdown and workbook each
//! have one renderer of it.

use std::borrow::Cow;

pub(crate) use super::cell::{CellNumber, GridCell, unit_name};

/// The renderings that have a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColumnPlace {
    #[default]
    Everywhere,
    /// A terminal has no room for it: pages, Markdown and workbooks have it.
    OnPages,
    InTerminal,
    /// Only a workbook, which sorts and filters, has it.
    InWorkbook,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridHead {
    pub label: String,
    /// Unit of its values; may be empty.
    pub unit: String,
    /// Meaning in a sentence; may be empty.
    pub explained: String,
    /// Whether the column contains figures, which are right-aligned.
    pub figures: bool,
    /// Whether its cells stay on one line.
    pub tight: bool,
    /// What a terminal prints in place of the label: a head that the column shares with its neighbors, which may
    /// be empty, and its own.
    pub short: Option<(String, String)>,
    /// Rank at which a terminal without room drops the column: highest first, 0 never.
    pub spare: u8,
    /// The renderings that have the column.
    pub place: ColumnPlace,
    /// Minimum width in a terminal: a table that grows line by line cannot know its widest cell.
    pub least: usize,
}

impl GridHead {
    pub fn figures(label: &str, unit: &str) -> Self {
        Self { label: label.into(), unit: unit.into(), figures: true, ..Self::default() }
    }

    pub fn text(label: &str) -> Self {
        Self { figures: false, ..Self::figures(label, "") }
    }

    /// A column of times and words, whose cells stay on one line.
    pub fn tight(label: &str) -> Self {
        Self { tight: true, ..Self::text(label) }
    }

    /// Sets what a terminal prints in place of the label: the head shared with neighbors, and the column's own.
    #[must_use]
    pub fn short(self, shared: &str, own: &str) -> Self {
        Self { short: Some((shared.into(), own.into())), ..self }
    }

    /// Puts the column of a terminal under a head that it shares with its neighbors.
    #[must_use]
    pub fn grouped_under(self, shared: &str) -> Self {
        let own = self.label.clone();
        self.short(shared, &own)
    }

    /// Lets a terminal drop the column if there is no room: the highest `rank` first, the last of equals.
    #[must_use]
    pub fn spare(self, rank: u8) -> Self {
        Self { spare: rank, ..self }
    }

    /// Leaves the column out of a terminal.
    #[must_use]
    pub fn only_on_pages(self) -> Self {
        Self { place: ColumnPlace::OnPages, ..self }
    }

    /// Leaves the column out of everything but a terminal: it draws what others have as a chart.
    #[must_use]
    pub fn only_in_terminal(self) -> Self {
        Self { place: ColumnPlace::InTerminal, ..self }
    }

    /// Leaves the column out of everything but a workbook.
    #[must_use]
    pub fn only_in_workbook(self) -> Self {
        Self { place: ColumnPlace::InWorkbook, ..self }
    }

    /// Sets a minimum width in a terminal.
    #[must_use]
    pub fn at_least(self, columns: usize) -> Self {
        Self { least: columns, ..self }
    }

    /// Adds an explanation, which pages show.
    #[must_use]
    pub fn explained(mut self, explained: &str) -> Self {
        self.explained = explained.into();
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub heads: Vec<GridHead>,
    /// The rows, each with its anchor name, which may be empty.
    pub rows: Vec<(String, Vec<GridCell>)>,
}

impl Grid {
    pub fn new(heads: Vec<GridHead>) -> Self {
        Self { heads, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty. A single cell is a title for the rows below it.
    pub fn row(&mut self, cells: impl IntoIterator<Item = GridCell>) {
        self.named_row("", cells);
    }

    /// Adds a row with an anchor.
    pub fn named_row(&mut self, name: &str, cells: impl IntoIterator<Item = GridCell>) {
        self.rows.push((name.into(), cells.into_iter().collect()));
    }

    /// Whether these cells are a title for the rows below them, or a note on the row above them.
    pub(crate) fn is_title(&self, cells: &[GridCell]) -> bool {
        cells.len() == 1 && self.heads.len() > 1
    }

    /// The table with those columns that `keeps` keeps; titles remain.
    #[must_use]
    pub fn columns(&self, keeps: impl Fn(&GridHead) -> bool) -> Self {
        let kept = |at: &usize| self.heads.get(*at).is_some_and(&keeps);
        let row = |(name, cells): &(String, Vec<GridCell>)| match self.is_title(cells) {
            true => (name.clone(), cells.clone()),
            false => (name.clone(), (0..cells.len()).filter(kept).map(|at| cells[at].clone()).collect()),
        };
        Self {
            heads: self.heads.iter().filter(|head| keeps(head)).cloned().collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// The table without columns that are empty in every row.
    #[must_use]
    pub fn filled(&self) -> Self {
        let rows = || self.rows.iter().filter(|(_, cells)| !self.is_title(cells));
        let is_filled =
            |at: usize| rows().any(|(_, cells)| cells.get(at).is_some_and(|cell| !cell.text.is_empty()));
        let filled: Vec<&GridHead> =
            self.heads.iter().enumerate().filter(|(at, _)| is_filled(*at)).map(|(_, head)| head).collect();
        self.columns(|head| filled.iter().any(|known| std::ptr::eq(*known, head)))
    }

    /// The columns of pages and Markdown.
    pub(crate) fn on_pages(&self) -> Cow<'_, Self> {
        self.without(&[ColumnPlace::InTerminal, ColumnPlace::InWorkbook])
    }

    /// The columns of a workbook.
    pub(crate) fn in_workbook(&self) -> Cow<'_, Self> {
        self.without(&[ColumnPlace::InTerminal])
    }

    fn without(&self, places: &[ColumnPlace]) -> Cow<'_, Self> {
        let is_shown = |head: &GridHead| !places.contains(&head.place);
        if self.heads.iter().all(is_shown) { Cow::Borrowed(self) } else { Cow::Owned(self.columns(is_shown)) }
    }

    /// Adds a sentence about the row above it.
    pub fn note(&mut self, text: &str, tone: &'static str) {
        self.row([GridCell::text(text).toned(tone)]);
    }
}
