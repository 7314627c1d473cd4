//! Rows of text: the answers of a database to all requests outside the hot path.

use std::str::FromStr;

/// One row, each column as text or NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow(pub Vec<Option<String>>);

impl TextRow {
    /// The text of column `index`, from 0; `None` for NULL or a missing column.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }

    /// The text of column `index`; empty where there is none.
    pub fn text(&self, index: usize) -> &str {
        self.get(index).unwrap_or_default()
    }

    /// Column `index`, parsed as `T`; `None` also where parsing fails.
    pub fn parse<T: FromStr>(&self, index: usize) -> Option<T> {
        self.get(index)?.parse().ok()
    }

    /// Number of columns of the row.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the row has no columns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Column `index` of the first row, as [`TextRow::parse`].
pub fn first<T: FromStr>(rows: &[TextRow], index: usize) -> Option<T> {
    rows.first()?.parse(index)
}
