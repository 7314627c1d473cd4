//! Why a file cannot be imported.

use dyno_plan::PlanErrors;

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or an option is wrong.
    #[error("{problem}")]
    Input {
        /// What is wrong, with the file and the place in it.
        problem: String,
        /// What the user can do; empty if there is no hint.
        hint: String,
    },
    /// A plan key, or a value of one, is wrong.
    #[error(transparent)]
    Plan(#[from] PlanErrors),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A record's plan would not be readable in the repository.
    #[error("the plan of a record of {file} cannot be read back")]
    PlanText {
        /// The file that is imported, as the user named it.
        file: String,
        /// Why the plan cannot be read back.
        source: serde_json::Error,
    },
}

impl Error {
    /// An error in the file or in an option, with a hint.
    pub(crate) fn input(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input { problem: problem.into(), hint: hint.into() }
    }

    /// What the user can do; empty if there is no hint.
    pub fn hint(&self) -> &str {
        match self {
            Self::Input { hint, .. } => hint,
            Self::Plan(_) | Self::Io(_) | Self::PlanText { .. } => "",
        }
    }
}
