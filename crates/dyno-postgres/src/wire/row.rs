//! One row of text.

use super::fields::Fields;

/// One row in text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(Vec<Option<String>>);

impl Row {
    /// Reads the body of a DataRow message.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        let columns = fields.u16()?;
        let mut values = Vec::with_capacity(usize::from(columns));
        for _ in 0..columns {
            // What is not UTF-8 (a SQL_ASCII database) is shown with marks instead of refused: this row is not hot.
            values.push(fields.value()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
        }
        Some(Self(values))
    }

    /// The text of column `index`, from 0; `None` is NULL, or there is no such column.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }

    /// Column `index` as a type that reads itself from text; `None` too where it cannot.
    pub fn parse<T: std::str::FromStr>(&self, index: usize) -> Option<T> {
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
