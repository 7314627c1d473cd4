//! Errors of a plan, each with its place, value and hint.

use std::fmt;

use serde::Serialize;

/// Errors beyond this number are counted but not listed: nobody corrects more at once.
pub const ERRORS_MAX: usize = 100;

/// The kind of a [`PlanError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanErrorKind {
    /// The file cannot be read, or is not TOML.
    File,
    /// The key or section does not exist.
    Unknown,
    /// The value has the wrong type.
    Type,
    /// The value is outside the allowed values.
    Range,
    /// A required key is missing.
    Missing,
    /// Two values exclude each other.
    Conflict,
    /// A password is where none is allowed.
    Secret,
}

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the plan file, at a place.
    File {
        /// Name of the file as the user gave it.
        name: String,
        /// The line, from 1; absent for the file as a whole.
        line: Option<usize>,
        /// The character in the line, from 1.
        column: Option<usize>,
    },
    /// In an option `--set` of the command line.
    Set,
    /// In the option `--target` of the command line.
    Target,
    /// Nowhere: the value is a default, or there is no file.
    Nowhere,
}

/// One error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct PlanError {
    /// The kind, for programs that handle errors.
    pub kind: PlanErrorKind,
    /// Where the value was written.
    pub origin: Origin,
    /// The key, such as `data.scale`; absent for an error of the file.
    pub key: Option<String>,
    /// The value as written, shortened; absent if it could be a password.
    pub value: Option<String>,
    /// What is wrong, beginning in lower case.
    pub problem: String,
    /// What to do: usually the allowed values.
    pub hint: String,
}

impl fmt::Display for PlanError {
    /// One line: `dyno.toml:7:9: data.scale = "80Q": not a size; allowed: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = (self.key.as_deref(), self.value.as_deref());
        match &self.origin {
            Origin::File { name, line, column } => {
                // The full name, however long: editors open files by it.
                write!(f, "{}", crate::terminal::spelled(name, usize::MAX))?;
                for number in [line, column].into_iter().flatten() {
                    write!(f, ":{number}")?;
                }
                write!(f, ": ")?;
            }
            Origin::Set => write!(f, "--set ")?,
            Origin::Target => write!(f, "--target: ")?,
            Origin::Nowhere => {}
        }
        let equals = if self.origin == Origin::Set { "=" } else { " = " };
        match (key.filter(|_| self.origin != Origin::Target), value) {
            (Some(key), Some(value)) => write!(f, "{key}{equals}{value}: ")?,
            (Some(key), None) => write!(f, "{key}: ")?,
            (None, _) => {}
        }
        write!(f, "{}", self.problem)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

/// All errors of a plan: those of the file, then those of the options, one per line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, thiserror::Error)]
pub struct PlanErrors {
    /// The errors, at most [`ERRORS_MAX`].
    pub errors: Vec<PlanError>,
    /// Number of further errors that are not listed.
    pub more: usize,
}

impl fmt::Display for PlanErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            let end = if i == 0 { "" } else { "\n" };
            write!(f, "{end}{error}")?;
        }
        if self.more > 0 {
            write!(f, "\n… and {} more errors", self.more)?;
        }
        Ok(())
    }
}

impl From<PlanError> for PlanErrors {
    fn from(error: PlanError) -> Self {
        Self { errors: vec![error], more: 0 }
    }
}

impl PlanErrors {
    /// Adds an error, or counts it if the list is full.
    pub fn push(&mut self, error: PlanError) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Sorts the errors in reading order: file, `--set`, `--target`, the plan as a whole.
    pub fn sort(&mut self) {
        self.errors.sort_by_key(|error| match &error.origin {
            Origin::File { line, column, .. } => (0, line.unwrap_or(usize::MAX), column.unwrap_or(0)),
            Origin::Set => (1, 0, 0),
            Origin::Target => (2, 0, 0),
            Origin::Nowhere => (3, 0, 0),
        });
    }
}

/// The user's text for an error: one line, no control characters, at most 60 characters.
pub fn shown(text: &str) -> String {
    crate::terminal::spelled(text, 60)
}

/// A key's name for an error, if it looks like a name; other text may be a misplaced password.
pub fn shown_key(name: &str) -> Option<&str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    (!name.is_empty() && name.len() <= 60 && name.bytes().all(plain)).then_some(name)
}
