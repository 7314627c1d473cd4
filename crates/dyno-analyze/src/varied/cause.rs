//! Lists what can make one run slower than its repeats, and where records show it.

use dyno_record::RunRecord;
use serde::{Deserialize, Serialize};

use crate::points::{OPS, figure};

/// Something that differs between repeats although nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Number of checkpoints in the window.
    Checkpoints,
    /// Pages that the server wrote in the background, per second.
    WrittenBehind,
    /// Work of autovacuum, or of purge.
    Cleaning,
    /// Share of reads that the database's cache answered, %.
    CacheShare,
    /// Share of the database's reads that came from the operating system's page cache, %.
    PageCache,
    /// Blocks that an operation visited: more where tables and indexes have grown.
    BlocksVisited,
    /// Share of the processors that the hypervisor gave to others, %.
    Steal,
    /// Share of the processors that other programs on the host used, %.
    OthersProcessor,
    /// Share of the database server's work that others caused, %.
    OthersOnServer,
    /// Mean latency of a write of the device, µs.
    DeviceWrites,
    /// Processor time of Dyno for an operation, µs: the same work, so it shows the speed of a processor.
    ProcessorSpeed,
}

/// Counters of checkpoints in the window. Those of one line are added up; the first line whose view
/// is in the record counts.
const CHECKPOINTS: [&[&str]; 2] = [
    &["pg_stat_checkpointer.num_timed", "pg_stat_checkpointer.num_requested"],
    &["pg_stat_bgwriter.checkpoints_timed", "pg_stat_bgwriter.checkpoints_req"],
];

/// Engine prefix, and views that all users may read; every version of the engine has one of them.
const ALWAYS: (&str, [&str; 2]) = ("pg_stat_", ["pg_stat_checkpointer.", "pg_stat_bgwriter."]);

/// Counters of pages written in the background, in the same form.
const WRITTEN_BEHIND: [&[&str]; 3] = [
    &["pg_stat_checkpointer.buffers_written", "pg_stat_bgwriter.buffers_clean"],
    &["pg_stat_bgwriter.buffers_checkpoint", "pg_stat_bgwriter.buffers_clean"],
    &["status.Innodb_buffer_pool_pages_flushed"],
];

/// Counters of cleaned blocks or rows, in the same form.
const CLEANING: [&[&str]; 2] = [
    &[
        "pg_stat_io.autovacuum_worker.relation.vacuum.hits",
        "pg_stat_io.autovacuum_worker.relation.vacuum.reads",
    ],
    &["status.Innodb_purge_undo_no"],
];

impl Cause {
    /// All causes that are examined.
    pub const ALL: [Self; 11] = [
        Self::Checkpoints,
        Self::WrittenBehind,
        Self::Cleaning,
        Self::CacheShare,
        Self::PageCache,
        Self::BlocksVisited,
        Self::Steal,
        Self::OthersProcessor,
        Self::OthersOnServer,
        Self::DeviceWrites,
        Self::ProcessorSpeed,
    ];

    /// The amount in a run; `None` where its record does not show it.
    pub(super) fn of(self, record: &RunRecord) -> Option<f64> {
        let metric = |name: &str| figure(record, name).map(|one| one.0);
        match self {
            Self::Checkpoints => native(record, &CHECKPOINTS),
            Self::WrittenBehind => Some(native(record, &WRITTEN_BEHIND)? / seconds(record)?),
            Self::Cleaning => Some(native(record, &CLEANING)? / seconds(record)?),
            Self::CacheShare => metric("buffer_hit_pct"),
            Self::PageCache => {
                let requested_mb_per_s = metric("physical_read_mb_per_s").filter(|asked| *asked > 0.0)?;
                Some((100.0 * (1.0 - metric("device_read_mb_per_s")? / requested_mb_per_s)).clamp(0.0, 100.0))
            }
            Self::BlocksVisited => {
                Some(metric("logical_reads_per_s")? / metric(OPS).filter(|rate| *rate > 0.0)?)
            }
            Self::Steal => metric("cpu_steal_pct"),
            Self::OthersProcessor => metric("others_cpu_pct"),
            Self::OthersOnServer => {
                let rate_names = ["commits_per_s", "rows_written_per_s", "rows_read_per_s"];
                let known_shares = rate_names.iter().filter_map(|name| record.whose.get(*name)?.others_pct);
                known_shares.reduce(f64::max)
            }
            Self::DeviceWrites => metric("device_write_latency_us"),
            Self::ProcessorSpeed => metric("client_cpu_us_per_op"),
        }
    }

    /// Whether the range from `least` to `most` exceeds the usual variation of such a figure.
    pub(super) fn is_movement(self, least: f64, most: f64) -> bool {
        let spread = most - least;
        match self {
            Self::Checkpoints => spread >= 1.0,
            Self::CacheShare | Self::Steal => spread >= 1.0,
            Self::PageCache | Self::OthersProcessor | Self::OthersOnServer => spread >= 5.0,
            Self::BlocksVisited => spread >= 0.05 * most,
            Self::WrittenBehind | Self::Cleaning => most >= 1.0 && spread >= 0.2 * most,
            Self::DeviceWrites | Self::ProcessorSpeed => spread >= 0.2 * most,
        }
    }

    /// Whether a lower value slows a run, as with a cache.
    pub(super) fn slows_by_less(self) -> bool {
        matches!(self, Self::CacheShare | Self::PageCache)
    }
}

/// The change in the window, from the first line whose view is in the record. A record omits
/// counters that did not change, so a missing one is 0 if its view has others. A view without any
/// changed counter may not have been read. That does not apply to the views that are always
/// readable.
fn native(record: &RunRecord, lines: &[&[&str]]) -> Option<f64> {
    let all = &record.counters.native;
    let begins =
        |with: &str| all.range(with.to_owned()..).next().is_some_and(|(name, _)| name.starts_with(with));
    if let Some(line) = lines.iter().find(|line| begins(view(line[0]))) {
        return Some(line.iter().map(|name| all.get(*name).copied().unwrap_or(0.0)).sum());
    }
    let (engine, views) = ALWAYS;
    lines.iter().any(|line| views.contains(&view(line[0])) && begins(engine)).then_some(0.0)
}

/// The view in a counter's name, including the dot: `pg_stat_bgwriter.`
fn view(name: &str) -> &str {
    name.split_inclusive('.').next().unwrap_or_default()
}

fn seconds(record: &RunRecord) -> Option<f64> {
    record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0)
}
