//! What can make one run slower than another that was asked for the same, and where records tell of it.

use dyno_record::RunRecord;
use serde::{Deserialize, Serialize};

use crate::points::{OPS, figure};

/// Something that differs from run to run though nobody has changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Checkpoints in the window.
    Checkpoints,
    /// Pages that the server wrote behind its sessions, per second.
    WrittenBehind,
    /// Work of autovacuum, or of purge.
    Cleaning,
    /// Share of reads that the database's cache answered, %.
    CacheShare,
    /// Share of what the database read that came from the operating system's page cache, %.
    PageCache,
    /// Blocks that an operation visited: tables and indexes that have grown are more.
    BlocksVisited,
    /// Share of the processors that the hypervisor gave to others, %.
    Steal,
    /// Share of the processors that others on the machine had, %.
    OthersProcessor,
    /// Share of the database server's work that was others', %.
    OthersOnServer,
    /// Mean latency of a write of the device, µs.
    DeviceWrites,
}

/// Counters of checkpoints in the window: those of one line are added up; the first line is taken of whose view the record tells.
const CHECKPOINTS: [&[&str]; 2] = [
    &["pg_stat_checkpointer.num_timed", "pg_stat_checkpointer.num_requested"],
    &["pg_stat_bgwriter.checkpoints_timed", "pg_stat_bgwriter.checkpoints_req"],
];

/// Views of an engine that all of its versions have, one or the other, and that everybody may read; and what its counters begin with.
const ALWAYS: (&str, [&str; 2]) = ("pg_stat_", ["pg_stat_checkpointer.", "pg_stat_bgwriter."]);

/// Pages that were written behind sessions, likewise.
const WRITTEN_BEHIND: [&[&str]; 3] = [
    &["pg_stat_checkpointer.buffers_written", "pg_stat_bgwriter.buffers_clean"],
    &["pg_stat_bgwriter.buffers_checkpoint", "pg_stat_bgwriter.buffers_clean"],
    &["status.Innodb_buffer_pool_pages_flushed"],
];

/// Blocks or rows that were cleaned, likewise.
const CLEANING: [&[&str]; 2] = [
    &[
        "pg_stat_io.autovacuum_worker.relation.vacuum.hits",
        "pg_stat_io.autovacuum_worker.relation.vacuum.reads",
    ],
    &["status.Innodb_purge_undo_no"],
];

impl Cause {
    /// All of them.
    pub const ALL: [Self; 10] = [
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
    ];

    /// How much of it there was in a run, where its record tells.
    pub(super) fn of(self, record: &RunRecord) -> Option<f64> {
        let metric = |name: &str| figure(record, name).map(|one| one.0);
        match self {
            Self::Checkpoints => native(record, &CHECKPOINTS),
            Self::WrittenBehind => Some(native(record, &WRITTEN_BEHIND)? / seconds(record)?),
            Self::Cleaning => Some(native(record, &CLEANING)? / seconds(record)?),
            Self::CacheShare => metric("buffer_hit_pct"),
            Self::PageCache => {
                let asked = metric("physical_read_mb_per_s").filter(|asked| *asked > 0.0)?;
                Some((100.0 * (1.0 - metric("device_read_mb_per_s")? / asked)).clamp(0.0, 100.0))
            }
            Self::BlocksVisited => {
                Some(metric("logical_reads_per_s")? / metric(OPS).filter(|rate| *rate > 0.0)?)
            }
            Self::Steal => metric("cpu_steal_pct"),
            Self::OthersProcessor => metric("others_cpu_pct"),
            Self::OthersOnServer => {
                let others = ["commits_per_s", "rows_written_per_s", "rows_read_per_s"];
                let told = others.iter().filter_map(|name| record.whose.get(*name)?.others_pct);
                told.reduce(f64::max)
            }
            Self::DeviceWrites => metric("device_write_latency_us"),
        }
    }

    /// Whether from the least to the most is more than such a figure moves by anyway.
    pub(super) fn is_movement(self, least: f64, most: f64) -> bool {
        let by = most - least;
        match self {
            Self::Checkpoints => by >= 1.0,
            Self::CacheShare | Self::Steal => by >= 1.0,
            Self::PageCache | Self::OthersProcessor | Self::OthersOnServer => by >= 5.0,
            Self::BlocksVisited => by >= 0.05 * most,
            Self::WrittenBehind | Self::Cleaning => most >= 1.0 && by >= 0.2 * most,
            Self::DeviceWrites => by >= 0.2 * most,
        }
    }

    /// Whether less of it makes slower, as of a cache.
    pub(super) fn slows_by_less(self) -> bool {
        matches!(self, Self::CacheShare | Self::PageCache)
    }
}

/// The movement in the window of the first line of whose view the record tells. Counters that did not move are left out of a record,
/// so that one is 0 where others of its view are there. Of a view of which nothing has moved nobody knows whether it was read, but of
/// those that are always there.
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

/// What a counter's name says of where it was read, with the point: `pg_stat_bgwriter.`
fn view(name: &str) -> &str {
    name.split_inclusive('.').next().unwrap_or_default()
}

fn seconds(record: &RunRecord) -> Option<f64> {
    record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0)
}
