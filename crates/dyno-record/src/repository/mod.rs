//! The repository: every run that was started, and the record of every run that ended.
//!
//! One SQLite file. Several processes use it at once (write-ahead log, locks held for one short transaction only). A
//! run is listed from its start; its record comes in one transaction, so a record is there whole or not at all, and a
//! process that is killed leaves a run that is listed as interrupted.
//!
//! | file | job |
//! | --- | --- |
//! | `open` | opening and creating, and refusing what is not ours |
//! | `write` | beginning, finishing and deleting runs |
//! | `list` | summaries, filtered |
//! | `select` | naming a run: identifier, prefix, `last~N` |
//! | `sweep` | runs that belong together |
//! | `conclusion` | what a sweep, search, soak or A/B comparison came to |
//! | `marks` | naming several runs: tags, variants |
//! | `progress` | what a killed run leaves |
//! | `chunks` | full series, apart from their records |
//! | `packed` | records in the form in which they are kept |
//! | `pack` | compression of records |
//! | `process` | whether the process of an unfinished run still lives |
//! | `error` | what can go wrong |

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

pub use chunks::{Chunks, SeriesWriter};
pub use error::RepositoryError;
pub use list::{Filter, RunSummary};
pub use marks::Mark;
pub use packed::{COMPONENT, PackedRecord, Packer};
pub use process::{Liveness, ProcessMark};
pub use sweeps::{StartedSweep, SweepState, SweepSummary};
pub use write::Batch;

/// An open repository. Not shared between threads: each opens its own.
#[derive(Debug)]
pub struct Repository {
    connection: rusqlite::Connection,
    path: PathBuf,
    /// How long locks of other processes are waited for.
    wait: std::time::Duration,
}

/// A run that has started, as the repository notes it before there is a record.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedRun {
    /// Its name.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// The engine: `postgres`.
    pub engine: String,
    /// The target's URL, without secrets.
    pub target: String,
    /// The process that runs it.
    pub process: ProcessMark,
    /// The plan it follows.
    pub plan: Plan,
    /// Its place in a sweep, if it is in one.
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

/// How a run stands, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It is under way.
    Running,
    /// It was started, and nobody can tell from here whether it still runs: another machine or another process namespace.
    Unknown,
    /// Done, and the audit found nothing against it.
    Valid,
    /// Taken over from another source: nobody here measured or audited it.
    Imported,
    /// Done, but its numbers cannot be trusted.
    Invalid,
    /// Stopped before its end; also a run whose process is gone without leaving a record.
    Interrupted,
    /// The target or the host failed.
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

/// Where the repository is unless another file is named: `dyno/repository.sqlite3` in the user's data directory
/// (`$XDG_DATA_HOME`, else `~/.local/share`). Absent where neither `XDG_DATA_HOME` nor `HOME` is set.
pub fn default_path() -> Option<PathBuf> {
    default_path_from(|name| std::env::var_os(name).map(PathBuf::from))
}

fn default_path_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The base directory specification has relative paths ignored.
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("dyno").join("repository.sqlite3"))
}

impl Repository {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
