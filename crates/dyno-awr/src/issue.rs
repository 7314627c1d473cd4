//! The issues of a report: values that cannot be read, and unknown structures.

use serde::Serialize;

/// The severity of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AwrIssueSeverity {
    /// Something is unknown or uncertain; the values that were read remain valid.
    Warning,
    /// A value is present but could not be read.
    Error,
}

/// One issue of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    pub level: AwrIssueSeverity,
    /// The line of the file, from 1.
    pub line: u32,
    /// The section that has the issue; empty where it concerns the whole report.
    pub section: String,
    /// What is wrong, with the text in question.
    pub message: String,
}

impl Issue {
    /// Whether a value could not be read.
    pub fn is_error(&self) -> bool {
        self.level == AwrIssueSeverity::Error
    }

    /// The issue as one line of output: `awr.html:120: Load Profile: "####" is no number`.
    pub fn line_of(&self, file: &str) -> String {
        let section = if self.section.is_empty() { String::new() } else { format!("{}: ", self.section) };
        format!("{file}:{}: {section}{}", self.line, self.message)
    }
}
