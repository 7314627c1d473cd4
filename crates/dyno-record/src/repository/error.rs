//! Errors of the repository, as kinds that a program can match on.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::RunState;
use crate::json::RecordError;

/// An error of the repository or its file.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// The file cannot be opened or created.
    #[error("the repository {} cannot be opened: {detail}; name another file with --repository", path.display())]
    CannotOpen {
        /// Path of the repository's file.
        path: PathBuf,
        /// The error text of the operating system or SQLite.
        detail: String,
    },
    /// The file is not a repository; it was not changed.
    #[error("{} is not a repository of Dyno ({detail}); it was not changed: name another file with \
             --repository", path.display())]
    Foreign {
        /// Path of the repository's file.
        path: PathBuf,
        /// What the file contains instead.
        detail: String,
    },
    /// A newer Dyno created the file; it was not changed.
    #[error("the repository {} has version {found}, and this program knows up to {known}; it was not \
             changed: use a newer Dyno", path.display())]
    Newer {
        /// Path of the repository's file.
        path: PathBuf,
        /// Version of the file's tables.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// An older Dyno created the file, in a format that this program does not support; it was not changed.
    #[error("the repository {} has version {found}, and this program reads {known} only; it was not changed: \
             read it with the Dyno that wrote it, and name another file with --repository", path.display())]
    Older {
        /// Path of the repository's file.
        path: PathBuf,
        /// Version of the file's tables.
        found: i64,
        /// The version that this program supports.
        known: i64,
    },
    /// Another process kept the file locked during the whole wait.
    #[error("the repository {} has been locked by another process for {waited_s} s; nothing was written: end that process or try again", path.display())]
    Locked {
        /// Path of the repository's file.
        path: PathBuf,
        /// How long Dyno waited, in seconds.
        waited_s: f64,
    },
    /// The file system has no space left.
    #[error("no space left for the repository {}; nothing was written: free some space and try again", path.display())]
    Full {
        /// Path of the repository's file.
        path: PathBuf,
    },
    /// The file or its directory cannot be written.
    #[error("the repository {} cannot be written ({detail}): name another file with --repository", path.display())]
    ReadOnly {
        /// Path of the repository's file.
        path: PathBuf,
        /// Why it cannot be written.
        detail: String,
    },
    /// The name is not valid for a run or campaign.
    #[error(
        "{name:?} cannot name a run or a campaign: letters, digits, `-`, `_` and `.`, at most {} characters",
        crate::id::NAME_CHARS_MAX
    )]
    BadName {
        /// The name that was refused.
        name: String,
    },
    /// The file is damaged or its tables are wrong.
    #[error("the repository {} is damaged ({detail}): move it away, and recover its contents with `sqlite3 \
             FILE .recover`", path.display())]
    Damaged {
        /// Path of the repository's file.
        path: PathBuf,
        /// The damage that Dyno found.
        detail: String,
    },
    /// A run with this name already exists.
    #[error("run {id} already exists in the repository")]
    Exists {
        /// The name of the run.
        id: String,
    },
    /// No sweep matches the selector.
    #[error("no sweep is named {selector:?}{}", newest_text(newest, "sweeps"))]
    NoSuchSweep {
        /// The selector that the user gave.
        selector: String,
        /// Names of the newest sweeps, for the message.
        newest: Vec<String>,
    },
    /// Another process still runs the sweep.
    #[error("{id} is still running; wait until it has ended, or end its process")]
    SweepRuns {
        /// The name of the sweep.
        id: String,
    },
    /// No run matches the selector.
    #[error("no run is named {selector:?}{}", newest_text(newest, "runs"))]
    NoSuchRun {
        /// The selector that the user gave.
        selector: String,
        /// Names of the newest runs, for the message.
        newest: Vec<String>,
    },
    /// Several runs match the selector.
    #[error("{selector:?} is a prefix of several run ids: {}", candidates.join(", "))]
    Ambiguous {
        /// The selector that the user gave.
        selector: String,
        /// The matching runs, newest first, at most ten.
        candidates: Vec<String>,
    },
    /// The run was started but has no record.
    #[error("run {id} has no record: {}", no_record_text(*state))]
    NoRecord {
        /// The name of the run.
        id: String,
        /// The state of the run.
        state: RunState,
    },
    /// The record itself cannot be read or written.
    #[error("run {id}: {source}")]
    Record {
        /// The name of the run.
        id: String,
        /// Why the record is invalid.
        source: RecordError,
    },
    /// Any other error of SQLite.
    #[error("the repository {} failed: {source}", path.display())]
    Sqlite {
        /// Path of the repository's file.
        path: PathBuf,
        /// The original error of SQLite.
        source: rusqlite::Error,
    },
}

fn newest_text(newest: &[String], noun: &str) -> String {
    match newest {
        [] => format!(": the repository has no {noun}"),
        newest => format!("; the newest are {}", newest.join(", ")),
    }
}

fn no_record_text(state: RunState) -> &'static str {
    match state {
        RunState::Running => "it is still running",
        RunState::Unknown => "it was started on another machine or in another container, and has not ended",
        _ => "its process ended before it wrote one",
    }
}

/// Converts an error of SQLite; `wait` is how long Dyno waits for locks.
pub(super) fn classify_sqlite_error(
    path: &Path,
    wait: std::time::Duration,
    source: rusqlite::Error,
) -> RepositoryError {
    let path = path.to_path_buf();
    let rusqlite::Error::SqliteFailure(failure, _) = &source else {
        return match &source {
            // A column is missing or has another type: the tables are not those that Dyno created.
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
        // "no such table", "no such column": the tables are not those that Dyno created.
        (ErrorCode::Unknown, ffi::SQLITE_ERROR) => RepositoryError::Damaged { path, detail },
        _ => RepositoryError::Sqlite { path, source },
    }
}
