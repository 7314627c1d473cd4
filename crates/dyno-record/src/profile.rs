//! Where the processors' time went in the window: a profile by samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The profile of a run whose plan asks for one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Profile {
    /// What the samples say.
    Taken(Box<CpuProfile>),
    /// Why there is none.
    Absent {
        /// The reason.
        absent: String,
    },
}

impl Profile {
    /// What the samples say, if there are some.
    pub fn taken(&self) -> Option<&CpuProfile> {
        match self {
            Self::Taken(profile) => Some(profile),
            Self::Absent { .. } => None,
        }
    }
}

/// Samples of all processors of one machine over the window. Shares are of the time that processors were at work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuProfile {
    /// The machine.
    pub host: String,
    /// Where in it the database's time is.
    pub database: DatabaseIn,
    /// What triggered a sample: `cycles`, or `cpu-clock` where there are no hardware counters.
    pub event: String,
    /// Samples per second and processor that were asked for.
    pub frequency_hz: u32,
    /// The time that they are of: the window, s.
    pub seconds: f64,
    /// Processors that were sampled.
    pub cpus: u32,
    /// Samples of processors at work.
    pub samples: u64,
    /// Samples of idle processors; 0 with `cycles`, which do not pass while idle, and fewer than their time where the clock of a
    /// virtual processor rests with it.
    pub idle_samples: u64,
    /// Samples that the kernel could not hand over.
    pub lost: u64,
    /// Time at work that the samples stand for, in units of the event: ns of processors with `cpu-clock`, else cycles.
    pub weight: u64,
    /// Share of the samples that there must have been, %, where what the kernel counted as idle needs none; absent with
    /// `cycles`, whose number nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_pct: Option<f64>,
    /// What it does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Time by process, most first; all of them together are 100 %.
    pub processes: Vec<ProcessShare>,
    /// Time by process and function, without what that called, most first; all of them together are 100 %.
    pub symbols: Vec<SymbolShare>,
    /// Functions that `stacks` name.
    pub frames: Vec<Frame>,
    /// Calls as a tree, each node right before what it called.
    pub stacks: Vec<StackNode>,
    /// Share of the time whose deepest calls were too small to keep and are booked on their callers, %.
    pub merged_pct: f64,
}

/// Where in a profile the database's time is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseIn {
    /// In processes that are known as its own.
    Processes,
    /// In this program, inside which it runs.
    Dyno,
    /// Nowhere: it works on another host.
    Elsewhere,
    /// Among the others, from which it cannot be told.
    #[default]
    Unknown,
}

/// Whose a piece of processor time is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum CpuKind {
    /// The operating system's, on whoever's behalf.
    Kernel,
    /// The database's processes'.
    Database,
    /// This program's; a database inside this program is in it, too.
    Dyno,
    /// The profiler's own.
    Perf,
    /// Anybody else's, or whose is not known.
    #[default]
    Other,
}

dyno_plan::names! {
    /// The word in records: `kernel`.
    CpuKind { Kernel = "kernel", Database = "database", Dyno = "dyno", Perf = "perf", Other = "other" }
}

/// Processor time of one program's processes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessShare {
    /// What the program calls itself; [`REST`] for all that are too small to be named.
    pub name: String,
    /// Whose it is.
    pub kind: CpuKind,
    /// Samples.
    pub samples: u64,
    /// Share of the time that processors were at work, %.
    pub share_pct: f64,
}

/// Processor time in one function of one program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolShare {
    /// The program; empty for [`REST`].
    pub process: String,
    /// Whose that is.
    pub process_kind: CpuKind,
    /// The function, `[unknown]` where the address has no name, or [`REST`] for all that are too small to be named.
    pub symbol: String,
    /// The file that it is in; `[kernel.kallsyms]` for the kernel.
    pub module: String,
    /// Whose the function is: the kernel's, or the program's.
    pub kind: CpuKind,
    /// Samples.
    pub samples: u64,
    /// Share of the time that processors were at work, %.
    pub share_pct: f64,
}

/// A function, or a program where a stack begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// The file that it is in; empty for a program.
    pub module: String,
    /// Whose it is.
    pub kind: CpuKind,
}

/// One function as it was called on one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackNode {
    /// Callers above it; 0 is a program.
    pub depth: u32,
    /// Its place in `frames`.
    pub frame: u32,
    /// Its time and that of what it called, in the unit of [`CpuProfile::weight`].
    pub weight: u64,
}

/// The name of all that is too small to be named.
pub const REST: &str = "(others)";
