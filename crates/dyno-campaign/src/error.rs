//! What can go wrong with a campaign, in kinds that whoever leads it can match on.

use dyno_engine::{TargetError, TargetErrorKind};
use dyno_host::far::{SourceError, SourceErrorKind};
use dyno_plan::sweep::PointError;
use dyno_plan::{DataError, PlanErrors};
use dyno_record::{RecordError, RepositoryError};

/// What an error means for whoever leads the campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The plan or the request is wrong: nothing was begun.
    Usage,
    /// The target, the host, a command of the plan or the repository failed.
    Failed,
    /// It was stopped because its leader asked for it.
    Interrupted,
}

/// An error of a campaign.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A wrong request.
    #[error("{problem}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// The way out; empty where there is none.
        hint: String,
    },
    /// A plan that is none.
    #[error(transparent)]
    Plan(#[from] PlanErrors),
    /// The target failed.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A machine of a target's that is not this one failed.
    #[error(transparent)]
    Host(#[from] SourceError),
    /// A command of the plan failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// Runs cannot be stored or read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// Anything else.
    #[error("{what}")]
    Other {
        /// What failed.
        what: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// A command of a plan that failed.
#[derive(Debug, thiserror::Error)]
#[error("hooks.{name} {outcome}: {command}{output}")]
pub struct HookError {
    pub(crate) name: &'static str,
    pub(crate) outcome: String,
    pub(crate) command: String,
    /// The end of what it said, each line set off on a line of its own.
    pub(crate) output: String,
    /// Whether it was stopped because the campaign was.
    pub(crate) interrupted: bool,
}

impl Error {
    /// A wrong request, and the way out.
    pub fn usage(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), hint: hint.into() }
    }

    /// `what` failed because of `cause`.
    pub fn because(
        what: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Other { what: what.into(), source: Some(cause.into()) }
    }

    /// Its kind.
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

    /// The way out; empty where there is none.
    pub fn hint(&self) -> &str {
        match self {
            Self::Usage { hint, .. } => hint,
            Self::Target(target) => &target.hint,
            Self::Host(error) => &error.hint,
            _ => "",
        }
    }

    /// The error with its causes and its way out, in one text.
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
