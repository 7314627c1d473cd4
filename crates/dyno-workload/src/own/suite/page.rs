//! The page of one test.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_record::RawTest;

/// A test of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Its name, which no other has: `cpu-integer`.
    pub id: String,
    /// The part of the platform that it is about: `cpu`, `storage`.
    pub group: String,
    /// What it is, in a few words: `Whole numbers`.
    pub title: String,
    /// What it stresses, as the end of a sentence.
    pub stresses: String,
    /// What is counted: `rows`, `transactions`.
    pub unit: String,
    /// How many of these one operation is, at scale 1.
    pub units: u64,
    /// Whether `units` grows with the scale of the workload.
    pub are_units_scaled: bool,
    /// The measure that is its key figure (`physical_read_mb_per_s`); nothing where that is units per second.
    pub metric: Option<String>,
    /// The limit of latency that its optimum keeps: `p95 <= 10ms`.
    pub limit: String,
    /// The scale of its workload with each depth.
    pub scale: TestScale,
    /// The shortest time that an operation (of a measured load: the whole load) has to take for a figure; absent where any will do.
    pub least: Option<Duration>,
    /// Processes of the database that work on one operation.
    pub threads: u32,
    /// How many times as long its windows are as those of others: for operations that take seconds.
    pub stretch: u32,
    /// Where its data is to be; nothing where that is left to the platform.
    pub cache: Option<Cache>,
    /// The raw limit of its machine that it is held against.
    pub raw: Option<RawTest>,
    /// Under which sessions it is run.
    pub load: Load,
    /// What the plan of its runs says: keys with their values, as `--set` has them.
    pub plan: Vec<(String, String)>,
    /// Engines that have not the notion, and why.
    pub without: BTreeMap<String, String>,
    /// Where its page begins: `suite/cpu/tests.toml:12`.
    pub place: String,
}

/// The scale of a test's workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestScale {
    /// Without an option; 1 with `--quick`.
    pub usual: u32,
    /// The scale with `--full`, a number from 1.
    pub full: u32,
    /// What limits it, where something does.
    pub limit: Option<ScaleLimit>,
}

/// A limit of the scale: the data has to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleLimit {
    /// Bytes of the data at scale 1.
    pub bytes: u64,
    /// Where it has to fit.
    pub place: LimitPlace,
}

/// Where the data of a test has to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitPlace {
    /// In the database's own cache.
    Cache,
    /// In the memory of the database's host.
    Memory,
}

/// Where the data of a test is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// In the database's cache.
    In,
    /// In storage, with no cache in front of it.
    Out,
}

impl Cache {
    /// The word in pages: `in`.
    pub fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Under how many sessions a test is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// From one on, doubled until more bring nothing, or until so many.
    Ramp(u32),
    /// So many, one after the other.
    Fixed(Vec<u32>),
}
