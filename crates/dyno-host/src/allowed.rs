//! Reads what processors and control groups allow a process: how many processors, how much of their time, and
//! how often it was throttled.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::Root;
use crate::parse::cgroup::{CgroupFolder, folder, parse_cpu_max, parse_cpu_quota, parse_throttled};
use crate::parse::list;
use crate::parse::mounts::Mount;
use crate::parse::process::parse_allowed;

/// The processor limits of one process at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Allowed {
    /// The processors that it may run on; empty where that is unknown.
    pub(crate) cpus: BTreeSet<u32>,
    /// Processors' worth of time that its tightest control group allows; absent where none limits it.
    pub(crate) quota_cpus: Option<f64>,
    /// Accounting periods of the group since its creation, and how many of them were throttled.
    pub(crate) periods: (u64, u64),
}

impl Allowed {
    /// Reads the limits of the process whose folder in `/proc` is called `process`: `self`, `123`.
    pub(crate) fn of(root: &Root, process: &str, mounts: &[Mount]) -> Self {
        let status = root.text(&format!("proc/{process}/status"));
        let cpus = status.as_deref().and_then(parse_allowed).and_then(list::numbers).unwrap_or_default();
        let membership = root.text(&format!("proc/{process}/cgroup")).unwrap_or_default();
        let cpu = folder(&membership, mounts, "cpu");
        let limits = cpu.iter().flat_map(|cpu| {
            cpu.with_parents().filter_map(|folder| Some((cpu_quota(cpu, folder)?, folder.to_path_buf())))
        });
        let tightest = limits.min_by(|a, b| a.0.total_cmp(&b.0));
        let stat = |folder: &Path| parse_throttled(&read(folder, "cpu.stat")?);
        Self {
            cpus,
            periods: tightest.as_ref().and_then(|(_, folder)| stat(folder)).unwrap_or_default(),
            quota_cpus: tightest.map(|(quota, _)| quota),
        }
    }
}

/// The processor time that a control group allows, over an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuQuota {
    /// Limit in processors' worth of time.
    pub cpus: f64,
    /// Accounting periods in the interval.
    pub periods: u64,
    /// Periods in which the time was used up.
    pub throttled: u64,
}

impl CpuQuota {
    /// The limit over an interval; absent where nothing limits, or the limit changed.
    pub(crate) fn between(begin: &Allowed, end: &Allowed) -> Option<Self> {
        let cpus = end.quota_cpus.filter(|_| begin.quota_cpus == end.quota_cpus)?;
        let periods = end.periods.0.checked_sub(begin.periods.0)?;
        Some(Self { cpus, periods, throttled: end.periods.1.checked_sub(begin.periods.1)? })
    }
}

/// Processors' worth of time that the limit of this folder allows.
pub(crate) fn cpu_quota(cpu: &CgroupFolder, folder: &Path) -> Option<f64> {
    if cpu.unified {
        parse_cpu_max(&read(folder, "cpu.max")?)
    } else {
        parse_cpu_quota(&read(folder, "cpu.cfs_quota_us")?, &read(folder, "cpu.cfs_period_us")?)
    }
}

/// The content of a control group's file; absent where it is empty or cannot be read.
pub(crate) fn read(folder: &Path, file: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(file)).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
