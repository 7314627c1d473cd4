//! The repository stores every started run, and the record of every run that ended.
//!
//! It is one SQLite file. Several processes can use it at once (write-ahead log; each lock lasts one short transaction). A run
//! is listed from its start. Its record is written in one transaction, so it is complete or missing. A killed process leaves
//! a run that is listed as interrupted.
//!
//! | file | job |
//! | --- | --- |
//! | `open` | opens and creates the file, and refuses other files |
//! | `write` | starts, finishes and deletes runs |
//! | `list` | lists summaries with filters |
//! | `select` | finds a run: name, prefix, `last~N` |
//! | `sweeps` | campaigns and their runs |
//! | `conclusion` | the conclusion of a sweep, search, soak or A/B test |
//! | `marks` | finds several runs: tags, variants |
//! | `progress` | makes a record of a killed run |
//! | `chunks` | full series, separate from their records |
//! | `packed` | records in their stored form |
//! | `pack` | compression of records |
//! | `process` | whether the process of an unfinished run is alive |
//! | `error` | all kinds of errors |

mod chunks;
mod conclusion;
mod error;
mod list;
mod marks;
mod member;
mod open;
mod pack;
mod packed;
mod process;
mod progress;
mod select;
mod sweeps;
mod write;

#[cfg(test)]
mod chunks_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod process_tests;
#[cfg(test)]
mod sweeps_tests;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use dyno_plan::Plan;
use serde::Serialize;

use crate::id::RunId;
use crate::membership::PartOf;
use crate::record::Status;

pub use chunks::{SeriesWriter, StoredChunks};
pub use error::RepositoryError;
pub use list::{Filter, RunSummary};
pub use marks::RunLabelKind;
pub use packed::{COMPONENT, PackedRecord, Packer};
pub use process::{Liveness, ProcessMark};
pub use sweeps::{StartedSweep, SweepState, SweepSummary};
pub use write::RecordBatch;

/// An open repository. Threads do not share it; each opens its own.
#[derive(Debug)]
pub struct Repository {
    connection: rusqlite::Connection,
    path: PathBuf,
    /// How long to wait for locks of other processes.
    wait: std::time::Duration,
}

/// A started run, as stored before it has a record.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedRun {
    /// Name of the run, unique in the repository.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// Name of the engine: `postgres`.
    pub engine: String,
    /// The target's URL, without secrets.
    pub target: String,
    /// The process that executes the run.
    pub process: ProcessMark,
    /// The plan of the run.
    pub plan: Plan,
    /// Its position in a campaign; absent for a single run.
    pub part_of: Option<PartOf>,
}

impl StartedRun {
    /// A run that this process starts. `target` is the URL without secrets.
    pub fn by_this_process(
        id: RunId,
        started_at: String,
        engine: impl Into<String>,
        target: impl Into<String>,
        plan: Plan,
    ) -> Self {
        let process = ProcessMark::of_this_process();
        Self { id, started_at, engine: engine.into(), target: target.into(), process, plan, part_of: None }
    }
}

/// The state of a run, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// The run is still in progress.
    Running,
    /// Unfinished, and not known whether it still runs: its process is on another host or in another process namespace.
    Unknown,
    /// The run completed, and the audit found no contradiction.
    Valid,
    /// The record was imported; Dyno neither measured nor audited it.
    Imported,
    /// The run completed, but its figures are not reliable.
    Invalid,
    /// The run stopped early, or its process ended without a record.
    Interrupted,
    /// The target or the host failed during the run.
    Failed,
}

dyno_plan::names! {
    /// The word in lists: `running`.
    RunState {
        Running = "running", Unknown = "unknown", Valid = "valid", Imported = "imported", Invalid = "invalid",
        Interrupted = "interrupted", Failed = "failed"
    }
}

impl From<Status> for RunState {
    fn from(status: Status) -> Self {
        match status {
            Status::Valid => Self::Valid,
            Status::Imported => Self::Imported,
            Status::Invalid => Self::Invalid,
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::Failed,
        }
    }
}

impl From<Liveness> for RunState {
    fn from(liveness: Liveness) -> Self {
        match liveness {
            Liveness::Alive => Self::Running,
            Liveness::Gone => Self::Interrupted,
            Liveness::Unknown => Self::Unknown,
        }
    }
}

/// The default path of the repository: `dyno/repository.sqlite3` in the user's data directory (`$XDG_DATA_HOME`, else
/// `~/.local/share`). `None` if neither `XDG_DATA_HOME` nor `HOME` is set.
pub fn default_path() -> Option<PathBuf> {
    default_path_from(|name| std::env::var_os(name).map(PathBuf::from))
}

fn default_path_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The XDG base directory specification requires relative paths to be ignored.
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("dyno").join("repository.sqlite3"))
}

impl Repository {
    /// Path of the repository's file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
