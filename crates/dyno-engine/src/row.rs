//! Rows of text: what a database answers to everything that is not hot.

use std::str::FromStr;

/// One row, each column as text or NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub Vec<Option<String>>);

impl Row {
    /// The text of column `index`, from 0; `None` is NULL, or there is no such column.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }

    /// The text of column `index`; empty where there is none.
    pub fn text(&self, index: usize) -> &str {
        self.get(index).unwrap_or_default()
    }

    /// Column `index` as a type that reads itself from text; `None` too where it cannot.
    pub fn parse<T: FromStr>(&self, index: usize) -> Option<T> {
        self.get(index)?.parse().ok()
    }

    /// Columns of the row.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the row has no columns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Column `index` of the first row, as [`Row::parse`].
pub fn first<T: FromStr>(rows: &[Row], index: usize) -> Option<T> {
    rows.first()?.parse(index)
}
