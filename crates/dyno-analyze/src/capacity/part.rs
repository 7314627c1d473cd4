//! The components, their figures, and what shows that one was the limit.

use crate::limited::Component;

/// A component of a platform.
#[derive(Debug)]
pub(super) struct CapacityComponent {
    pub(super) name: &'static str,
    /// The figure of both sides, by its name in records.
    pub(super) metric: &'static str,
    /// The limits of runs in which this component is exhausted.
    pub(super) limits: &'static [Component],
    /// Whether the figure means the same on every engine.
    pub(super) is_engine_independent: bool,
    /// Whether it counts what the database requested from storage, so a page cache may have
    /// answered.
    pub(super) is_database_view: bool,
}

const fn part(name: &'static str, metric: &'static str, limits: &'static [Component]) -> CapacityComponent {
    CapacityComponent { name, metric, limits, is_engine_independent: false, is_database_view: false }
}

/// A share of all processors; it is converted into a number of processors.
pub(super) const CPU: &str = "cpu_busy_pct";

/// Databases define a commit differently.
pub(super) const COMMIT: &str = "commits_per_s";

const STORAGE: &[Component] = &[Component::Device];
const COMMITS: &[Component] = &[Component::Commits, Component::Device];
const PROCESSOR: &[Component] = &[Component::Cpu, Component::CpuQuota];

/// All components that are compared.
pub(super) const PARTS: [CapacityComponent; 14] = [
    CapacityComponent { is_engine_independent: true, ..part("CPU", CPU, PROCESSOR) },
    part("logical reads", "logical_reads_per_s", PROCESSOR),
    CapacityComponent { is_database_view: true, ..part("block reads", "physical_reads_per_s", STORAGE) },
    CapacityComponent {
        is_database_view: true,
        ..part("read requests", "physical_read_requests_per_s", STORAGE)
    },
    CapacityComponent {
        is_database_view: true,
        is_engine_independent: true,
        ..part("read bandwidth", "physical_read_mb_per_s", STORAGE)
    },
    part("write requests", "physical_write_requests_per_s", STORAGE),
    CapacityComponent {
        is_engine_independent: true,
        ..part("write bandwidth", "physical_write_mb_per_s", STORAGE)
    },
    CapacityComponent { is_engine_independent: true, ..part("device reads", "device_reads_per_s", STORAGE) },
    CapacityComponent {
        is_engine_independent: true,
        ..part("device read bandwidth", "device_read_mb_per_s", STORAGE)
    },
    CapacityComponent {
        is_engine_independent: true,
        ..part("device writes", "device_writes_per_s", STORAGE)
    },
    CapacityComponent {
        is_engine_independent: true,
        ..part("device write bandwidth", "device_write_mb_per_s", STORAGE)
    },
    part("redo bandwidth", "redo_mb_per_s", COMMITS),
    part("redo syncs", "redo_syncs_per_s", COMMITS),
    part("commits", COMMIT, COMMITS),
];
