//! Collects reports that a database makes about itself around a run, in addition to Dyno's figures.

use crate::error::TargetError;

/// Takes the database's own snapshots; creating it takes the first.
pub trait Reporter: Send {
    /// Takes the last snapshot and writes the reports between the two; the report on the whole database is
    /// first.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn finish(self: Box<Self>) -> Result<Vec<OwnReport>, TargetError>;
}

/// A report of the database about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReport {
    /// A description of the report: `AWR snapshots 17 to 18`.
    pub name: String,
    /// The end of its file name: `awr.html`; empty where there is no file.
    pub file_ending: String,
    /// The content of the report's file.
    pub text: String,
}
