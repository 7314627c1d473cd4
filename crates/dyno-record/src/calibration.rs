//! Raw limits of a machine, measured without a database: what stands beside a database's own figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RawTest {
    /// Reads of single blocks anywhere in a file, past the page cache.
    RandomRead,
    /// Reads of large pieces anywhere in it.
    LargeRead,
    /// Seven reads and three writes of single blocks.
    Mixed,
    /// Writes of single blocks anywhere.
    RandomWrite,
    /// Reads from the begin to the end.
    SequentialRead,
    /// Writes from the begin to the end.
    SequentialWrite,
    /// Each writer overwrites a block of a file of its own and syncs it, again and again.
    Commit,
    /// The same by writers that share one log: whoever syncs, syncs for all that wait.
    GroupCommit,
    /// Reads of memory that no cache holds.
    MemoryRead,
    /// Writes of such memory.
    MemoryWrite,
    /// Copies within it; bytes that are read and those that are written both count.
    MemoryCopy,
}

dyno_plan::names! {
    /// The word in records: `random_read`.
    RawTest {
        RandomRead = "random_read", LargeRead = "large_read", Mixed = "mixed", RandomWrite = "random_write",
        SequentialRead = "sequential_read", SequentialWrite = "sequential_write", Commit = "commit",
        GroupCommit = "group_commit", MemoryRead = "memory_read", MemoryWrite = "memory_write",
        MemoryCopy = "memory_copy"
    }
}

impl RawTest {
    /// What it is, in words: `random reads of 8 KiB`.
    pub fn words(self, block_bytes: Option<u64>) -> String {
        let what = match self {
            Self::RandomRead => "random reads",
            Self::LargeRead => "large random reads",
            Self::Mixed => "70 % reads, 30 % writes",
            Self::RandomWrite => "random writes",
            Self::SequentialRead => "sequential reads",
            Self::SequentialWrite => "sequential writes",
            Self::Commit => "commits, a log for each writer,",
            Self::GroupCommit => "commits of one shared log",
            Self::MemoryRead => "memory read",
            Self::MemoryWrite => "memory written",
            Self::MemoryCopy => "memory copied",
        };
        match block_bytes {
            Some(bytes) if bytes % (1 << 20) == 0 => format!("{what} of {} MiB", bytes >> 20),
            Some(bytes) if bytes % 1024 == 0 => format!("{what} of {} KiB", bytes >> 10),
            Some(bytes) => format!("{what} of {bytes} bytes"),
            None => what.to_owned(),
        }
    }
}

/// One measurement. Where it is refused it has no figures, and says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RawFigure {
    /// What was asked.
    pub test: RawTest,
    /// Bytes of one request; absent for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Processes, writers or threads that asked.
    pub processes: u32,
    /// Requests under way at once, over all of them.
    pub in_flight: u32,
    /// Requests or commits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    /// 10⁶ bytes per second; of memory the best of its repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// The same: the median of its repeats, for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_mb_per_s: Option<f64>,
    /// Mean latency of a request, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// 95th percentile, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_us: Option<f64>,
    /// 99th percentile, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// What the device counted of the bytes that were asked for, %; more than 100 where others used it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_pct: Option<f64>,
    /// Why it is no figure of what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What a reader has to know of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl RawFigure {
    /// A measurement without figures yet.
    pub fn of(test: RawTest, block_bytes: Option<u64>, processes: u32, in_flight: u32) -> Self {
        Self {
            test,
            block_bytes,
            processes,
            in_flight,
            per_s: None,
            mb_per_s: None,
            median_mb_per_s: None,
            mean_us: None,
            p95_us: None,
            p99_us: None,
            device_pct: None,
            refused: None,
            notes: Vec::new(),
        }
    }

    /// The same without its figures, for a reason.
    #[must_use]
    pub fn refused(self, why: String) -> Self {
        let Self { test, block_bytes, processes, in_flight, device_pct, .. } = self;
        Self { device_pct, refused: Some(why), ..Self::of(test, block_bytes, processes, in_flight) }
    }
}

/// The raw limits of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The folder whose device was measured, without links.
    pub folder: String,
    /// That device, as `/proc/diskstats` names it; absent where there is none, or nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether it was a short look.
    pub quick: bool,
    /// Size of the file that was read and written, bytes; 0 where there was none.
    pub file_bytes: u64,
    /// What measured the device, and how: `fio-3.33 (libaio)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The bound of the 99th percentile of latency that the most requests keep, µs.
    pub p99_limit_us: f64,
    /// What was measured, in the order in which it was.
    pub figures: Vec<RawFigure>,
    /// What was not measured, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Calibration {
    /// What was measured by `test` and not refused.
    pub fn of(&self, test: RawTest) -> impl Iterator<Item = &RawFigure> {
        self.figures.iter().filter(move |figure| figure.test == test && figure.refused.is_none())
    }

    /// Most requests per second of `test` with blocks of this size.
    pub fn most_per_s(&self, test: RawTest, block_bytes: u64) -> Option<&RawFigure> {
        let own =
            self.of(test).filter(|figure| figure.block_bytes == Some(block_bytes) && figure.per_s.is_some());
        own.max_by(|a, b| a.per_s.unwrap_or(0.0).total_cmp(&b.per_s.unwrap_or(0.0)))
    }

    /// The same where the 99th percentile keeps the bound.
    pub fn most_within(&self, test: RawTest, block_bytes: u64) -> Option<&RawFigure> {
        let kept = |figure: &&RawFigure| {
            figure.block_bytes == Some(block_bytes) && figure.p99_us.is_some_and(|us| us <= self.p99_limit_us)
        };
        self.of(test).filter(kept).max_by(|a, b| a.per_s.unwrap_or(0.0).total_cmp(&b.per_s.unwrap_or(0.0)))
    }

    /// Most MB per second of `test`, whatever its blocks.
    pub fn most_mb_per_s(&self, test: RawTest) -> Option<&RawFigure> {
        let own = self.of(test).filter(|figure| figure.mb_per_s.is_some());
        own.max_by(|a, b| a.mb_per_s.unwrap_or(0.0).total_cmp(&b.mb_per_s.unwrap_or(0.0)))
    }

    /// Sizes of blocks that `test` was measured with, the smallest first.
    pub fn blocks(&self, test: RawTest) -> Vec<u64> {
        let own = self.figures.iter().filter(|figure| figure.test == test);
        let mut sizes: Vec<u64> = own.filter_map(|figure| figure.block_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_most_is_of_what_is_not_refused() {
        let calibration = sample::component().calibration.unwrap();
        assert_eq!(calibration.most_per_s(RawTest::RandomRead, 8192).unwrap().per_s, Some(60_000.0));
        assert_eq!(calibration.most_within(RawTest::RandomRead, 8192).unwrap().per_s, Some(20_000.0));
        assert_eq!(calibration.most_per_s(RawTest::RandomRead, 4096), None);
        assert_eq!(calibration.most_mb_per_s(RawTest::LargeRead), None, "it is refused");
        assert_eq!(calibration.blocks(RawTest::RandomRead), [8192]);
    }

    #[test]
    fn what_is_refused_has_no_figures() {
        let figure = RawFigure {
            per_s: Some(1.0),
            mean_us: Some(0.0),
            ..RawFigure::of(RawTest::Commit, Some(8192), 1, 1)
        };
        let refused = figure.refused("a latency of 0".into());
        assert_eq!((refused.per_s, refused.mean_us, refused.processes), (None, None, 1));
    }
}
