//! Reports that a database makes of itself around a run, beside Dyno's own figures.

use crate::error::TargetError;

/// Takes the database's own snapshots; the first is taken when it is made.
pub trait Reporter: Send {
    /// Takes the last snapshot and writes the reports between the two, the one of the whole database first.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn finish(self: Box<Self>) -> Result<Vec<OwnReport>, TargetError>;
}

/// A report of the database on itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReport {
    /// What it is, in words: `AWR snapshots 17 to 18`.
    pub name: String,
    /// What its file's name ends with: `awr.html`; empty where there is only the name.
    pub file_ending: String,
    /// What the file holds.
    pub text: String,
}
