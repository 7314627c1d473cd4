//! CPU profile of the window, from samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPU profile of a run whose plan requests one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Profile {
    /// The profile as computed from samples.
    Taken(Box<CpuProfile>),
    /// No profile, and the reason.
    Absent {
        /// Why there is no profile.
        absent: String,
    },
}

impl Profile {
    /// The profile; `None` if it is absent.
    pub fn taken(&self) -> Option<&CpuProfile> {
        match self {
            Self::Taken(profile) => Some(profile),
            Self::Absent { .. } => None,
        }
    }
}

/// Samples of all CPUs of one host over the window. Shares are shares of busy CPU time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuProfile {
    /// Name of the profiled host.
    pub host: String,
    /// Where the profile contains the database's time.
    pub database: DatabaseIn,
    /// The event that triggered a sample: `cycles`, or `cpu-clock` without hardware counters.
    pub event: String,
    /// Requested samples per second and CPU.
    pub frequency_hz: u32,
    /// The profiled time in seconds, which is the window.
    pub seconds: f64,
    /// Number of CPUs that were sampled.
    pub cpus: u32,
    /// Number of samples of busy CPUs.
    pub samples: u64,
    /// Samples of idle CPUs. With `cycles` it is 0, because idle CPUs have no cycles. It is too low if the clock of a virtual CPU
    /// stops while the CPU is idle.
    pub idle_samples: u64,
    /// Number of samples that the kernel lost.
    pub lost: u64,
    /// Busy time that the samples represent, in the event's unit: CPU nanoseconds with `cpu-clock`, otherwise cycles.
    pub weight: u64,
    /// Samples in percent of the expected number, without the time that the kernel counted as idle; absent with `cycles`, whose
    /// expected number is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_pct: Option<f64>,
    /// Notes on what the profile does not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Time by process, largest first; the sum is 100 %.
    pub processes: Vec<ProcessShare>,
    /// Time by process and function, without called functions, largest first; the sum is 100 %.
    pub symbols: Vec<SymbolShare>,
    /// Functions that `stacks` refer to.
    pub frames: Vec<StackFrame>,
    /// Call tree; each node comes directly before the functions that it called.
    pub stacks: Vec<StackNode>,
    /// Share of the time, in percent, whose deepest calls were too small to store and are added to their callers.
    pub merged_pct: f64,
}

/// Where a profile contains the database's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseIn {
    /// In processes that are known to belong to the database.
    Processes,
    /// In Dyno's process, inside which the database runs.
    Dyno,
    /// Nowhere, because the database runs on another host.
    Elsewhere,
    /// In other processes that cannot be identified as the database's.
    #[default]
    Unknown,
}

/// The owner of CPU time.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum CpuKind {
    /// The operating system's kernel, on behalf of any process.
    Kernel,
    /// The processes of the database.
    Database,
    /// Dyno, including a database embedded in it.
    Dyno,
    /// The profiler that took the samples.
    Perf,
    /// Any other or unknown process.
    #[default]
    Other,
}

dyno_plan::names! {
    /// The name in records: `kernel`.
    CpuKind { Kernel = "kernel", Database = "database", Dyno = "dyno", Perf = "perf", Other = "other" }
}

/// CPU time of one program's processes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessShare {
    /// Name of the program; [`REST`] for all programs that are too small to list.
    pub name: String,
    /// The owner of the program's time.
    pub kind: CpuKind,
    /// Number of samples in the program.
    pub samples: u64,
    /// Share of busy CPU time, in percent.
    pub share_pct: f64,
}

/// CPU time in one function of one program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolShare {
    /// Name of the program; empty for [`REST`].
    pub process: String,
    /// The owner of the program.
    pub process_kind: CpuKind,
    /// The function, `[unknown]` if its address has no name, or [`REST`] for all functions that are too small to list.
    pub symbol: String,
    /// The file with the function; `[kernel.kallsyms]` for the kernel.
    pub module: String,
    /// The owner of the function: the kernel, or the program's owner.
    pub kind: CpuKind,
    /// Number of samples in the function.
    pub samples: u64,
    /// Share of busy CPU time, in percent.
    pub share_pct: f64,
}

/// A function, or the program at the root of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct StackFrame {
    /// Name of the function or program.
    pub name: String,
    /// The file with the function; empty for a program.
    pub module: String,
    /// The owner of the function or program.
    pub kind: CpuKind,
}

/// One function in one call path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackNode {
    /// Number of callers above it; 0 for a program.
    pub depth: u32,
    /// Its index in `frames`, from 0.
    pub frame: u32,
    /// Its time with called functions, in the unit of [`CpuProfile::weight`].
    pub weight: u64,
}

/// The name for everything that is too small to list.
pub const REST: &str = "(others)";
