//! The components, their figures, and what shows that one was at its end.

use crate::limited::Component;

/// A component of a platform.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// The figure of both sides, by its name in records.
    pub(super) metric: &'static str,
    /// What limits a run in which the component is at its end.
    pub(super) limits: &'static [Component],
    /// Whether the figure is the same thing on every engine.
    pub(super) anywhere: bool,
    /// Whether it is of storage as the database asks for it, so that a page cache may have answered.
    pub(super) asked: bool,
}

const fn part(name: &'static str, metric: &'static str, limits: &'static [Component]) -> Part {
    Part { name, metric, limits, anywhere: false, asked: false }
}

/// The processors' share is counted in processors.
pub(super) const CPU: &str = "cpu_busy_pct";

/// Databases do not agree on what one is.
pub(super) const COMMIT: &str = "commits_per_s";

const STORAGE: &[Component] = &[Component::Device];
const COMMITS: &[Component] = &[Component::Commits, Component::Device];
const PROCESSOR: &[Component] = &[Component::Cpu, Component::CpuQuota];

/// All of them.
pub(super) const PARTS: [Part; 14] = [
    Part { anywhere: true, ..part("CPU", CPU, PROCESSOR) },
    part("logical reads", "logical_reads_per_s", PROCESSOR),
    Part { asked: true, ..part("block reads", "physical_reads_per_s", STORAGE) },
    Part { asked: true, ..part("read requests", "physical_read_requests_per_s", STORAGE) },
    Part { asked: true, anywhere: true, ..part("read bandwidth", "physical_read_mb_per_s", STORAGE) },
    part("write requests", "physical_write_requests_per_s", STORAGE),
    Part { anywhere: true, ..part("write bandwidth", "physical_write_mb_per_s", STORAGE) },
    Part { anywhere: true, ..part("device reads", "device_reads_per_s", STORAGE) },
    Part { anywhere: true, ..part("device read bandwidth", "device_read_mb_per_s", STORAGE) },
    Part { anywhere: true, ..part("device writes", "device_writes_per_s", STORAGE) },
    Part { anywhere: true, ..part("device write bandwidth", "device_write_mb_per_s", STORAGE) },
    part("redo bandwidth", "redo_mb_per_s", COMMITS),
    part("redo syncs", "redo_syncs_per_s", COMMITS),
    part("commits", COMMIT, COMMITS),
];
