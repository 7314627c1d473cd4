//! The page of one test.

use std::collections::BTreeMap;

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
    /// How many of these one operation is.
    pub units: u64,
    /// The measure that is its key figure (`physical_read_mb_per_s`); nothing where that is units per second.
    pub metric: Option<String>,
    /// The limit of latency that its optimum keeps: `p95 <= 10ms`.
    pub limit: String,
    /// The scale of its workload where a suite goes deeply; 1 where it is the same.
    pub full_scale: u32,
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
