//! Collects reports that a database makes about itself around the window of a run, in addition to Dyno's
//! figures.

use crate::error::TargetError;

/// Takes the database's own snapshots. Opening it has shown that it can.
pub trait Reporter: Send {
    /// Takes the first snapshot: the window is about to begin, and sessions are at work.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn begin(&mut self) -> Result<(), TargetError>;

    /// Takes the last snapshot: the window has just ended, and sessions are still at work.
    ///
    /// # Errors
    /// The connection is lost, or the database refuses.
    fn end(&mut self) -> Result<(), TargetError>;

    /// Writes the reports between the two snapshots; the report on the whole database is first. A snapshot that
    /// was not taken at the window's end is taken now.
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
