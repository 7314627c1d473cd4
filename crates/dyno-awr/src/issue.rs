//! What is wrong with a report: values that cannot be read, and shapes that are not known.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is not known or not sure; what was read stands.
    Warning,
    /// A value is there and could not be read.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// How bad it is.
    pub level: Level,
    /// The line of the file, from 1.
    pub line: u32,
    /// The section it is in; empty where it is about the whole report.
    pub section: String,
    /// What is wrong, with the text in question.
    pub message: String,
}

impl Issue {
    /// Whether a value could not be read.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }

    /// One line for people: `awr.html:120: Load Profile: "####" is no number`.
    pub fn line_of(&self, file: &str) -> String {
        let section = if self.section.is_empty() { String::new() } else { format!("{}: ", self.section) };
        format!("{file}:{}: {section}{}", self.line, self.message)
    }
}
