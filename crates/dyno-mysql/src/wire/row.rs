//! One row of text.

use super::fields::Fields;

/// One row in text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(Vec<Option<String>>);

impl Row {
    /// Reads a row's packet of `columns` values.
    pub(crate) fn read(body: &[u8], columns: u64) -> Option<Self> {
        let mut fields = Fields::new(body);
        // What is not UTF-8 is shown with marks instead of refused: this row is not hot.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let values = (0..columns).map(|_| Some(fields.value()?.map(text)));
        values.collect::<Option<_>>().map(Self)
    }

    /// The text of column `index`, from 0; `None` is NULL, or there is no such column.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }

    /// Column `index` as a type that reads itself from text; `None` too where it cannot.
    pub fn parse<T: std::str::FromStr>(&self, index: usize) -> Option<T> {
        self.get(index)?.parse().ok()
    }
}
