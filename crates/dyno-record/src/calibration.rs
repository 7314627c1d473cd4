//! Raw limits of a host, measured without a database, to compare with a database's figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a raw test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RawTest {
    /// Random reads of single blocks of a file, without the page cache.
    RandomRead,
    /// Random reads of large blocks of a file.
    LargeRead,
    /// Random I/O of single blocks: seven reads to three writes.
    Mixed,
    /// Random writes of single blocks.
    RandomWrite,
    /// Sequential reads of the whole file.
    SequentialRead,
    /// Sequential writes of the whole file.
    SequentialWrite,
    /// Each writer overwrites and syncs one block of its own file repeatedly.
    Commit,
    /// Writers share one log file: one sync commits the blocks of all waiting writers.
    GroupCommit,
    /// Reads of memory that is larger than all caches.
    MemoryRead,
    /// Writes of memory that is larger than all caches.
    MemoryWrite,
    /// Copies within memory; bytes read and bytes written both count.
    MemoryCopy,
}

dyno_plan::names! {
    /// The name in records: `random_read`.
    RawTest {
        RandomRead = "random_read", LargeRead = "large_read", Mixed = "mixed", RandomWrite = "random_write",
        SequentialRead = "sequential_read", SequentialWrite = "sequential_write", Commit = "commit",
        GroupCommit = "group_commit", MemoryRead = "memory_read", MemoryWrite = "memory_write",
        MemoryCopy = "memory_copy"
    }
}

impl RawTest {
    /// The test as text: `random reads of 8 KiB`.
    pub fn words(self, block_bytes: Option<u64>) -> String {
        let operation = match self {
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
            Some(bytes) if bytes % (1 << 20) == 0 => format!("{operation} of {} MiB", bytes >> 20),
            Some(bytes) if bytes % 1024 == 0 => format!("{operation} of {} KiB", bytes >> 10),
            Some(bytes) => format!("{operation} of {bytes} bytes"),
            None => operation.to_owned(),
        }
    }
}

/// One raw measurement. A refused measurement has a reason instead of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RawFigure {
    /// The kind of the test.
    pub test: RawTest,
    /// Bytes per request; absent for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Number of processes, writers or threads that sent requests.
    pub processes: u32,
    /// Requests in progress at the same time, over all of them.
    pub in_flight: u32,
    /// Requests or commits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    /// Throughput in 10⁶ bytes per second; for memory the best repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
    /// Throughput in 10⁶ bytes per second as the median of the repeats; memory only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_mb_per_s: Option<f64>,
    /// Mean latency of a request, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// 95th percentile of latency, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_us: Option<f64>,
    /// 99th percentile of latency, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Bytes that the device counted, in percent of the bytes requested; above 100 if other programs used the device, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_pct: Option<f64>,
    /// Why the figure is not a valid measurement of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Notes that readers of the figure need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl RawFigure {
    /// A new measurement whose figures are still absent.
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

    /// The same measurement without figures and with the reason `why`.
    #[must_use]
    pub fn refused(self, why: String) -> Self {
        let Self { test, block_bytes, processes, in_flight, device_pct, .. } = self;
        Self { device_pct, refused: Some(why), ..Self::of(test, block_bytes, processes, in_flight) }
    }
}

/// The raw limits of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The folder whose device was measured, with links resolved.
    pub folder: String,
    /// Its device, as `/proc/diskstats` names it; absent if there is none or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether it was the short form of the test.
    pub quick: bool,
    /// Size in bytes of the file used for reads and writes; 0 if there was none.
    pub file_bytes: u64,
    /// The program that measured the device: `fio-3.33 (libaio)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The limit in µs that the 99th percentile of latency must keep for [`most_within`](Self::most_within).
    pub p99_limit_us: f64,
    /// The measurements, in the order of execution.
    pub figures: Vec<RawFigure>,
    /// The tests that were skipped, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Calibration {
    /// Measurements of `test` that were not refused.
    pub fn of(&self, test: RawTest) -> impl Iterator<Item = &RawFigure> {
        self.figures.iter().filter(move |figure| figure.test == test && figure.refused.is_none())
    }

    /// The measurement of `test` with the most requests per second at this block size.
    pub fn most_per_s(&self, test: RawTest, block_bytes: u64) -> Option<&RawFigure> {
        let matching =
            self.of(test).filter(|figure| figure.block_bytes == Some(block_bytes) && figure.per_s.is_some());
        matching.max_by(|a, b| a.per_s.unwrap_or(0.0).total_cmp(&b.per_s.unwrap_or(0.0)))
    }

    /// The same, among measurements whose 99th percentile keeps the limit.
    pub fn most_within(&self, test: RawTest, block_bytes: u64) -> Option<&RawFigure> {
        let is_within_limit = |figure: &&RawFigure| {
            figure.block_bytes == Some(block_bytes) && figure.p99_us.is_some_and(|us| us <= self.p99_limit_us)
        };
        self.of(test)
            .filter(is_within_limit)
            .max_by(|a, b| a.per_s.unwrap_or(0.0).total_cmp(&b.per_s.unwrap_or(0.0)))
    }

    /// The measurement of `test` with the highest throughput at any block size.
    pub fn most_mb_per_s(&self, test: RawTest) -> Option<&RawFigure> {
        let matching = self.of(test).filter(|figure| figure.mb_per_s.is_some());
        matching.max_by(|a, b| a.mb_per_s.unwrap_or(0.0).total_cmp(&b.mb_per_s.unwrap_or(0.0)))
    }

    /// Block sizes of the measurements of `test`, smallest first.
    pub fn blocks(&self, test: RawTest) -> Vec<u64> {
        let matching = self.figures.iter().filter(|figure| figure.test == test);
        let mut sizes: Vec<u64> = matching.filter_map(|figure| figure.block_bytes).collect();
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
    fn calibration_maximum_excludes_refused_figures() {
        let calibration = sample::component().calibration.unwrap();
        assert_eq!(calibration.most_per_s(RawTest::RandomRead, 8192).unwrap().per_s, Some(60_000.0));
        assert_eq!(calibration.most_within(RawTest::RandomRead, 8192).unwrap().per_s, Some(20_000.0));
        assert_eq!(calibration.most_per_s(RawTest::RandomRead, 4096), None);
        assert_eq!(calibration.most_mb_per_s(RawTest::LargeRead), None, "it is refused");
        assert_eq!(calibration.blocks(RawTest::RandomRead), [8192]);
    }

    #[test]
    fn refused_calibration_has_no_figures() {
        let figure = RawFigure {
            per_s: Some(1.0),
            mean_us: Some(0.0),
            ..RawFigure::of(RawTest::Commit, Some(8192), 1, 1)
        };
        let refused = figure.refused("a latency of 0".into());
        assert_eq!((refused.per_s, refused.mean_us, refused.processes), (None, None, 1));
    }
}
