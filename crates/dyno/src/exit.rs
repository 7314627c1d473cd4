//! Exit codes of the program.

use std::process::ExitCode;

use dyno_campaign::{Error, ErrorKind};

/// Meaning of the exit code. Stable, because scripts rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    /// Done, but the audit found the run invalid.
    Invalid = 1,
    Usage = 2,
    /// The target or the host failed.
    Failed = 3,
    /// A study continues after a restart of the machine.
    Reboot = 4,
    /// No gate of a comparison failed, but the runs do not decide at least one.
    NotDecided = 5,
    /// Interrupted; what was measured is stored.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<dyno_record::Status> for Exit {
    fn from(status: dyno_record::Status) -> Self {
        match status {
            dyno_record::Status::Valid | dyno_record::Status::Imported => Self::Done,
            dyno_record::Status::Invalid => Self::Invalid,
            dyno_record::Status::Failed => Self::Failed,
            dyno_record::Status::Interrupted => Self::Interrupted,
        }
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Failed => Self::Failed,
            ErrorKind::Interrupted => Self::Interrupted,
        }
    }
}

pub(crate) fn usage(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Error::usage(problem, hint).into()
}
