//! Errors in workload files with their places, and the texts that these places refer to.

use std::fmt;
use std::sync::Arc;

use dyno_engine::sql_tokens::SqlSyntaxError;
use dyno_plan::error::ERRORS_MAX;
use dyno_plan::lines::SourceLines;
use dyno_plan::{Origin, PlanError, PlanErrorKind, PlanErrors};

/// An error in a workload, with its place and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadError {
    /// The file, including the folder's name as the user gave it.
    pub file: String,
    /// Line and column, from 1; absent for the file as a whole.
    pub place: Option<(usize, usize)>,
    /// What is wrong, beginning in lower case.
    pub problem: String,
    /// What to write instead; empty if that is obvious.
    pub hint: String,
    /// Further errors of the same kind, reported together with this one.
    pub others: Vec<Self>,
}

impl WorkloadError {
    /// An error of a file as a whole.
    pub fn whole(file: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: None,
            problem: problem.into(),
            hint: hint.into(),
            others: Vec::new(),
        }
    }

    #[must_use]
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }
}

impl fmt::Display for WorkloadError {
    /// One line: `shop/workload.toml:12:8: transaction.pay.weight: 0 is not allowed; 1 to 1,000,000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for WorkloadError {}

impl From<PlanErrors> for WorkloadError {
    fn from(errors: PlanErrors) -> Self {
        let mut all = errors.errors.into_iter().map(|error| {
            let (file, place) = match error.origin {
                Origin::File { name, line, column } => (name, line.zip(column)),
                _ => (String::new(), None),
            };
            Self { place, ..Self::whole(file, error.problem, error.hint) }
        });
        let first = all.next().unwrap_or_else(|| Self::whole("", "", ""));
        Self { others: all.collect(), ..first }
    }
}

impl From<WorkloadError> for PlanErrors {
    /// A workload is part of the user's input, so its errors are reported like those of a plan.
    fn from(mut fault: WorkloadError) -> Self {
        let further = std::mem::take(&mut fault.others);
        let all = [fault].into_iter().chain(further);
        let mut errors: Vec<PlanError> = all.map(error).collect();
        let more = errors.len().saturating_sub(ERRORS_MAX);
        errors.truncate(ERRORS_MAX);
        Self { errors, more }
    }
}

fn error(fault: WorkloadError) -> PlanError {
    let (line, column) = fault.place.unzip();
    let origin = Origin::File { name: fault.file, line, column };
    let (problem, hint) = (fault.problem, fault.hint);
    PlanError { kind: PlanErrorKind::File, origin, key: None, value: None, problem, hint }
}

/// One file of the folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its name, including the folder's name.
    pub(super) name: String,
    /// The full text of the file.
    pub(super) text: String,
}

impl File {
    /// An error at byte `at`.
    pub(super) fn fault(
        &self,
        at: usize,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> WorkloadError {
        let place = SourceLines::new(&self.name, &self.text).line_and_column(at);
        WorkloadError { place: Some(place), ..WorkloadError::whole(&self.name, problem, hint) }
    }
}

/// A text from the user: a file, or a value in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    file: Arc<File>,
    /// The byte offset in the file where it begins.
    begin: usize,
    /// Whether the file contains it literally; a text with escapes does not, so all its errors are reported
    /// at its start.
    exact: bool,
    /// The text itself.
    pub letters: Arc<str>,
}

impl SourceText {
    /// The text of a file with this name.
    pub fn new(file: &str, text: &str) -> Self {
        Self::file(Arc::new(File { name: file.to_owned(), text: text.to_owned() }))
    }

    /// The text of a whole file.
    pub(super) fn file(file: Arc<File>) -> Self {
        let letters = file.text.as_str().into();
        Self { file, begin: 0, exact: true, letters }
    }

    /// A value somewhere in these bytes of `file`.
    pub(super) fn value(file: Arc<File>, within: std::ops::Range<usize>, letters: &str) -> Self {
        let offset = file.text.get(within.clone()).and_then(|written| written.find(letters));
        let (begin, exact) = (within.start + offset.unwrap_or(0), offset.is_some());
        Self { file, begin, exact, letters: letters.into() }
    }

    /// The fault of SQL in this text that cannot be read.
    pub fn syntax_fault(&self, error: &SqlSyntaxError) -> WorkloadError {
        self.fault(error.at, error.problem, error.hint)
    }

    /// The part of the text with these bytes.
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        let begin = self.begin + if self.exact { range.start } else { 0 };
        Self { file: Arc::clone(&self.file), begin, exact: self.exact, letters: self.letters[range].into() }
    }

    /// The text before byte `end`; places do not change.
    pub fn upto(&self, end: usize) -> Self {
        self.part(0..end)
    }

    /// An error at byte `at` of the text.
    pub fn fault(&self, at: usize, problem: impl Into<String>, hint: impl Into<String>) -> WorkloadError {
        self.file.fault(self.begin + if self.exact { at } else { 0 }, problem, hint)
    }
}
