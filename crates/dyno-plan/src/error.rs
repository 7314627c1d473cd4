//! What can be wrong with a plan, each with its place, its value and the way out.

use std::fmt;

use serde::Serialize;

/// Errors beyond this many are counted instead of listed: nobody mends more at once.
pub const ERRORS_MAX: usize = 100;

/// The kind of a [`PlanError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanErrorKind {
    /// The file cannot be read, or is no TOML.
    File,
    /// There is no such key or section.
    Unknown,
    /// The value is of another type.
    Type,
    /// The value is not one of those allowed.
    Range,
    /// A key that must be there is not.
    Missing,
    /// Two values do not go together.
    Conflict,
    /// A password is where it must not be.
    Secret,
}

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the plan file.
    File {
        /// The file's name.
        name: String,
        /// The line, from 1; none is the file as a whole.
        line: Option<usize>,
        /// The character in the line, from 1.
        column: Option<usize>,
    },
    /// In a `--set` option.
    Set,
    /// In the `--target` option.
    Target,
    /// Nowhere: it is a default, or there is no file.
    Nowhere,
}

/// One error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct PlanError {
    /// Its kind.
    pub kind: PlanErrorKind,
    /// Where.
    pub origin: Origin,
    /// The key: `data.scale`.
    pub key: Option<String>,
    /// The value as written, shortened; none where it could be a password.
    pub value: Option<String>,
    /// What is wrong, in lower case.
    pub problem: String,
    /// The way out: what is allowed.
    pub hint: String,
}

impl fmt::Display for PlanError {
    /// `dyno.toml:7:9: data.scale = "80Q": not a size; allowed: …`, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = (self.key.as_deref(), self.value.as_deref());
        match &self.origin {
            Origin::File { name, line, column } => {
                // All of it, however long: editors open what stands here.
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

/// All errors of a plan, in the order of the file, then of the options; shown one a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, thiserror::Error)]
pub struct PlanErrors {
    /// The errors, at most [`ERRORS_MAX`].
    pub errors: Vec<PlanError>,
    /// How many more there are.
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
    /// Adds an error, or counts it.
    pub(crate) fn push(&mut self, error: PlanError) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Puts the errors in the order in which their author reads: file, `--set`, `--target`, the plan as a whole.
    pub(crate) fn sort(&mut self) {
        self.errors.sort_by_key(|error| match &error.origin {
            Origin::File { line, column, .. } => (0, line.unwrap_or(usize::MAX), column.unwrap_or(0)),
            Origin::Set => (1, 0, 0),
            Origin::Target => (2, 0, 0),
            Origin::Nowhere => (3, 0, 0),
        });
    }
}

/// User's text for an error: on one line, without control characters, at most 60 characters.
pub(crate) fn shown(text: &str) -> String {
    crate::terminal::spelled(text, 60)
}

/// A key's name for an error, if it looks like one; anything else may be a misplaced secret.
pub(crate) fn shown_key(name: &str) -> Option<&str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    (!name.is_empty() && name.len() <= 60 && name.bytes().all(plain)).then_some(name)
}
