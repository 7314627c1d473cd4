//! The page of one test.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_record::RawTest;

/// One test of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Its name, unique over all tests: `cpu-integer`.
    pub id: String,
    /// The component that it tests: `cpu`, `storage`.
    pub group: String,
    /// Its title in a few words: `Integer arithmetic`.
    pub title: String,
    /// What it stresses, as the end of a sentence.
    pub stresses: String,
    /// The unit of work: `rows`, `transactions`.
    pub unit: String,
    /// Number of these units per operation, at scale 1.
    pub units: u64,
    /// Whether `units` is multiplied by the scale of the workload.
    pub are_units_scaled: bool,
    /// The metric that is its key figure (`physical_read_mb_per_s`); absent for units per second.
    pub metric: Option<String>,
    /// The latency limit at its optimum: `p95 <= 10ms`.
    pub limit: String,
    /// The scale of its workload at each depth.
    pub scale: TestScale,
    /// The shortest time of an operation (for a measured load: of the whole load) for a valid figure; absent
    /// without a minimum.
    pub least: Option<Duration>,
    /// Number of database processes that work on one operation.
    pub threads: u32,
    /// Factor for the length of its windows, for operations that take seconds.
    pub stretch: u32,
    /// Where its data must be; absent if it does not matter.
    pub cache: Option<Cache>,
    /// The raw limit of the host that its figure is compared with.
    pub raw: Option<RawTest>,
    /// The numbers of sessions that it runs with.
    pub load: SuiteTestSessions,
    /// Keys and values of its plan, as for `--set`.
    pub plan: Vec<(String, String)>,
    /// Engines that cannot run it, each with the reason.
    pub without: BTreeMap<String, String>,
    /// File and line of its page: `suite/cpu/tests.toml:12`.
    pub place: String,
}

/// The scale of a test's workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestScale {
    /// The scale without an option; `--quick` uses 1.
    pub usual: u32,
    /// The scale with `--full`, from 1.
    pub full: u32,
    /// What limits the scale; absent without a limit.
    pub limit: Option<ScaleLimit>,
}

/// A limit of the scale: the data must fit somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleLimit {
    /// Bytes of the data at scale 1.
    pub bytes: u64,
    /// Where the data must fit.
    pub place: LimitPlace,
}

/// Where the data of a test must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitPlace {
    /// In the cache of the database.
    Cache,
    /// In the memory of the database's host.
    Memory,
}

/// Where the data of a test must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// In the cache of the database.
    In,
    /// In storage, without a cache in front of it.
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

/// The numbers of sessions that a test runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuiteTestSessions {
    /// Doubled from 1 until throughput stops rising, or up to this number.
    Ramp(u32),
    /// These numbers of sessions, in order.
    Fixed(Vec<u32>),
}
