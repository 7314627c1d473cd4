//! A figure of two reports.

use crate::number::Reading;

/// A figure of both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The column's name.
    pub name: String,
    /// In the first report.
    pub a: Option<Reading>,
    /// In the second.
    pub b: Option<Reading>,
}

impl Change {
    /// Whether the figures differ by more than what their last digits leave open.
    pub fn differs(&self) -> bool {
        let Some((a, b)) = self.a.zip(self.b) else { return false };
        (b.value - a.value).abs() > (a.step + b.step) / 2.0
    }

    /// How far the second is from the first, %; absent where they do not differ, or there is nothing to divide by.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = self.a.zip(self.b).filter(|_| self.differs())?;
        (a.value != 0.0).then(|| 100.0 * (b.value - a.value) / a.value.abs())
    }
}
