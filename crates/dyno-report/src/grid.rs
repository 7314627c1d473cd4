//! A table without a look: what HTML and Markdown show, and what is text stays text.

use dyno_record::Status;

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// What it is.
    pub label: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// What it means, in a sentence; may be empty.
    pub explained: String,
    /// Whether it holds figures, which are right-aligned.
    pub figures: bool,
    /// Whether its cells stay on one line.
    pub tight: bool,
}

impl Head {
    /// A column of figures.
    pub fn figures(label: &str, unit: &str) -> Self {
        Self { label: label.into(), unit: unit.into(), explained: String::new(), figures: true, tight: false }
    }

    /// A column of text.
    pub fn text(label: &str) -> Self {
        Self { figures: false, ..Self::figures(label, "") }
    }

    /// A column of times and words, whose cells stay on one line.
    pub fn tight(label: &str) -> Self {
        Self { tight: true, ..Self::text(label) }
    }

    /// The same head with an explanation.
    #[must_use]
    pub fn explained(mut self, explained: &str) -> Self {
        self.explained = explained.into();
        self
    }
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// The place in the report that it leads to; may be empty.
    pub link: String,
    /// What it says of a run: good, foreign, warn, bad; empty for most.
    pub tone: &'static str,
}

impl Cell {
    /// Text.
    pub fn text(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Text that leads somewhere.
    pub fn linked(text: &str, link: &str) -> Self {
        Self { link: link.into(), ..Self::text(text) }
    }

    /// What a run came to.
    pub fn status(status: Status) -> Self {
        Self { tone: crate::status::tone(status), ..Self::text(status.words()) }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The heads.
    pub heads: Vec<Head>,
    /// The rows, each with its name in links, which may be empty.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl Grid {
    /// An empty table.
    pub fn new(heads: Vec<Head>) -> Self {
        Self { heads, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.named_row("", cells);
    }

    /// Adds a row that links can lead to.
    pub fn named_row(&mut self, name: &str, cells: Vec<Cell>) {
        self.rows.push((name.into(), cells));
    }
}
