//! What can go wrong with the repository, in kinds that a program can match on.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::RunState;
use crate::json::RecordError;

/// An error of the repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// The file cannot be opened or created.
    #[error("the repository {} cannot be opened: {detail}; name another file with --repository", path.display())]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The file is something else; it was not touched.
    #[error("{} is not a repository of Dyno ({detail}); it was left as it is: name another file with --repository", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        detail: String,
    },
    /// A newer Dyno made the file; it was not touched.
    #[error("the repository {} has version {found}, and this program knows up to {known}; it was left as it is: use a newer Dyno", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// An older Dyno made the file, whose records have another form; it was not touched.
    #[error("the repository {} has version {found}, and this program reads {known} only; it was left as it is: read it with the Dyno that wrote it, and name another file with --repository", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version known here.
        known: i64,
    },
    /// Another process kept the file locked all the time we waited.
    #[error("the repository {} has been locked by another process for {waited_s} s; nothing was written: end that process or try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long we waited, s.
        waited_s: f64,
    },
    /// No space is left.
    #[error("no space is left for the repository {}; nothing was written: free some space and try again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or its directory cannot be written.
    #[error("the repository {} cannot be written ({detail}): name another file with --repository", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// A run or campaign cannot have this name.
    #[error(
        "{name:?} cannot name a run or a campaign: letters, digits, `-`, `_` and `.`, at most {} characters",
        crate::id::NAME_CHARS_MAX
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The file is damaged.
    #[error("the repository {} is damaged ({detail}): move it away, and salvage what is in it with `sqlite3 FILE .recover`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// There is a run of this name already.
    #[error("there is a run {id} in the repository already")]
    Exists {
        /// The name.
        id: String,
    },
    /// No sweep is named so.
    #[error("no sweep is named {selector:?}{}", newest_text(newest, "sweeps"))]
    NoSuchSweep {
        /// What was asked for.
        selector: String,
        /// The newest sweeps.
        newest: Vec<String>,
    },
    /// Another process still runs the sweep.
    #[error("{id} is still running; wait until it has ended, or end its process")]
    SweepRuns {
        /// Its name.
        id: String,
    },
    /// No run is named so.
    #[error("no run is named {selector:?}{}", newest_text(newest, "runs"))]
    NoSuchRun {
        /// What was asked for.
        selector: String,
        /// The newest runs.
        newest: Vec<String>,
    },
    /// Several runs are named so.
    #[error("{selector:?} is the beginning of several runs: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// The runs it may mean, newest first, at most ten.
        candidates: Vec<String>,
    },
    /// The run was started, but there is no record of it.
    #[error("run {id} has no record: {}", no_record_text(*state))]
    NoRecord {
        /// The run.
        id: String,
        /// How it stands.
        state: RunState,
    },
    /// The record itself cannot be read or written.
    #[error("run {id}: {source}")]
    Record {
        /// The run.
        id: String,
        /// What is wrong.
        source: RecordError,
    },
    /// Anything else that SQLite reports.
    #[error("the repository {} failed: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

fn newest_text(newest: &[String], what: &str) -> String {
    match newest {
        [] => format!(": the repository holds no {what}"),
        newest => format!("; the newest are {}", newest.join(", ")),
    }
}

fn no_record_text(state: RunState) -> &'static str {
    match state {
        RunState::Running => "it is still running",
        RunState::Unknown => "it was started on another machine or in another container, and has not ended",
        _ => "its process was gone before it could write one",
    }
}

/// Sorts SQLite's errors into ours; `wait` is how long locks are waited for.
pub(super) fn sort(path: &Path, wait: std::time::Duration, source: rusqlite::Error) -> RepositoryError {
    let path = path.to_path_buf();
    let rusqlite::Error::SqliteFailure(failure, _) = &source else {
        return match &source {
            // A column that is missing or of another type: the tables are not as we made them.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::SqlInputError { .. } => {
                RepositoryError::Damaged { path, detail: source.to_string() }
            }
            _ => RepositoryError::Sqlite { path, source },
        };
    };
    let detail = source.to_string();
    match (failure.code, failure.extended_code) {
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
            RepositoryError::Locked { path, waited_s: wait.as_secs_f64() }
        }
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => RepositoryError::Full { path },
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => RepositoryError::ReadOnly { path, detail },
        (ErrorCode::DatabaseCorrupt, _) | (_, ffi::SQLITE_IOERR_SHORT_READ) => {
            RepositoryError::Damaged { path, detail }
        }
        (ErrorCode::NotADatabase, _) => {
            RepositoryError::Foreign { path, detail: "it is not an SQLite file".into() }
        }
        (ErrorCode::CannotOpen, _) => RepositoryError::CannotOpen { path, detail },
        // "no such table", "no such column": the tables are not as we made them.
        (ErrorCode::Unknown, ffi::SQLITE_ERROR) => RepositoryError::Damaged { path, detail },
        _ => RepositoryError::Sqlite { path, source },
    }
}
