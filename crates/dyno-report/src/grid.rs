//! A table as a document holds it: heads, and rows of typed cells. Terminal, HTML, Markdown and workbook each
//! have one renderer of it.

pub use crate::grid_cell::{CellNumber, GridCell};

#[derive(Debug, Clone, PartialEq, Eq)]
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
}

impl GridHead {
    pub fn figures(label: &str, unit: &str) -> Self {
        Self { label: label.into(), unit: unit.into(), explained: String::new(), figures: true, tight: false }
    }

    pub fn text(label: &str) -> Self {
        Self { figures: false, ..Self::figures(label, "") }
    }

    /// A column of times and words, whose cells stay on one line.
    pub fn tight(label: &str) -> Self {
        Self { tight: true, ..Self::text(label) }
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
