//! The errors of a campaign, in kinds that a caller can match on.

use dyno_engine::{TargetError, TargetErrorKind};
use dyno_host::remote::{SourceError, SourceErrorKind};
use dyno_plan::sweep::PointError;
use dyno_plan::{DataError, PlanErrors};
use dyno_record::{RecordError, RepositoryError};

/// What an error means for the caller of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The plan or the request is wrong; nothing was started.
    Usage,
    /// The target, the host, a command of the plan or the repository failed.
    Failed,
    /// The caller cancelled the campaign through its `Cancel`.
    Interrupted,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan or the request is wrong.
    #[error("{problem}")]
    Usage {
        /// A description of the problem.
        problem: String,
        /// What the user can do; empty if there is no hint.
        hint: String,
    },
    #[error(transparent)]
    Plan(#[from] PlanErrors),
    /// An operation on the target failed.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A remote machine of a target failed.
    #[error(transparent)]
    Host(#[from] SourceError),
    /// A command of the plan failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// A run cannot be stored or read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// Any other error, with its cause.
    #[error("{what}")]
    Other {
        /// What failed, as the start of a sentence.
        what: String,
        /// The cause; absent if there is none.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// A failed command of a plan.
#[derive(Debug, thiserror::Error)]
#[error("hooks.{name} {outcome}: {command}{output}")]
pub struct HookError {
    pub(crate) name: &'static str,
    pub(crate) outcome: String,
    pub(crate) command: String,
    /// The end of the command's output, each line indented on a line of its own.
    pub(crate) output: String,
    /// Whether the command was stopped because the campaign was cancelled.
    pub(crate) interrupted: bool,
}

impl Error {
    /// Creates an error for a wrong request, with a hint.
    pub fn usage(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), hint: hint.into() }
    }

    /// Creates an error: `what` failed because of `cause`.
    pub fn because(
        what: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Other { what: what.into(), source: Some(cause.into()) }
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage { .. } | Self::Plan(_) => ErrorKind::Usage,
            Self::Target(target) => match target.kind {
                TargetErrorKind::Unsupported => ErrorKind::Usage,
                TargetErrorKind::Cancelled => ErrorKind::Interrupted,
                _ => ErrorKind::Failed,
            },
            Self::Hook(hook) if hook.interrupted => ErrorKind::Interrupted,
            Self::Host(error) if error.kind == SourceErrorKind::Unsupported => ErrorKind::Usage,
            Self::Host(_) | Self::Hook(_) | Self::Repository(_) | Self::Other { .. } => ErrorKind::Failed,
        }
    }

    /// What the user can do; empty if there is no hint.
    pub fn hint(&self) -> &str {
        match self {
            Self::Usage { hint, .. } => hint,
            Self::Target(target) => &target.hint,
            Self::Host(error) => &error.hint,
            _ => "",
        }
    }

    /// Returns the error with its causes and its hint in one text.
    pub(crate) fn words(&self) -> String {
        if let (Self::Target(_) | Self::Host(_), false) = (self, self.hint().is_empty()) {
            return format!("{self}; hint: {}", self.hint());
        }
        let causes = std::iter::successors(Some(self as &dyn std::error::Error), |error| error.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::usage(error.to_string(), "")
    }
}

impl From<PointError> for Error {
    fn from(error: PointError) -> Self {
        Self::usage(error.problem, error.hint)
    }
}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        Self::because("a record cannot be written", error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::because("a conclusion cannot be written or read", error)
    }
}
