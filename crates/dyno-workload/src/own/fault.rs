//! What is wrong with a workload and where, and the texts that places are places of.

use std::fmt;
use std::sync::Arc;

use dyno_plan::error::ERRORS_MAX;
use dyno_plan::lines::Lines;
use dyno_plan::{Origin, PlanError, PlanErrorKind, PlanErrors};

/// What is wrong with a workload, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, with the folder's name as the user has given it.
    pub file: String,
    /// Line and column, from 1; none is the file as a whole.
    pub place: Option<(usize, usize)>,
    /// What is wrong, in lower case.
    pub problem: String,
    /// What would be right; empty where that is clear.
    pub hint: String,
    /// Others of the same kind, which are told with it.
    pub others: Vec<Self>,
}

impl Fault {
    /// A fault of a file as a whole.
    pub(super) fn whole(
        file: impl Into<String>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            place: None,
            problem: problem.into(),
            hint: hint.into(),
            others: Vec::new(),
        }
    }

    /// The same with this way out.
    #[must_use]
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }
}

impl fmt::Display for Fault {
    /// `shop/workload.toml:12:8: transaction.pay.weight: 0 is not allowed; 1 to 1,000,000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for PlanErrors {
    /// A workload is a part of what a user wrote, and its faults are told as a plan's are.
    fn from(mut fault: Fault) -> Self {
        let others = std::mem::take(&mut fault.others);
        let all = [fault].into_iter().chain(others);
        let mut errors: Vec<PlanError> = all.map(error).collect();
        let more = errors.len().saturating_sub(ERRORS_MAX);
        errors.truncate(ERRORS_MAX);
        Self { errors, more }
    }
}

fn error(fault: Fault) -> PlanError {
    let (line, column) = fault.place.unzip();
    let origin = Origin::File { name: fault.file, line, column };
    let (problem, hint) = (fault.problem, fault.hint);
    PlanError { kind: PlanErrorKind::File, origin, key: None, value: None, problem, hint }
}

/// A file of the folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its name, with the folder's.
    pub(super) name: String,
    /// What is in it.
    pub(super) text: String,
}

impl File {
    /// What is wrong at byte `at`.
    pub(super) fn fault(&self, at: usize, problem: impl Into<String>, hint: impl Into<String>) -> Fault {
        let place = Lines::new(&self.name, &self.text).line_and_column(at);
        Fault { place: Some(place), ..Fault::whole(&self.name, problem, hint) }
    }
}

/// A text that a user wrote: a file, or a value in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    file: Arc<File>,
    /// Where in the file it begins.
    begin: usize,
    /// Whether it stands there letter by letter; one with escapes does not, and its places are its beginning.
    exact: bool,
    /// Its letters.
    pub(super) letters: Arc<str>,
}

impl Text {
    /// All of a file.
    pub(super) fn file(file: Arc<File>) -> Self {
        let letters = file.text.as_str().into();
        Self { file, begin: 0, exact: true, letters }
    }

    /// A value that stands somewhere in these bytes of `file`.
    pub(super) fn value(file: Arc<File>, within: std::ops::Range<usize>, letters: &str) -> Self {
        let found = file.text.get(within.clone()).and_then(|written| written.find(letters));
        let (begin, exact) = (within.start + found.unwrap_or(0), found.is_some());
        Self { file, begin, exact, letters: letters.into() }
    }

    /// These bytes of it.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Self {
        let begin = self.begin + if self.exact { range.start } else { 0 };
        Self { file: Arc::clone(&self.file), begin, exact: self.exact, letters: self.letters[range].into() }
    }

    /// Its letters before byte `end`; places stay what they are.
    pub(super) fn upto(&self, end: usize) -> Self {
        self.part(0..end)
    }

    /// What is wrong at byte `at` of it.
    pub(super) fn fault(&self, at: usize, problem: impl Into<String>, hint: impl Into<String>) -> Fault {
        self.file.fault(self.begin + if self.exact { at } else { 0 }, problem, hint)
    }
}
