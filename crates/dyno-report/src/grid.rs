//! A table as a document holds it: heads, and rows of typed cells. Terminal, HTML, Markdown and workbook each
//! have one renderer of it.

pub use crate::grid_cell::{CellNumber, GridCell};

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
    /// Whether a terminal leaves the column out at any width.
    pub only_on_pages: bool,
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

    /// Lets a terminal drop the column if there is no room: the highest `rank` first, the last of equals.
    #[must_use]
    pub fn spare(self, rank: u8) -> Self {
        Self { spare: rank, ..self }
    }

    /// Leaves the column out of a terminal.
    #[must_use]
    pub fn only_on_pages(self) -> Self {
        Self { only_on_pages: true, ..self }
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

    pub fn row(&mut self, cells: Vec<GridCell>) {
        self.named_row("", cells);
    }

    /// Adds a row with an anchor.
    pub fn named_row(&mut self, name: &str, cells: Vec<GridCell>) {
        self.rows.push((name.into(), cells));
    }
}
